//! The words and flags of `hyworld player <verb>`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hyworld_world::Uuid;

use super::shapes;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the players of a save or universe
    #[command(after_long_help = shapes::of("player list"))]
    List(ListArgs),
    /// Show a player, and the items that the player carries
    #[command(after_long_help = shapes::of("player show"))]
    Show(ShowArgs),
    /// Write the file of a player to stdout or to a file
    Export(ExportArgs),
    /// Put the file of a player into a save
    ///
    /// Whose file it is stands in the file, unless --as says so. A player who is there is replaced
    /// only with --replace, and the old file becomes the backup. No server may run on the save.
    #[command(after_long_help = shapes::of("player import"))]
    Import(ImportArgs),
    /// Take a player out of a save
    ///
    /// The files stay in the folder of players under names that end with .removed, which the game
    /// does not read. `player import` brings them back. No server may run on the save.
    #[command(after_long_help = shapes::of("player remove"))]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// Print one JSON object a line for each player
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// The UUID or the name
    pub(crate) player: String,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// The UUID or the name
    pub(crate) player: String,
    /// Write to this file, which must not exist [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A save or a universe
    pub(crate) path: PathBuf,
    /// The file of a player, as `player export` writes it
    pub(crate) file: PathBuf,
    /// Make it the file of this player
    #[arg(long = "as", value_name = "UUID")]
    pub(crate) uuid: Option<Uuid>,
    /// Replace a player who is there
    #[arg(long)]
    pub(crate) replace: bool,
    /// Say what would be written and write nothing
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
    /// The UUID or the name
    pub(crate) player: String,
    /// Say what would be removed and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
