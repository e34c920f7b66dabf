//! Arguments of `hyworld player <verb>`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hyworld_world::Uuid;

use super::shapes;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the players of a save or universe
    #[command(after_long_help = shapes::of("player list"))]
    List(ListArgs),
    /// Show a player with position and inventory
    #[command(after_long_help = shapes::of("player show"))]
    Show(ShowArgs),
    /// Write the file of a player to stdout or to a file
    Export(ExportArgs),
    /// Import the file of a player into a save
    ///
    /// The player's UUID is read from the file, or given with --as. An existing player is replaced
    /// only with --replace, and the old file becomes the backup. Stop the server first.
    #[command(after_long_help = shapes::of("player import"))]
    Import(ImportArgs),
    /// Remove a player from a save
    ///
    /// The files stay in the players folder under names ending in .removed, which the game
    /// ignores. `player import` restores them. Stop the server first.
    #[command(after_long_help = shapes::of("player remove"))]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// Print one JSON object per line for each player
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// The player's UUID or name
    pub(crate) player: String,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// The player's UUID or name
    pub(crate) player: String,
    /// Write to this file, which must not exist [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// A player file, as written by `player export`
    pub(crate) file: PathBuf,
    /// Import it as this player
    #[arg(long = "as", value_name = "UUID")]
    pub(crate) uuid: Option<Uuid>,
    /// Replace the player if already in the save
    #[arg(long)]
    pub(crate) replace: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// The player's UUID or name
    pub(crate) player: String,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
