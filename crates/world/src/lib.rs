//! The folders in which Hytale stores universes and worlds.
//!
//! A *universe* has worlds and players; a *world* has a configuration, resources and chunks. This
//! crate handles the files around the chunks and determines the provider of the chunks, but does
//! not interpret chunks. `docs/format/world.md` describes the files.
//!
//! | task | type or function |
//! |---|---|
//! | Determine what a path is | [`discover()`] |
//! | List, create, copy and delete worlds | [`Universe`] |
//! | Read a world's settings and open its chunks | [`WorldFolder`] |
//! | Switch a world to another provider | [`ProviderSwitch`] |
//! | Read players, resources and backups | [`Players`], [`Resources`], [`find_backups`] |
//! | Check that no other program is writing | [`WritePermit`] |
//!
//! Reading never writes. Files are written so that a killed process or a power cut leaves the old
//! or the new contents ([`JsonFile`]), and only changed values change: unknown keys keep their
//! position. If a file could not be used and something else was read in its place, [`LoadedFrom`]
//! reports it.
//!
//! ```
//! use hyworld_providers::Access;
//! use hyworld_world::{Universe, WorldFolder, WorldName, WorldSettings, discover};
//!
//! # let folder = tempfile::tempdir()?;
//! # let save = folder.path();
//! let universe = Universe::create(&save.join("universe"))?;
//! universe.create_world(&WorldName::new("default")?, WorldSettings::default())?;
//!
//! for entry in discover(save)?.worlds()? {
//!     let world = WorldFolder::open(&entry.path, Access::ReadOnly)?;
//!     let settings = &world.config().map_err(Clone::clone)?.settings;
//!     assert_eq!(settings.chunk_storage.type_name(), "Hytale");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backup;
mod block_id_map;
mod config;
mod discover;
mod error;
mod gate;
mod generator_mark;
mod instance;
mod json_file;
pub mod limits;
mod lock;
mod names;
mod other_files;
mod paths;
mod players;
mod provider_choice;
mod provider_switch;
mod resources;
mod server;
mod tree;
mod universe;
mod world;

pub use backup::{
    Backup, BackupEntry, BackupFile, BackupSearch, BackupTime, backup_folder, find_backups,
    find_chunk_in_backups,
};
pub use block_id_map::BlockIdMap;
pub use config::{
    BlockArea, CONFIG_VERSION, ChunkConfig, ClientEffects, ConfigProblem, GameTime, NotATime,
    SettingProblem, SpawnProvider, Transform, TypedObject, WorldConfig, WorldSettings, version_of,
};
pub use discover::{PathKind, discover, world_of_storage};
pub use error::{Error, Result, TextProblem};
pub use gate::{ServerCheck, WritePermit};
pub use generator_mark::BuiltInGenerator;
pub use hyworld_documents::{NotAUuid, Uuid};
pub use hyworld_files::{FileSystem, FolderEntry, OsFileSystem};
pub use instance::InstanceTemplate;
pub use json_file::{FallbackRule, JsonFile, Loaded, LoadedFrom};
pub use lock::{LOCK_FILE, Writer, find_writer};
pub use names::WorldName;
pub use other_files::{FolderKind, OtherFile, UNDO_PREFIX, is_in_installation, other_files};
pub use paths::WorldPaths;
pub use players::{PlayerEntry, Players};
pub use provider_choice::ProviderChoice;
pub use provider_switch::ProviderSwitch;
pub use resources::{CurrentProvider, Resources};
pub use server::{ServerSign, server_sign};
pub use tree::{TreeSize, tree_size};
pub use universe::{Universe, WorldEntry, random_uuid};
pub use world::{WorldFolder, WorldOptions};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
