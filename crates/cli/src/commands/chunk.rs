//! `chunk PATH --chunk X,Z`: what a chunk holds, as a summary, as JSON, or as its bytes.

mod components;
mod contents;
mod items;
mod sections;
mod summary;

use std::io::Write;
use std::path::Path;

use hyworld::StoredChunk;
use hyworld_chunk::bson::JsonText;
use hyworld_chunk::{Chunk, Holder, ReadableChunk};
use serde::Serialize;

use crate::args::ComponentArg;
use crate::args::chunk::ChunkArgs;
use crate::exit::{self, Exit};
use crate::output::json::Position;
use crate::output::{Console, json, text};
use crate::streams;

/// How many entities, block entities and the like are listed before it is said that there are
/// more.
const LISTED_MAX: usize = 12;

/// How wide a line is made where there is a choice.
const LINE_CHARS: usize = 80;

pub(super) fn run(args: &ChunkArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let located = StoredChunk::find(&args.path, args.chunk)?;
    if let Some(output) = &args.bson {
        return write_document(console, &located, output);
    }
    let chunk = located.chunk()?;
    if let Some(wanted) = &args.component {
        return print_component(args, console, &located, &chunk, wanted);
    }
    let readable = ReadableChunk::new(&chunk, located.at);
    if args.json {
        print_json(console, &located, &readable)?;
    } else {
        summary::write(console, &located, &readable)?;
    }
    console.flush_data()?;
    let name = located.name();
    for problem in readable.problems().take(LISTED_MAX) {
        exit::complain(&exit::problem(format!("{name}: {problem}")));
    }
    if let more @ 1.. = readable.problems().len().saturating_sub(LISTED_MAX) {
        exit::complain(&exit::problem(format!(
            "{name}: {}",
            text::count(more as u64, "more problem")
        )));
    }
    let is_clean = readable.problems().len() == 0;
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
    streams::write_to_file(output, &located.path, &located.document)?;
    let (x, z) = (located.at.x, located.at.z);
    let bytes = text::count(located.document.len() as u64, "byte");
    console.say(format_args!("chunk {x},{z}: {bytes} written to {}", output.display()))?;
    Ok(Exit::Clean)
}

/// All but the chunk itself.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    region: Position,
    slot: u16,
    raw: u64,
    compressed: Option<u64>,
}

/// The keys in their order are a promise; those of the chunk are the library's.
fn print_json(
    console: &mut Console,
    located: &StoredChunk,
    readable: &ReadableChunk<'_>,
) -> anyhow::Result<()> {
    let report = Report {
        file: located.path.display().to_string(),
        region: located.at.region().into(),
        slot: located.at.slot().index(),
        raw: located.size.raw,
        compressed: located.size.stored,
    };
    json::line_with(console, &report, "chunk", readable)
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
        let place = wanted.section.map(|number| format!(", section {number}")).unwrap_or_default();
        return Err(exit::problem(format!(
            "{}{place}: there is no component {}; there are {}",
            located.name(),
            wanted.id,
            text::as_many(&ids, 300)
        )));
    };
    let value = JsonText::new(kind, bytes);
    if args.json {
        writeln!(console, "{value}")?;
    } else {
        writeln!(console, "{value:#}")?;
    }
    if value.is_whole() {
        return Ok(Exit::Clean);
    }
    console.flush_data()?;
    let problem = "this component is malformed, and so was printed as its bytes in base64";
    exit::complain(&exit::problem(format!("{}: {problem}", located.name())));
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
            0 => format!("{name}: there is no section {number}; this old chunk has none"),
            count => format!("{name}: there is no section {number}; there are 0 to {}", count - 1),
        })
    })
}
