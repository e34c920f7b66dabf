//! What every verb that changes a world with an undo bundle needs: the permit, the folder whose
//! files change, and the bundle.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hyworld_maintenance::{Changes, UndoError, bundle_path};
use hyworld_world::{ServerCheck, Universe, WritePermit};

use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::output::{OutputKind, check_output};

/// Files that may be changed: no other program uses them, and other hyworld processes are locked
/// out until this is dropped.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The folder that contains all files to be changed.
    root: PathBuf,
    /// The file or folder that the bundle is written beside.
    beside: PathBuf,
    /// The permits, held until the changes are made.
    _permits: Vec<WritePermit>,
}

impl Subject {
    /// Acquires the permit for the chunks at a location and the files of their world. A plan needs
    /// no permit.
    pub(crate) fn of(location: &Location, is_plan: bool) -> Result<Self> {
        let (root, beside) = match (location.world_folder(), location) {
            (Some(world), _) => (world.clone(), world),
            (None, Location::Region { folder, region }) => {
                (folder.clone(), folder.join(region.file_name()))
            }
            (None, Location::Regions(folder) | Location::RocksDb(folder)) => {
                (folder.clone(), folder.clone())
            }
            (None, Location::Backup { zip, .. }) => {
                let text = format!("{}: backups are read-only", zip.display());
                return Err(Error::new(ErrorKind::BadLocation, text));
            }
            // The bundle of an object store is written to the current folder.
            _ => (PathBuf::from("."), PathBuf::from("./object-store")),
        };
        // The name of the current folder is empty in a relative path.
        let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
        let mut permits = Vec::new();
        if !is_plan && !matches!(location, Location::S3(_)) {
            permits.push(match location.world_folder() {
                Some(world) => WritePermit::of_world(&world, ServerCheck::Refuse)?,
                None => WritePermit::of_storage(&beside, ServerCheck::Refuse)?,
            });
        }
        Ok(Self { root, beside, _permits: permits })
    }

    /// Acquires the permits for all worlds of a universe.
    pub(crate) fn of_universe(universe: &Universe, is_plan: bool) -> Result<Self> {
        let (root, beside) = (universe.path().to_owned(), universe.path().to_owned());
        let permits = if is_plan { Vec::new() } else { universe.permit(ServerCheck::Refuse)? };
        Ok(Self { root, beside, _permits: permits })
    }

    /// Acquires the permit for a folder that a bundle names: a world, a universe, or a folder of
    /// region files.
    pub(crate) fn of_folder(root: &Path, is_plan: bool) -> Result<Self> {
        if root.join("worlds").is_dir() {
            return Self::of_universe(&Universe::open(root)?, is_plan);
        }
        let mut permits = Vec::new();
        if !is_plan {
            let is_world = root.join("config.json").exists() || root.join("chunks").is_dir();
            permits.push(if is_world {
                WritePermit::of_world(root, ServerCheck::Refuse)?
            } else {
                WritePermit::of_storage(root, ServerCheck::Refuse)?
            });
        }
        Ok(Self { root: root.to_owned(), beside: root.to_owned(), _permits: permits })
    }

    /// Returns the folder that contains all files to be changed.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Starts the changes of a verb. The bundle is written beside the world unless `bundle` names
    /// another file, which must not exist.
    pub(crate) fn changes(&self, verb: &str, bundle: Option<&Path>) -> Result<Changes> {
        if let Some(bundle) = bundle {
            check_output(bundle, OutputKind::Bundle)?;
        }
        let bundle = bundle.map_or_else(|| bundle_path(&self.beside, verb), Path::to_owned);
        if bundle.exists() {
            let text = format!("{}: already exists; choose another name", bundle.display());
            return Err(Error::new(ErrorKind::Exists, text));
        }
        Ok(Changes::begin(&self.root, &bundle, verb, now_ms())?)
    }
}

/// Returns a name under which the storage at a location can be opened from any folder.
pub(crate) fn full_name(location: &Location) -> String {
    let full = |folder: &Path| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match location {
        Location::RocksDb(folder) => Location::RocksDb(full(folder)).name(),
        Location::World { folder, .. } => full(folder).display().to_string(),
        other => other.name(),
    }
}

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

impl From<UndoError> for Error {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Region(error) => error.into(),
            UndoError::Storage(error) => error.into(),
            UndoError::Bundle { .. } => Self::new(ErrorKind::Damaged, error),
            other => Self::new(ErrorKind::Io, other),
        }
    }
}
