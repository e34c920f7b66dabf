//! Undoing a verb from its bundle.

use std::path::{Path, PathBuf};

use hyworld_maintenance::{Bundle, Progress, UndoError, UndoPlan, UndoReport};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};

use crate::changing::Subject;
use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;

/// A planned undo. Other programs cannot write the world until this is dropped, unless only a plan
/// was asked for.
#[derive(Debug)]
pub struct Undo {
    bundle: Bundle,
    subject: Subject,
    /// What would be restored.
    pub plan: UndoPlan,
}

impl Undo {
    /// Reads a bundle and compares it with the world it belongs to. `root` is the folder of the
    /// world if it was moved after the change. With `is_plan`, no lock is taken, and
    /// [`apply`](Self::apply) must not be called.
    ///
    /// # Errors
    /// Returns an error if the bundle cannot be read, if its world is missing, or if another
    /// program uses the world.
    pub fn plan(bundle: &Path, root: Option<&Path>, is_plan: bool) -> Result<Self> {
        let bundle = Bundle::open(bundle)?;
        let root = find_root(&bundle, root)?;
        let subject = Subject::of_folder(&root, is_plan)?;
        let plan = bundle.plan(&root, &open_to_read)?;
        Ok(Self { bundle, subject, plan })
    }

    /// Returns the bundle.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns the folder whose files are restored.
    pub fn root(&self) -> &Path {
        self.subject.root()
    }

    /// Restores the old bytes.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written. Each file is then old or new, and the
    /// same undo continues.
    pub fn apply(self, progress: &dyn Progress) -> Result<UndoReport> {
        progress.expect(Some(self.plan.items.len() as u64));
        let changes = self.subject.changes("undo", None)?;
        Ok(self.bundle.undo(self.subject.root(), &open_to_write, changes, progress)?)
    }
}

/// Returns the folder of the world: the named one, the one the bundle names, or one of that name
/// beside the bundle.
fn find_root(bundle: &Bundle, named: Option<&Path>) -> Result<PathBuf> {
    if let Some(root) = named {
        return Ok(root.to_owned());
    }
    let root = &bundle.header().root;
    if root.is_dir() {
        return Ok(root.clone());
    }
    let folder = bundle.path().parent().unwrap_or(Path::new(""));
    let beside = root.file_name().map(|name| folder.join(name)).filter(|path| path.is_dir());
    beside.ok_or_else(|| {
        let text = format!(
            "{}: the folder it belongs to, {}, does not exist; name it with --at",
            bundle.path().display(),
            root.display()
        );
        Error::new(ErrorKind::NotFound, text)
    })
}

fn open_to_read(location: &str) -> Result<Box<dyn ChunkStorage>, UndoError> {
    open(location, Location::open)
}

fn open_to_write(location: &str) -> Result<Box<dyn ChunkStorage>, UndoError> {
    open(location, |location| location.open_for_writing(&RegionFilesOptions::new()))
}

fn open(
    name: &str,
    open: impl FnOnce(&Location) -> Result<Box<dyn ChunkStorage>>,
) -> Result<Box<dyn ChunkStorage>, UndoError> {
    let opened = Location::source(Path::new(name)).and_then(|location| open(&location));
    opened.map_err(|error| {
        UndoError::Storage(hyworld_providers::Error::Engine {
            location: name.to_owned(),
            action: "open",
            source: Box::new(error),
        })
    })
}
