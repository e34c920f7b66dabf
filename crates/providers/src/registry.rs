//! [`ProviderRegistry`]: opens storages by their `Type`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::config::ProviderConfig;
use crate::empty::EmptyStorage;
use crate::error::{Error, Result};
use crate::migration::MigrationStorage;
use crate::region_files::RegionFilesOptions;
use crate::storage::ChunkStorage;

/// The folder of a world that contains its region files.
const CHUNKS_FOLDER: &str = "chunks";

/// Maximum nesting depth of migrations in a configuration.
const DEPTH_MAX: u32 = 8;

/// How a storage is opened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Nothing is written, not even by a recovery.
    ReadOnly,
    /// Reading and writing.
    ReadWrite,
}

/// The arguments for opening a provider, besides its configuration.
#[derive(Clone, Copy, Debug)]
pub struct OpenContext<'a> {
    /// The folder of the world.
    pub world: &'a Path,
    /// How the storage is opened.
    pub access: Access,
    /// Opens the parts of providers that consist of others.
    pub registry: &'a ProviderRegistry,
    depth_left: u32,
}

impl OpenContext<'_> {
    /// Opens a provider that is part of this one.
    ///
    /// # Errors
    /// As for [`ProviderRegistry::open`]. Also returns an error if the parts are nested too deep.
    pub fn open_part(
        &self,
        config: &ProviderConfig,
        access: Access,
    ) -> Result<Box<dyn ChunkStorage>> {
        let Some(depth_left) = self.depth_left.checked_sub(1) else {
            let problem = format!("migrations are nested more than {DEPTH_MAX} deep");
            return Err(Error::Config { kind: config.type_name().to_owned(), problem });
        };
        self.registry.open_in(config, &OpenContext { access, depth_left, ..*self })
    }
}

/// A function that opens a provider.
pub type OpenProvider =
    dyn Fn(&ProviderConfig, &OpenContext<'_>) -> Result<Box<dyn ChunkStorage>> + Send + Sync;

/// The provider types that can be opened. A program can add its own.
///
/// ```
/// use hyworld_providers::{Access, MemoryStorage, ProviderConfig, ProviderRegistry};
///
/// let mut registry = ProviderRegistry::new();
/// registry.register("mymod:Memory", |_, _| Ok(Box::new(MemoryStorage::new())));
/// let config = ProviderConfig::new("mymod:Memory");
/// let storage = registry.open(&config, "my world".as_ref(), Access::ReadWrite)?;
/// assert_eq!(storage.location(), "memory");
/// # Ok::<(), hyworld_providers::Error>(())
/// ```
#[derive(Clone)]
pub struct ProviderRegistry {
    types: BTreeMap<String, Arc<OpenProvider>>,
}

impl Default for ProviderRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl ProviderRegistry {
    /// Creates a registry with every type of this crate that was built.
    pub fn new() -> Self {
        let mut registry = Self { types: BTreeMap::new() };
        registry.register("Hytale", open_region_files);
        registry.register("IndexedStorage", open_region_files);
        registry.register("Migration", open_migration);
        registry.register("Empty", |_, _| Ok(Box::new(EmptyStorage)));
        #[cfg(feature = "rocksdb")]
        registry.register("RocksDb", crate::rocksdb::open_in_world);
        registry
    }

    /// Adds or replaces a type.
    pub fn register(
        &mut self,
        type_name: &str,
        open: impl Fn(&ProviderConfig, &OpenContext<'_>) -> Result<Box<dyn ChunkStorage>>
        + Send
        + Sync
        + 'static,
    ) {
        self.types.insert(type_name.to_owned(), Arc::new(open));
    }

    /// Returns the types that can be opened.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// Checks that a type can be opened.
    ///
    /// # Errors
    /// Returns an error if the type is unknown or was not built.
    pub fn check(&self, type_name: &str) -> Result<()> {
        if self.types.contains_key(type_name) { Ok(()) } else { Err(self.unknown(type_name)) }
    }

    /// Opens the storage of a world.
    ///
    /// # Errors
    /// Returns an error if the type is unknown or was not built, or if the storage cannot be
    /// opened.
    pub fn open(
        &self,
        config: &ProviderConfig,
        world: &Path,
        access: Access,
    ) -> Result<Box<dyn ChunkStorage>> {
        self.open_in(config, &OpenContext { world, access, registry: self, depth_left: DEPTH_MAX })
    }

    fn open_in(
        &self,
        config: &ProviderConfig,
        context: &OpenContext<'_>,
    ) -> Result<Box<dyn ChunkStorage>> {
        match self.types.get(config.type_name()) {
            Some(open) => open(config, context),
            None => Err(self.unknown(config.type_name())),
        }
    }

    fn unknown(&self, type_name: &str) -> Error {
        let kind = type_name.to_owned();
        let known_feature = match type_name {
            "RocksDb" => Some("rocksdb"),
            "hyworld:S3" => Some("s3"),
            _ => None,
        };
        if let Some(feature) = known_feature {
            return Error::NotBuilt { kind, feature };
        }
        let known: Vec<_> = self.type_names().collect();
        let problem = format!(
            "unknown type; known types are {}. The game uses region files for types it does not \
             know: if the chunks are in region files, set the type to Hytale",
            known.join(", ")
        );
        Error::Config { kind, problem }
    }
}

/// Shows the names of the types.
impl fmt::Debug for ProviderRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.type_names()).finish()
    }
}

