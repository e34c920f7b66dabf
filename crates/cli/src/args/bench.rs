//! Arguments of `bench`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::shapes;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure reading and writing a region file, compared with zstd
    ///
    /// Decompresses and compresses all blobs of FILE with zstd alone, in memory, and reads and
    /// writes them through the container, in turn, on one thread and on all processors. Also
    /// measures opening, single reads in random order, and synced writes. The fastest pass counts.
    /// FILE is only read; scratch files are removed afterwards.
    #[command(after_long_help = shapes::of("bench region"))]
    Region(RegionArgs),
    /// Measure decoding and encoding chunks, compared with decompressing them
    ///
    /// Measures in turn, on one thread, for every chunk of PATH: decompressing with zstd alone in
    /// memory; reading and finding the components; reading and decoding all components; reading
    /// and counting blocks; encoding after one block was changed. The fastest pass counts. One
    /// region file at a time is held in memory. PATH is only read.
    #[command(after_long_help = shapes::of("bench chunk"))]
    Chunk(ChunkArgs),
    /// Measure every provider with the same chunks, as ratios to region files
    ///
    /// Loads chunks of PATH into memory, writes them to a new storage of each provider in this
    /// build, and reads them back, on one thread. Then copies region files to region files as
    /// `convert` does, unchanged and recompressed, on all processors. The fastest pass counts. PATH
    /// is only read; scratch storages are removed afterwards, except objects under --s3.
    #[command(after_long_help = shapes::of("bench providers"))]
    Providers(ProvidersArgs),
    /// Measure the chunk store, compared with reading and compressing the same chunks
    ///
    /// Measures in turn, on all processors: reading the blobs of PATH and decompressing them with
    /// zstd alone; loading the same chunks through the store; compressing them with zstd alone;
    /// saving all of them through the store after one block of each was changed. Then measures
    /// how long a load takes while 100 saves run per second, and how much memory a walk through a
    /// large generated world needs. The fastest pass counts. PATH must have region files and is
    /// only read; scratch files are removed afterwards.
    #[command(after_long_help = shapes::of("bench store"))]
    Store(StoreArgs),
    /// Measure a complete check, compared with decompressing the same chunks
    ///
    /// Measures in turn, on all processors: decompressing all blobs of PATH with zstd alone, in
    /// memory; and checking PATH as `verify` does. The fastest pass counts. Also prints the peak
    /// memory of the process during the first check. PATH must have region files and is only read.
    #[command(after_long_help = shapes::of("bench verify"))]
    Verify(VerifyArgs),
    /// Measure changes with an undo bundle, compared with the same writes without one
    ///
    /// Measures in turn: writing one chunk of a region file of 30 MB with the container alone, in a
    /// change without an undo bundle and in one with it; and 1,000 chunks of PATH, or all if it has
    /// fewer, without and with a bundle. The fastest pass counts. PATH must have region files and
    /// is only read; scratch files are removed afterwards.
    #[command(after_long_help = shapes::of("bench change"))]
    Change(ChangeArgs),
    /// Measure drawing a map, compared with decompressing the same chunks
    ///
    /// Measures in turn: decompressing all blobs of PATH with zstd alone, in memory, on one thread;
    /// reading the chunks and painting the layer `surface`, on one thread; drawing a folder of
    /// tiles on one thread and on all processors; and drawing it again without changes. The fastest
    /// pass counts. Also prints the peak memory of the process during the first drawing. PATH must
    /// have region files and is only read; scratch files are removed afterwards.
    #[command(after_long_help = shapes::of("bench map"))]
    Map(MapArgs),
    /// Measure counting and finding blocks, compared with decompressing the chunks
    ///
    /// Times three passes over the same chunks on all processors: zstd alone, from memory; `stats`;
    /// and `find` for one block. The fastest pass counts. Also prints the peak memory of the
    /// process during the first passes.
    #[command(after_long_help = shapes::of("bench query"))]
    Query(QueryArgs),
}

#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// A region file, a folder of region files, or a world that has them
    pub(crate) path: PathBuf,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) rounds: u32,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A region file, a folder of region files, or a world that has them
    pub(crate) path: PathBuf,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) rounds: u32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    /// A region file, a folder of region files, or a world that has them
    pub(crate) path: PathBuf,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) rounds: u32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// A region file, a folder of region files, or a world that has them
    pub(crate) path: PathBuf,
    /// The block to find
    #[arg(long, value_name = "NAME", default_value = "Ore_Gold_Stone")]
    pub(crate) block: String,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) rounds: u32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of most measurements.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Folder for scratch files [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// A region file, a folder of region files, or a world that has them
    pub(crate) path: PathBuf,
    /// Maximum number of chunks to load and save [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) chunks: Option<usize>,
    /// Number of repetitions of loading and saving
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rounds: u32,
    /// How many seconds to load chunks while others are saved
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = super::value::seconds)]
    pub(crate) latency_seconds: f64,
    /// Number of chunks the walk visits; 0 skips the walk
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) walk_chunks: u64,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct ProvidersArgs {
    /// A world, a chunks/ folder, a region file, rocksdb:PATH or `s3://BUCKET/PREFIX`
    #[arg(required_unless_present = "scale", conflicts_with = "scale")]
    path: Option<PathBuf>,
    /// Copy a synthetic world of N chunks instead, and print the cost per chunk at the beginning
    /// and at the end
    #[arg(long, value_name = "N")]
    pub(crate) scale: Option<u32>,
    /// Maximum number of chunks to measure; they are held in memory
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) chunks: usize,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: u32,
    /// Also measure an object store, under this URL
    #[arg(long, value_name = "URL")]
    pub(crate) s3: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl ProvidersArgs {
    /// Returns the storage to read chunks from; empty with `--scale`.
    pub(crate) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ChunkArgs {
    /// A region file, a folder of region files or a world
    pub(crate) path: PathBuf,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) rounds: u32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RegionArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) rounds: u32,
    #[command(flatten)]
    pub(crate) output: Output,
}
