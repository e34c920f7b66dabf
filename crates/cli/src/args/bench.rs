//! The words and flags of `bench`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::shapes;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure reading and writing of one region file against zstd itself
    ///
    /// Decompresses and compresses all blobs of FILE with zstd alone, from memory, and reads and
    /// writes them through the container, in turn, on one thread and on all processors; also
    /// opening, single reads in random order, and writes that are each synced. The fastest pass
    /// counts. FILE is only read; new files are made in a folder of their own and removed again.
    #[command(after_long_help = shapes::of("bench region"))]
    Region(RegionArgs),
    /// Measure decoding and encoding of chunks against the decompression of the same chunks
    ///
    /// For every chunk of PATH (a region file, a folder of region files or a world), on one
    /// thread and in turn: zstd alone from memory; reading and finding its components; reading
    /// and decoding all of them; reading and counting blocks; encoding after one block was
    /// changed. The fastest pass counts. One region file after the other is held in memory; PATH
    /// is only read.
    #[command(after_long_help = shapes::of("bench chunk"))]
    Chunk(ChunkArgs),
    /// Measure every provider with the same chunks, as ratios to region files
    ///
    /// Loads chunks of PATH into memory, writes all of them to a new storage of each kind that
    /// this program was built with, and reads them back, on one thread; then copies region files
    /// to region files as `convert` does, verbatim and compressed anew, on all processors. The
    /// fastest pass counts. PATH is only read; what is made is removed again, but not what --s3
    /// names.
    #[command(after_long_help = shapes::of("bench providers"))]
    Providers(ProvidersArgs),
    /// Measure the chunk store against reading, decompressing and compressing the same chunks
    ///
    /// On all processors and in turn: reading the blobs of PATH (region files) and decompressing
    /// them with zstd alone, and loading the same chunks through the store; compressing them with
    /// zstd alone, and saving all of them through the store after one block of each was changed.
    /// Then how long a load takes while 100 saves run each second, and how much memory a walk
    /// through a large world needs, which is generated for it. The fastest pass counts. PATH is
    /// only read; what is made is removed again.
    #[command(after_long_help = shapes::of("bench store"))]
    Store(StoreArgs),
}

/// What most measurements take.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Where to write files while measuring [default: the system's folder for temporary files]
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
    /// How many chunks at most are loaded and saved [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) chunks: Option<usize>,
    /// How often loading and saving are repeated
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rounds: u32,
    /// For how many seconds chunks are loaded while others are saved
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = super::value::seconds)]
    pub(crate) latency_seconds: f64,
    /// How many chunks the walk goes through; 0 leaves it out
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
    /// Copy a synthetic world of N chunks instead, and print what a chunk costs at its beginning
    /// and at its end
    #[arg(long, value_name = "N")]
    pub(crate) scale: Option<u32>,
    /// How many chunks at most are measured with; they are held in memory
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) chunks: usize,
    /// How often each measurement is repeated
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: u32,
    /// Also measure an object store, under this prefix
    #[arg(long, value_name = "URL")]
    pub(crate) s3: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl ProvidersArgs {
    /// The storage whose chunks are measured with; empty with `--scale`.
    pub(crate) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ChunkArgs {
    /// A region file, a folder of region files or a world
    pub(crate) path: PathBuf,
    /// How often each measurement is repeated
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
    /// How often each measurement is repeated
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) rounds: u32,
    #[command(flatten)]
    pub(crate) output: Output,
}
