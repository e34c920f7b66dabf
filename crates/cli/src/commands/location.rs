//! What a path or an address means: which storage of chunks, and how to open it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_coords::RegionPos;
use hyworld_maintenance::SourceIdentity;
use hyworld_providers::{
    Access, ChunkStorage, ProviderConfig, ProviderKind, ProviderRegistry, RegionFilesOptions,
};
use hyworld_world::{Error, OsFileSystem, Resources, WorldOptions};

use super::chunk_files;
use crate::exit;

/// The folder of a world in which its region files are.
const CHUNKS_FOLDER: &str = "chunks";

/// The folder of a world in which its database is.
const DATABASE_FOLDER: &str = "db";

/// What an address of a database begins with.
const ROCKSDB_SCHEME: &str = "rocksdb:";

/// What an address of an object store begins with.
const S3_SCHEME: &str = "s3://";

/// A storage of chunks, by what the command line calls it.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    /// One region file.
    Region { folder: PathBuf, region: RegionPos },
    /// A folder of region files.
    Regions(PathBuf),
    /// A world whose configuration names a provider that is neither region files nor a database.
    World { folder: PathBuf, provider: ProviderConfig },
    /// The folder of a RocksDB database.
    RocksDb(PathBuf),
    /// An object store.
    S3(String),
}

impl Location {
    /// Where chunks are read from.
    pub(crate) fn of_source(name: &Path) -> anyhow::Result<Self> {
        if let Some(remote) = Self::of_address(name) {
            return Ok(remote);
        }
        if !name.is_dir() {
            return Self::of_file(name);
        }
        if has_region_files(name)? {
            return Ok(Self::Regions(name.to_owned()));
        }
        match chunk_files::only_world(name)? {
            Some(world) => Self::of_world(&world),
            None => Err(chunk_files::nothing_here(name)),
        }
    }

    /// Where chunks are written to. It need not exist.
    pub(crate) fn of_target(name: &Path) -> anyhow::Result<Self> {
        if let Some(remote) = Self::of_address(name) {
            return Ok(remote);
        }
        if name.exists() && !name.is_dir() {
            let problem = "a world or a folder of region files is needed here, not a file";
            return Err(exit::usage(format!("{}: {problem}", name.display())));
        }
        let is_chunks_folder = name.file_name().is_some_and(|last| last == CHUNKS_FOLDER);
        if is_chunks_folder || (name.is_dir() && has_region_files(name)?) {
            return Ok(Self::Regions(name.to_owned()));
        }
        Self::of_world(name)
    }

    /// What is not a path of region files or a world.
    fn of_address(name: &Path) -> Option<Self> {
        let text = name.to_str()?;
        if text.starts_with(S3_SCHEME) {
            return Some(Self::S3(text.to_owned()));
        }
        let path = Path::new(text.strip_prefix(ROCKSDB_SCHEME)?);
        let inside = path.join(DATABASE_FOLDER);
        // People name the world as well as the database in it.
        let is_world = !is_database(path) && is_database(&inside);
        Some(Self::RocksDb(if is_world { inside } else { path.to_owned() }))
    }

    fn of_file(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        if !path.exists() {
            return Err(exit::usage(format!("{name}: no such file or folder")));
        }
        let region = path.file_name().and_then(|name| name.to_str());
        let region = region.and_then(RegionPos::from_file_name).ok_or_else(|| {
            exit::usage(format!("{name}: not a folder, and not named like 0.0.region.bin"))
        })?;
        let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
        Ok(Self::Region { folder, region })
    }

    fn of_world(folder: &Path) -> anyhow::Result<Self> {
        let provider = provider_of(folder)?;
        Ok(match provider.kind() {
            ProviderKind::Hytale | ProviderKind::IndexedStorage => {
                Self::Regions(folder.join(CHUNKS_FOLDER))
            }
            ProviderKind::RocksDb => Self::RocksDb(folder.join(DATABASE_FOLDER)),
            _ => Self::World { folder: folder.to_owned(), provider },
        })
    }

