//! `bench`: how fast it is, as ratios to zstd itself in the same run.

mod chunk;
mod providers;
mod region;
mod scale;
mod scratch;
mod store;

use std::time::Duration;

use crate::args::bench::Verb;
use crate::exit::Exit;
use crate::output::Console;

pub(super) fn run(verb: &Verb, console: &mut Console) -> anyhow::Result<Exit> {
    match verb {
        Verb::Region(args) => region::run(args, console),
        Verb::Chunk(args) => chunk::run(args, console),
        Verb::Providers(args) => providers::run(args, console),
        Verb::Store(args) => store::run(args, console),
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn quotient(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn factor(a: Duration, b: Duration) -> String {
    format!("{:.2}", quotient(a, b))
}
