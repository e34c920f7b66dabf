//! The baseline of the benchmarks: region files read with plain reads and zstd.

use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::{
    BLOB_HEADER_BYTES, DEFAULT_LEVEL, FormatVersion, IndexedStorageFile, OsFile, RawFile, Slot,
};
use zstd_safe::{CCtx, CParameter, DCtx};

/// A blob in memory.
pub(crate) struct Blob {
    pub(crate) slot: Slot,
    pub(crate) frames: Vec<u8>,
    pub(crate) document: Vec<u8>,
}

/// Reads all blobs of a region file.
pub(crate) fn blobs(file: &IndexedStorageFile) -> Result<Vec<Blob>> {
    let mut blobs = Vec::new();
    for slot in file.occupied() {
        if let Some(encoded) = file.read_encoded(slot)? {
            let document = encoded.decompress()?;
            blobs.push(Blob { slot, frames: encoded.frames().to_vec(), document });
        }
    }
    Ok(blobs)
}

/// zstd with reused contexts and buffers.
pub(crate) struct Zstd {
    compress: CCtx<'static>,
    decompress: DCtx<'static>,
    frames: Vec<u8>,
    document: Vec<u8>,
}

impl Zstd {
    pub(crate) fn new() -> Self {
        let (compress, decompress) = (CCtx::create(), DCtx::create());
        Self { compress, decompress, frames: Vec::new(), document: Vec::new() }
    }

    /// Compresses with the game's compression level.
    pub(crate) fn compress(&mut self, document: &[u8]) -> Result<()> {
        self.frames.clear();
        self.frames.reserve(zstd_safe::compress_bound(document.len()));
        let level = CParameter::CompressionLevel(DEFAULT_LEVEL);
        let done = self.compress.set_parameter(level).is_ok()
            && self.compress.compress2(&mut self.frames, document).is_ok();
        ensure!(black_box(done), "zstd cannot compress a document");
        Ok(())
    }

    pub(crate) fn decompress(&mut self, frames: &[u8], raw_bytes: usize) -> Result<()> {
        self.document.clear();
        self.document.reserve(raw_bytes);
        let done = self.decompress.decompress(&mut self.document, frames);
        ensure!(black_box(done == Ok(raw_bytes)), "zstd cannot decompress a blob");
        Ok(())
    }
}

/// The region files of a storage, with one plain read per chunk.
pub(crate) struct RawRegions {
    regions: HashMap<RegionPos, RawRegion>,
    /// Contexts for reuse, shared by all threads: each pass starts new threads, which would
    /// otherwise create their own.
    idle: Mutex<Vec<Zstd>>,
}

impl fmt::Debug for RawRegions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawRegions").field(&self.regions).finish()
    }
}

impl RawRegions {
    /// Looks up the positions of all blobs. The files must not change afterwards.
    pub(crate) fn open(files: Vec<(RegionPos, PathBuf)>) -> Result<Self> {
        let open = |(region, path): (_, PathBuf)| Ok((region, RawRegion::open(&path)?));
        let regions = files.into_iter().map(open).collect::<Result<_>>()?;
        Ok(Self { regions, idle: Mutex::default() })
    }

    /// Reads the blob of a chunk and decompresses it.
    pub(crate) fn load(&self, at: ChunkPos) -> Result<()> {
        let region = self.regions.get(&at.region()).context("no such region file")?;
        let slot = Slot::new(at.slot().index().into());
        let loaded = self.with_zstd(|zstd| region.load(slot, zstd));
        loaded.with_context(|| format!("chunk {},{}", at.x, at.z))
    }

    /// Compresses a document as the storage does.
    pub(crate) fn compress(&self, document: &[u8]) -> Result<()> {
        self.with_zstd(|zstd| zstd.compress(document))
    }

    fn with_zstd(&self, work: impl FnOnce(&mut Zstd) -> Result<()>) -> Result<()> {
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = lock().pop();
        let mut zstd = idle.unwrap_or_else(Zstd::new);
        let result = work(&mut zstd);
        lock().push(zstd);
        result
    }
}

#[derive(Debug)]
struct RawRegion {
    file: OsFile,
    blobs: HashMap<Slot, BlobRange>,
}

#[derive(Clone, Copy, Debug)]
struct BlobRange {
    offset: u64,
    compressed_bytes: usize,
    raw_bytes: usize,
}

impl RawRegion {
    fn open(path: &Path) -> Result<Self> {
        let container = IndexedStorageFile::open_read_only(path)?;
        ensure!(
            container.version() == FormatVersion::V1,
            "{}: cannot measure: version 0 splits blobs into segments; upgrade it first",
            path.display()
        );
        let mut blobs = HashMap::new();
        for slot in container.occupied() {
            let Some(stat) = container.stat(slot)? else { continue };
            let blob_offset = container.geometry().segment_offset(stat.segment);
            let range = BlobRange {
                offset: blob_offset.saturating_add(BLOB_HEADER_BYTES.into()),
                compressed_bytes: stat.compressed_bytes as usize,
                raw_bytes: stat.raw_bytes as usize,
            };
            blobs.insert(slot, range);
        }
        Ok(Self { file: OsFile::open_read_only(path)?, blobs })
    }

    fn load(&self, slot: Slot, zstd: &mut Zstd) -> Result<()> {
        let range = self.blobs.get(&slot).context("the slot is empty")?;
        let mut frames = std::mem::take(&mut zstd.frames);
        // Only grows, so that existing bytes are not zeroed again.
        if frames.len() < range.compressed_bytes {
            frames.resize(range.compressed_bytes, 0);
        }
        let wanted = frames.get_mut(..range.compressed_bytes).unwrap_or_default();
        let count = self.file.read_at(wanted, range.offset)?;
        ensure!(count == wanted.len(), "the file ends inside the blob");
        zstd.decompress(wanted, range.raw_bytes)?;
        zstd.frames = frames;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_read_and_damage_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let slot = Slot::new(7);
        let file = IndexedStorageFile::create(&path).unwrap();
        file.write(slot, &[3; 10_000]).unwrap();
        let offset = file.geometry().segment_offset(file.stat(slot).unwrap().unwrap().segment);
        file.close().unwrap();
        let (raw, mut zstd) = (RawRegion::open(&path).unwrap(), Zstd::new());
        raw.load(slot, &mut zstd).unwrap();
        zstd.compress(&[1; 5000]).unwrap();
        raw.load(slot, &mut zstd).unwrap();
        raw.load(Slot::new(8), &mut zstd).unwrap_err();
        let mut bytes = std::fs::read(&path).unwrap();
        let offset = usize::try_from(offset).unwrap() + 8;
        bytes[offset..offset + 4].fill(0xFF);
        hyworld_testkit::write_file(&path, &bytes);
        raw.load(slot, &mut zstd).unwrap_err();
    }
}
