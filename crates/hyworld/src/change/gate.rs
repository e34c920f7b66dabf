//! The only gate: permission to change files, the folder they are in, and the name of the bundle.

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
pub(crate) struct Gate {
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

impl Gate {
    /// Acquires the permit for the chunks at a location and the files of their world.
    pub(super) fn of_location(location: &Location, check: ServerCheck) -> Result<Self> {
        if let Location::S3(url) = location {
            // The bundle of an object store is written to the current folder.
            let (root, beside) = (PathBuf::from("."), PathBuf::from("./object-store"));
            let storage = Some(url.clone());
            return Ok(Self { root, beside, worlds: Vec::new(), storage, _permits: Vec::new() });
        }
        if let Location::Backup { zip, .. } = location {
            let text = format!("{}: backups are read-only", zip.display());
            return Err(Error::new(ErrorKind::BadLocation, text));
        }
        if let Some(world) = location.world_folder() {
            return Self::of_world(&world, check);
        }
        match location {
            Location::Region { folder, region } => {
                Self::of_file(&folder.join(region.file_name()), check)
            }
            other => Self::of_folder(other.folder().unwrap_or(Path::new(".")), check),
        }
    }

    fn of_world(world: &Path, check: ServerCheck) -> Result<Self> {
        let permit = WritePermit::of_world(world, check)?;
        Ok(Self::with(world, world, uuid_in(world).into_iter().collect(), vec![permit]))
    }

    fn with(root: &Path, beside: &Path, worlds: Vec<String>, permits: Vec<WritePermit>) -> Self {
        // The name of the current folder is empty in a relative path.
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let (root, beside) = (root.to_owned(), beside.to_owned());
        Self { root, beside, worlds, storage: None, _permits: permits }
    }

    /// Acquires the permits for all worlds of a universe.
    pub(super) fn of_universe(universe: &Universe, check: ServerCheck) -> Result<Self> {
        let worlds = universe.worlds()?;
        let permits = worlds.iter().map(|world| WritePermit::of_world(&world.path, check));
        let permits = permits.collect::<hyworld_world::Result<_>>()?;
        let uuids = worlds.iter().filter_map(|world| uuid_in(&world.path)).collect();
        Ok(Self::with(universe.path(), universe.path(), uuids, permits))
    }

    /// Acquires the permit for one file of blobs, and for its world if it belongs to one.
    pub(crate) fn of_file(path: &Path, check: ServerCheck) -> Result<Self> {
        let permit = WritePermit::of_storage(path, check)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let real = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Ok(match world_of_storage(&real) {
            Some(world) => {
                Self::with(&world, &world, uuid_in(&world).into_iter().collect(), vec![permit])
            }
            None => Self::with(folder, path, Vec::new(), vec![permit]),
        })
    }

    /// Acquires the permit for a folder: a world, a universe, region files or a database.
    pub(super) fn of_folder(root: &Path, check: ServerCheck) -> Result<Self> {
        if root.join("worlds").is_dir() {
            return Self::of_universe(&Universe::open(root)?, check);
        }
        let is_world = root.join("config.json").exists() || root.join("chunks").is_dir();
        let permit = if is_world {
            WritePermit::of_world(root, check)?
        } else {
            WritePermit::of_storage(root, check)?
        };
        let folder = world_of_storage(root).unwrap_or_else(|| root.to_owned());
        Ok(Self::with(root, root, uuid_in(&folder).into_iter().collect(), vec![permit]))
    }

    /// Returns the name of the bundle: beside the world, unless `chosen` names another file, which
    /// must not exist.
    pub(super) fn bundle(&self, verb: &str, chosen: Option<&Path>) -> Result<PathBuf> {
        let Some(bundle) = chosen else { return Ok(bundle_path(&self.beside, verb)) };
        check_output(bundle, OutputKind::Bundle)?;
        if bundle.exists() {
            let text = format!("{}: already exists; choose another name", bundle.display());
            return Err(Error::new(ErrorKind::Exists, text));
        }
        Ok(bundle.to_owned())
    }

    /// Starts the changes of a verb.
    pub(super) fn changes(&self, verb: &str, bundle: &Path) -> Result<Changes> {
        let changes = Changes::begin(&self.root, bundle, verb, now_ms())?;
        let changes = changes.of_worlds(self.worlds.clone());
        Ok(match &self.storage {
            Some(url) => changes.of_storage(url.clone()),
            None => changes,
        })
    }
}

/// Returns the UUIDs of the worlds in the folder of a bundle: of the world, or of all worlds of a
/// universe.
pub(crate) fn uuids_in(root: &Path) -> Result<Vec<String>> {
    if root.join("worlds").is_dir() {
        let worlds = Universe::open(root)?.worlds()?.into_iter();
        return Ok(worlds.filter_map(|world| uuid_in(&world.path)).collect());
    }
    let folder = world_of_storage(root).unwrap_or_else(|| root.to_owned());
    Ok(uuid_in(&folder).into_iter().collect())
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
