//! `hyworld region <verb> FILE`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use hyworld_indexed_storage::{DEFAULT_LEVEL, Geometry, SegmentIndex};

use super::shapes;
use super::value::{SlotArg, geometry};

/// Useful zstd levels: below -7 nothing changes, and 22 is the maximum.
const LEVELS: std::ops::RangeInclusive<i64> = -7..=22;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the format of a file and how its bytes are used
    #[command(after_long_help = shapes::of("region info"))]
    Info(InfoArgs),
    /// List the blobs of a file
    #[command(after_long_help = shapes::of("region ls"))]
    Ls(LsArgs),
    /// Read the blob of a slot
    ///
    /// Writes the decompressed document to stdout or to a file. Binary data is not written to a
    /// terminal, except with `-o -`.
    #[command(after_long_help = shapes::of("region get"))]
    Get(GetArgs),
    /// Write a blob into a slot, creating the file if needed
    #[command(after_long_help = shapes::of("region put"))]
    Put(PutArgs),
    /// Empty a slot
    ///
    /// Zeroes the index entry and the two lengths in the blob's header. The compressed bytes stay
    /// in the file, and `salvage` finds them until the space is reused.
    #[command(after_long_help = shapes::of("region rm"))]
    Rm(RmArgs),
    /// Check every blob completely: segments, lengths, compression, seal
    #[command(after_long_help = shapes::of("region verify"))]
    Verify(VerifyArgs),
    /// Find orphaned blobs: older versions of chunks, and removed chunks
    ///
    /// Includes blobs that only a damaged slot refers to. `--segment` accepts any segment, also
    /// one in use.
    #[command(after_long_help = shapes::of("region salvage"))]
    Salvage(SalvageArgs),
    /// Rewrite the file without gaps, in one atomic step
    ///
    /// Drops orphaned blobs, except if a slot is damaged: an orphaned blob may then be its only
    /// copy.
    #[command(after_long_help = shapes::of("region compact"))]
    Compact(CompactArgs),
    /// Upgrade a version 0 file to version 1
    ///
    /// If the game was interrupted while upgrading a file, it leaves a version 0 file NAME.old
    /// beside the new one. Blobs that only NAME.old has are then copied into the new file.
    #[command(after_long_help = shapes::of("region upgrade"))]
    Upgrade(UpgradeArgs),
    /// Add a checksum and a seal to every blob, or remove them
    ///
    /// A seal records which slot a blob belongs to. The game reads sealed blobs as usual. With
    /// seals every flipped bit in a blob is detected, and `verify --rebuild-index` can restore a
    /// lost index table.
    #[command(after_long_help = shapes::of("region seal"))]
    Seal(SealArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// A region file to read.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// The region file
    pub(crate) file: PathBuf,
    /// Ignore the first 32 bytes and read the file as version 1 with this geometry, for files with
    /// a destroyed header. The game uses 1024x4096
    #[arg(long, value_name = "SLOTSxBYTES", value_parser = geometry)]
    pub(crate) assume_geometry: Option<Geometry>,
}

/// For verbs that change a file in place.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Force {
    /// Write even if another program has this file, or another file of its world, open for
    /// writing. A running server would damage the file: use this only if the other program never
    /// writes it
    #[arg(long)]
    pub(crate) force: bool,
}

