//! Arguments of `ls` and `verify`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A world, a chunks/ folder, a region file, rocksdb:PATH or `s3://BUCKET/PREFIX`
    pub(crate) path: PathBuf,
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
