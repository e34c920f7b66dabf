//! Reads header and index tables, in both versions.

use std::io;
use std::path::Path;

use hyworld_files::FileError;

use crate::error::{Error, HeaderProblem, Result};
use crate::header::{self, FormatVersion, Header};
use crate::layout::{Geometry, HEADER_BYTES};
use crate::raw_file::RawFile;
use crate::v0;

pub(crate) fn read_header(raw: &dyn RawFile, path: &Path) -> Result<Header> {
    let mut bytes = [0; header::BYTES];
    let count = raw.read_at(&mut bytes, 0).map_err(FileError::at(path, "read"))?;
    Header::decode(bytes.get(..count).unwrap_or_default())
        .and_then(v0::check_geometry)
        .map_err(|problem| Error::Header { path: path.to_owned(), problem })
}

/// Rejects a file that ends inside its index tables. Missing entries must not be treated as empty
/// slots: after the first write the loss could no longer be detected. If all existing bytes of the
/// table are zero, the file was being created and holds no blobs.
pub(crate) fn check_tables(
    raw: &dyn RawFile,
    header: Header,
    file_bytes: u64,
) -> io::Result<Option<HeaderProblem>> {
    let end = match header.version {
        FormatVersion::V0 => v0::segments_offset(header.geometry),
        FormatVersion::V1 => header.geometry.segments_offset(),
    };
    if file_bytes >= end {
        return Ok(None);
    }
    let bytes = usize::try_from(end.saturating_sub(HEADER_BYTES)).map_err(io::Error::other)?;
    let mut found = vec![0; bytes];
    raw.read_at(&mut found, HEADER_BYTES)?;
    let has_entries = found.iter().any(|byte| *byte != 0);
    Ok(has_entries.then_some(HeaderProblem::TableCutOff { file_bytes, end }))
}

/// Reads an index table; the result is shorter if the file ends inside it.
pub(crate) fn read_table(
    raw: &dyn RawFile,
    geometry: Geometry,
    offset: u64,
) -> io::Result<Vec<u8>> {
    let bytes = usize::try_from(geometry.table_bytes()).map_err(io::Error::other)?;
    let mut table = vec![0; bytes];
    let count = raw.read_at(&mut table, offset)?;
    table.truncate(count);
    Ok(table)
}