    /// What people call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Region { folder, region } => {
                folder.join(region.file_name()).display().to_string()
            }
            Self::Regions(folder) | Self::World { folder, .. } => folder.display().to_string(),
            Self::RocksDb(folder) => format!("{ROCKSDB_SCHEME}{}", folder.display()),
            Self::S3(url) => url.clone(),
        }
    }

    /// How many chunks a storage has, where that is quickly known.
    pub(crate) fn count(&self, storage: &dyn ChunkStorage) -> Option<u64> {
        match self {
            // Listing a database reads every document.
            Self::S3(_) | Self::World { .. } | Self::RocksDb(_) => None,
            _ => Some(storage.positions().flatten().count() as u64),
        }
    }

    /// Which world its chunks are from.
    pub(crate) fn identity(&self) -> SourceIdentity {
        match self {
            Self::Region { folder, region } => {
                SourceIdentity::of_path(&folder.join(region.file_name()))
            }
            Self::Regions(folder) | Self::RocksDb(folder) | Self::World { folder, .. } => {
                SourceIdentity::of_path(folder)
            }
            Self::S3(url) => SourceIdentity::of_address(url),
        }
    }

    /// The folder in which its chunks are, if they are in one that can be made under another name
    /// first.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Regions(folder) | Self::RocksDb(folder) => Some(folder),
            Self::Region { .. } | Self::World { .. } | Self::S3(_) => None,
        }
    }

    /// The same kind of storage in another folder.
    pub(crate) fn moved_to(&self, folder: &Path) -> Self {
        match self {
            Self::Regions(_) => Self::Regions(folder.to_owned()),
            Self::RocksDb(_) => Self::RocksDb(folder.to_owned()),
            other => other.clone(),
        }
    }

    /// Opens it for reading.
    pub(crate) fn open_source(&self) -> anyhow::Result<Box<dyn ChunkStorage>> {
        self.open(Access::ReadOnly, &RegionFilesOptions::new())
    }

    /// Opens it for writing, region files with `options`.
    pub(crate) fn open_target(
        &self,
        options: &RegionFilesOptions,
    ) -> anyhow::Result<Box<dyn ChunkStorage>> {
        self.open(Access::ReadWrite, options)
    }

    /// Opens it for writing, for a copy that is read by nobody before it is complete: region files
    /// with `options`, a database with settings for many writes.
    pub(crate) fn open_new(
        &self,
        options: &RegionFilesOptions,
    ) -> anyhow::Result<Box<dyn ChunkStorage>> {
        match self {
            Self::RocksDb(folder) => open_rocksdb(folder, Access::ReadWrite, true),
            other => other.open(Access::ReadWrite, options),
        }
    }

    fn open(
        &self,
        access: Access,
        options: &RegionFilesOptions,
    ) -> anyhow::Result<Box<dyn ChunkStorage>> {
        let options = options.clone().access(access);
        Ok(match self {
            Self::Region { folder, region } => {
                // An empty folder name is the current folder, which has a name of its own.
                let is_here = folder.as_os_str().is_empty();
                let folder = if is_here { Path::new(".") } else { folder };
                Box::new(options.only(*region).open(folder)?)
            }
            Self::Regions(folder) => {
                if access == Access::ReadOnly && !folder.is_dir() {
                    let name = folder.display();
                    return Err(exit::problem(format!("{name}: there are no region files here")));
                }
                Box::new(options.open(folder)?)
            }
            Self::World { folder, provider } => {
                ProviderRegistry::new().open(provider, folder, access)?
            }
            Self::RocksDb(folder) => {
                if access == Access::ReadOnly && !is_database(folder) {
                    let name = folder.display();
                    return Err(exit::problem(format!(
                        "{name}: there is no RocksDB database here"
                    )));
                }
                open_rocksdb(folder, access, false)?
            }
            Self::S3(url) => open_s3(url, access)?,
        })
    }
}

/// The provider that has the chunks of a world, which need not exist yet.
fn provider_of(folder: &Path) -> anyhow::Result<ProviderConfig> {
    if !folder.is_dir() {
        return Ok(ProviderConfig::hytale());
    }
    let error = match WorldOptions::new().without_chunks().open(folder) {
        Ok(world) => return Ok(world.provider().provider.clone()),
        Err(error @ Error::Unusable { .. }) => error,
        Err(error) => return Err(error.into()),
    };
    // Without a configuration the resource still says where the chunks are.
    let resources = Resources::in_folder(&OsFileSystem, folder.join("resources"));
    resources.current_provider()?.provider.ok_or_else(|| error.into())
}

fn has_region_files(folder: &Path) -> anyhow::Result<bool> {
    let context = || format!("{}: cannot list", folder.display());
    for entry in folder.read_dir().with_context(context)? {
        let name = entry.with_context(context)?.file_name();
        if name.to_str().and_then(RegionPos::from_file_name).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_database(folder: &Path) -> bool {
    folder.join("CURRENT").is_file()
}

#[cfg(feature = "rocksdb")]
fn open_rocksdb(
    folder: &Path,
    access: Access,
    is_building: bool,
) -> anyhow::Result<Box<dyn ChunkStorage>> {
    let options = hyworld_providers::RocksDbOptions::new().access(access).building(is_building);
    Ok(Box::new(options.open(folder)?))
}

#[cfg(not(feature = "rocksdb"))]
fn open_rocksdb(
    _folder: &Path,
    _access: Access,
    _is_building: bool,
) -> anyhow::Result<Box<dyn ChunkStorage>> {
    let kind = "RocksDb".to_owned();
    Err(hyworld_providers::Error::NotBuilt { kind, feature: "rocksdb" }.into())
}

#[cfg(feature = "s3")]
fn open_s3(url: &str, access: Access) -> anyhow::Result<Box<dyn ChunkStorage>> {
    Ok(Box::new(hyworld_providers::S3Options::new(url)?.access(access).open()?))
}

#[cfg(not(feature = "s3"))]
fn open_s3(_url: &str, _access: Access) -> anyhow::Result<Box<dyn ChunkStorage>> {
    Err(s3_not_built())
}

/// What to say where an object store is needed and this program has none.
#[cfg(not(feature = "s3"))]
pub(super) fn s3_not_built() -> anyhow::Error {
    let kind = "hyworld:S3".to_owned();
    hyworld_providers::Error::NotBuilt { kind, feature: "s3" }.into()
}
