//! Arguments of the verbs that repair worlds and save space: `repair`, `restore`, `undelete`,
//! `undo`, `compact`, `seal`, `unseal`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use hyworld_maintenance::Confidence;

use super::chunk::ChosenChunks;

/// How a change is confirmed, and where its undo bundle goes.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// Show the plan, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask before changing the world
    #[arg(long)]
    pub(crate) yes: bool,
    /// Write the undo bundle to this file; if several worlds are changed, the name of each is added
    /// to it [default: a new file beside the world]
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
}

impl ApplyArgs {
    /// Returns the undo bundle of one of several worlds.
    pub(crate) fn bundle_of(&self, world: Option<&str>) -> Option<PathBuf> {
        self.bundle_named(world.map(|world| format!("-{world}")))
    }

    /// Returns the undo bundle of the files beside the worlds. It differs from
    /// that of every world, also of one named `universe`.
    pub(crate) fn bundle_of_universe(&self) -> Option<PathBuf> {
        self.bundle_named(Some(".universe".to_owned()))
    }

    fn bundle_named(&self, suffix: Option<String>) -> Option<PathBuf> {
        let bundle = self.bundle.clone()?;
        let Some(suffix) = suffix else { return Some(bundle) };
        let mut name = bundle.file_stem().unwrap_or_default().to_owned();
        name.push(suffix);
        if let Some(ending) = bundle.extension() {
            name.push(".");
            name.push(ending);
        }
        Some(bundle.with_file_name(name))
    }
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RepairArgs {
    /// A save, universe, world, chunks/ folder, region file, rocksdb:PATH or `s3://BUCKET/PREFIX`
    pub(crate) path: PathBuf,
    /// A source of good copies: a backup zip, a folder of backups, a save, a world, a chunks/
    /// folder, a region file or an undo bundle; repeatable, newest first
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from: Vec<PathBuf>,
    /// Do not use the backups of the save itself
    #[arg(long)]
    pub(crate) no_backups: bool,
    /// Use sources even if they may be of another world
    #[arg(long)]
    pub(crate) trust_source: bool,
    /// Use older versions of chunks whose position is at least this certain
    #[arg(long, value_name = "LEVEL", default_value = "high")]
    pub(crate) confidence: ConfidenceArg,
    /// Repair only findings of this class, as `verify` names it; repeatable
    #[arg(long, value_name = "CLASS")]
    pub(crate) only: Vec<String>,
    /// Also repair chunks with warnings
    #[arg(long)]
    pub(crate) warnings: bool,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    #[command(flatten)]
    pub(crate) apply: ApplyArgs,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what")
    .args(["chunks", "area", "player", "file"]).required(true).multiple(true))]
pub(crate) struct RestoreArgs {
    /// The world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// The backup zip, folder of backups (its newest is used), world or undo bundle
    #[arg(long, value_name = "BACKUP")]
    pub(crate) from: PathBuf,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    /// With --area: also remove chunks that the backup does not have
    #[arg(long, requires = "area")]
    pub(crate) remove_others: bool,
    /// A player, by name or UUID; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) player: Vec<String>,
    /// A file of the world, such as config.json or resources/Time.json; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,
    /// Restore even if the source is another world
    #[arg(long)]
    pub(crate) trust_source: bool,
    #[command(flatten)]
    pub(crate) apply: ApplyArgs,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct UndoArgs {
    /// The undo bundle, a file that ends in .hyundo
    pub(crate) bundle: PathBuf,
    /// The changed world: its folder, or the `s3://` URL of its storage [default: the folder beside
    /// the bundle]
    #[arg(long, value_name = "PATH")]
    pub(crate) at: Option<PathBuf>,
    /// Also restore files that links inside the world place in this folder; repeatable
    #[arg(long, value_name = "FOLDER")]
    pub(crate) linked: Vec<PathBuf>,
    /// Use the bundle even if it may belong to another world
    #[arg(long)]
    pub(crate) trust_bundle: bool,
    /// Show the plan, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask before changing the world
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UndeleteArgs {
    /// A save, universe, world, chunks/ folder or region file
    pub(crate) path: PathBuf,
    /// Restore every chunk that is missing or damaged now
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    /// With one --chunk: restore the version at this segment of its region file
    #[arg(long, value_name = "N", requires = "chunks")]
    pub(crate) segment: Option<u32>,
    /// Also replace intact chunks by their older version
    #[arg(long)]
    pub(crate) replace: bool,
    /// Restore only chunks whose position is at least this certain
    #[arg(long, value_name = "LEVEL", default_value = "high")]
    pub(crate) confidence: ConfidenceArg,
    #[command(flatten)]
    pub(crate) apply: ApplyArgs,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// The confidence of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ConfidenceArg {
    /// The best of several similar positions
    Low,
    /// Clearly better than all other positions
    Medium,
    /// Proven, and contradicted by nothing: wrong at most once in 1,000
    High,
    /// Recorded with the chunk
    Certain,
}

impl From<ConfidenceArg> for Confidence {
    fn from(arg: ConfidenceArg) -> Self {
        match arg {
            ConfidenceArg::Low => Self::Low,
            ConfidenceArg::Medium => Self::Medium,
            ConfidenceArg::High => Self::High,
            ConfidenceArg::Certain => Self::Certain,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// A save, universe, world, chunks/ folder or region file
    pub(crate) path: PathBuf,
    /// Compress blobs again at this zstd level, -7 to 22, if that makes them smaller. The game
    /// compresses at level 3
    #[arg(long, value_name = "N", allow_hyphen_values = true,
        value_parser = clap::value_parser!(i32).range(-7..=22))]
    pub(crate) level: Option<i32>,
    /// Drop orphaned blobs even if slots are damaged
    #[arg(long)]
    pub(crate) drop_orphans: bool,
    #[command(flatten)]
    pub(crate) apply: ApplyArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SealArgs {
    /// A save, universe, world, chunks/ folder or region file
    pub(crate) path: PathBuf,
    /// The zstd level, -7 to 22
    #[arg(long, value_name = "N", default_value_t = 3, allow_hyphen_values = true,
        value_parser = clap::value_parser!(i32).range(-7..=22))]
    pub(crate) level: i32,
    #[command(flatten)]
    pub(crate) apply: ApplyArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
