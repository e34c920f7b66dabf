//! The words and flags of `hyworld world <verb>`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hyworld_world::BuiltInGenerator;

use super::shapes;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the worlds of a save or universe, with what is in them
    #[command(after_long_help = shapes::of("world list"))]
    List(ListArgs),
    /// Make a world without chunks
    ///
    /// UNIVERSE is made too if it is not there. A world with a generator of ours has chunks as soon
    /// as one of our programs makes them; the game is told `Void`, makes none, and shows those.
    /// Without one the game makes its own terrain when players come.
    #[command(after_long_help = shapes::of("world create"))]
    Create(CreateArgs),
    /// Copy a world within its universe
    ///
    /// The copy gets a UUID of its own, as the game demands, and its name when it is whole.
    #[command(after_long_help = shapes::of("world copy"))]
    Copy(CopyArgs),
    /// Delete a world with everything in it
    ///
    /// Players are not part of a world. There is no way back.
    #[command(after_long_help = shapes::of("world delete"))]
    Delete(DeleteArgs),
}

/// Who makes chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Generator {
    /// Hills, water, caves, trees, ores
    Sample,
    /// Bedrock, stone, dirt and grass up to height 63
    Flat,
    /// None of ours: the game makes its own
    None,
}

impl Generator {
    /// The generator of the library.
    pub(crate) fn built_in(self) -> Option<BuiltInGenerator> {
        match self {
            Self::Sample => Some(BuiltInGenerator::Sample),
            Self::Flat => Some(BuiltInGenerator::Flat),
            Self::None => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// A save, a universe or a world
    pub(crate) path: PathBuf,
    /// Print one JSON object a line for each world
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// A universe, or the save that it is in
    pub(crate) universe: PathBuf,
    /// The name of the new world, which is that of its folder
    pub(crate) name: String,
    /// Who makes its chunks
    #[arg(long, value_enum, default_value_t = Generator::None)]
    pub(crate) generator: Generator,
    /// The seed of the terrain [default: a random one]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<i64>,
    /// The name that players see [default: none]
    #[arg(long, value_name = "TEXT")]
    pub(crate) display_name: Option<String>,
    /// Where its chunks will be stored
    #[arg(long, value_name = "TYPE", default_value = "Hytale",
          value_parser = ["Hytale", "IndexedStorage", "RocksDb", "Empty"])]
    pub(crate) provider: String,
    /// Say what would be made and make nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// A universe, or the save that it is in
    pub(crate) universe: PathBuf,
    /// The world to copy
    pub(crate) from: String,
    /// The name of the copy
    pub(crate) to: String,
    /// Say what would be copied and copy nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// A universe, or the save that it is in
    pub(crate) universe: PathBuf,
    /// The world to delete
    pub(crate) name: String,
    /// Delete it without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Say what would be deleted and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
