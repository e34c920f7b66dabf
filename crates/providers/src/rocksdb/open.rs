//! Opens a database without damaging the data in its folder.

use std::path::Path;

use ::rocksdb::{DB, Options};
use hyworld_files::sync_parent;

use super::{error, layout, options, options_file};
use crate::error::{Error, Result};
use crate::registry::Access;

/// The file that every database has. It contains the name of the newest MANIFEST file.
const CURRENT_FILE: &str = "CURRENT";

/// Suffixes of files that contain data.
const DATA_ENDINGS: [&str; 3] = [".blob", ".log", ".sst"];

/// An open database and the allowed operations.
pub(super) struct Opened {
    /// `None` if there is no database to read.
    pub(super) db: Option<DB>,
    /// Why the database cannot be written, if so.
    pub(super) read_only: Option<String>,
    /// The part of the layout that is not supported, if it was checked.
    pub(super) unsupported: Option<String>,
}

impl Opened {
    /// Makes a database with an unsupported layout read-only.
    fn with(db: DB, unsupported: Option<String>) -> Self {
        let read_only = unsupported.as_ref().map(|unsupported| {
            format!(
                "it has {unsupported}, which this program does not support; a newer version of the \
                 game may have created it"
            )
        });
        Self { db: Some(db), read_only, unsupported }
    }
}

pub(super) fn open(folder: &Path, access: Access) -> Result<Opened> {
    let exists = has_database(folder)?;
    match access {
        Access::ReadOnly => {
            let opened = if exists { Some(open_to_read(folder)?) } else { None };
            let opened = opened.unwrap_or(Opened { db: None, read_only: None, unsupported: None });
            let read_only = Some("it was opened for reading".to_owned());
            Ok(Opened { read_only, ..opened })
        }
        Access::ReadWrite if !exists => Ok(Opened::with(open_to_write(folder)?, None)),
        Access::ReadWrite => open_existing(folder),
    }
}

/// Returns whether there is a database in the folder.
///
/// Data files without `CURRENT` are an error: `RocksDB` would create a new database in their place
/// and delete them.
fn has_database(folder: &Path) -> Result<bool> {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io(folder, "open")(error)),
    };
    let mut data = None;
    for entry in entries {
        let name = entry.map_err(Error::io(folder, "list"))?.file_name();
        let name = name.to_string_lossy();
        if name == CURRENT_FILE {
            return Ok(true);
        }
        if DATA_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            data = Some(name.into_owned());
        }
    }
    let Some(data) = data else { return Ok(false) };
    let problem = format!(
        "{CURRENT_FILE} is missing but {data} exists, which RocksDB would delete; restore the \
         database from a backup, or create {CURRENT_FILE} with the name of the newest MANIFEST \
         file and a line break"
    );
    Err(error::engine(folder, "open", problem))
}

fn families(folder: &Path) -> Result<Vec<String>> {
    DB::list_cf(&Options::default(), folder).map_err(error::opening(folder))
}

/// Opens a database for reading, without the unknown column families. Writes nothing.
fn open_to_read(folder: &Path) -> Result<Opened> {
    let families = families(folder)?;
    let known = options::families(options::TABLE_FORMAT_VERSION).into_iter();
    let known = known.filter(|family| families.iter().any(|name| name == family.name()));
    let db = DB::open_cf_descriptors_read_only(&options::reading(), folder, known, false)
        .map_err(error::opening(folder))?;
    let unsupported = layout::unknown_families(&families).or_else(|| layout::unknown_keys(&db));
    Ok(Opened::with(db, unsupported))
}

/// Opens a database for writing if its layout is supported.
///
/// The layout is checked read-only first: opening for writing would already rewrite the data in the
/// log, with unsuitable options.
fn open_existing(folder: &Path) -> Result<Opened> {
    match open_to_read(folder) {
        Ok(opened) if opened.unsupported.is_some() => return Ok(opened),
        // Opening for writing reports the error. The only reason may be that another program is
        // writing.
        Ok(_) | Err(_) => {}
    }
    let db = open_to_write(folder)?;
    let unsupported = layout::unknown_keys(&db);
    Ok(Opened::with(db, unsupported))
}

fn open_to_write(folder: &Path) -> Result<DB> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder, "create"))?;
    // RocksDB syncs only the contents of the folder.
    sync_parent(folder)?;
    let format = options_file::table_format_version(folder).unwrap_or_default();
    let format = format.max(options::TABLE_FORMAT_VERSION);
    DB::open_cf_descriptors(&options::writing(), folder, options::families(format))
        .map_err(error::opening(folder))
}
