//! Arguments of `convert`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(crate) struct ConvertArgs {
    /// The source: a world, a chunks/ folder, a region file, rocksdb:PATH or `s3://BUCKET/PREFIX`
    pub(crate) source: PathBuf,
    /// The target: a world, a chunks/ folder, rocksdb:PATH or `s3://BUCKET/PREFIX`, without chunks
    pub(crate) target: PathBuf,
    /// Recompress chunks instead of copying their frames unchanged
    #[arg(long)]
    pub(crate) recompress: bool,
    /// The zstd level for --recompress; the game uses 3
    #[arg(long, value_name = "N", default_value_t = 3, requires = "recompress")]
    pub(crate) level: i32,
    /// Finish the copy even if some chunks of the source cannot be read
    #[arg(long)]
    pub(crate) skip_unreadable: bool,
    /// Copy nothing; only compare the chunks of both
    #[arg(long, conflicts_with_all = ["recompress", "skip_unreadable", "dry_run"])]
    pub(crate) verify_only: bool,
    /// Read all chunks, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
