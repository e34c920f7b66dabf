//! The provider `RocksDb`: a RocksDB database in the folder `db` of a world.
//!
//! This module opens and closes the database; `storage` accesses the chunks in it.
//! `docs/format/rocksdb.md` describes the layout.
//!
//! Nothing in the folder is changed unless the database has exactly the known layout: see `layout`.

mod error;
mod key;
mod layout;
mod listing;
mod open;
mod options;
mod options_file;
mod storage;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ::rocksdb::{
    BottommostLevelCompaction, ColumnFamily, CompactOptions, DB, WriteOptions, properties,
};

use crate::config::ProviderConfig;
use crate::error::{Error, Result};
use crate::registry::{Access, OpenContext};
use crate::storage::ChunkStorage;

/// The folder of a world that contains its database.
const DATABASE_FOLDER: &str = "db";

const CHUNKS_FAMILY: &str = "chunks";

/// The chunks of a world in a RocksDB database, as the game stores them.
///
/// Durability:
/// - Every write goes to the log of the database first. Once it returned, it survives the end of
///   the process, even if the process is killed.
/// - A power cut may lose the writes since the last [`sync`](ChunkStorage::sync), unless
///   [`flush_on_write`](RocksDbOptions::flush_on_write) was set. It never loses part of a write:
///   the log has checksums, and everything after a torn record is dropped.
/// - `sync` makes the log and so all chunks durable. (The game's own flush only affects a column
///   family without chunks.) Closing does the same.
///
/// Only one program can have a database open for writing. Reading needs no lock and writes nothing;
/// it sees the state when the database was opened, and can fail if another program compacts the
/// database in the meantime.
///
/// `RocksDB` uses background threads for flushing and compaction, as many as there are cores.
pub struct RocksDbStorage {
    folder: PathBuf,
    /// `None` if there is no database to read.
    db: Option<DB>,
    /// Why the database cannot be written, if so.
    read_only: Option<String>,
    /// The part of the layout that is not supported, if any.
    unsupported: Option<String>,
    write_options: WriteOptions,
    /// Whether many chunks are written before any is read.
    is_building: bool,
    /// Held while removing, so that only one of two concurrent removals returns `true`.
    removing: Mutex<()>,
}

/// Options for opening and writing a database.
#[derive(Clone, Debug)]
#[must_use]
pub struct RocksDbOptions {
    access: Access,
    flush_on_write: bool,
    building: bool,
}

impl Default for RocksDbOptions {
    fn default() -> Self {
        Self { access: Access::ReadWrite, flush_on_write: false, building: false }
    }
}

impl RocksDbOptions {
    /// Creates options for reading and writing as the game does: writes are not synced.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the database may be written.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Sets whether each write survives a power cut. The game has no such setting.
    pub fn flush_on_write(mut self, flush: bool) -> Self {
        self.flush_on_write = flush;
        self
    }

    /// Sets whether the database is the target of a copy: many chunks are written before any is
    /// read. Writes then bypass the log, and survive the end of the process only after
    /// [`sync`](ChunkStorage::sync), which also compacts the tables.
    pub fn building(mut self, building: bool) -> Self {
        self.building = building;
        self
    }

    /// Opens the database in `folder`. A missing database is created, with its folder; for reading,
    /// it counts as empty.
    ///
    /// A database with a newer layout is opened read-only: see
    /// [`RocksDbStorage::unsupported_layout`].
    ///
    /// # Errors
    /// Returns an error if the database is damaged or locked by another writer, or if the folder
    /// cannot be read or created.
    pub fn open(&self, folder: &Path) -> Result<RocksDbStorage> {
        let storage = self.storage(folder, open::open(folder, self.access)?);
        if storage.is_building {
            storage.set_options(&options::BUILDING)?;
        }
        Ok(storage)
    }

    fn storage(&self, folder: &Path, opened: open::Opened) -> RocksDbStorage {
        let mut write_options = WriteOptions::default();
        let is_building = self.building && opened.read_only.is_none();
        write_options.set_sync(self.flush_on_write && !is_building);
        write_options.disable_wal(is_building);
        RocksDbStorage {
            folder: folder.to_owned(),
            db: opened.db,
            read_only: opened.read_only,
            unsupported: opened.unsupported,
            write_options,
            is_building,
            removing: Mutex::default(),
        }
    }
}

impl RocksDbStorage {
    /// Opens the database in `folder` for reading and writing. Creates it if it is missing.
    ///
    /// # Errors
    /// As for [`RocksDbOptions::open`].
    pub fn open(folder: &Path) -> Result<Self> {
        RocksDbOptions::new().open(folder)
    }

