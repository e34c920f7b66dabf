//! How fast the codec is, as ratios to the decompression of the same blobs in the same run.
//!
//! Behind `cargo bench` and `hyworld bench chunk`. This crate knows neither files nor zstd, so
//! whoever measures brings both. Passes take turns and the fastest one counts: on a shared
//! machine everything else measures the neighbours.

use std::hint::black_box;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use hyworld_coords::{ChunkBlock, SectionY};

use crate::block_health::BlockHealthChunk;
use crate::chunk::{Block, Chunk};
use crate::components::{
    BlockComponentChunk, ChunkSection, ChunkSpawnedNpcData, EntityChunk, WorldChunk,
};

/// What went wrong while measuring.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
type Result<T = ()> = std::result::Result<T, Error>;

/// How long all chunks take, fastest pass, on one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChunkTimes {
    /// Chunks.
    pub chunks: usize,
    /// Bytes of their documents.
    pub raw_bytes: u64,
    /// zstd alone, from memory.
    pub decompress: Duration,
    /// Read, and find components and sections.
    pub index: Duration,
    /// Read, and decode every component in full.
    pub decode: Duration,
    /// Read, and count the cells of every block.
    pub histogram: Duration,
    /// Encode after one block was changed: decoding and changing are not in it.
    pub encode: Duration,
}

impl AddAssign for ChunkTimes {
    fn add_assign(&mut self, other: Self) {
        self.chunks += other.chunks;
        self.raw_bytes += other.raw_bytes;
        self.decompress += other.decompress;
        self.index += other.index;
        self.decode += other.decode;
        self.histogram += other.histogram;
        self.encode += other.encode;
    }
}

/// Measures every pass `rounds` times over blobs with the numbers 0 to `chunks`.
///
/// `decompress` decompresses a blob with zstd alone, from memory, into a buffer that is used
/// again. `read` reads a document the way a program does.
///
/// # Errors
/// A chunk cannot be read or decoded.
pub fn measure(
    chunks: usize,
    rounds: u32,
    mut decompress: impl FnMut(usize) -> Result,
    mut read: impl FnMut(usize) -> Result<Vec<u8>>,
) -> Result<ChunkTimes> {
    let mut best = ChunkTimes {
        chunks,
        raw_bytes: 0,
        decompress: Duration::MAX,
        index: Duration::MAX,
        decode: Duration::MAX,
        histogram: Duration::MAX,
        encode: Duration::MAX,
    };
    for number in 0..chunks {
        best.raw_bytes += read(number)?.len() as u64;
    }
    for _ in 0..rounds.max(1) {
        keep_best(&mut best.decompress, each(chunks, &mut decompress)?);
        keep_best(&mut best.index, each(chunks, |number| index(read(number)?))?);
        keep_best(&mut best.decode, each(chunks, |number| decode(read(number)?))?);
        keep_best(&mut best.histogram, each(chunks, |number| histogram(read(number)?))?);
        keep_best(&mut best.encode, encode_all(chunks, &mut read)?);
    }
    Ok(best)
}

fn keep_best(best: &mut Duration, time: Duration) {
    *best = time.min(*best);
}

fn each(chunks: usize, work: impl FnMut(usize) -> Result) -> Result<Duration> {
    let start = Instant::now();
    (0..chunks).try_for_each(work)?;
    Ok(start.elapsed())
}

fn index(document: Vec<u8>) -> Result {
    black_box(Chunk::decode(document)?);
    Ok(())
}

fn decode(document: Vec<u8>) -> Result {
    let chunk = Chunk::decode(document)?;
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

fn histogram(document: Vec<u8>) -> Result {
    let chunk = Chunk::decode(document)?;
    black_box(chunk.histogram()?);
    Ok(())
}

fn encode_all(chunks: usize, mut read: impl FnMut(usize) -> Result<Vec<u8>>) -> Result<Duration> {
    let mut time = Duration::ZERO;
    let mut buffer = Vec::new();
    for number in 0..chunks {
        let mut chunk = Chunk::decode(read(number)?)?;
        touch(&mut chunk)?;
        let start = Instant::now();
        chunk.encode_into(&mut buffer);
        black_box(&buffer);
        time += start.elapsed();
    }
    Ok(time)
}

/// Puts another block where the ground usually is.
fn touch(chunk: &mut Chunk) -> Result {
    let at = ChunkBlock::new(16, 100, 16).ok_or("a block of every chunk")?;
    let block = chunk.block(at)?.to_block();
    let other = ["Rock_Stone", "Soil_Dirt"].into_iter().find(|name| block.key != *name);
    let other = Block::try_from(other.ok_or("one of two names differs")?)?;
    chunk.set_block(at, other.rotated(block.rotation))?;
    Ok(())
}
