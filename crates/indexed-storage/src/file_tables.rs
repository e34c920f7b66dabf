//! Reading the beginning of a file: header and index tables, in both versions.

use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::header::{self, Header};
use crate::layout::Geometry;
use crate::raw_file::RawFile;
use crate::v0;

/// Reads and checks the first 32 bytes.
pub(crate) fn read_header(raw: &dyn RawFile, path: &Path) -> Result<Header> {
    let mut bytes = [0; header::BYTES];
    let count = raw.read_at(&mut bytes, 0).map_err(|source| Error::Io {
        path: path.to_owned(),
        action: "read",
        source,
    })?;
    Header::decode(bytes.get(..count).unwrap_or_default())
        .and_then(v0::check_geometry)
        .map_err(|problem| Error::Header { path: path.to_owned(), problem })
}

/// As many bytes of an index table as the file has.
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
