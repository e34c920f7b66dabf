//! Nothing but the system and zstd: what others are measured against.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use zstd_safe::{CCtx, CParameter, DCtx};

use super::decompress;
use crate::blob_header::BLOB_HEADER_BYTES;
use crate::compression::DEFAULT_LEVEL;
use crate::error::{Error, Result};
use crate::file::IndexedStorageFile;
use crate::header::FormatVersion;
use crate::layout::BlobIndex;
use crate::raw_file::{Access, OsFile, RawFile};

/// zstd with contexts and buffers that are used again, by any number of threads.
#[derive(Default)]
pub struct RawZstd {
    /// Kept here and not by each thread: threads that live for one pass would make them anew.
    idle: Mutex<Vec<Context>>,
}

struct Context {
    compress: CCtx<'static>,
    decompress: DCtx<'static>,
    frames: Vec<u8>,
    content: Vec<u8>,
}

impl std::fmt::Debug for RawZstd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RawZstd")
    }
}

impl RawZstd {
    /// Compresses at the level of the game; whether it could.
    pub fn compress(&self, content: &[u8]) -> bool {
        self.with(|context| {
            let Context { compress: zstd, frames, .. } = context;
            frames.clear();
            frames.reserve(zstd_safe::compress_bound(content.len()));
            let level = zstd.set_parameter(CParameter::CompressionLevel(DEFAULT_LEVEL));
            black_box(level.is_ok() && zstd.compress2(frames, content).is_ok())
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Context) -> T) -> T {
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = lock().pop();
        let mut context = idle.unwrap_or_else(|| Context {
            compress: CCtx::create(),
            decompress: DCtx::create(),
            frames: Vec::new(),
            content: Vec::new(),
        });
        let result = work(&mut context);
        lock().push(context);
        result
    }
}

/// The blobs of a file, read past the container: one read of the system for each.
#[derive(Debug)]
pub struct RawRegion {
    file: OsFile,
    blobs: HashMap<BlobIndex, Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    compressed_bytes: usize,
    raw_bytes: usize,
}

impl RawRegion {
    /// Looks up where the blobs of a file are. The file must not change from then on.
    ///
    /// # Errors
    /// It cannot be read, or is of version 0, where blobs are in pieces.
    pub fn open(path: &Path) -> Result<Self> {
        let container = IndexedStorageFile::open_read_only(path)?;
        if container.version() != FormatVersion::V1 {
            let source = std::io::Error::other("blobs of version 0 are in pieces");
            return Err(Error::Io { path: path.to_owned(), action: "measure", source });
        }
        let mut blobs = HashMap::new();
        for slot in container.occupied() {
            let Some(stat) = container.stat(slot)? else { continue };
            let blob_offset = container.geometry().segment_offset(stat.segment);
            let place = Place {
                offset: blob_offset.saturating_add(BLOB_HEADER_BYTES.into()),
                compressed_bytes: stat.compressed_bytes as usize,
                raw_bytes: stat.raw_bytes as usize,
            };
            blobs.insert(slot, place);
        }
        Ok(Self { file: OsFile::open(path, Access::Read)?, blobs })
    }

    /// Reads a blob and decompresses it; whether it could.
    pub fn load(&self, slot: BlobIndex, zstd: &RawZstd) -> bool {
        let Some(place) = self.blobs.get(&slot) else { return false };
        zstd.with(|context| {
            let Context { decompress: zstd, frames, content, .. } = context;
            // Only ever longer, so that what is there already is not zeroed again.
            if frames.len() < place.compressed_bytes {
                frames.resize(place.compressed_bytes, 0);
            }
            let Some(wanted) = frames.get_mut(..place.compressed_bytes) else { return false };
            let count = self.file.read_at(wanted, place.offset);
            count.is_ok_and(|count| count == wanted.len())
                && decompress(zstd, content, wanted, place.raw_bytes)
                && content.len() == place.raw_bytes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_read_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let slot = BlobIndex::new(7);
        let file = IndexedStorageFile::create(&path).unwrap();
        file.write(slot, &[3; 10_000]).unwrap();
        let offset = file.geometry().segment_offset(file.stat(slot).unwrap().unwrap().segment);
        file.close().unwrap();
        let (raw, zstd) = (RawRegion::open(&path).unwrap(), RawZstd::default());
        assert!(raw.load(slot, &zstd) && zstd.compress(&[1; 5000]) && raw.load(slot, &zstd));
        assert!(!raw.load(BlobIndex::new(8), &zstd));
        let disk = OsFile::open(&path, Access::Write).unwrap();
        disk.write_at(&[0xFF; 4], offset + 8).unwrap();
        assert!(!raw.load(slot, &zstd));
    }
}
