//! Arguments of `hyworld world <verb>`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hyworld_world::BuiltInGenerator;

use super::shapes;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the worlds of a save or universe
    #[command(after_long_help = shapes::of("world list"))]
    List(ListArgs),
    /// Create a world without chunks
    ///
    /// Creates UNIVERSE too if it does not exist. With `--generator`, hyworld generates the chunks
    /// (`pregen`), and the game is set to the generator `Void`, so it adds none. Without it, the
    /// game generates its own terrain when players explore.
    #[command(after_long_help = shapes::of("world create"))]
    Create(CreateArgs),
    /// Copy a world within its universe
    ///
    /// The copy gets a new UUID, which the game requires. It appears under its name when it is
    /// complete.
    #[command(after_long_help = shapes::of("world copy"))]
    Copy(CopyArgs),
    /// Delete a world with all its files
    ///
    /// Players are kept, because they belong to the universe. This cannot be undone.
    #[command(after_long_help = shapes::of("world delete"))]
    Delete(DeleteArgs),
}

/// Generators of hyworld.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Generator {
    /// Hills, water, caves, trees, ores
    Sample,
    /// Bedrock, stone, dirt and grass up to height 63
    Flat,
    /// None: the game generates its own terrain
    None,
}

impl Generator {
    /// Returns the library's generator.
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
    /// Print one JSON object per line for each world
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// A universe or save
    pub(crate) universe: PathBuf,
    /// The name of the new world and of its folder
    pub(crate) name: String,
    /// The generator of its chunks
    #[arg(long, value_enum, default_value_t = Generator::None)]
    pub(crate) generator: Generator,
    /// The seed of the terrain [default: random]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<i64>,
    /// The name shown to players [default: none]
    #[arg(long, value_name = "TEXT")]
    pub(crate) display_name: Option<String>,
    /// The storage provider of its chunks
    #[arg(long, value_name = "TYPE", default_value = "Hytale",
          value_parser = ["Hytale", "IndexedStorage", "RocksDb", "Empty"])]
    pub(crate) provider: String,
    /// Print what would be created, and create nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// A universe or save
    pub(crate) universe: PathBuf,
    /// The world to copy
    pub(crate) from: String,
    /// The name of the copy
    pub(crate) to: String,
    /// Print what would be copied, and copy nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// A universe or save
    pub(crate) universe: PathBuf,
    /// The world to delete
    pub(crate) name: String,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
