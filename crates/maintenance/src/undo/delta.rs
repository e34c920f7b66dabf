//! The differences between the old and the new bytes of a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hyworld_files::{FileError, open_regular};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The unit of comparison: a segment of a region file.
const UNIT_BYTES: usize = 4096;

/// The maximum length of a range.
const RANGE_BYTES_MAX: usize = 1 << 20;

/// The length and hash of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Digested {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Digested {
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, sha256: hex(&Sha256::digest(bytes)) }
    }

    /// Reads and hashes a file; `None` if it does not exist.
    pub(super) fn of_file(path: &Path) -> Result<Option<Self>, FileError> {
        let Some(mut file) = open(path)? else { return Ok(None) };
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0_u64, vec![0; RANGE_BYTES_MAX]);
        loop {
            let read = file.read(&mut buffer).map_err(FileError::at(path, "read"))?;
            let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else { break };
            hash.update(part);
            bytes = bytes.saturating_add(read as u64);
        }
        Ok(Some(Self { bytes, sha256: hex(&hash.finalize()) }))
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Opens a file for reading; `None` if it does not exist.
pub(super) fn open(path: &Path) -> Result<Option<File>, FileError> {
    match open_regular(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::at(path, "open")(error)),
    }
}

/// Length and hash of the two compared files; `None` for a file that does not exist.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) old: Option<Digested>,
    pub(super) new: Option<Digested>,
}

/// Compares two files and calls `range` with the offset and the old bytes of each part that
/// differs. A missing file counts as empty.
pub(super) fn compare<E: From<FileError>>(
    old: &Path,
    new: Option<&Path>,
    mut range: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<Compared, E> {
    let mut sides = [Side::open(Some(old))?, Side::open(new)?];
    let (mut offset, mut pending) = (0_u64, Vec::new());
    loop {
        let [before, after] = &mut sides;
        let (old, new) = (before.next()?, after.next()?);
        if old.is_empty() && new.is_empty() {
            break;
        }
        if old != new && !old.is_empty() {
            pending.extend_from_slice(old);
        }
        let is_same = old == new || old.is_empty();
        let end = offset.saturating_add(old.len() as u64);
        if !pending.is_empty() && (is_same || pending.len() >= RANGE_BYTES_MAX) {
            let start = if is_same { offset } else { end };
            range(start.saturating_sub(pending.len() as u64), &pending)?;
            pending.clear();
        }
        offset = end;
    }
    if !pending.is_empty() {
        range(offset.saturating_sub(pending.len() as u64), &pending)?;
    }
    let [old, new] = sides.map(Side::digested);
    Ok(Compared { old, new })
}

/// One file of a comparison, read unit by unit.
struct Side {
    file: Option<(std::path::PathBuf, io::BufReader<File>)>,
    hash: Sha256,
    bytes: u64,
    buffer: Vec<u8>,
}

impl Side {
    fn open(path: Option<&Path>) -> Result<Self, FileError> {
        let file = match path {
            Some(path) => open(path)?
                .map(|file| (path.to_owned(), io::BufReader::with_capacity(RANGE_BYTES_MAX, file))),
            None => None,
        };
        Ok(Self { file, hash: Sha256::new(), bytes: 0, buffer: Vec::with_capacity(UNIT_BYTES) })
    }

    /// Returns the next unit; shorter at the end of the file, then empty.
    fn next(&mut self) -> Result<&[u8], FileError> {
        self.buffer.clear();
        if let Some((path, file)) = &mut self.file {
            let read = file.by_ref().take(UNIT_BYTES as u64).read_to_end(&mut self.buffer);
            read.map_err(FileError::at(path, "read"))?;
        }
        self.hash.update(&self.buffer);
        self.bytes = self.bytes.saturating_add(self.buffer.len() as u64);
        Ok(&self.buffer)
    }

    fn digested(self) -> Option<Digested> {
        self.file
            .is_some()
            .then(|| Digested { bytes: self.bytes, sha256: hex(&self.hash.finalize()) })
    }
}
