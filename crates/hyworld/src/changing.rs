//! What every verb that changes a world with an undo bundle needs: the permit, the folder whose
//! files change, and the bundle.

use std::path::{Path, PathBuf};

use hyworld_maintenance::{Changes, UndoError, bundle_path, now_ms};
use hyworld_world::{ServerCheck, Universe, WritePermit, world_of_storage};

use crate::error::{Error, ErrorKind, Result};
use crate::location::{Location, ROCKSDB_SCHEME};
use crate::output::{OutputKind, check_output};
use crate::sources::uuid_of_world;

/// Files that may be changed: no other program uses them, and other hyworld processes are locked
/// out until this is dropped.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The folder that contains all files to be changed.
    root: PathBuf,
    /// The file or folder that the bundle is written beside.
    beside: PathBuf,
    /// The UUIDs of the worlds, by which an undo recognises them.
    worlds: Vec<String>,
    /// The URL, if the world is in an object store.
    storage: Option<String>,
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
        let storage = match location {
            Location::S3(url) => Some(url.clone()),
            _ => None,
        };
        let worlds = location.world_folder().as_deref().and_then(uuid_in).into_iter().collect();
        Ok(Self { root, beside, worlds, storage, _permits: permits })
    }

    /// Acquires the permits for all worlds of a universe.
    pub(crate) fn of_universe(universe: &Universe, is_plan: bool) -> Result<Self> {
        let (root, beside) = (universe.path().to_owned(), universe.path().to_owned());
        let permits = if is_plan { Vec::new() } else { universe.permit(ServerCheck::Refuse)? };
        let worlds = universe.worlds()?.into_iter();
        let worlds = worlds.filter_map(|world| uuid_in(&world.path)).collect();
        Ok(Self { root, beside, worlds, storage: None, _permits: permits })
    }

    /// Acquires the permit for the folder of a bundle: a world, a universe, a folder of region
    /// files or a database.
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
        let (root, beside) = (root.to_owned(), root.to_owned());
        let folder = world_of_storage(&root).unwrap_or_else(|| root.clone());
        let worlds = uuid_in(&folder).into_iter().collect();
        Ok(Self { root, beside, worlds, storage: None, _permits: permits })
    }

    /// Returns the folder that contains all files to be changed.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the UUIDs of the worlds.
    pub(crate) fn worlds(&self) -> &[String] {
        &self.worlds
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
        let changes = Changes::begin(&self.root, &bundle, verb, now_ms())?;
        let changes = changes.of_worlds(self.worlds.clone());
        Ok(match &self.storage {
            Some(url) => changes.of_storage(url.clone()),
            None => changes,
        })
    }
}

/// Returns the name of a storage in a bundle: its URL, or where it is in the folder of the bundle,
/// so that a bundle can name no other folder. [`Undo`](crate::Undo) opens it.
pub(crate) fn full_name(location: &Location) -> String {
    match location {
        Location::S3(url) => url.clone(),
        Location::RocksDb(folder) => {
            let name = location.world_folder().and_then(|_| folder.file_name()?.to_str());
            format!("{ROCKSDB_SCHEME}{}", name.unwrap_or("."))
        }
        _ => ".".to_owned(),
    }
}

/// Returns the UUID in the configuration of a world, as text.
fn uuid_in(world: &Path) -> Option<String> {
    uuid_of_world(world).map(|uuid| uuid.to_string())
}

impl From<UndoError> for Error {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Region(error) => error.into(),
            UndoError::Storage(error) => error.into(),
            UndoError::Bundle { .. } => Self::new(ErrorKind::Damaged, error),
            UndoError::Linked { .. } | UndoError::Elsewhere { .. } => {
                Self::new(ErrorKind::BadLocation, error)
            }
            other => Self::new(ErrorKind::Io, other),
        }
    }
}
