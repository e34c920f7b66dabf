//! Undoing a verb from its bundle.

mod target;

use std::path::{Component, Path, PathBuf};

use hyworld_maintenance::{
    Bundle, BundleStorage, NoProgress, Progress, SameWorld as EdgeVerdict, UndoError, UndoPlan,
    UndoReport, UndoRoot, agreement, common_positions,
};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};

use crate::change::{Change, ChangeOptions, uuids_in};
use crate::error::{Error, ErrorKind, Result};
use crate::location::{Location, ROCKSDB_SCHEME};
use crate::world_at::World;
use target::{Target, find_target};

pub use target::location_to_name;

/// How many chunks of a bundle are compared with their neighbours in the world.
const SAMPLES: usize = 64;

/// Where a bundle is undone.
#[derive(Clone, Debug, Default)]
pub struct UndoOptions {
    /// The folder or URL of the changed world; `None` for the folder beside the bundle.
    pub at: Option<PathBuf>,
    /// Folders outside of the world that links inside it may lead to.
    pub linked: Vec<PathBuf>,
    /// Undo the bundle even if nothing proves that it belongs to this world.
    pub trust_bundle: bool,
}

/// A planned undo.
#[derive(Debug)]
pub struct Undo {
    bundle: Bundle,
    target: Target,
    root: UndoRoot,
    /// The UUIDs of the worlds that are there now.
    worlds: Vec<String>,
    /// What would be restored.
    pub plan: UndoPlan,
}

impl World {
    /// Undoes a change of this world. What the undo replaces is kept in a bundle of its own.
    ///
    /// # Errors
    /// Returns an error if the bundle cannot be read or belongs to another world, or if another
    /// program uses the world.
    pub fn undo(&self, bundle: &Path) -> Result<UndoReport> {
        let location = self.location();
        // A bundle beside its world can also contain files of the universe.
        let here = location.world_folder().or_else(|| location.folder().map(Path::to_owned));
        let here = here.unwrap_or_else(|| PathBuf::from(location.name()));
        let at = location_to_name(bundle).map(|_| here);
        let options = UndoOptions { at, ..UndoOptions::default() };
        Undo::plan(bundle, &options)?.apply(&ChangeOptions::new(), &NoProgress)
    }
}

impl Undo {
    /// Reads a bundle and compares it with the world it belongs to: the one that the caller names,
    /// or the one beside the bundle. The path that the bundle recorded is not trusted.
    ///
    /// # Errors
    /// Returns an error if the bundle cannot be read, if its world is missing or another one, or if
    /// the bundle names a file or storage outside of the world.
    pub fn plan(bundle: &Path, options: &UndoOptions) -> Result<Self> {
        let bundle = Bundle::open(bundle)?;
        let target = find_target(bundle.path(), bundle.header(), options.at.as_deref())?;
        let (folder, worlds) = match &target {
            Target::Folder(folder) => (folder.clone(), uuids_in(folder)?),
            Target::Storage(_) => {
                if bundle.summary().files > 0 {
                    let text = "it belongs to an object store and names files";
                    let text = format!("{}: {text}", bundle.path().display());
                    return Err(Error::new(ErrorKind::Damaged, text));
                }
                (PathBuf::from("."), Vec::new())
            }
        };
        let mut root = UndoRoot::new(&folder)?;
        for folder in &options.linked {
            root = root.allow(folder)?;
        }
        let plan = bundle.plan(&root, &|name| open(name, &target, &root, Location::open))?;
        let undo = Self { bundle, target, root, worlds, plan };
        if !options.trust_bundle {
            undo.check_identity()?;
        }
        Ok(undo)
    }

    /// Returns the bundle.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns the folder or URL of the world.
    pub fn location(&self) -> String {
        match &self.target {
            Target::Folder(folder) => folder.display().to_string(),
            Target::Storage(url) => url.clone(),
        }
    }

