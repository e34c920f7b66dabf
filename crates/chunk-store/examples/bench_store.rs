//! Measures the store on a folder of region files: `bench_store CHUNKS_FOLDER SCRATCH_FOLDER`.
//! A sample of what `hyworld bench store` does, with the storage's own read in place of zstd.
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyworld_chunk_store::bench::{self, Error, RawSide};
use hyworld_chunk_store::{BlockingGenerator, GenerateRequest, SampleTerrain};
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, MemoryStorage, RegionFiles};

/// Reading through the storage, and writing through one in memory: not zstd alone, but near.
struct Plain {
    source: Arc<dyn ChunkStorage>,
    memory: MemoryStorage,
}

impl RawSide for Plain {
    fn load(&self, at: ChunkPos) -> Result<(), Error> {
        self.source.read(at)?;
        Ok(())
    }

    fn compress(&self, document: &[u8]) -> Result<(), Error> {
        Ok(self.memory.write(ChunkPos::new(0, 0), document)?)
    }
}

fn main() -> Result<(), Error> {
    let mut folders = std::env::args().skip(1);
    let (source, scratch) = (folders.next().ok_or("CHUNKS")?, folders.next().ok_or("SCRATCH")?);
    let source: Arc<dyn ChunkStorage> = Arc::new(RegionFiles::open(Path::new(&source))?);
    let scratch: Arc<dyn ChunkStorage> = Arc::new(RegionFiles::open(Path::new(&scratch))?);
    let start = Instant::now();
    for x in 0..100 {
        let at = ChunkPos::new(x, x * 3);
        SampleTerrain.generate(&GenerateRequest { at, seed: 1, still_needed: None })?;
    }
    println!("terrain: {:?} per chunk", start.elapsed() / 100);
    let positions = source.all_positions()?;
    let raw = Plain { source: Arc::clone(&source), memory: MemoryStorage::new() };
    let times = bench::measure(&source, &scratch, &positions, &raw, 3, |_| ())?;
    println!("{times:?}");
    println!("{:?}", bench::load_latency(&scratch, &positions, Duration::from_secs(5))?);
    Ok(())
}