fn open_region_files(
    config: &ProviderConfig,
    context: &OpenContext<'_>,
) -> Result<Box<dyn ChunkStorage>> {
    let options = RegionFilesOptions::new().access(context.access);
    let options = options.flush_on_write(config.flush_on_write()?);
    Ok(Box::new(options.open(&context.world.join(CHUNKS_FOLDER))?))
}

fn open_migration(
    config: &ProviderConfig,
    context: &OpenContext<'_>,
) -> Result<Box<dyn ChunkStorage>> {
    let (loaders, saver) = (config.loaders()?, config.saver()?);
    let mut opened = Vec::new();
    for loader in &loaders {
        // A loader that is also the saver is opened only once.
        let is_saver = loader.is_same(&saver);
        let part = (!is_saver).then(|| context.open_part(loader, Access::ReadOnly)).transpose();
        opened.push(part?);
    }
    let saver = context.open_part(&saver, context.access)?;
    Ok(Box::new(MigrationStorage::new(opened, saver)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStorage;
    use hyworld_coords::ChunkPos;
    use serde_json::json;

    fn open(config: &ProviderConfig, world: &Path) -> Result<Box<dyn ChunkStorage>> {
        ProviderRegistry::new().open(config, world, Access::ReadWrite)
    }

    #[test]
    fn both_names_of_region_files_open_the_same_chunks() {
        let world = tempfile::tempdir().unwrap();
        let at = ChunkPos::new(1, 1);
        open(&ProviderConfig::hytale(), world.path()).unwrap().write(at, b"x").unwrap();
        let indexed = ProviderConfig::new("IndexedStorage").with("FlushOnWrite", json!(true));
        let storage = open(&indexed, world.path()).unwrap();
        assert_eq!(storage.read(at).unwrap().unwrap(), b"x");
        assert!(world.path().join("chunks/0.0.region.bin").exists());
    }

    #[test]
    fn a_migration_opens_its_parts_and_its_saver_once() {
        let world = tempfile::tempdir().unwrap();
        let mut registry = ProviderRegistry::new();
        registry.register("test:Memory", |_, _| {
            let memory = MemoryStorage::new();
            memory.write(ChunkPos::new(9, 9), b"old")?;
            Ok(Box::new(memory))
        });
        let memory = ProviderConfig::new("test:Memory");
        let hytale = ProviderConfig::hytale();
        let config = ProviderConfig::migration(&[hytale.clone(), memory], &hytale);
        let storage = registry.open(&config, world.path(), Access::ReadWrite).unwrap();
        storage.write(ChunkPos::new(0, 0), b"new").unwrap();
        assert_eq!(storage.read(ChunkPos::new(0, 0)).unwrap().unwrap(), b"new");
        assert_eq!(storage.read(ChunkPos::new(9, 9)).unwrap().unwrap(), b"old");
    }

    #[test]
    fn errors_for_unknown_types_say_what_to_do() {
        let world = Path::new("none");
        let message = |name| open(&ProviderConfig::new(name), world).unwrap_err().to_string();
        let unknown = message("plugin:Thing");
        assert!(unknown.starts_with(r#"provider "plugin:Thing": unknown type"#));
        assert!(unknown.contains("Empty, Hytale, IndexedStorage, Migration"), "{unknown}");
        assert!(message("Migration").contains("Loaders must be a list of providers"));
        #[cfg(not(feature = "rocksdb"))]
        assert!(message("RocksDb").ends_with("cargo build --release --features rocksdb"));
    }

    #[test]
    fn nesting_has_a_limit() {
        let nest = |levels| {
            (0..levels).fold(ProviderConfig::new("Empty"), |inner, _| {
                ProviderConfig::migration(&[ProviderConfig::hytale()], &inner)
            })
        };
        let world = tempfile::tempdir().unwrap();
        assert!(open(&nest(8), world.path()).is_ok());
        let error = open(&nest(9), world.path()).unwrap_err().to_string();
        assert!(error.contains("nested more than 8 deep"), "{error}");
    }
}
