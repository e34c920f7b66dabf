//! Arguments of `ls` and `verify`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A world, a chunks/ folder, a region file, rocksdb:PATH or `s3://BUCKET/PREFIX`
    pub(crate) path: PathBuf,
    /// Write a hash of every chunk and file to FILE, or compare with FILE if it exists
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Check only the chunks that were written since this manifest
    #[arg(long, value_name = "MANIFEST", conflicts_with = "manifest")]
    pub(crate) since: Option<PathBuf>,
    /// Replace the manifest after the check, and report differences as notes
    #[arg(long)]
    pub(crate) update: bool,
    /// Also say how many chunks this backup, world or undo bundle has that the world lacks;
    /// repeatable
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from: Vec<PathBuf>,
    /// Print one JSON object per line for each finding
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// A world, a chunks/ folder, a region file, rocksdb:PATH or `s3://BUCKET/PREFIX`
    pub(crate) path: PathBuf,
    /// Print one JSON object per line for each chunk
    #[arg(long)]
    pub(crate) json: bool,
}
