//! Arguments of `info`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// A save, a universe, a world, an instance template, an asset pack with templates, a chunks/
    /// folder, a region file, a backup zip, rocksdb:PATH or `s3://BUCKET/PREFIX`
    pub(crate) path: PathBuf,
    /// Do not read chunks, and leave out the numbers of entities and block entities
    #[arg(long)]
    pub(crate) fast: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the paths of files in the JSON, which clients of `serve` must not see.
    #[arg(skip)]
    pub(crate) without_paths: bool,
}