    /// Opens the database in `folder` for reading. Nothing in the folder is changed or created, not
    /// even a log file.
    ///
    /// # Errors
    /// As for [`RocksDbOptions::open`].
    pub fn open_read_only(folder: &Path) -> Result<Self> {
        RocksDbOptions::new().access(Access::ReadOnly).open(folder)
    }

    /// Returns the folder of the database.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Describes the part of the layout that this version does not support, if any. Newer versions
    /// of the game use another layout. In such a database only chunks stored in the known way can
    /// be read, and nothing can be written. [`positions`](ChunkStorage::positions) also returns one
    /// error for the unsupported part.
    pub fn unsupported_layout(&self) -> Option<&str> {
        self.unsupported.as_deref()
    }

    /// Rewrites the database without removed and replaced chunks. This takes a while and needs disk
    /// space for a second copy. The storage can be used in the meantime.
    ///
    /// The game does less: it rewrites only the oldest quarter of the blob files, and deletes other
    /// files only if they contain no current chunk.
    ///
    /// # Errors
    /// Returns an error if the database is read-only or a write fails. Nothing is lost then.
    pub fn compact(&self) -> Result<()> {
        let (db, chunks) = self.writable()?;
        let failed = || error::failed(&self.folder, "compact");
        // Flush first: it reports errors, and a compaction does not.
        db.flush_cf(chunks).map_err(failed())?;
        let errors = || db.property_int_value(properties::BACKGROUND_ERRORS).map_err(failed());
        let errors_before = errors()?;
        let rewrite_share = |share| {
            let changed = db.set_options_cf(chunks, &[(options::BLOB_REWRITE_SHARE, share)]);
            changed.map_err(failed())
        };
        rewrite_share("1.0")?;
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        db.compact_range_cf_opt(chunks, None::<&[u8]>, None::<&[u8]>, &options);
        rewrite_share(options::BLOB_REWRITE_SHARE_OF_GAME)?;
        if errors()? != errors_before {
            let source = "it failed in the background; see the file LOG in the folder";
            return Err(error::engine(&self.folder, "compact", source));
        }
        Ok(())
    }

    /// Makes everything durable and closes the database.
    ///
    /// # Errors
    /// Returns an error if the last writes may not be durable. The database is closed anyway.
    pub fn close(self) -> Result<()> {
        self.sync()
    }

    fn set_options(&self, options: &[(&str, &str)]) -> Result<()> {
        let (db, chunks) = self.writable()?;
        db.set_options_cf(chunks, options).map_err(error::failed(&self.folder, "configure"))
    }

    /// Writes everything to tables and merges them into one sorted run.
    fn finish_building(&self) -> Result<()> {
        let (db, chunks) = self.writable()?;
        db.flush_cf(chunks).map_err(error::failed(&self.folder, "sync"))?;
        db.compact_range_cf(chunks, None::<&[u8]>, None::<&[u8]>);
        self.set_options(&options::BUILT)
    }

    /// Returns the database and its column family of chunks, or `None` if one is missing.
    fn readable(&self) -> Option<(&DB, &ColumnFamily)> {
        let db = self.db.as_ref()?;
        // A database opened for reading may not have this column family.
        Some((db, db.cf_handle(CHUNKS_FAMILY)?))
    }

    /// Returns the database and its column family of chunks if it can be written.
    fn writable(&self) -> Result<(&DB, &ColumnFamily)> {
        if let Some(reason) = &self.read_only {
            let location = self.folder.display().to_string();
            return Err(Error::ReadOnly { location, reason: reason.clone() });
        }
        self.readable().ok_or_else(|| error::engine(&self.folder, "write", "column family missing"))
    }
}

/// Makes the last writes durable, as the game does. Errors are ignored; [`close`](Self::close)
/// returns them.
impl Drop for RocksDbStorage {
    fn drop(&mut self) {
        match self.sync() {
            Ok(()) | Err(_) => {}
        }
    }
}

impl fmt::Debug for RocksDbStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RocksDbStorage")
            .field("folder", &self.folder)
            .field("read_only", &self.read_only)
            .field("unsupported", &self.unsupported)
            .finish_non_exhaustive()
    }
}

/// Opens the database of a world.
pub(crate) fn open_in_world(
    _: &ProviderConfig,
    context: &OpenContext<'_>,
) -> Result<Box<dyn ChunkStorage>> {
    let options = RocksDbOptions::new().access(context.access);
    Ok(Box::new(options.open(&context.world.join(DATABASE_FOLDER))?))
}
