//! Arguments of `chunk`, `block` and `dump`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use hyworld_coords::{ChunkPos, ChunkRect};

use super::select::SelectionArg;
use super::upgrade::AssetsArg;
use super::{ComponentArg, value};

/// A choice of chunks.
#[derive(Debug, Args)]
pub(crate) struct ChosenChunks {
    /// A chunk, in chunk coordinates (block coordinates divided by 32, rounded down); repeatable
    #[arg(long = "chunk", value_name = "X,Z", allow_hyphen_values = true)]
    pub(crate) chunks: Vec<ChunkPos>,
    /// All stored chunks of a rectangle, given by two opposite corners, both included
    #[arg(long, value_name = "X,Z:X,Z", allow_hyphen_values = true, value_parser = value::area)]
    pub(crate) area: Option<ChunkRect>,
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, or a
    /// universe or save (all of its worlds)
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    #[command(flatten)]
    pub(crate) selection: SelectionArg,
    #[command(flatten)]
    pub(crate) assets: AssetsArg,
    /// Accepted for consistency: the output is always one JSON object per line
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
    /// Print only this component, as lossless JSON: an id such as `BlockChunk`, or `3/Block` for
    /// one in section 3
    #[arg(long, value_name = "NAME")]
    pub(crate) component: Option<ComponentArg>,
    /// Write the stored BSON document to this file, unchanged; - is stdout
    #[arg(long, value_name = "FILE", conflicts_with_all = ["component", "json"])]
    pub(crate) bson: Option<PathBuf>,
    /// Print the whole chunk as one JSON object; with --component, that component on one line
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the paths of files, which clients of `serve` must not see.
    #[arg(skip)]
    pub(crate) without_paths: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BlockArgs {
    /// A region file, a folder of region files, a world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// The x coordinate
    #[arg(allow_negative_numbers = true)]
    pub(crate) x: i32,
    /// The y coordinate (height), 0 to 319
    #[arg(allow_negative_numbers = true)]
    pub(crate) y: i32,
    /// The z coordinate
    #[arg(allow_negative_numbers = true)]
    pub(crate) z: i32,
    #[command(flatten)]
    pub(crate) assets: AssetsArg,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the paths of files, which clients of `serve` must not see.
    #[arg(skip)]
    pub(crate) without_paths: bool,
}
