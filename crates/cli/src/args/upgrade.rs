//! The words and flags of `upgrade`, and of verbs that rename blocks as the game does.

use std::path::PathBuf;

use clap::Args;

/// Where block migrations come from, for verbs that show blocks.
#[derive(Debug, Args)]
pub(crate) struct AssetsArg {
    /// Show blocks under the names that they have in the game with these assets: its Assets.zip,
    /// an unpacked folder, or `auto` to look in the usual folders
    #[arg(long, value_name = "PATH")]
    pub(crate) assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// A world, or a universe or save with one world
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    /// The game's Assets.zip or an unpacked folder, with the renamed blocks; `none` to upgrade only
    /// the form of sections [default: looked for beside the save and in the usual folders]
    #[arg(long, value_name = "PATH")]
    pub(crate) assets: Option<PathBuf>,
    /// Put back the chunks that an upgrade kept in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["assets", "dry_run"])]
    pub(crate) undo: Option<PathBuf>,
    /// Show what would be changed and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
