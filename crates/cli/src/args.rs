//! The words and flags of the command line. Definitions only: nothing is opened here. Help,
//! completions and man pages come from them.

pub(crate) mod bench;
pub(crate) mod chunk;
pub(crate) mod convert;
pub(crate) mod fingerprint;
pub(crate) mod info;
pub(crate) mod migrate;
pub(crate) mod player;
pub(crate) mod region;
pub(crate) mod resource;
pub(crate) mod running;
mod shapes;
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
  1  problems found: damage, an empty slot, a file that is no region file
  2  usage: the command line cannot mean this
  3  the work could not be done: disk, permissions, a lock, an internal fault

Data goes to stdout, talk and progress to stderr. A reader of stdout that goes away is no error.";

/// Hytale world storage: look into, check, repair, change and move worlds and their chunks
#[derive(Debug, Parser)]
#[command(name = "hyworld", version, max_term_width = 100, after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every verb accepts.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every verb")]
pub(crate) struct Global {
    /// Threads for work that can be shared, at most 256 [default: one for each processor]
    #[arg(short, long, global = true, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Which world of a save or universe with several
    #[arg(long = "world", id = "world_name", global = true, value_name = "NAME")]
    pub(crate) world: Option<String>,
    /// Say nothing but data and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more, such as how long it took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a path is: its worlds, what they say, and how much is in them
    ///
    /// PATH is the folder of a save, a universe, a world, an instance template, a chunks/ folder or
    /// a region file; which of them, it finds out. Nothing is written. A world or a chunk that
    /// cannot be read is reported, and the rest is shown.
    #[command(after_long_help = shapes::of("info"))]
    Info(info::InfoArgs),
    /// List the saves and installed games in the usual folders of the game
    ///
    /// Looks for Hytale in `%APPDATA%`, `~/Library/Application Support`,
    /// `~/.var/app/com.hypixel.HytaleLauncher/data` and `$XDG_DATA_HOME`, whatever the system.
    #[command(after_long_help = shapes::of("saves"))]
    Saves(SavesArgs),
    /// Work on one region file
    #[command(subcommand)]
    Region(region::Verb),
    /// List, make, copy and delete the worlds of a universe
    #[command(subcommand)]
    World(world::Verb),
    /// List, show, export, import and remove the players of a save
    #[command(subcommand)]
    Player(player::Verb),
    /// List and show what a universe and its worlds remember
    #[command(subcommand)]
    Resource(resource::Verb),
    /// Show what a chunk holds
    ///
    /// Prints a summary: sizes, components, what each section is made of, block entities, entities.
    /// PATH is a region file, a folder of region files, a world, or a universe or save with one
    /// world.
    #[command(after_long_help = shapes::of("chunk"))]
    Chunk(chunk::ChunkArgs),
    /// Write every chunk of any storage as one line of JSON
    ///
    /// A line is what `chunk --json` prints. Chunks are rendered on all processors in bounded
    /// memory, and written by region and slot. A chunk that cannot be read is reported, and the
    /// rest is written.
    #[command(after_long_help = shapes::of("dump"))]
    Dump(chunk::DumpArgs),
    /// Show everything that is known about one block
    ///
    /// X, Y and Z are the coordinates that the game shows. PATH is as for `chunk`.
    #[command(after_long_help = shapes::of("block"))]
    Block(chunk::BlockArgs),
    /// Show what it can do, on a sample world that is made for it
    ///
    /// Makes a universe with a world in DIR, generates its chunks through the chunk store, builds a
    /// hut, saves, opens the world again and compares; then shows the verbs on it: info, chunk,
    /// block, verify, convert, and on copies of its region file removing and rescuing a chunk,
    /// sealing, damage on purpose, repair. Every number is measured while it runs. Takes a few
    /// seconds; nothing outside DIR is touched, and DIR stays for you to look at.
    #[command(after_long_help = shapes::of("demo"))]
    Demo(DemoArgs),
    /// Print what every chunk holds, as digests that do not depend on how it is stored
    ///
    /// Two chunks with the same blocks have the same digest of blocks, whatever the order of their
    /// palettes, their compression or their light. PATH is as for `chunk`; chunks are sorted by z,
    /// then by x.
    #[command(after_long_help = shapes::of("fingerprint"))]
    Fingerprint(fingerprint::FingerprintArgs),
    /// List the chunks of any storage with their sizes
    ///
    /// PATH is a world, a chunks/ folder, a region file, rocksdb:PATH or `s3://BUCKET/PREFIX`. The
    /// order is that of the storage.
    #[command(after_long_help = shapes::of("ls"))]
    Ls(storage::LsArgs),
    /// Read and decode every chunk of any storage in full, and report what is wrong
    ///
    /// Every byte of every chunk is read, every document walked over, every component decoded and
    /// encoded again. Nothing is changed. One bad chunk does not end the run. Findings are errors,
    /// where something is lost or the game would refuse it, or warnings.
    #[command(after_long_help = shapes::of("verify"))]
    Verify(storage::VerifyArgs),
    /// Copy the chunks of a world to another kind of storage, and prove it
    ///
    /// Documents are copied without being decoded, on all processors and in constant memory, and
    /// read back and compared by hash. Between region files and object stores the compressed
    /// frames are copied as they are. The source is only read. The target grows under another
    /// name, NAME.hyworld-partial, and gets its name when all of it is there: a world that was
    /// copied half-way never looks whole. A copy that was interrupted is continued by the same
    /// command. Only chunks are copied, not config.json or players.
    #[command(after_long_help = shapes::of("convert"))]
    Convert(convert::ConvertArgs),
    /// Move the chunks of a world to another provider, and make the world use it
    ///
    /// Copies every chunk, reads all of them back and compares them by hash; then config.json and
    /// resources/ChunkStorage.json name the new provider. Until then the world uses the old one.
    /// The old chunks are kept. A migration that was interrupted is continued by the same command.
    /// WORLD is a world, or a universe or save with one world; no server may run on it.
    #[command(after_long_help = shapes::of("migrate"))]
    Migrate(migrate::MigrateArgs),
    /// Bring the chunks of a world to the form of today's game
    ///
    /// Blocks that newer games renamed get their new names, if the game's assets are there, and
    /// sections of old versions are stored in the newest one. The game does the same when it loads
    /// a chunk. Mods of the save replace migrations of the game by number. The chunks as they were
    /// are kept in a folder of the world, from which --undo puts them back. No server may run on
    /// the world.
    #[command(after_long_help = shapes::of("upgrade"))]
    Upgrade(upgrade::UpgradeArgs),
    /// Generate and save chunks before anybody needs them
    ///
    /// Makes the chunks of a square that are not stored yet, on all processors and in bounded
    /// memory. Chunks that are stored stay as they are, so what was interrupted is continued by
    /// the same command. Only for worlds that a generator of ours made: the game's terrain is made
    /// by the game. PATH is a world, or a universe or save with one world; no server may run on
    /// it.
    #[command(after_long_help = shapes::of("pregen"))]
    Pregen(running::PregenArgs),
    /// Load the chunk store of a world: viewers walk, blocks change, chunks are saved
    ///
    /// For a copy, not for a world that somebody wants to play: edits write numbers into blocks of
    /// the lowest and the highest section, and stay. Each chunk that is edited again must hold the
    /// number that it got last. Chunks are generated in worlds that a generator of ours made; in
    /// others only those that are stored are walked. Ctrl-C ends it early; everything is saved at
    /// the end. PATH is a world, or a universe or save with one world; no server may run on it.
    #[command(after_long_help = shapes::of("stress"))]
    Stress(running::StressArgs),
    /// Measure how fast it is, as ratios to zstd itself
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
        /// Write one page for each verb here [default: the main page to stdout]
        dir: Option<PathBuf>,
    },
}

impl Command {
    /// The path of a verb that works on a world, or on what is in one.
    pub(crate) fn path_of_worlds(&mut self) -> Option<&mut PathBuf> {
        Some(match self {
            Self::Info(args) => &mut args.path,
            Self::Chunk(args) => &mut args.path,
            Self::Dump(args) => &mut args.path,
            Self::Block(args) => &mut args.path,
            Self::Fingerprint(args) => &mut args.path,
            Self::Convert(args) => &mut args.source,
            Self::Migrate(args) => &mut args.world,
            Self::Upgrade(args) => &mut args.path,
            Self::Verify(args) => &mut args.path,
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
    /// Print one JSON object a line for each save and installed game
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
