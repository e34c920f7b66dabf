//! [`Manifest`]: a hash of every chunk and file of a world, to find silent changes later.
//!
//! A manifest is a text file of JSON lines. The first line describes it, then there is one line for
//! each file, region file and chunk, and the last line has the counts and a SHA-256 of all lines
//! before. A flipped bit in the manifest itself is therefore never reported as one in the world.
//!
//! ```text
//! {"type":"manifest","version":1,"world":"default","written_ms":1790000000000}
//! {"type":"file","path":"config.json","bytes":1234,"hash":"..."}
//! {"type":"region","x":0,"z":-1,"bytes":4128,"modified_ns":1790000000000000000,"table":"..."}
//! {"type":"chunk","x":3,"z":-7,"bytes":78900,"hash":"...","stored":"..."}
//! {"type":"end","files":1,"regions":1,"chunks":1,"sha256":"..."}
//! ```

mod changes;
mod format;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use hyworld_coords::{ChunkPos, RegionPos};
use sha2::{Digest, Sha256};

pub use changes::{ManifestChanges, changed_chunks, changed_regions};

/// The first 16 bytes of a SHA-256: enough to find every accidental change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortHash([u8; 16]);

impl ShortHash {
    /// Returns the hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        Self(digest.first_chunk().copied().unwrap_or_default())
    }

    /// Returns the hash as a number.
    pub fn to_number(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    /// Parses 32 hexadecimal digits.
    fn parse(text: &str) -> Option<Self> {
        u128::from_str_radix(text, 16)
            .ok()
            .filter(|_| text.len() == 32)
            .map(|number| Self(number.to_be_bytes()))
    }
}

impl fmt::Display for ShortHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for ShortHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a manifest records about a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkRecord {
    /// The length of its document.
    pub bytes: u64,
    /// The hash of its document.
    pub hash: ShortHash,
    /// The hash of its blob as it is stored; `None` if the storage has no blobs.
    pub stored: Option<ShortHash>,
}

/// What a manifest records about a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileRecord {
    /// Its length.
    pub bytes: u64,
    /// The hash of its contents.
    pub hash: ShortHash,
}

/// What a manifest records about a region file, besides its chunks. A file that still matches all
/// of it was not written after the manifest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionRecord {
    /// Its length.
    pub bytes: u64,
    /// The time of the last write, in nanoseconds since 1970; 0 if it is not known.
    pub modified_ns: u64,
    /// The hash of its header and index table.
    pub table: ShortHash,
}

impl RegionRecord {
    /// Reads the record of a region file. Returns `None` if it cannot be read.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.and_then(|time| u64::try_from(time.as_nanos()).ok());
        let mut head = vec![0; HEAD_BYTES];
        let count = read_start(path, &mut head).ok()?;
        head.truncate(count);
        let (bytes, table) = (metadata.len(), ShortHash::of(&head));
        Some(Self { bytes, modified_ns: modified_ns.unwrap_or(0), table })
    }
}

/// The header and the index tables of a region file; those of version 0 are twice as long.
const HEAD_BYTES: usize = 32 + 8 * 1024;

fn read_start(path: &Path, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    use std::io::Read;
    let limit = bytes.len() as u64;
    bytes.clear();
    hyworld_files::open_regular(path)?.take(limit).read_to_end(bytes)
}

/// The hashes of a world. Needs about 100 bytes of memory for each chunk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    /// The name of the world.
    pub world: String,
    /// The time at which it was written, in milliseconds since 1970.
    pub written_ms: u64,
    /// The files besides the chunks, by their path in the world's folder.
    pub files: BTreeMap<String, FileRecord>,
    /// The region files.
    pub regions: BTreeMap<RegionPos, RegionRecord>,
    /// The chunks.
    pub chunks: BTreeMap<ChunkPos, ChunkRecord>,
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] hyworld_files::FileError),
    /// It is not a manifest, or it is damaged.
    #[error("{}: line {line}: {problem}", path.display())]
    Damaged {
        /// The manifest.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A newer version of this program wrote it.
    #[error("{}: version {found} is not supported; use a newer hyworld", path.display())]
    Newer {
        /// The manifest.
        path: PathBuf,
        /// The version in its first line.
        found: u64,
    },
}
