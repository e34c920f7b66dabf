//! Benchmark of decoding chunks compared with decompressing them, on one thread.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use hyworld_chunk::{
    Block, BlockComponentChunk, BlockHealthChunk, Chunk, ChunkSection, ChunkSpawnedNpcData,
    EditError, EntityChunk, WorldChunk,
};
use hyworld_coords::{ChunkBlock, RegionPos, SectionY};
use hyworld_indexed_storage::IndexedStorageFile;
use serde::Serialize;

use crate::raw::{Blob, Zstd, blobs};
use crate::timing::{Micros, fastest, timed};

/// The times of the fastest pass over all chunks on one thread.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChunkReport {
    pub path: String,
    pub chunks: usize,
    pub raw: u64,
    /// zstd alone, from memory.
    pub decompress_us: Micros,
    /// Reading, and finding components and sections.
    pub index_us: Micros,
    /// Reading, and decoding every component.
    pub decode_us: Micros,
    /// Reading, and counting the cells of each kind of block.
    pub histogram_us: Micros,
    /// Encoding after one block was changed. Decoding and changing are not measured.
    pub encode_us: Micros,
    pub ratios: ChunkRatios,
}

/// The times divided by that of zstd alone.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ChunkRatios {
    pub index: f64,
    pub decode: f64,
    pub histogram: f64,
    pub encode: f64,
}

/// Measures every pass `rounds` times over the chunks of each region file. `advance` is called
/// after each file. Only one file is in memory at a time.
///
/// # Errors
/// Returns an error if a chunk cannot be read or decoded.
pub fn measure(
    path: &Path,
    files: &[(RegionPos, PathBuf)],
    rounds: u32,
    advance: impl Fn(),
) -> Result<ChunkReport> {
    let (mut chunks, mut raw, mut times) = (0, 0, [Micros::default(); 5]);
    for (_, file) in files {
        let measured = Region::load(file).and_then(|region| {
            chunks += region.blobs.len();
            raw += region.blobs.iter().map(|blob| blob.document.len() as u64).sum::<u64>();
            region.measure(rounds)
        });
        let measured = measured.map_err(|error| anyhow!("{}: {error}", file.display()))?;
        for (sum, time) in times.iter_mut().zip(measured) {
            sum.0 += time.0;
        }
        advance();
    }
    let [decompress_us, index_us, decode_us, histogram_us, encode_us] = times;
    let ratio = |time: Micros| time.ratio_to(decompress_us);
    let ratios = ChunkRatios {
        index: ratio(index_us),
        decode: ratio(decode_us),
        histogram: ratio(histogram_us),
        encode: ratio(encode_us),
    };
    let path = path.display().to_string();
    Ok(ChunkReport {
        path,
        chunks,
        raw,
        decompress_us,
        index_us,
        decode_us,
        histogram_us,
        encode_us,
        ratios,
    })
}

struct Region {
    file: IndexedStorageFile,
    blobs: Vec<Blob>,
}

impl Region {
    fn load(path: &Path) -> Result<Self> {
        let file = IndexedStorageFile::open_read_only(path)?;
        Ok(Self { blobs: blobs(&file)?, file })
    }

    fn measure(&self, rounds: u32) -> Result<[Micros; 5]> {
        let mut zstd = Zstd::new();
        fastest(rounds, |_| {
            let decompress = |blob: &Blob| zstd.decompress(&blob.frames, blob.document.len());
            Ok([
                timed(|| self.blobs.iter().try_for_each(decompress))?,
                self.decoded(|_| Ok(()))?,
                self.decoded(decode)?,
                self.decoded(|chunk| {
                    black_box(chunk.histogram()?);
                    Ok(())
                })?,
                self.encode()?,
            ])
        })
    }

    /// Reads a chunk like a program would.
    fn chunk(&self, blob: &Blob) -> Result<Chunk> {
        Ok(Chunk::decode(self.file.read(blob.slot)?.context("the slot is empty")?)?)
    }

    fn decoded(&self, work: impl Fn(&Chunk) -> Result<()>) -> Result<Duration> {
        timed(|| self.blobs.iter().try_for_each(|blob| work(black_box(&self.chunk(blob)?))))
    }

    fn encode(&self) -> Result<Duration> {
        let (mut time, mut buffer) = (Duration::ZERO, Vec::new());
        for blob in &self.blobs {
            let mut chunk = self.chunk(blob)?;
            touch(&mut chunk)?;
            let start = Instant::now();
            chunk.encode_into(&mut buffer);
            black_box(&buffer);
            time += start.elapsed();
        }
        Ok(time)
    }
}

fn decode(chunk: &Chunk) -> Result<()> {
    chunk.decode_blocks()?;
    for y in SectionY::all() {
        black_box(chunk.get_in::<ChunkSection>(y)?);
    }
    black_box(chunk.get::<WorldChunk>()?);
    black_box(chunk.get::<BlockHealthChunk>()?);
    black_box(chunk.get::<BlockComponentChunk>()?);
    black_box(chunk.get::<EntityChunk>()?);
    black_box(chunk.get::<ChunkSpawnedNpcData>()?);
    Ok(())
}

/// Replaces a block at the usual height of the ground.
pub(crate) fn touch(chunk: &mut Chunk) -> Result<(), EditError> {
    let Some(at) = ChunkBlock::new(16, 100, 16) else { return Ok(()) };
    let block = chunk.block(at)?;
    let other = if block.name() == "Rock_Stone" { "Soil_Dirt" } else { "Rock_Stone" };
    let other = Block::try_from(other)?.rotated(block.rotation());
    chunk.set_block(at, other)?;
    Ok(())
}