    /// Restores the old bytes.
    ///
    /// # Errors
    /// Returns an error if another program uses the world, or if a file cannot be read or written.
    /// Each file is then old or new, and the same undo continues.
    pub fn apply(&self, options: &ChangeOptions, progress: &dyn Progress) -> Result<UndoReport> {
        progress.expect(Some(self.plan.items.len() as u64));
        let mut change = match &self.target {
            Target::Folder(folder) => Change::of_folder(folder, "undo", options)?,
            Target::Storage(url) => Change::of_url(url, "undo", options)?,
        };
        let write = |name: &str| {
            open(name, &self.target, &self.root, |location| {
                location.open_for_writing(&RegionFilesOptions::new())
            })
        };
        let undone = self.bundle.undo(&self.root, &write, change.changes(), progress);
        let mut report = undone.map_err(|error| change.explain(error.into()))?;
        report.bundle = change.commit()?.bundle;
        Ok(report)
    }

    /// Fails unless the bundle belongs to this world: by UUID, otherwise by its path, by files that
    /// are exactly as the verb wrote them, or by the borders of its chunks.
    fn check_identity(&self) -> Result<()> {
        let Target::Folder(folder) = &self.target else { return Ok(()) };
        let (theirs, ours) = (&self.bundle.header().worlds, &self.worlds);
        if theirs.iter().any(|uuid| ours.contains(uuid)) {
            return Ok(());
        }
        let reason = if theirs.is_empty() || ours.is_empty() {
            let real = |path: &Path| path.canonicalize().ok();
            let is_here =
                real(folder).is_some_and(|at| Some(at) == real(&self.bundle.header().root));
            if is_here || self.plan.items.iter().any(|item| item.is_proof) || self.fits(folder)? {
                return Ok(());
            }
            "nothing proves that this is the world of the bundle"
        } else {
            // The verb wrote this configuration, with another UUID.
            let is_config = |name: &str| name.rsplit('/').next() == Some("config.json");
            if self.plan.items.iter().any(|item| item.is_proof && is_config(&item.name)) {
                return Ok(());
            }
            "this is another world: its UUID differs from that of the bundle"
        };
        let text = format!("{}: {reason}; add --trust-bundle to use it anyway", folder.display());
        Err(Error::new(ErrorKind::BadLocation, text))
    }

    /// Returns whether the old chunks fit their neighbours in the world.
    fn fits(&self, folder: &Path) -> Result<bool> {
        let Ok(storage) = Location::source(folder).and_then(|location| location.open()) else {
            return Ok(false);
        };
        let old = BundleStorage::new(Bundle::open(self.bundle.path())?);
        let positions = common_positions(&old, &*storage, SAMPLES);
        let verdict = agreement(&old, &*storage, &positions).verdict();
        Ok(verdict == EdgeVerdict::Same)
    }
}

/// Returns whether a path is the folder itself or directly inside it.
fn is_one_part(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    let first = matches!(parts.next(), Some(Component::Normal(_) | Component::CurDir));
    first && parts.next().is_none()
}

/// Opens the storage that a bundle names, if it is part of the world.
fn open(
    name: &str,
    target: &Target,
    root: &UndoRoot,
    open: impl FnOnce(&Location) -> Result<Box<dyn ChunkStorage>>,
) -> Result<Box<dyn ChunkStorage>, UndoError> {
    let elsewhere = || UndoError::Elsewhere { name: name.to_owned() };
    let failed = |error: Error| {
        let (location, source) = (name.to_owned(), Box::new(error));
        hyworld_providers::Error::Engine { location, action: "open", source }
    };
    let location = match (target, name.strip_prefix(ROCKSDB_SCHEME)) {
        (Target::Storage(url), _) if url == name => Location::S3(url.clone()),
        (Target::Folder(folder), None) if name == "." => {
            let location = Location::source(folder).map_err(failed)?;
            location.folder().map_or(Ok(()), |folder| root.check(folder))?;
            location
        }
        (Target::Folder(folder), Some(inside)) if is_one_part(inside) => {
            root.check(&folder.join(inside))?;
            Location::RocksDb(folder.join(inside))
        }
        _ => return Err(elsewhere()),
    };
    Ok(open(&location).map_err(failed)?)
}
