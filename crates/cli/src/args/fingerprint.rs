//! Arguments of `fingerprint`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct FingerprintArgs {
    /// A region file, a folder of region files, a world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}
