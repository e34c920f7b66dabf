//! `ls PATH`: lists the chunks of a storage with their sizes.

use std::io::Write;
use std::path::Path;

use hyworld::Location;
use hyworld_providers::{ChunkSize, ChunkStorage};
use serde::Serialize;

use crate::args::storage::LsArgs;
use crate::exit::{self, Exit};
use crate::output::json::Position;
use crate::output::{Console, json, text};

pub(super) fn run(args: &LsArgs, console: &mut Console) -> anyhow::Result<Exit> {
    super::each_world(&args.path, |path, world| list(args, path, world, console))
}

fn list(
    args: &LsArgs,
    path: &Path,
    world: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let storage = Location::source(path)?.open()?;
    let mut exit = Exit::Clean;
    let mut sums = Sums::default();
    if !args.json {
        world.map_or(Ok(()), |world| writeln!(console, "world {world}"))?;
        writeln!(console, "{:>11} {:>11} {:>11} {:>11}", "x", "z", "raw", "stored")?;
    }
    for at in storage.positions() {
        let listed = at.and_then(|at| Ok((at, storage.size(at)?)));
        match listed {
            Ok((at, Some(size))) => {
                sums.add(size);
                let stored =
                    size.stored.map_or_else(|| "-".to_owned(), |stored| stored.to_string());
                if args.json {
                    let ChunkSize { raw, stored } = size;
                    json::line(console, &Line { at: at.into(), raw, stored, world })?;
                } else {
                    writeln!(console, "{:>11} {:>11} {:>11} {stored:>11}", at.x, at.z, size.raw)?;
                }
            }
            // The chunk was removed after it was listed.
            Ok((_, None)) => {}
            Err(error) => {
                exit = Exit::Problems;
                exit::complain(&error.into());
            }
        }
    }
    sums.say(console, &*storage)?;
    Ok(exit)
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    at: Position,
    raw: u64,
    stored: Option<u64>,
    /// Only if there are several worlds.
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<&'a str>,
}

#[derive(Default)]
struct Sums {
    chunks: u64,
    raw: u64,
    stored: u64,
}

impl Sums {
    fn add(&mut self, size: ChunkSize) {
        self.chunks = self.chunks.saturating_add(1);
        self.raw = self.raw.saturating_add(size.raw);
        self.stored = self.stored.saturating_add(size.stored.unwrap_or(0));
    }

    fn say(&self, console: &mut Console, storage: &dyn ChunkStorage) -> std::io::Result<()> {
        let (chunks, raw) = (text::count(self.chunks, "chunk"), text::size(self.raw));
        let location = storage.location();
        match self.stored {
            0 => console.say(format_args!("{location}: {chunks}, {raw}")),
            stored => {
                console.say(format_args!("{location}: {chunks}, {raw} in {}", text::size(stored)))
            }
        }
    }
}
