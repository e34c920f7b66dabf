//! The words and flags of `chunk` and `block`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use hyworld_coords::{ChunkPos, ChunkRect};

use super::upgrade::AssetsArg;
use super::{ComponentArg, value};

/// Some chunks of a storage.
#[derive(Debug, Args)]
pub(crate) struct ChosenChunks {
    /// Which chunk, in chunk coordinates: those of a block divided by 32, rounded down; repeatable
    #[arg(long = "chunk", value_name = "X,Z", allow_hyphen_values = true)]
    pub(crate) chunks: Vec<ChunkPos>,
    /// The stored chunks of a rectangle, given by two corners that belong to it
    #[arg(long, value_name = "X,Z:X,Z", allow_hyphen_values = true, value_parser = value::area)]
    pub(crate) area: Option<ChunkRect>,
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, or a
    /// universe or save: then all of its worlds
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    #[command(flatten)]
    pub(crate) assets: AssetsArg,
    /// Print one JSON object a line for each chunk, which is what this verb does in any case
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").args(["chunks", "area"]).required(true).multiple(true))]
pub(crate) struct ChunkArgs {
    /// A region file, a folder of region files, a world, or a universe or save with one world
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    #[command(flatten)]
    pub(crate) assets: AssetsArg,
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
    #[command(flatten)]
    pub(crate) assets: AssetsArg,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
