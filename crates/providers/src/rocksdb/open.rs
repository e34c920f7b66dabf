//! Opening a database without harming what is in the folder.

use std::path::Path;

use ::rocksdb::{DB, Options};
use hyworld_files::sync_parent;

use super::{error, layout, options, options_file};
use crate::error::{Error, Result};
use crate::registry::Access;

/// The file without which a folder is no database: it names the newest list of files.
const CURRENT_FILE: &str = "CURRENT";

/// What files that hold data end with.
const DATA_ENDINGS: [&str; 3] = [".blob", ".log", ".sst"];

/// An open database, and what may be done with it.
pub(super) struct Opened {
    /// `None` if there is no database to read.
    pub(super) db: Option<DB>,
    /// Why nothing may be written, if so.
    pub(super) read_only: Option<String>,
    /// What is in it that is not known here, if it was looked for.
    pub(super) unknown: Option<String>,
}

impl Opened {
    /// What may be done with a database in which this is not known.
    fn with(db: DB, unknown: Option<String>) -> Self {
        let read_only = unknown.as_ref().map(|unknown| {
            format!(
                "it has {unknown}, which this program does not know; a newer version of the game \
                 may have made it"
            )
        });
        Self { db: Some(db), read_only, unknown }
    }
}

pub(super) fn open(folder: &Path, access: Access) -> Result<Opened> {
    let is_there = has_database(folder)?;
    match access {
        Access::ReadOnly => {
            let opened = if is_there { Some(look(folder)?) } else { None };
            let opened = opened.unwrap_or(Opened { db: None, read_only: None, unknown: None });
            let read_only = Some("it was opened for reading".to_owned());
            Ok(Opened { read_only, ..opened })
        }
        Access::ReadWrite if !is_there => Ok(Opened::with(open_to_write(folder)?, None)),
        Access::ReadWrite => open_existing(folder),
    }
}

/// Whether there is a database in the folder.
///
/// Data without `CURRENT` is a database that lost it. `RocksDB` would make a new one in its place
/// and delete what the new one does not know, so that is an error.
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
        "{data} is there but not {CURRENT_FILE}, without which RocksDB would delete it: restore \
         the database from a backup, or at least {CURRENT_FILE}, which holds the name of the \
         newest MANIFEST file and a line break"
    );
    Err(error::engine(folder, "open", problem))
}

fn families(folder: &Path) -> Result<Vec<String>> {
    DB::list_cf(&Options::default(), folder).map_err(error::opening(folder))
}

/// Opens a database for reading; nothing is written. Families that are not known are left out.
fn look(folder: &Path) -> Result<Opened> {
    let families = families(folder)?;
    let known = options::families(options::TABLE_FORMAT_VERSION).into_iter();
    let known = known.filter(|family| families.iter().any(|name| name == family.name()));
    let db = DB::open_cf_descriptors_read_only(&options::reading(), folder, known, false)
        .map_err(error::opening(folder))?;
    let unknown = layout::unknown_families(&families).or_else(|| layout::unknown_keys(&db));
    Ok(Opened::with(db, unknown))
}

/// Opens a database for writing, if its layout is known here.
///
/// Whether it is is found out without writing: opening it for writing would already rewrite what
/// is in its log, with options that are not meant for it.
fn open_existing(folder: &Path) -> Result<Opened> {
    match look(folder) {
        Ok(opened) if opened.unknown.is_some() => return Ok(opened),
        // What is wrong is said when it is opened for writing. It may only be that another
        // program is at it.
        Ok(_) | Err(_) => {}
    }
    let db = open_to_write(folder)?;
    let unknown = layout::unknown_keys(&db);
    Ok(Opened::with(db, unknown))
}

fn open_to_write(folder: &Path) -> Result<DB> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder, "make"))?;
    // RocksDB makes only durable what is inside the folder.
    sync_parent(folder)?;
    let format = options_file::table_format_version(folder).unwrap_or_default();
    let format = format.max(options::TABLE_FORMAT_VERSION);
    DB::open_cf_descriptors(&options::writing(), folder, options::families(format))
        .map_err(error::opening(folder))
}
