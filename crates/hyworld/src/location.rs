//! [`Location`]: the chunk storage that a path or URL refers to. All commands and
//! [`open`](crate::open()) resolve locations here.

mod backup;
mod opening;
mod target;
mod worlds;

use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_maintenance::SourceIdentity;
use hyworld_providers::{ChunkStorage, ProviderConfig, ProviderKind};
use hyworld_world::{OsFileSystem, Resources, WorldOptions, world_of_storage};

use crate::error::{Error, ErrorKind, Result};
use target::check_url;
pub(crate) use target::{check_local, resolved};
use worlds::{entries, only_world_with_chunks};

pub use opening::registry;
#[cfg(not(feature = "s3"))]
pub(crate) use opening::s3_not_built;
pub use worlds::{find_named_world, find_universe, find_world, find_worlds};

/// The folder of a world that contains its region files.
pub(crate) const CHUNKS_FOLDER: &str = "chunks";

/// The folder of a world that contains its database.
const DATABASE_FOLDER: &str = "db";

/// The prefix of a database location.
pub(crate) const ROCKSDB_SCHEME: &str = "rocksdb:";

/// The prefix of an object store location.
const S3_SCHEME: &str = "s3://";

/// A chunk storage that a user named by path or URL.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Location {
    /// One region file.
    Region {
        /// The folder that contains the file.
        folder: PathBuf,
        /// The region.
        region: RegionPos,
    },
    /// A folder of region files.
    Regions(PathBuf),
    /// A world whose configuration names a provider that is neither region files nor a database.
    World {
        /// The folder of the world.
        folder: PathBuf,
        /// The provider.
        provider: ProviderConfig,
    },
    /// The folder of a RocksDB database.
    RocksDb(PathBuf),
    /// An object store, by its URL.
    S3(String),
    /// A world in a backup created by the game. It is read-only.
    Backup {
        /// The zip file.
        zip: PathBuf,
        /// The name of the world.
        world: String,
    },
}

impl Location {
    /// Finds the chunks to read at a save or universe with one world, a world, an instance
    /// template, a folder of region files, a region file, `rocksdb:PATH`, `s3://BUCKET/PREFIX`, or
    /// a backup (`backup.zip`, or `backup.zip/NAME` if it has several worlds).
    ///
    /// # Errors
    /// Returns an error if the path does not exist, or has no world or several worlds.
    pub fn source(name: &Path) -> Result<Self> {
        if let Some(remote) = Self::of_url(name) {
            return Ok(remote);
        }
        if !name.exists() {
            check_url(name)?;
        }
        if !name.is_dir() {
            return Self::of_file(name);
        }
        if !region_files_in(name)?.is_empty() {
            return Ok(Self::Regions(name.to_owned()));
        }
        match only_world_with_chunks(name)? {
            Some(world) => Self::of_world(&world),
            None => Err(no_chunks_found(name)),
        }
    }

    fn of_url(name: &Path) -> Option<Self> {
        let text = name.to_str()?;
        if text.starts_with(S3_SCHEME) {
            return Some(Self::S3(text.to_owned()));
        }
        let path = Path::new(text.strip_prefix(ROCKSDB_SCHEME)?);
        let inside = path.join(DATABASE_FOLDER);
        // Accept the folder of the world as well as that of its database.
        let is_world = !is_database(path) && is_database(&inside);
        Some(Self::RocksDb(if is_world { inside } else { path.to_owned() }))
    }

    fn of_file(path: &Path) -> Result<Self> {
        if let Some(backup) = backup::find(path)? {
            return Ok(backup);
        }
        if !path.exists() {
            return Err(not_found(path, "no such file or folder"));
        }
        let region = region_of(path)
            .ok_or_else(|| bad_location(path, "not a folder, and not named like 0.0.region.bin"))?;
        let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
        Ok(Self::Region { folder, region })
    }

    pub(crate) fn of_world(folder: &Path) -> Result<Self> {
        let provider = provider_of(folder)?;
        Ok(match provider.kind() {
            ProviderKind::Hytale | ProviderKind::IndexedStorage => {
                Self::Regions(folder.join(CHUNKS_FOLDER))
            }
            ProviderKind::RocksDb => Self::RocksDb(folder.join(DATABASE_FOLDER)),
            _ => Self::World { folder: folder.to_owned(), provider },
        })
    }

    /// Returns the path or URL, for messages.
    pub fn name(&self) -> String {
        match self {
            Self::Region { folder, region } => {
                folder.join(region.file_name()).display().to_string()
            }
            Self::Regions(folder) | Self::World { folder, .. } => folder.display().to_string(),
            Self::RocksDb(folder) => format!("{ROCKSDB_SCHEME}{}", folder.display()),
            Self::S3(url) => url.clone(),
            Self::Backup { zip, world } => zip.join(world).display().to_string(),
        }
    }

