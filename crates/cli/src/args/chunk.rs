//! The words and flags of `chunk` and `block`.

use std::path::PathBuf;

use clap::Args;
use hyworld_coords::ChunkPos;

use super::ComponentArg;

#[derive(Debug, Args)]
pub(crate) struct ChunkArgs {
    /// A region file, a folder of region files, a world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// Which chunk, in chunk coordinates: those of a block divided by 32, rounded down
    #[arg(long, value_name = "X,Z", allow_hyphen_values = true)]
    pub(crate) chunk: ChunkPos,
    /// Only this component, as lossless JSON: an id such as `BlockChunk`, or `3/Block` for one in
    /// section 3
    #[arg(long, value_name = "NAME")]
    pub(crate) component: Option<ComponentArg>,
    /// Write the exact bytes of the document here, whatever they are; - is stdout
    #[arg(long, value_name = "FILE", conflicts_with_all = ["component", "json"])]
    pub(crate) bson: Option<PathBuf>,
    /// Print one JSON object with everything in the chunk; with --component, that on one line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BlockArgs {
    /// A region file, a folder of region files, a world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// Along x
    #[arg(allow_negative_numbers = true)]
    pub(crate) x: i32,
    /// The height, 0 to 319
    #[arg(allow_negative_numbers = true)]
    pub(crate) y: i32,
    /// Along z
    #[arg(allow_negative_numbers = true)]
    pub(crate) z: i32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
