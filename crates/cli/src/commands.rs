//! The verbs, one file per verb.

mod bench;
mod block;
mod changing;
mod chunk;
mod colors;
mod completions;
mod convert;
mod demo;
mod diff;
mod dump;
mod find;
mod fingerprint;
mod info;
mod ls;
mod man;
mod map;
mod migrate;
mod packing;
mod player;
mod pregen;
mod region;
mod repair;
mod resource;
mod restore;
mod saves;
mod select;
mod serve;
mod snapshot;
mod stats;
mod stress;
mod trim;
mod undelete;
mod undo;
mod upgrade;
mod verify;
mod world;

use std::path::Path;
use std::time::Instant;

use crate::args::Command;
use crate::exit::{self, Exit};
use crate::output::{Console, text};

/// Runs the verb of the command line.
pub(crate) fn run(
    mut command: Command,
    world: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    if let Some(name) = world {
        let Some(path) = command.path_of_worlds() else {
            return Err(exit::usage("--world: this verb does not take a world"));
        };
        *path = hyworld::find_named_world(path, name)?;
    }
    let started = Instant::now();
    let exit = verb(command, console)?;
    console.detail(format_args!("took {}", text::duration(started.elapsed())))?;
    Ok(exit)
}

/// Runs `verb` on each world at a path. The name is `None` if there is only one world.
fn each_world(
    path: &Path,
    mut verb: impl FnMut(&Path, Option<&str>) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let (mut exit, worlds) = (Exit::Clean, hyworld::find_worlds(path)?);
    for path in &worlds {
        let name = text::world_of_several(path, worlds.len());
        exit = exit.max(verb(path, name.as_deref())?);
    }
    Ok(exit)
}

fn verb(command: Command, console: &mut Console) -> anyhow::Result<Exit> {
    match command {
        Command::Info(args) => info::run(&args, console),
        Command::Saves(args) => saves::run(&args, console),
        Command::Region(verb) => region::run(verb, console),
        Command::World(verb) => world::run(&verb, console),
        Command::Player(verb) => player::run(&verb, console),
        Command::Resource(verb) => resource::run(&verb, console),
        Command::Chunk(args) => chunk::run(&args, console),
        Command::Dump(args) => dump::run(&args, console),
        Command::Block(args) => block::run(&args, console),
        Command::Map(args) => map::run(&args, console),
        Command::Colors(args) => colors::run(&args, console),
        Command::Serve(args) => serve::run(&args, console),
        Command::Select(args) => select::run(&args, console),
        Command::Find(args) => find::run(&args, console),
        Command::Stats(args) => stats::run(&args, console),
        Command::Diff(args) => diff::run(&args, console),
        Command::Trim(args) => trim::run(&args, console),
        Command::Demo(args) => demo::run(&args, console),
        Command::Bench(verb) => bench::run(&verb, console),
        Command::Fingerprint(args) => fingerprint::run(&args, console),
        Command::Convert(args) => convert::run(&args, console),
        Command::Snapshot(args) => snapshot::run(&args, console),
        Command::Migrate(args) => migrate::run(&args, console),
        Command::Upgrade(args) => upgrade::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Repair(args) => repair::run(&args, console),
        Command::Restore(args) => restore::run(&args, console),
        Command::Undelete(args) => undelete::run(&args, console),
        Command::Compact(args) => packing::compact(&args, console),
        Command::Seal(args) => packing::seal(&args, false, console),
        Command::Unseal(args) => packing::seal(&args, true, console),
        Command::Undo(args) => undo::run(&args, console),
        Command::Pregen(args) => pregen::run(&args, console),
        Command::Stress(args) => stress::run(&args, console),
        Command::Ls(args) => ls::run(&args, console),
        Command::Completions { shell } => completions::run(shell, console),
        Command::Man { dir } => man::run(dir.as_deref(), console),
    }
}