/// Where the undo bundle of a change goes.
#[derive(Clone, Debug, Args)]
pub(crate) struct BundleArgs {
    /// Write the undo bundle to this file [default: a new file beside the world, or beside the
    /// region file if it belongs to none]
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Write no undo bundle: the change cannot be undone
    #[arg(long, conflicts_with = "bundle")]
    pub(crate) no_undo: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The slot: its number, or x,z of the chunk inside the region
    pub(crate) slot: SlotArg,
    /// Output file [default: stdout]; - is stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the stored zstd frames instead of the decompressed document
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print one JSON object about the blob
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(crate) struct PutArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// The slot: its number, or x,z of the chunk inside the region
    pub(crate) slot: SlotArg,
    /// The file with the document; - is stdin
    pub(crate) document: PathBuf,
    /// The input is already compressed with zstd: store it unchanged
    #[arg(long, conflicts_with_all = ["level", "seal"])]
    pub(crate) raw: bool,
    /// Add a checksum and a seal
    #[arg(long)]
    pub(crate) seal: bool,
    /// The zstd level; the game uses 3
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LEVEL, allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(LEVELS))]
    pub(crate) level: i32,
    /// Accepted for older scripts: every write is synced to disk
    #[arg(long, hide = true)]
    pub(crate) each_write: bool,
    /// The geometry of the file if it is created
    #[arg(long, value_name = "SLOTSxBYTES", value_parser = geometry, default_value = "1024x4096")]
    pub(crate) geometry: Geometry,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) undo: BundleArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// The slot: its number, or x,z of the chunk inside the region
    pub(crate) slot: SlotArg,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) undo: BundleArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Restore lost or wrong index entries from the seals of blobs. Shows the plan and asks; the
    /// old table is kept in the undo bundle
    #[arg(long, group = "rebuild", conflicts_with = "assume_geometry")]
    pub(crate) rebuild_index: bool,
    /// Also restore chunks that were removed after they were sealed, without asking
    #[arg(long, requires = "rebuild_index")]
    pub(crate) removed: bool,
    /// Rewrite a destroyed header with the geometry of --assume-geometry. Checks the blobs with it
    /// and asks; the old bytes are kept in the undo bundle
    #[arg(long, group = "rebuild", requires = "assume_geometry")]
    pub(crate) rebuild_header: bool,
    /// Show the plan, and change nothing
    #[arg(long, requires = "rebuild")]
    pub(crate) dry_run: bool,
    /// Do not ask. Chunks that were removed after they were sealed are restored only with --removed
    #[arg(long, requires = "rebuild", conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) undo: BundleArgs,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").args(["segment", "all"])))]
#[command(group(ArgGroup::new("where").args(["output", "restore"])))]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(crate) struct SalvageArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Extract only the blob that begins at this segment
    #[arg(long, value_name = "N", value_parser = segment, requires = "where")]
    pub(crate) segment: Option<SegmentIndex>,
    /// Extract every blob into the folder given with -o
    #[arg(long, requires = "output", conflicts_with = "restore")]
    pub(crate) all: bool,
    /// Write the decompressed document to this file; - is stdout
    #[arg(short, long, value_name = "PATH", requires = "which")]
    pub(crate) output: Option<PathBuf>,
    /// Restore the blob to this slot, unchanged
    #[arg(long, value_name = "SLOT", requires = "segment", conflicts_with = "assume_geometry")]
    pub(crate) restore: Option<SlotArg>,
    /// Print what --restore would do, and change nothing
    #[arg(long, requires = "restore")]
    pub(crate) dry_run: bool,
    /// Do not ask before --restore replaces a blob
    #[arg(long, requires = "restore", conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) undo: BundleArgs,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

fn segment(text: &str) -> Result<SegmentIndex, String> {
    let number = text.parse().ok().and_then(SegmentIndex::new);
    number.ok_or_else(|| "expected a number from 1 to 2147483647".to_owned())
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(crate) struct CompactArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// Compact even though this loses the blobs of damaged slots
    #[arg(long)]
    pub(crate) drop_damaged: bool,
    /// Drop orphaned blobs even if a slot is damaged
    #[arg(long)]
    pub(crate) drop_orphans: bool,
    /// Print the size the file would have, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) undo: BundleArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) undo: BundleArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SealArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// Remove the seals, so that the blobs are as the game writes them
    #[arg(long)]
    pub(crate) remove: bool,
    /// The zstd level; the game uses 3
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LEVEL, allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(LEVELS))]
    pub(crate) level: i32,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) undo: BundleArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
