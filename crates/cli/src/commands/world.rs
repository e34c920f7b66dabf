//! `world <verb>`: the worlds of a universe.

mod copy;
mod create;
mod delete;
mod list;

use std::path::Path;

use hyworld_world::{Place, Universe, discover};

use crate::args::world::Verb;
use crate::exit::{self, Exit};
use crate::output::Console;

pub(super) fn run(verb: &Verb, console: &mut Console) -> anyhow::Result<Exit> {
    match verb {
        Verb::List(args) => list::run(args, console),
        Verb::Create(args) => create::run(args, console),
        Verb::Copy(args) => copy::run(args, console),
        Verb::Delete(args) => delete::run(args, console),
    }
}

/// The universe that a path is or has in it.
fn universe(path: &Path) -> anyhow::Result<Universe> {
    let name = path.display();
    if !path.exists() {
        return Err(exit::usage(format!("{name}: no such folder")));
    }
    match discover(path)? {
        Place::Save { universe } | Place::Universe { universe } => Ok(universe),
        other => {
            let kind = other.kind();
            let wanted = "name the universe, which is the folder with worlds/ in it";
            Err(exit::usage(format!("{name}: this is {kind}; {wanted}")))
        }
    }
}
