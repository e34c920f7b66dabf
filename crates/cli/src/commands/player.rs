//! `player <verb>`: lists and changes the players of a universe.

mod import;
mod list;
mod remove;
mod show;

use std::io::Write;

use hyworld_world::LoadedFrom;

use crate::args::player::{ExportArgs, Verb};
use crate::exit::{self, Exit};
use crate::output::Console;
use crate::streams;

pub(super) fn run(verb: &Verb, console: &mut Console) -> anyhow::Result<Exit> {
    match verb {
        Verb::List(args) => list::run(args, console),
        Verb::Show(args) => show::run(args, console),
        Verb::Export(args) => export(args, console),
        Verb::Import(args) => import::run(args, console),
        Verb::Remove(args) => remove::run(args, console),
    }
}

fn export(args: &ExportArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.path)?;
    let player = hyworld::find_player(&universe, &args.player)?;
    let loaded = universe.players().load(player.uuid)?;
    if let LoadedFrom::Nothing { problem } = &loaded.from {
        // An empty document could be taken for a copy of the player.
        return Err(exit::problem(format!("player {}: {problem}", player.uuid)));
    }
    let text = loaded.document.to_json();
    let Some(output) = &args.output else {
        writeln!(console, "{text}")?;
        return Ok(Exit::Clean);
    };
    let name = output.display();
    streams::write_to_file(output, text.as_bytes())?;
    console.say(format_args!("player {}: written to {name}", player.uuid))?;
    Ok(Exit::Clean)
}
