//! `bench`: measures speed as ratios to zstd in the same run.

mod change;
mod chunk;
mod map;
mod providers;
mod query;
mod region;
mod store;
mod verify;

use crate::args::bench::Verb;
use crate::exit::Exit;
use crate::output::Console;

pub(super) fn run(verb: &Verb, console: &mut Console) -> anyhow::Result<Exit> {
    match verb {
        Verb::Region(args) => region::run(args, console)?,
        Verb::Chunk(args) => chunk::run(args, console)?,
        Verb::Providers(args) => providers::run(args, console)?,
        Verb::Store(args) => store::run(args, console)?,
        Verb::Map(args) => map::run(args, console)?,
        Verb::Change(args) => change::run(args, console)?,
        Verb::Verify(args) => verify::run(args, console)?,
        Verb::Query(args) => query::run(args, console)?,
    }
    Ok(Exit::Clean)
}

fn factor(ratio: f64) -> String {
    format!("{ratio:.2}")
}
