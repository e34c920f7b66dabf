//! `chunk PATH --chunk X,Z`: shows a chunk as a summary, as JSON, or as BSON.

mod components;
mod contents;
mod items;
mod sections;
mod summary;

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use hyworld::{Location, StoredChunk};
use hyworld_chunk::bson::JsonText;
use hyworld_chunk::{BlockMigrations, Chunk, Holder, ReadableChunk};
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkSize, ChunkStorage, ChunkStorageExt};
use serde::Serialize;

use super::upgrade;
use crate::args::ComponentArg;
use crate::args::chunk::{ChosenChunks, ChunkArgs};
use crate::exit::{self, Exit};
use crate::output::json::Position;
use crate::output::{Console, json, text};
use crate::streams;

/// How many entities, block entities and so on are listed.
const LISTED_MAX: usize = 12;

/// Up to this many chunks of an area are looked up one by one; for larger areas the whole storage
/// is listed.
const AREA_CHUNKS_MAX: u128 = 1 << 16;

/// The preferred width of a line.
const LINE_CHARS: usize = 80;

pub(super) fn run(args: &ChunkArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let migrations = upgrade::migrations(&args.assets, &args.path)?;
    if let ([at], None) = (&*args.chosen.chunks, args.chosen.area) {
        return show(args, &migrations, console, *at);
    }
    if args.bson.is_some() {
        return Err(exit::usage("--bson writes one chunk; give one --chunk"));
    }
    let storage = Location::source(&args.path)?.open()?;
    let (positions, mut exit) = chosen(&args.chosen, &*storage)?;
    for (number, at) in positions.into_iter().enumerate() {
        if number > 0 && !args.json {
            writeln!(console)?;
        }
        exit = exit.max(match show(args, &migrations, console, at) {
            Ok(exit) => exit,
            // Stop only if stdout is closed.
            Err(error) if error.is::<std::io::Error>() => return Err(error),
            Err(error) => {
                console.flush_data()?;
                exit::report(&error)
            }
        });
    }
    Ok(exit)
}

/// Returns the chosen chunks in the order of regions and slots; all chunks if none is chosen.
/// Includes only stored chunks of an area. Reports regions that cannot be listed.
pub(super) fn chosen(
    wanted: &ChosenChunks,
    storage: &dyn ChunkStorage,
) -> anyhow::Result<(Vec<ChunkPos>, Exit)> {
    let (mut positions, mut exit) = (Vec::new(), Exit::Clean);
    let mut add = |at: hyworld_providers::Result<ChunkPos>| match at {
        Ok(at) => positions.push(at),
        Err(error) => {
            exit::complain(&error.into());
            exit = Exit::Problems;
        }
    };
    match wanted.area {
        None if wanted.chunks.is_empty() => storage.positions().for_each(add),
        None => {}
        Some(area) if area.count() <= AREA_CHUNKS_MAX => {
            for at in area.in_file_order() {
                match storage.contains(at) {
                    Ok(false) => {}
                    Ok(true) => add(Ok(at)),
                    Err(error) => add(Err(error)),
                }
            }
        }
        Some(area) => {
            let is_inside = |at: &ChunkPos| area.contains(*at);
            storage.positions().filter(|at| at.as_ref().map_or(true, is_inside)).for_each(add);
        }
    }
    for at in &wanted.chunks {
        if storage.contains(*at)? {
            positions.push(*at);
            continue;
        }
        let (location, ChunkPos { x, z }) = (storage.location(), at);
        exit::complain(&exit::problem(format!("{location}: chunk {x},{z} is not stored")));
        exit = Exit::Problems;
    }
    positions.sort_unstable_by_key(|at| (at.region().z, at.region().x, at.slot().index()));
    positions.dedup();
    Ok((positions, exit))
}