    /// Returns the region file of a chunk; `None` for other storages.
    pub fn region_file_of(&self, at: ChunkPos) -> Option<PathBuf> {
        match self {
            Self::Region { folder, .. } | Self::Regions(folder) => {
                Some(folder.join(at.region().file_name()))
            }
            _ => None,
        }
    }

    /// Returns the folder of the world that the chunks belong to, if there is one.
    pub fn world_folder(&self) -> Option<PathBuf> {
        match self {
            Self::World { folder, .. } => Some(folder.clone()),
            Self::Regions(folder) | Self::RocksDb(folder) | Self::Region { folder, .. } => {
                world_of_storage(folder)
            }
            Self::S3(_) | Self::Backup { .. } => None,
        }
    }

    /// Returns a name for the world: that of its folder, of the world in a backup, or the last part
    /// of the location.
    pub fn world_name(&self) -> String {
        if let Self::Backup { world, .. } = self {
            return world.clone();
        }
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let folder = self.world_folder().and_then(|folder| folder.canonicalize().ok());
        let name = folder.as_deref().and_then(last);
        name.or_else(|| last(Path::new(&self.name()))).unwrap_or_else(|| "world".to_owned())
    }

    /// Returns the number of chunks in the storage, or `None` if counting is slow.
    pub fn count(&self, storage: &dyn ChunkStorage) -> Option<u64> {
        match self {
            // Listing a database reads every document.
            Self::S3(_) | Self::World { .. } | Self::RocksDb(_) | Self::Backup { .. } => None,
            _ => Some(storage.positions().flatten().count() as u64),
        }
    }

    /// Returns the identity of the chunks. An unfinished copy records it and is continued only from
    /// the same source.
    pub fn identity(&self) -> SourceIdentity {
        match self {
            Self::Region { folder, region } => {
                SourceIdentity::of_path(&folder.join(region.file_name()))
            }
            Self::Regions(folder) | Self::RocksDb(folder) | Self::World { folder, .. } => {
                SourceIdentity::of_path(folder)
            }
            Self::S3(url) => SourceIdentity::of_url(url),
            Self::Backup { zip, world } => SourceIdentity::of_path(&zip.join(world)),
        }
    }

    /// Returns the folder of the chunks, if it can be built under a temporary name.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Regions(folder) | Self::RocksDb(folder) => Some(folder),
            _ => None,
        }
    }

    /// Returns the same kind of storage in another folder.
    #[must_use]
    pub fn moved_to(&self, folder: &Path) -> Self {
        match self {
            Self::Regions(_) => Self::Regions(folder.to_owned()),
            Self::RocksDb(_) => Self::RocksDb(folder.to_owned()),
            other => other.clone(),
        }
    }

    /// Returns the folder of region files; `None` for other storages.
    pub fn region_folder(&self) -> Option<&Path> {
        match self {
            Self::Regions(folder) | Self::Region { folder, .. } => Some(folder),
            _ => None,
        }
    }

    /// Returns the region files, sorted by region; empty for other storages.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be listed.
    pub fn region_files(&self) -> Result<Vec<(RegionPos, PathBuf)>> {
        match self {
            Self::Region { folder, region } => Ok(vec![(*region, folder.join(region.file_name()))]),
            Self::Regions(folder) if folder.is_dir() => region_files_in(folder),
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the provider of the chunks of a world. The chunks need not exist yet.
fn provider_of(folder: &Path) -> Result<ProviderConfig> {
    if !folder.is_dir() {
        return Ok(ProviderConfig::hytale());
    }
    let error = match WorldOptions::new().without_chunks().open(folder) {
        Ok(world) => return Ok(world.provider().provider.clone()),
        Err(error @ hyworld_world::Error::Unusable { .. }) => error,
        Err(error) => return Err(error.into()),
    };
    // Without a usable configuration, the resource still names the provider.
    let resources = Resources::in_folder(&OsFileSystem, folder.join("resources"));
    resources.current_provider()?.provider.ok_or_else(|| error.into())
}

fn region_of(path: &Path) -> Option<RegionPos> {
    RegionPos::from_file_name(path.file_name()?.to_str()?)
}

pub(crate) fn region_files_in(folder: &Path) -> Result<Vec<(RegionPos, PathBuf)>> {
    let paths = entries(folder)?.into_iter();
    let mut files: Vec<_> =
        paths.filter_map(|path| region_of(&path).map(|region| (region, path))).collect();
    files.sort();
    Ok(files)
}

pub(crate) fn is_database(folder: &Path) -> bool {
    folder.join("CURRENT").is_file()
}

pub(crate) fn not_found(path: &Path, reason: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{}: {reason}", path.display()))
}

fn bad_location(path: &Path, reason: &str) -> Error {
    Error::new(ErrorKind::BadLocation, format!("{}: {reason}", path.display()))
}

/// The error for a folder without chunks and without worlds.
pub(crate) fn no_chunks_found(path: &Path) -> Error {
    let reason = format!("no region files found here or in {CHUNKS_FOLDER}/, and no worlds");
    Error::new(ErrorKind::NotAWorld, format!("{}: {reason}", path.display()))
}
