//! The provider `RocksDb`: a RocksDB database in the folder `db` of a world.
//!
//! `docs/format/rocksdb.md` has the layout. Here is how a database is opened and closed; what is
//! done with the chunks in it is in `storage`.
//!
//! Whatever is in the folder, nothing in it is changed unless it has exactly the layout that is
//! known here: see `layout`.

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

/// The folder of a world in which its database is.
const DATABASE_FOLDER: &str = "db";

/// The column family in which the chunks are.
const CHUNKS_FAMILY: &str = "chunks";

/// The chunks of a world in a RocksDB database, as the game stores them.
///
/// What survives what:
/// - Every write goes to the log of the database first. It survives the end of the process, also
///   by force, as soon as it returned.
/// - A power cut may cost the writes since the last [`sync`](ChunkStorage::sync), unless
///   [`flush_on_write`](RocksDbOptions::flush_on_write) was set. Never a part of a write: the log
///   has checksums, and what comes after a torn record is dropped.
/// - `sync` makes the log durable, and with it all chunks. (The game's own flush only touches a
///   column family that has no chunks in it.) Closing does the same.
///
/// Only one program can have a database open for writing. Reading needs no lock and writes
/// nothing; it shows what was there when it was opened, and reads of a database that another
/// program compacts meanwhile can fail.
///
/// `RocksDB` has threads of its own for flushing and compaction, as many as there are cores.
pub struct RocksDbStorage {
    folder: PathBuf,
    /// `None` if there was no database to read.
    db: Option<DB>,
    /// Why nothing may be written, if so.
    read_only: Option<String>,
    /// What is in the database that is not known here.
    unknown: Option<String>,
    write_options: WriteOptions,
    /// Whether many chunks are written before any is read.
    is_building: bool,
    /// Held while something is removed: of two who remove a chunk only one did.
    removing: Mutex<()>,
}

/// How a database is opened and written.
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
    /// Reading and writing as the game does it: writes are not synced.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether anything may be written.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Whether each write survives a power cut. The game has no such setting.
    pub fn flush_on_write(mut self, flush: bool) -> Self {
        self.flush_on_write = flush;
        self
    }

    /// Whether the database is the target of a copy: many chunks are written before any is read.
    /// Writes bypass the log then, and survive the end of the process only after
    /// [`sync`](ChunkStorage::sync), which also puts the tables in order.
    pub fn building(mut self, building: bool) -> Self {
        self.building = building;
        self
    }

    /// Opens the database in `folder`. If there is none, it is made, with the folder; for reading,
    /// it counts as empty.
    ///
    /// A database of a newer layout is opened for reading, and writes to it are refused: see
    /// [`RocksDbStorage::unknown_content`].
    ///
    /// # Errors
    /// The database is damaged, another program has it open for writing, or the folder cannot be
    /// read or made.
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
            unknown: opened.unknown,
            write_options,
            is_building,
            removing: Mutex::default(),
        }
    }
}

impl RocksDbStorage {
    /// Opens the database in `folder` for reading and writing, and makes it if it is missing.
    ///
    /// # Errors
    /// As for [`RocksDbOptions::open`].
    pub fn open(folder: &Path) -> Result<Self> {
        RocksDbOptions::new().open(folder)
    }

    /// Opens the database in `folder` for reading. Nothing in the folder is changed or made, not
    /// even a log file.
    ///
    /// # Errors
    /// As for [`RocksDbOptions::open`].
    pub fn open_read_only(folder: &Path) -> Result<Self> {
        RocksDbOptions::new().access(Access::ReadOnly).open(folder)
    }

    /// The folder of the database.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is in the database that is not known here, in words. Newer versions of the game have
    /// another layout: of such a database the chunks that are stored in the known way can be read,
    /// and nothing is written to it. What is not known is also an error in
    /// [`positions`](ChunkStorage::positions), once.
    pub fn unknown_content(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// Rewrites the database without what was removed or written over. Takes a while, and needs
    /// room for a second copy. It can be used meanwhile.
    ///
    /// The game does less: it rewrites only the oldest quarter of the files that hold documents,
    /// and of the others deletes those that are not needed at all.
    ///
    /// # Errors
    /// It is open for reading only, or something could not be written. Nothing is lost then.
    pub fn compact(&self) -> Result<()> {
        let (db, chunks) = self.writable()?;
        let failed = || error::failed(&self.folder, "compact");
        // First, because this says what went wrong, and a compaction does not.
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
            let source = "it went wrong in the background; the file LOG in the folder says why";
            return Err(error::engine(&self.folder, "compact", source));
        }
        Ok(())
    }

    /// Makes everything durable and closes the database.
    ///
    /// # Errors
    /// What was written last may not be durable. The database is closed all the same.
    pub fn close(self) -> Result<()> {
        self.sync()
    }

    fn set_options(&self, options: &[(&str, &str)]) -> Result<()> {
        let (db, chunks) = self.writable()?;
        db.set_options_cf(chunks, options).map_err(error::failed(&self.folder, "configure"))
    }

    /// Writes everything to tables, and those to one sorted run.
    fn finish_building(&self) -> Result<()> {
        let (db, chunks) = self.writable()?;
        db.flush_cf(chunks).map_err(error::failed(&self.folder, "sync"))?;
        db.compact_range_cf(chunks, None::<&[u8]>, None::<&[u8]>);
        self.set_options(&options::BUILT)
    }

    /// The database and its chunks; `None` if there are none.
    fn readable(&self) -> Option<(&DB, &ColumnFamily)> {
        let db = self.db.as_ref()?;
        // A database that is read may have no such family.
        Some((db, db.cf_handle(CHUNKS_FAMILY)?))
    }

    /// The database and its chunks, if they may be written.
    fn writable(&self) -> Result<(&DB, &ColumnFamily)> {
        let place = || self.folder.display().to_string();
        if let Some(reason) = &self.read_only {
            return Err(Error::ReadOnly { place: place(), reason: reason.clone() });
        }
        self.readable().ok_or_else(|| error::engine(&self.folder, "write", "it has no chunks"))
    }
}

/// Makes the last writes durable, as the game does. Whether that worked only
/// [`close`](Self::close) can say.
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
            .field("unknown", &self.unknown)
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
