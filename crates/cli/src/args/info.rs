//! The words and flags of `info`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// A save, a universe, a world, an instance template, an asset pack with such
    /// templates, a chunks/ folder or a region file
    pub(crate) path: PathBuf,
    /// Leave out what every chunk has to be read for: entities and block entities
    #[arg(long)]
    pub(crate) fast: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
