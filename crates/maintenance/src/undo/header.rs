//! [`BundleHeader`]: what a bundle belongs to.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use hyworld_files::{FileError, open_regular};
use serde::{Deserialize, Serialize};

use super::record::{MAGIC, OLD_MAGIC};
use super::records::{BundleDamage, Found, Record, Records};
use super::{Result, UndoError, path_text, unusable};

/// The format version of bundles.
const VERSION: u32 = 2;

/// The header of a bundle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BundleHeader {
    version: u32,
    /// The program that wrote the bundle.
    pub program: String,
    /// The verb that changed the world.
    pub verb: String,
    /// The absolute path that the folder of the changed files had then.
    #[serde(with = "path_text")]
    pub root: PathBuf,
    /// The URL of the changed world, if it is in an object store.
    pub storage: Option<String>,
    /// The UUIDs of the worlds in the folder.
    pub worlds: Vec<String>,
    /// The time of the change, in milliseconds since 1970.
    pub time_ms: u64,
}

impl BundleHeader {
    pub(super) fn new(verb: &str, root: &Path, time_ms: u64) -> Self {
        let program = concat!("hyworld ", env!("CARGO_PKG_VERSION")).to_owned();
        let (verb, root) = (verb.to_owned(), root.to_owned());
        let (storage, worlds) = (None, Vec::new());
        Self { version: VERSION, program, verb, root, storage, worlds, time_ms }
    }

    /// Reads only the header of a bundle.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a bundle.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Reading::begin(path)?.header)
    }
}

/// A bundle whose header was read.
pub(super) struct Reading {
    pub(super) header: BundleHeader,
    pub(super) records: Records<File>,
    /// Damage before the header.
    pub(super) damage: Vec<BundleDamage>,
    pub(super) bytes: u64,
}

impl Reading {
    pub(super) fn begin(path: &Path) -> Result<Self> {
        let failed = |error| UndoError::File(FileError::at(path, "read")(error));
        let mut file = open_regular(path).map_err(FileError::at(path, "open"))?;
        let bytes = file.metadata().map_err(failed)?.len();
        let mut magic = Vec::new();
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(failed)?;
        if bytes == 0 {
            return Err(unusable(path, "it is empty: the verb was killed before its first change"));
        }
        if magic == OLD_MAGIC {
            let reason = "it has the format 1 of older versions of hyworld; undo it with one";
            return Err(unusable(path, reason));
        }
        if magic != MAGIC {
            return Err(unusable(path, "it does not begin with HYUNDO02"));
        }
        let (mut records, mut damage) = (Records::new(file, bytes), Vec::new());
        loop {
            match records.next().map_err(failed)? {
                None => return Err(unusable(path, "its header is damaged")),
                Some(Found::Damage(found)) => damage.push(found),
                Some(Found::Record(record)) => {
                    let header = parse_header(&record).map_err(|reason| unusable(path, &reason))?;
                    return Ok(Self { header, records, damage, bytes });
                }
            }
        }
    }
}

fn parse_header(record: &Record) -> Result<BundleHeader, String> {
    let header: BundleHeader = serde_json::from_slice(&record.payload)
        .map_err(|error| format!("its header is malformed: {error}"))?;
    if header.version != VERSION {
        return Err("a newer version of hyworld wrote it".to_owned());
    }
    Ok(header)
}
