//! `hyworld region <verb> FILE`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use hyworld_indexed_storage::{DEFAULT_LEVEL, Geometry, SegmentIndex};

use super::shapes;
use super::value::{SlotArg, geometry};

/// The lowest level of zstd that makes a difference, and the highest there is.
const LEVELS: std::ops::RangeInclusive<i64> = -7..=22;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show what a file is and what its bytes are used for
    #[command(after_long_help = shapes::of("region info"))]
    Info(InfoArgs),
    /// List the blobs
    #[command(after_long_help = shapes::of("region ls"))]
    Ls(LsArgs),
    /// Read the blob of a slot
    ///
    /// Writes the decompressed content to stdout or to a file. Content that is no text is not
    /// written to a terminal unless you say -o -.
    #[command(after_long_help = shapes::of("region get"))]
    Get(GetArgs),
    /// Write a blob into a slot; a missing file is made
    #[command(after_long_help = shapes::of("region put"))]
    Put(PutArgs),
    /// Empty a slot
    ///
    /// The index entry and the header of the released blob, its two lengths, are zeroed. The
    /// bytes stay: until the space is used again, `salvage` finds it.
    #[command(after_long_help = shapes::of("region rm"))]
    Rm(RmArgs),
    /// Check every blob in full: place, lengths, compression, seal
    #[command(after_long_help = shapes::of("region verify"))]
    Verify(VerifyArgs),
    /// Find whole blobs that no slot refers to: older versions, removed chunks
    ///
    /// Also looks where only a damaged slot points. --segment takes any segment, in use or not.
    #[command(after_long_help = shapes::of("region salvage"))]
    Salvage(SalvageArgs),
    /// Rewrite the file without gaps, in one atomic step
    ///
    /// What only `salvage` could have found is gone afterwards, unless slots are damaged: then it
    /// may be all that is left of them.
    #[command(after_long_help = shapes::of("region compact"))]
    Compact(CompactArgs),
    /// Bring a version 0 file to version 1
    ///
    /// For a version 1 file with a left-over NAME.old of version 0, blobs are brought over that
    /// only the old file has: the game leaves such a pair behind when its own upgrade is
    /// interrupted.
    #[command(after_long_help = shapes::of("region upgrade"))]
    Upgrade(UpgradeArgs),
    /// Rewrite every blob with a checksum and a seal that says what it is, or without
    ///
    /// The game reads sealed blobs as any others. With seals no flipped bit in a blob's content
    /// goes unnoticed, and `verify --rebuild-index` can put a lost index table back.
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
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// A file to read.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// The region file
    pub(crate) file: PathBuf,
    /// Take the file for version 1 with this geometry, whatever its first 32 bytes say: for files
    /// whose header is destroyed. The game's is 1024x4096
    #[arg(long, value_name = "SLOTSxBYTES", value_parser = geometry)]
    pub(crate) assume_geometry: Option<Geometry>,
}

/// For verbs that change a file in its place.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Force {
    /// Write although another program has this file, or another one of its world, open for
    /// writing. Only for programs that do not write it: a server that runs would damage it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The slot: a number, or local x,z
    pub(crate) slot: SlotArg,
    /// Where to write [default: stdout]; - is stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The zstd frames as they are stored, not the content
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print one JSON object about it
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that is there or not")]
pub(crate) struct PutArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// The slot: a number, or local x,z
    pub(crate) slot: SlotArg,
    /// The file with the content; - is stdin
    pub(crate) content: PathBuf,
    /// The content is a blob compressed with zstd already: store it verbatim
    #[arg(long, conflicts_with_all = ["level", "seal"])]
    pub(crate) raw: bool,
    /// Store it with a checksum and a seal
    #[arg(long)]
    pub(crate) seal: bool,
    /// The level of zstd; the game uses 3
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LEVEL, allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(LEVELS))]
    pub(crate) level: i32,
    /// Make sure that the write survives a power cut, as the game's `FlushOnWrite` does
    #[arg(long)]
    pub(crate) each_write: bool,
    /// The geometry of the file if it is made now
    #[arg(long, value_name = "SLOTSxBYTES", value_parser = geometry, default_value = "1024x4096")]
    pub(crate) geometry: Geometry,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// The slot: a number, or local x,z
    pub(crate) slot: SlotArg,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that is there or not")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Put lost or wrong entries of the index table back from the seals of blobs. Shows the plan,
    /// then asks; the old table is kept as NAME.index.bak
    #[arg(long, group = "rebuild", conflicts_with = "assume_geometry")]
    pub(crate) rebuild_index: bool,
    /// Bring chunks back as well that were removed since they were sealed, without asking
    #[arg(long, requires = "rebuild_index")]
    pub(crate) removed: bool,
    /// Write a destroyed header again, with the geometry of --assume-geometry. Checks the blobs
    /// with it, then asks; the old bytes are kept as NAME.header.bak
    #[arg(long, group = "rebuild", requires = "assume_geometry")]
    pub(crate) rebuild_header: bool,
    /// Only show the plan
    #[arg(long, requires = "rebuild")]
    pub(crate) dry_run: bool,
    /// Do not ask; chunks that were removed since they were sealed stay removed without --removed
    #[arg(long, requires = "rebuild", conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").args(["segment", "all"])))]
#[command(group(ArgGroup::new("where").args(["output", "restore"])))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that is there or not")]
pub(crate) struct SalvageArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Only the blob that begins at this segment
    #[arg(long, value_name = "N", value_parser = segment, requires = "where")]
    pub(crate) segment: Option<SegmentIndex>,
    /// Every blob, as files in the folder that -o names
    #[arg(long, requires = "output", conflicts_with = "restore")]
    pub(crate) all: bool,
    /// Write the decompressed content here; - is stdout
    #[arg(short, long, value_name = "PATH", requires = "which")]
    pub(crate) output: Option<PathBuf>,
    /// Put the blob back into this slot, verbatim
    #[arg(long, value_name = "SLOT", requires = "segment", conflicts_with = "assume_geometry")]
    pub(crate) restore: Option<SlotArg>,
    /// Only say what --restore would do
    #[arg(long, requires = "restore")]
    pub(crate) dry_run: bool,
    /// Do not ask before --restore replaces the blob of a slot
    #[arg(long, requires = "restore", conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

fn segment(text: &str) -> Result<SegmentIndex, String> {
    let number = text.parse().ok().and_then(SegmentIndex::new);
    number.ok_or_else(|| "expected a number from 1 to 2147483647".to_owned())
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that is there or not")]
pub(crate) struct CompactArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// Go on although slots will be gone whose bytes cannot be found
    #[arg(long)]
    pub(crate) drop_damaged: bool,
    /// Also drop blobs that no slot refers to if slots are damaged
    #[arg(long)]
    pub(crate) drop_orphans: bool,
    /// Only compute the size that the file would have
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SealArgs {
    /// The region file
    pub(crate) file: PathBuf,
    /// Take the seals away: the blobs become what the game writes
    #[arg(long)]
    pub(crate) remove: bool,
    /// The level of zstd; the game uses 3
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LEVEL, allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(LEVELS))]
    pub(crate) level: i32,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
