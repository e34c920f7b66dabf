//! Reads, writes and repairs Hytale worlds.
//!
//! [`open`] accepts any location: a save or universe with one world, a world, an instance template,
//! a folder of region files, a region file, `rocksdb:PATH`, `s3://BUCKET/PREFIX`, or a backup zip.
//! The returned [`World`] only reads. [`edit`](World::edit) and [`run`](World::run) first check
//! that no other program uses the world. Errors have a [`kind`](Error::kind). The [`prelude`]
//! exports the most common types.
//!
//! # Read a block
//!
//! ```no_run
#![doc = include_str!("../examples/read_block.rs")]
//! ```
//!
//! # Count the blocks of a world in parallel
//!
//! ```no_run
#![doc = include_str!("../examples/count_blocks.rs")]
//! ```
//!
//! # List the chests that hold an item
//!
//! ```no_run
#![doc = include_str!("../examples/find_item.rs")]
//! ```
//!
//! # Replace blocks in an area
//!
//! ```no_run
#![doc = include_str!("../examples/replace_blocks.rs")]
//! ```
//!
//! # Copy a world to another kind of storage
//!
//! ```no_run
#![doc = include_str!("../examples/convert_world.rs")]
//! ```
//!
//! # The crates below
//!
//! This crate re-exports the crates it is built from, so a program needs only one dependency:
//!
//! | module | contents |
//! |---|---|
//! | [`world`] | Universes, worlds, their configuration and other files |
//! | [`chunk_store`] | Running a world: load, generate, change, save and unload chunks |
//! | [`map_layers`] | Maps: columns, layers, pictures |
//! | [`color_assets`] | Colours of blocks, fluids and environments |
//! | [`maintenance`] | Verifying, converting, migrating and upgrading worlds |
//! | [`providers`] | Storage of chunks: region files, RocksDB, memory |
//! | [`chunk`] | Decoding, changing and encoding chunks |
//! | [`documents`] | BSON, and the game's JSON |
//! | [`files`] | Durable file operations |
//! | [`indexed_storage`] | Region files: reading, writing, checking and salvaging blobs |
//! | [`coords`] | Positions of blocks, chunks, regions and slots |
//!
//! [`World`] is the chunks at a location, [`world::WorldFolder`] the folder of a world with its
//! configuration, and [`RunningWorld`] a world whose chunks are loaded and saved.
//!
//! The features `rocksdb` and `s3` (`full` enables both) add these providers. The command-line
//! program `hyworld` is in the package `hyworld-cli`.

mod assets;
mod change;
mod chunks;
mod colors;
mod containers;
mod convert;
mod diff;
mod error;
mod find;
mod game_folders;
mod health;
mod info;
mod landmarks;
mod location;
mod map;
mod output;
mod packing;
mod players;
pub mod prelude;
mod region;
mod repair;
mod resources;
mod restore;
mod running;
mod seals;
mod select;
mod snapshot;
mod sources;
mod stored_chunk;
mod trim;
mod undelete;
mod undo;
mod upgrade;
mod world_at;

pub use assets::{load_colors, load_migrations};
pub use change::{Change, ChangeOptions, ChangeReport, EditReport, Plan};
pub use chunks::Chunks;
pub use colors::{UsedNames, used_names};
pub use containers::FoundContainer;
pub use convert::convert;
pub use diff::{FileDiff, diff_files};
pub use error::{Error, ErrorKind, Result};
pub use find::find_in_players;
pub use game_folders::{GameFolders, InstalledAssets};
pub use health::{ManifestUse, check_files, open_for_check};
pub use info::{
    BackupsInfo, ConfigInfo, Info, InfoOptions, OtherInfo, SpawnInfo, StorageInfo, UniverseInfo,
    WorldInfo,
};
pub use landmarks::{Landmarks, NamedPosition};
pub use location::{Location, find_named_world, find_universe, find_world, find_worlds, registry};
pub use map::{
    LayerPage, MapFolder, MapInput, MapProblem, MapReport, Marker, MarkerChoice, MarkerKind,
    PageTexts, PastState, TileOptions, TileReport, TileRun, WorldPage, WorldSink, draw_archive,
    draw_map, draw_tile, draw_tiles, find_markers, stored_neighbours,
};
pub use output::{OutputKind, check_output, check_output_folder};
pub use packing::{PackForecast, PackOutcome, PackWorld, Packing};
pub use players::{
    InventoryInfo, ItemInfo, PlayerInfo, find_player, player_in, remove_player, save_player,
    set_player,
};
pub use region::{
    PutOptions, PutReport, compact_region, open_region, open_region_if_present, put_blob,
    rebuild_header, rebuild_index, remove_blob, restore_blob, seal_document, upgrade_region,
};
pub use repair::{FileRemedy, FileRepair, Repair, RepairOptions, RepairOutcome};
pub use resources::{NamedResources, resources_at};
pub use restore::{
    Restore, RestoreAction, RestoreOptions, RestoreReport, RestoredChunk, RestoredFile,
};
pub use running::RunningWorld;
pub use seals::{SealOptions, SealReport, seal_region};
pub use select::WorldContext;
pub use snapshot::{Snapshot, snapshot};
pub use sources::{SameWorld, SourceInfo};
pub use stored_chunk::StoredChunk;
pub use trim::{KeptChunks, TRIM_RING, Trim, TrimOptions, TrimReport};
pub use undelete::{StoredState, Undelete, UndeleteOptions, UndeleteReport};
pub use undo::{Undo, UndoOptions, location_to_name};
pub use upgrade::{Upgrade, UpgradeOutcome, undo_upgrade};
pub use world_at::{World, open};

pub use hyworld_assets as color_assets;
pub use hyworld_chunk as chunk;
pub use hyworld_chunk_store as chunk_store;
pub use hyworld_coords as coords;
pub use hyworld_documents as documents;
pub use hyworld_files as files;
pub use hyworld_indexed_storage as indexed_storage;
pub use hyworld_maintenance as maintenance;
pub use hyworld_map as map_layers;
pub use hyworld_providers as providers;
#[cfg(feature = "s3")]
pub use hyworld_s3 as s3;
pub use hyworld_world as world;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
