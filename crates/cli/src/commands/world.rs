//! `world <verb>`: lists and changes the worlds of a universe.

mod copy;
mod create;
mod delete;
mod list;

use crate::args::world::Verb;
use crate::exit::Exit;
use crate::output::Console;

pub(super) fn run(verb: &Verb, console: &mut Console) -> anyhow::Result<Exit> {
    match verb {
        Verb::List(args) => list::run(args, console),
        Verb::Create(args) => create::run(args, console),
        Verb::Copy(args) => copy::run(args, console),
        Verb::Delete(args) => delete::run(args, console),
    }
}
