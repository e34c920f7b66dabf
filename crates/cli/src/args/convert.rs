//! The words and flags of `convert`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct ConvertArgs {
    /// Where the chunks are: a world, a chunks/ folder, a region file, rocksdb:PATH or
    /// `s3://BUCKET/PREFIX`
    pub(crate) source: PathBuf,
    /// Where they go: the same kinds but a region file; it must not hold chunks yet
    pub(crate) target: PathBuf,
    /// Compress chunks anew instead of copying their frames as they are
    #[arg(long)]
    pub(crate) recompress: bool,
    /// The zstd level for that, 3 as in the game unless told otherwise
    #[arg(long, value_name = "N", default_value_t = 3, requires = "recompress")]
    pub(crate) level: i32,
    /// Give the target its name even if some chunks of the source cannot be read
    #[arg(long)]
    pub(crate) skip_unreadable: bool,
    /// Copy nothing: compare what both hold
    #[arg(long, conflicts_with_all = ["recompress", "skip_unreadable", "dry_run"])]
    pub(crate) verify_only: bool,
    /// Read everything and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
