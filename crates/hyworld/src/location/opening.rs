//! Opening the storage of a location.

use std::path::Path;

use hyworld_providers::{Access, ChunkStorage, ProviderRegistry, RegionFilesOptions};

use super::{Location, is_database, not_found};
use crate::error::{Error, ErrorKind, Result};

/// Returns all providers that this program was built with.
pub fn registry() -> ProviderRegistry {
    #[cfg_attr(not(feature = "s3"), expect(unused_mut, reason = "nothing is added"))]
    let mut registry = ProviderRegistry::new();
    #[cfg(feature = "s3")]
    hyworld_s3::register(&mut registry);
    registry
}

impl Location {
    /// Opens the storage for reading. Nothing is written.
    ///
    /// # Errors
    /// Returns an error if the storage cannot be opened, or if this program was built without its
    /// provider.
    pub fn open(&self) -> Result<Box<dyn ChunkStorage>> {
        self.open_storage(Access::ReadOnly, &RegionFilesOptions::new())
    }

    /// Opens the storage for writing; `options` apply to region files. Only for storages that no
    /// other program knows yet, such as the target of a copy; a [`Change`](crate::Change) writes to
    /// worlds.
    ///
    /// # Errors
    /// Returns an error if the storage cannot be opened, or if this program was built without its
    /// provider.
    pub fn open_for_writing(&self, options: &RegionFilesOptions) -> Result<Box<dyn ChunkStorage>> {
        self.open_storage(Access::ReadWrite, options)
    }

    /// Opens the storage for a bulk copy that is not read before it is complete. `options` apply to
    /// region files; a database is tuned for bulk writes.
    ///
    /// # Errors
    /// Returns an error if the storage cannot be opened, or if this program was built without its
    /// provider.
    pub fn open_new(&self, options: &RegionFilesOptions) -> Result<Box<dyn ChunkStorage>> {
        match self {
            Self::RocksDb(folder) => open_rocksdb(folder, Access::ReadWrite, true),
            other => other.open_storage(Access::ReadWrite, options),
        }
    }

    fn open_storage(
        &self,
        access: Access,
        options: &RegionFilesOptions,
    ) -> Result<Box<dyn ChunkStorage>> {
        let options = options.clone().access(access);
        let must_exist = access == Access::ReadOnly;
        Ok(match self {
            Self::Region { folder, region } => {
                // An empty folder name means the current folder.
                let is_here = folder.as_os_str().is_empty();
                let folder = if is_here { Path::new(".") } else { folder };
                Box::new(options.only(*region).open(folder)?)
            }
            Self::Regions(folder)
                if must_exist && !folder.is_dir() && self.world_folder().is_none() =>
            {
                return Err(no_chunks(folder, "no region files found: the folder does not exist"));
            }
            Self::Regions(folder) => Box::new(options.open(folder)?),
            Self::World { folder, provider } => registry().open(provider, folder, access)?,
            Self::RocksDb(folder)
                if must_exist && !folder.exists() && self.world_folder().is_none() =>
            {
                return Err(not_found(folder, "no such folder"));
            }
            Self::RocksDb(folder) if must_exist && !is_database(folder) => {
                return Err(no_chunks(folder, "no RocksDB database found"));
            }
            Self::RocksDb(folder) => open_rocksdb(folder, access, false)?,
            Self::S3(url) => open_s3(url, access)?,
            Self::Backup { zip, world } => super::backup::open(zip, world, access)?,
        })
    }
}

fn no_chunks(folder: &Path, reason: &str) -> Error {
    Error::new(ErrorKind::NotAWorld, format!("{}: {reason}", folder.display()))
}

#[cfg(feature = "rocksdb")]
fn open_rocksdb(folder: &Path, access: Access, is_building: bool) -> Result<Box<dyn ChunkStorage>> {
    let options = hyworld_providers::RocksDbOptions::new().access(access).building(is_building);
    Ok(Box::new(options.open(folder)?))
}

#[cfg(not(feature = "rocksdb"))]
fn open_rocksdb(
    _folder: &Path,
    _access: Access,
    _is_building: bool,
) -> Result<Box<dyn ChunkStorage>> {
    let kind = "RocksDb".to_owned();
    Err(hyworld_providers::Error::NotBuilt { kind, feature: "rocksdb" }.into())
}

#[cfg(feature = "s3")]
fn open_s3(url: &str, access: Access) -> Result<Box<dyn ChunkStorage>> {
    Ok(Box::new(hyworld_s3::S3Options::new(url)?.access(access).open()?))
}

#[cfg(not(feature = "s3"))]
fn open_s3(_url: &str, _access: Access) -> Result<Box<dyn ChunkStorage>> {
    Err(s3_not_built())
}

/// The error for an object store if this program was built without support for it.
#[cfg(not(feature = "s3"))]
pub(crate) fn s3_not_built() -> Error {
    let kind = "hyworld:S3".to_owned();
    hyworld_providers::Error::NotBuilt { kind, feature: "s3" }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_has_the_providers_of_all_enabled_features() {
        let registry = registry();
        let has = |wanted| registry.type_names().any(|name| name == wanted);
        assert!(has("Hytale"));
        assert_eq!(has("RocksDb"), cfg!(feature = "rocksdb"));
        assert_eq!(has("hyworld:S3"), cfg!(feature = "s3"));
    }
}