fn show(
    args: &ChunkArgs,
    migrations: &BlockMigrations,
    console: &mut Console,
    at: ChunkPos,
) -> anyhow::Result<Exit> {
    let located = StoredChunk::find(&args.path, at)?;
    if let Some(output) = &args.bson {
        return write_document(console, &located, output);
    }
    let mut chunk = located.chunk()?;
    upgrade::rename(&mut chunk, migrations);
    if let Some(wanted) = &args.component {
        return print_component(args, console, &located, &chunk, wanted);
    }
    let readable = ReadableChunk::new(&chunk, located.at);
    if args.json {
        let file = (!args.without_paths).then_some(&*located.path);
        writeln!(console, "{}", json_text(file, located.size, &readable)?)?;
    } else {
        summary::write(console, &located, &readable)?;
    }
    console.flush_data()?;
    let name = located.name();
    for error in readable.errors().take(LISTED_MAX) {
        exit::complain(&exit::problem(format!("{name}: {error}")));
    }
    if let more @ 1.. = readable.errors().len().saturating_sub(LISTED_MAX) {
        exit::complain(&exit::problem(format!(
            "{name}: {}",
            text::count(more as u64, "more finding")
        )));
    }
    let is_clean = readable.errors().len() == 0;
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

fn write_document(
    console: &mut Console,
    located: &StoredChunk,
    output: &Path,
) -> anyhow::Result<Exit> {
    if streams::is_stream(output) {
        streams::write_to_stdout(console, &located.document, true)?;
        return Ok(Exit::Clean);
    }
    streams::write_to_file(output, &located.document)?;
    let (x, z) = (located.at.x, located.at.z);
    let bytes = text::count(located.document.len() as u64, "byte");
    console.say(format_args!("chunk {x},{z}: {bytes} written to {}", output.display()))?;
    Ok(Exit::Clean)
}

/// The JSON object without the chunk itself.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    region: Position,
    slot: u16,
    raw: u64,
    compressed: Option<u64>,
}

/// Returns the JSON of a chunk. The order of keys is part of the documented output.
pub(super) fn json_text<'a>(
    file: Option<&Path>,
    size: ChunkSize,
    readable: &'a ReadableChunk<'a>,
) -> anyhow::Result<impl Display + use<'a>> {
    let report = Report {
        file: file.map(|file| file.display().to_string()),
        region: readable.at().region().into(),
        slot: readable.at().slot().index(),
        raw: size.raw,
        compressed: size.stored,
    };
    json::object_with(&report, "chunk", readable)
}

fn print_component(
    args: &ChunkArgs,
    console: &mut Console,
    located: &StoredChunk,
    chunk: &Chunk,
    wanted: &ComponentArg,
) -> anyhow::Result<Exit> {
    let holder = holder(located, chunk, wanted.section)?;
    let found = holder.entries().find(|(id, _, _)| *id == wanted.id);
    let Some((_, kind, bytes)) = found else {
        let ids: Vec<String> = holder.ids().map(|id| text::short(id, LINE_CHARS)).collect();
        let section =
            wanted.section.map(|number| format!(", section {number}")).unwrap_or_default();
        return Err(exit::problem(format!(
            "{}{section}: no component {}; it has {}",
            located.name(),
            wanted.id,
            text::join_fitting(&ids, 300)
        )));
    };
    let value = JsonText::new(kind, bytes);
    if args.json {
        writeln!(console, "{value}")?;
    } else {
        writeln!(console, "{value:#}")?;
    }
    if value.is_well_formed() {
        return Ok(Exit::Clean);
    }
    console.flush_data()?;
    let message = "this component is malformed, so its bytes were printed in base64";
    exit::complain(&exit::problem(format!("{}: {message}", located.name())));
    Ok(Exit::Problems)
}

fn holder<'a>(
    located: &StoredChunk,
    chunk: &'a Chunk,
    section: Option<usize>,
) -> anyhow::Result<&'a Holder> {
    let Some(number) = section else { return Ok(chunk.holder()) };
    chunk.section_holders().get(number).ok_or_else(|| {
        let name = located.name();
        exit::usage(match chunk.sections().len() {
            0 => format!("{name}: no section {number}; this old chunk has no sections"),
            count => format!("{name}: no section {number}; it has 0 to {}", count - 1),
        })
    })
}
