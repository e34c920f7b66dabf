//! [`Sink`]: where tiles are written.

mod archive;
mod directory;
mod folder;

use std::fmt;

use crate::error::MapError;
use crate::pyramid::TilePos;

pub use archive::ArchiveSink;
pub use folder::{FolderSink, PARTIAL_SUFFIX, write_map_file};

/// Where the tiles of one world are written. Methods may be called from several threads.
pub trait Sink: fmt::Debug + Sync {
    /// Returns whether a tile is stored with this length.
    fn has(&self, layer: &str, at: TilePos, bytes: u64) -> bool;

    /// Reads a tile. Returns `None` if it is not stored.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    fn read(&self, layer: &str, at: TilePos) -> Result<Option<Vec<u8>>, MapError>;

    /// Writes a tile. It replaces an old one completely or not at all.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    fn write(&self, layer: &str, at: TilePos, bytes: &[u8]) -> Result<(), MapError>;

    /// Removes a tile, if it is stored.
    ///
    /// # Errors
    /// Returns an error if it cannot be removed.
    fn remove(&self, layer: &str, at: TilePos) -> Result<(), MapError>;
}
