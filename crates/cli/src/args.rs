//! Definitions of the command line: verbs, arguments and flags. Help, completions and man pages
//! are generated from them. Nothing is opened here.

pub(crate) mod bench;
pub(crate) mod change;
pub(crate) mod chunk;
pub(crate) mod convert;
pub(crate) mod fingerprint;
pub(crate) mod health;
pub(crate) mod info;
pub(crate) mod map;
pub(crate) mod migrate;
pub(crate) mod player;
pub(crate) mod query;
pub(crate) mod region;
pub(crate) mod resource;
pub(crate) mod running;
pub(crate) mod select;
pub(crate) mod serve;
mod shapes;
pub(crate) mod snapshot;
mod start;
pub(crate) mod storage;
pub(crate) mod upgrade;
mod value;
pub(crate) mod world;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use start::{manual, parse};
pub(crate) use value::{ComponentArg, SlotArg};

const EXIT_CODES: &str = "\
Exit codes:
  0  clean
  1  problems found: damage, an empty slot, a file that is not a region file
  2  usage: wrong arguments, or a path that does not exist
  3  failed: disk, permissions, a lock, an internal error

Data goes to stdout; messages and progress go to stderr. Closing stdout early is not an error.";

/// Inspect, check, repair, change and convert Hytale worlds
#[derive(Debug, Parser)]
#[command(name = "hyworld", version, max_term_width = 100, after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every verb accepts.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every verb")]
pub(crate) struct Global {
    /// Number of threads, at most 256 [default: one per processor]
    #[arg(short, long, global = true, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// World to use if the save or universe has several
    #[arg(long = "world", id = "world_name", global = true, value_name = "NAME")]
    pub(crate) world: Option<String>,
    /// Print only data and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more, such as how long the command took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::doc_markdown, reason = "examples are commands to copy")]
pub(crate) enum Command {
    /// Show what a path contains: worlds, their settings and their sizes
    ///
    /// PATH is anything with worlds or chunks, from a save to a region file; the kind is detected.
    /// Nothing is written. A world or chunk that cannot be read is
    /// reported, and the rest is shown.
    #[command(after_long_help = shapes::of("info"))]
    Info(info::InfoArgs),
    /// List the saves and game installations in the game's usual folders
    ///
    /// Looks for Hytale in `%APPDATA%`, `~/Library/Application Support`,
    /// `~/.var/app/com.hypixel.HytaleLauncher/data` and `$XDG_DATA_HOME` on every system.
    #[command(after_long_help = shapes::of("saves"))]
    Saves(SavesArgs),
    /// Work on one region file
    #[command(subcommand)]
    Region(region::Verb),
    /// List, create, copy and delete the worlds of a universe
    #[command(subcommand)]
    World(world::Verb),
    /// List, show, export, import and remove the players of a save
    #[command(subcommand)]
    Player(player::Verb),
    /// List and show the resources of a universe and its worlds: time, markers, ...
    #[command(subcommand)]
    Resource(resource::Verb),
    /// Show the contents of a chunk
    ///
    /// Prints a summary: sizes, components, blocks of each section, block entities, entities.
    /// PATH is a region file, a folder of region files, a world, or a universe or save with one
    /// world.
    #[command(after_long_help = shapes::of("chunk"))]
    Chunk(chunk::ChunkArgs),
    /// Write every chunk as one line of JSON
    ///
    /// Each line is what `chunk --json` prints. Chunks are converted on all processors within
    /// bounded memory and written in the order of regions and slots. A chunk that cannot be read
    /// is reported, and the rest is written.
    #[command(after_long_help = shapes::of("dump"))]
    Dump(chunk::DumpArgs),
    /// Show everything about one block
    ///
    /// X, Y and Z are the coordinates that the game shows. PATH is as for `chunk`.
    #[command(after_long_help = shapes::of("block"))]
    Block(chunk::BlockArgs),
    /// Draw a map of a world: a picture, or tiles with a viewer
    ///
    /// `-o map.png` and `-o map.webp` write one picture. `-o map.pmtiles` writes an archive of
    /// tiles for map programs. Any other name is a folder with tiles and a page, index.html, that
    /// shows them in a browser, from the disk or from any web server; the next run draws only what
    /// changed.
    ///
    /// The layer `surface` is the image of the game's own map: with the game's assets its colours
    /// and shading, without them colours by the names of blocks. The others: `height`;
    /// `environment`; `light`, the ground at night; `depth` of fluids; `slice` at a height;
    /// `caves`; `changes`, how often blocks changed; `age`, how long a chunk has been unchanged;
    /// `size` in the storage; `damage`; and `diff`, what differs from another world. Missing chunks
    /// are transparent. Damaged chunks are hatched in red, those of newer games in violet. North is
    /// up. The world is only read, in bounded memory.
    ///
    /// Examples:
    ///   hyworld map SAVE -o map.png
    ///   hyworld map SAVE -o map --layer surface,height,caves
    ///   hyworld map WORLD -o diff.png --layer diff --against backup.zip
    #[command(verbatim_doc_comment, after_long_help = shapes::of("map"))]
    Map(map::MapArgs),
    /// Show the map colours of every block, fluid and environment of a world
    ///
    /// Shows the values that the game's assets have, and where each comes from: `assets`, `mod`,
    /// `family` (chosen by the start of the name, because no asset describes it) or `hash` (by the
    /// whole name).
    #[command(after_long_help = shapes::of("colors"))]
    Colors(map::ColorsArgs),
    /// Show a live map of a world in the browser
    ///
    /// Serves the viewer of `map` over HTTP. Tiles are drawn when they are needed, and again when
    /// the world changes; pages that are open show changes after a few seconds, while the game's
    /// server runs. `/api/v1/info`, `/api/v1/chunk?x=X&z=Z` and `/api/v1/block?x=X&y=Y&z=Z` return
    /// the JSON of the verbs `info --fast`, `chunk` and `block`, and `/metrics` returns numbers for
    /// Prometheus. Only this machine can connect unless --public is given. The world is only read.
    /// Part of builds with the feature `serve`.
    Serve(serve::ServeArgs),
    /// List the chunks of a world that a selection chooses
    ///
    /// A selection combines areas, lists and tests with AND, OR, NOT and groups. Prints the number
    /// of chunks and their bounds, or the chunks as CSV, GeoJSON or JSON, which other selections
    /// read as @FILE. Only what the selection needs is read.
    ///
    /// Examples:
    ///   hyworld select WORLD 'chunk:-3,0..5,7'
    ///   hyworld select WORLD 'circle:block:0,0:500 AND NOT region:0,0'
    ///   hyworld select WORLD 'near:spawn:1000 AND item = *Gold*'
    ///   hyworld select WORLD '@kept.csv OR touched > 0' --csv
    ///   hyworld select WORLD 'chunk:3,7' --explain
    #[command(verbatim_doc_comment, after_long_help = select::help())]
    Select(select::SelectArgs),
    /// Find blocks, fluids, items, entities and texts in a world
    ///
    /// Prints one line for each match, with the coordinates that the game shows. Names are compared
    /// with `*` for any characters and `?` for one, in upper or lower case. Items are found in
    /// chests and other blocks, in entities, on the ground, and in the inventories of players.
    ///
    /// Examples:
    ///   hyworld find WORLD --item '*Bar_Gold*' --near 0,0
    ///   hyworld find WORLD --block 'Ore_Gold*' --select 'near:spawn:200'
    ///   hyworld find WORLD --entity 'Sheep*' --entity Dolly
    ///   hyworld find WORLD --item 'Weapon_*' --count
    #[command(verbatim_doc_comment, after_long_help = shapes::of("find"))]
    Find(query::FindArgs),
    /// Count the blocks, fluids, environments, entities and items of a world
    ///
    /// Prints tables of the most common names, of the biggest regions and chunks, and of the space
    /// in region files. Counts come from palettes, so cells are decoded only for --ores, --layers
    /// and --by-environment.
    ///
    /// Examples:
    ///   hyworld stats WORLD
    ///   hyworld stats WORLD --ores
    ///   hyworld stats WORLD --layers 'Ore_Iron*' --plot iron.svg
    ///   hyworld stats WORLD --select 'region:0,0' --csv
    #[command(verbatim_doc_comment, after_long_help = shapes::of("stats"))]
    Stats(query::StatsArgs),
    /// Show what changed between two worlds, or a world and a backup
    ///
    /// Compares chunks, and for changed ones blocks, fluids, entities, block entities, containers,
    /// heights and environments; then the configuration, resources and players. Chunks that are
    /// only stored in another way, such as compressed again, are equal. The exit code is 0 if both
    /// are equal and 1 if they differ. Nothing is written.
    ///
    /// Examples:
    ///   hyworld diff backup/2026-03-26_18-05-00.zip my-save
    ///   hyworld diff old new --select 'near:spawn:200' --details
    ///   hyworld diff old new --blocks --json
    #[command(verbatim_doc_comment, after_long_help = shapes::of("diff"))]
    Diff(change::DiffArgs),
    /// Remove chunks that players have not touched, so that the game generates them again
    ///
    /// Removes chunks of --select, or of the whole world with --all. Keeps chunks that are touched
    /// (`select --explain` prints why), around spawn, claimed or unreadable, or that have players
    /// or respawn points, and a ring of chunks around each of them. Shows counts, bytes and a small
    /// map, and asks. What is removed goes into an undo bundle beside the world. Stop the server
    /// first.
    ///
    /// Examples:
    ///   hyworld trim my-save --all --dry-run
    ///   hyworld trim my-save --select 'NOT circle:block:0,0:3000' --ring 4
    ///   hyworld trim my-save --all --protect-json claims.json --x '*.*.@0' --z '*.*.@1'
    #[command(verbatim_doc_comment, after_long_help = shapes::of("trim"))]
    Trim(change::TrimArgs),
    /// Create a sample world and show the main verbs on it
    ///
    /// Creates a universe with a world in DIR, generates chunks through the chunk store, builds a
    /// hut, saves, opens the world again and compares it. Then runs info, chunk, block, verify and
    /// convert on it. On copies of its region file, it removes and recovers a chunk, and seals,
    /// damages and repairs the file. All numbers are measured during the run, which takes a few
    /// seconds. Nothing outside DIR is changed, and DIR is kept.
    #[command(after_long_help = shapes::of("demo"))]
    Demo(DemoArgs),
    /// Print digests of every chunk that do not depend on how it is stored
    ///
    /// Two chunks with the same blocks have the same block digest, whatever the order of their
    /// palettes, their compression or their light. PATH is as for `chunk`. Chunks are sorted by z,
    /// then by x.
    #[command(after_long_help = shapes::of("fingerprint"))]
    Fingerprint(fingerprint::FingerprintArgs),
    /// List the chunks with their sizes
    ///
    /// PATH is a world, a chunks/ folder, a region file, rocksdb:PATH or `s3://BUCKET/PREFIX`.
    /// Chunks are listed in storage order.
    #[command(after_long_help = shapes::of("ls"))]
    Ls(storage::LsArgs),
    /// Read and decode every chunk completely, and report damage
    ///
    /// Reads every byte of every chunk, checks its container, its document and every component, and
    /// checks chunks against each other. Also checks the configuration, resources, players, backups
    /// and left-over files of a save. Nothing is changed. A damaged chunk does not end the run. A
    /// finding is an error if data is lost or the game would reject the chunk, a warning if the
    /// game does not write it but reads it, and a note if healthy worlds have it too. The exit code
    /// is 1 only if there are errors.
    ///
    /// With --manifest, a first run writes a hash of every chunk and file, and later runs report
    /// everything that differs. With --since, only chunks that were written since the manifest are
    /// read. --update replaces the manifest afterwards.
    #[command(after_long_help = shapes::of("verify"))]
    Verify(storage::VerifyArgs),
    /// Repair damaged chunks and files of a world
    ///
    /// Checks the world and plans a remedy for each damaged chunk, in this order: its own bytes, if
    /// only lengths, counts or the index entry are damaged; a good copy from a source, newest
    /// first; an older version in the same region file; the parts of it that can be decoded;
    /// removing it, so that the game generates it again. Healthy chunks are never changed. Sources
    /// are those of --from and the backups of the save; a source must be the same world. Shows the
    /// plan and asks. What is replaced goes into an undo bundle beside the world. Stop the server
    /// first.
    #[command(after_long_help = shapes::of("repair"))]
    Repair(health::RepairArgs),
    /// Restore chosen chunks, players or files of a world from a backup
    ///
    /// Shows what would be replaced and asks. What is replaced goes into an undo bundle beside the
    /// world. Stop the server first.
    #[command(after_long_help = shapes::of("restore"))]
    Restore(health::RestoreArgs),
    /// List and restore removed and overwritten chunks that are still stored
    ///
    /// The game leaves the old version of a chunk in its region file until the space is used again.
    /// Lists every such version with its contents and its position. The position is determined from
    /// its seal, its entities, a similar stored chunk or the chunks around it; the confidence shows
    /// how certain it is. --all and --chunk restore chunks that are missing or damaged now. What is
    /// replaced goes into an undo bundle beside the world. Stop the server before restoring.
    #[command(after_long_help = shapes::of("undelete"))]
    Undelete(health::UndeleteArgs),
    /// Free unused space in the region files of a world
    ///
    /// Shows how the space is used and how much compacting frees, and asks. Each file is rebuilt
    /// beside the old one, verified, and replaces it in one step. Orphaned blobs are dropped unless
    /// a slot of the file is damaged. The old bytes go into an undo bundle beside the world. Stop
    /// the server first.
    #[command(after_long_help = shapes::of("compact"))]
    Compact(health::CompactArgs),
    /// Add a checksum and a seal to every chunk of a world
    ///
    /// With seals, `verify` detects every flipped bit and every chunk in a wrong slot, and a lost
    /// index table can be rebuilt. The game reads sealed chunks as usual, and drops the seal of a
    /// chunk when it saves it. Stop the server first.
    #[command(after_long_help = shapes::of("seal"))]
    Seal(health::SealArgs),
    /// Remove the seals of every chunk of a world
    ///
    /// At level 3, the chunks are then stored as the game writes them. Stop the server first.
    #[command(after_long_help = shapes::of("unseal"))]
    Unseal(health::SealArgs),
    /// Undo a repair or another change of a world from its undo bundle
    ///
    /// Restores the bytes that the verb replaced, in the world beside the bundle or the one that
    /// --at names. Files that were changed after the verb are skipped and reported; of region
    /// files, only the changed slots are skipped. What the undo replaces goes into another undo
    /// bundle. The exit code is 0 only if everything is as before. Stop the server first.
    #[command(after_long_help = shapes::of("undo"))]
    Undo(health::UndoArgs),
    /// Copy the chunks of a world to another storage, verified by hash
    ///
    /// Copies documents without decoding them, on all processors and in constant memory, then
    /// reads them back and compares hashes. Between region files and object stores the compressed
    /// frames are copied unchanged. The source is only read. The target is written as
    /// NAME.hyworld-partial and renamed when it is complete, so an unfinished copy cannot be taken
    /// for a whole world. Run the same command again to continue an interrupted copy. Only chunks
    /// are copied; config.json and players are not.
    #[command(after_long_help = shapes::of("convert"))]
    Convert(convert::ConvertArgs),
    /// Copy a world or save while a server runs
    ///
    /// Copies all chunks and all other files, then copies again what changed meanwhile, until
    /// nothing changed or the number of passes is reached. Every chunk of the copy is one that was
    /// stored completely; the copy is settled if it is also the state of a single moment. Orphaned
    /// chunks are not copied. The copy is read back and compared. WORLD is a save, a universe, a
    /// world or a folder of region files, and is only read. TARGET must not exist; it is written as
    /// TARGET.hyworld-partial and renamed when it is complete.
    #[command(after_long_help = shapes::of("snapshot"))]
    Snapshot(snapshot::SnapshotArgs),
    /// Move the chunks of a world to another provider and switch the world to it
    ///
    /// Copies every chunk, reads all of them back and compares hashes. Then config.json and
    /// resources/ChunkStorage.json are changed to name the new provider; until then the world uses
    /// the old one. The old chunks are kept. Run the same command again to continue an interrupted
    /// migration. WORLD is a world, or a universe or save with one world. Stop the server first.
    #[command(after_long_help = shapes::of("migrate"))]
    Migrate(migrate::MigrateArgs),
    /// Upgrade the chunks of a world to the current format
    ///
    /// Renames blocks that newer versions of the game renamed, if the game's assets are found, and
    /// stores old sections in the newest version. The game does the same when it loads a chunk.
    /// Migrations of the save's mods replace those of the game with the same number. The old
    /// chunks are kept in a folder of the world; --undo restores them. Stop the server first.
    #[command(after_long_help = shapes::of("upgrade"))]
    Upgrade(upgrade::UpgradeArgs),
    /// Generate and save the chunks of an area in advance
    ///
    /// Generates the chunks of a square that are not stored yet, on all processors and in bounded
    /// memory. Stored chunks are not changed, so running the same command again continues an
    /// interrupted run. Works only for worlds with a generator of hyworld; the game's own terrain
    /// needs the game. PATH is a world, or a universe or save with one world. Stop the server
    /// first.
    #[command(after_long_help = shapes::of("pregen"))]
    Pregen(running::PregenArgs),
    /// Put a world under load: viewers walk, blocks change, chunks are saved
    ///
    /// Use a copy of a world: edits write numbers into blocks of the lowest and the highest
    /// section, and are not undone. When a chunk is edited again, it must still hold the number
    /// written last. Chunks are generated in worlds with a generator of hyworld; in other worlds
    /// viewers visit only stored chunks. Ctrl-C ends the run early; all changes are saved at the
    /// end. PATH is a world, or a universe or save with one world. Stop the server first.
    #[command(after_long_help = shapes::of("stress"))]
    Stress(running::StressArgs),
    /// Measure speed, as ratios to zstd
    #[command(subcommand)]
    Bench(bench::Verb),
    /// Print a completion script for a shell
    ///
    /// For example: hyworld completions bash > ~/.local/share/bash-completion/completions/hyworld
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page, or write all of them into a folder
    Man {
        /// Write one page for each verb into this folder [default: the main page to stdout]
        dir: Option<PathBuf>,
    },
}

impl Command {
    /// Returns the path argument of a verb that works on a world or on part of one.
    pub(crate) fn path_of_worlds(&mut self) -> Option<&mut PathBuf> {
        Some(match self {
            Self::Info(args) => &mut args.path,
            Self::Chunk(args) => &mut args.path,
            Self::Dump(args) => &mut args.path,
            Self::Block(args) => &mut args.path,
            Self::Fingerprint(args) => &mut args.path,
            Self::Map(args) => &mut args.path,
            Self::Colors(args) => &mut args.path,
            Self::Serve(args) => &mut args.path,
            Self::Select(args) => &mut args.path,
            Self::Find(args) => &mut args.path,
            Self::Diff(args) => &mut args.first,
            Self::Trim(args) => &mut args.path,
            Self::Stats(args) => &mut args.path,
            Self::Convert(args) => &mut args.source,
            Self::Migrate(args) => &mut args.world,
            Self::Snapshot(args) => &mut args.source,
            Self::Upgrade(args) => &mut args.path,
            Self::Verify(args) => &mut args.path,
            Self::Repair(args) => &mut args.path,
            Self::Restore(args) => &mut args.path,
            Self::Undelete(args) => &mut args.path,
            Self::Compact(args) => &mut args.path,
            Self::Seal(args) | Self::Unseal(args) => &mut args.path,
            Self::Pregen(args) => &mut args.path,
            Self::Stress(args) => &mut args.path,
            Self::Ls(args) => &mut args.path,
            Self::Resource(resource::Verb::List(args)) => &mut args.path,
            Self::Resource(resource::Verb::Show(args)) => &mut args.path,
            Self::Bench(bench::Verb::Store(args)) => &mut args.path,
            _ => return None,
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct SavesArgs {
    /// Print one JSON object per line for each save and installed game
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// A folder that is empty or does not exist [default: a new one under the system's folder for
    /// temporary files]
    pub(crate) dir: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
