//! Writes the records of a bundle, and reads them back.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use hyworld_files::{FileError, sync_parent};
use serde::Serialize;

use super::crash::point;
use super::header::BundleHeader;
use super::record::{self, Kind, MAGIC, Mark};
use super::records::{Found, Records};
use super::{Result, UndoError, unusable};

/// Bytes of records that are written together.
const BUFFER_BYTES: usize = 1 << 18;

/// A bundle that is being written.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    mark: Mark,
    /// The end of the bundle, and the number of the next record.
    written: (u64, u64),
    /// The same for the records that were read back.
    checked: (u64, u64),
}

impl Writer {
    /// Creates a bundle with two copies of its header.
    pub(super) fn create(path: &Path, header: &BundleHeader) -> Result<Self> {
        point().map_err(FileError::at(path, "create"))?;
        let create = File::options().write(true).create_new(true).open(path);
        let created = create.map_err(FileError::at(path, "create"))?;
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, created);
        file.write_all(MAGIC).map_err(FileError::at(path, "write"))?;
        let start = (MAGIC.len() as u64, 0);
        let (path, mark) = (path.to_owned(), record::new_mark());
        let mut writer = Self { path, file, mark, written: start, checked: start };
        let payload = json(header)?;
        let is_readable =
            serde_json::from_slice(&payload).is_ok_and(|read: BundleHeader| read == *header);
        if !is_readable {
            return Err(unusable(&writer.path, "its header cannot be read back"));
        }
        writer.add(Kind::Header, &payload)?;
        writer.add(Kind::Header, &payload)?;
        Ok(writer)
    }

    /// Appends a record.
    pub(super) fn add(&mut self, kind: Kind, payload: &[u8]) -> Result<()> {
        point().map_err(FileError::at(&self.path, "write"))?;
        let (end, number) = self.written;
        let bytes = record::write(&mut self.file, self.mark, number, kind, payload)
            .map_err(FileError::at(&self.path, "write"))?;
        self.written = (end.saturating_add(bytes), number.saturating_add(1));
        Ok(())
    }

    /// Makes the records so far durable and reads them back, so that no change is made whose old
    /// bytes cannot be read.
    pub(super) fn commit(&mut self) -> Result<()> {
        point().map_err(FileError::at(&self.path, "sync"))?;
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(FileError::at(&self.path, "sync"))?;
        if self.checked.1 == 0 {
            sync_parent(&self.path)?;
        }
        let failed = |error| UndoError::File(FileError::at(&self.path, "read back")(error));
        let file = File::open(&self.path).map_err(failed)?;
        let ((start, first), (end, next)) = (self.checked, self.written);
        let mut records = Records::continued(file, self.mark, start, first, end);
        let mut number = first;
        while let Some(Found::Record(_)) = records.next().map_err(failed)? {
            number = number.saturating_add(1);
        }
        if number != next {
            return Err(unusable(&self.path, "what was written to it cannot be read back"));
        }
        self.checked = self.written;
        Ok(())
    }
}

/// Serializes a description.
pub(super) fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let failed = |error| UndoError::Description { reason: format!("{error}") };
    serde_json::to_vec(value).map_err(failed)
}
