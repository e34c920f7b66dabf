//! `select WORLD QUERY`: lists the chunks that a selection chooses.

use std::io::Write;
use std::path::Path;

use hyworld::{Location, WorldContext};
use hyworld_coords::{CHUNK_SIDE_BLOCKS, ChunkPos, ChunkRect};
use hyworld_maintenance::{
    ChunkSet, Finding, Reason, ScanOptions, Selection, TouchedRules, explain_touched, select,
    touched_score,
};
use hyworld_providers::ChunkStorage;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::chunk;
use crate::args::chunk::ChosenChunks;
use crate::args::select::{SelectArgs, SelectionArg};
use crate::exit::{self, Exit};
use crate::output::json::Position;
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};
use crate::streams;

/// The number of slots of a region.
const REGION_CHUNKS: u64 = 1024;

#[derive(Debug, Serialize)]
struct Report<'a> {
    world: String,
    query: String,
    chunks: u64,
    regions: u64,
    /// The corners of the smallest rectangle with all chunks.
    min: Option<Position>,
    max: Option<Position>,
    #[serde(serialize_with = "listed")]
    positions: &'a ChunkSet,
}

pub(super) fn run(args: &SelectArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let location = Location::source(&args.path)?;
    let query = match (&args.query, &args.query_file) {
        (Some(query), _) => query.clone(),
        (None, Some(file)) => read_query(file)?,
        (None, None) => return Err(exit::usage("a selection is missing")),
    };
    let selection = parse(&query, &location)?;
    let storage = location.open()?;
    let (chunks, exit) = chunks(&selection, &*storage, console);
    if args.explain {
        return Ok(exit.max(explain(args.json, &location, &*storage, &chunks, console)?));
    }
    if args.csv {
        write_csv(console, &chunks)?;
    } else if args.geojson {
        write_geojson(console, &chunks)?;
    } else if args.json {
        let bounds = chunks.bounds();
        let report = Report {
            world: storage.location(),
            query: selection.to_string(),
            chunks: chunks.len(),
            regions: chunks.region_count() as u64,
            min: bounds.map(|area| area.min().into()),
            max: bounds.map(|area| area.max().into()),
            positions: &chunks,
        };
        json::line(console, &report)?;
    } else {
        write_summary(console, &chunks)?;
    }
    Ok(exit)
}

/// Returns the selection of the command line; `None` if there is none.
pub(super) fn chosen(
    args: &SelectionArg,
    location: &Location,
) -> anyhow::Result<Option<Selection>> {
    let query = match (&args.select, &args.query_file) {
        (Some(query), _) => query.clone(),
        (None, Some(file)) => read_query(file)?,
        (None, None) => return Ok(None),
    };
    parse(&query, location).map(Some)
}

/// Returns the chunks of the selection of the command line; `None` if there is none.
pub(super) fn chosen_chunks(
    args: &SelectionArg,
    location: &Location,
    storage: &dyn ChunkStorage,
    console: &Console,
) -> anyhow::Result<(Option<ChunkSet>, Exit)> {
    let Some(selection) = chosen(args, location)? else { return Ok((None, Exit::Clean)) };
    let (chunks, exit) = chunks(&selection, storage, console);
    Ok((Some(chunks), exit))
}

/// Returns the chunks that a verb works on: those that both its other options and its selection
/// choose.
pub(super) fn positions(
    (wanted, selection): (&ChosenChunks, &SelectionArg),
    location: &Location,
    storage: &dyn ChunkStorage,
    console: &Console,
) -> anyhow::Result<(Vec<ChunkPos>, Exit)> {
    let Some(selection) = chosen(selection, location)? else {
        return chunk::chosen(wanted, storage);
    };
    let (selected, exit) = chunks(&selection, storage, console);
    if wanted.area.is_none() && wanted.chunks.is_empty() {
        return Ok((selected.iter().collect(), exit));
    }
    let (mut positions, listed) = chunk::chosen(wanted, storage)?;
    positions.retain(|at| selected.contains(*at));
    Ok((positions, exit.max(listed)))
}

fn parse(query: &str, location: &Location) -> anyhow::Result<Selection> {
    let context = WorldContext::new(location);
    Ok(Selection::parse(query, &context)?)
}

fn read_query(file: &Path) -> anyhow::Result<String> {
    let bytes = streams::read(file)?;
    let not_text = |_| exit::usage(format!("{}: not UTF-8 text", streams::source_name(file)));
    String::from_utf8(bytes).map_err(not_text)
}

/// Evaluates a selection and reports chunks that cannot be tested.
pub(super) fn chunks(
    selection: &Selection,
    storage: &dyn ChunkStorage,
    console: &Console,
) -> (ChunkSet, Exit) {
    let bar = ChunkProgress::new(console, "selecting", None);
    let options = ScanOptions::new().jobs(console.jobs());
    let mut problems = Vec::new();
    let mut add = |finding: &Finding| problems.push(finding.clone());
    let chunks = select(storage, selection, &options, &mut add, &bar);
    drop(bar);
    let mut exit = Exit::Clean;
    for finding in problems {
        let at = finding.chunk.map(|at| format!("chunk {},{} is not tested: ", at.x, at.z));
        let at = at.unwrap_or_default();
        exit::complain(&exit::problem(format!("{at}{}", finding.message)));
        exit = Exit::Problems;
    }
    (chunks, exit)
}

/// The score of a chunk. Printed with `--explain`.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys of the JSON")]
struct Score<'a> {
    x: i32,
    z: i32,
    score: u32,
    reasons: &'a [Reason],
}

fn explain(
    is_json: bool,
    location: &Location,
    storage: &dyn ChunkStorage,
    chunks: &ChunkSet,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let options = ScanOptions::new().jobs(console.jobs());
    let mut rules = TouchedRules::of_world(&WorldContext::new(location));
    rules.learn(storage, &options);
    let bar = ChunkProgress::new(console, "explaining", Some(chunks.len()));
    let (mut written, mut exit) = (Ok(()), Exit::Clean);
    let mut explain = |at: ChunkPos, reasons: &[Reason]| {
        if written.is_ok() {
            written = write_score(is_json, at, reasons, console);
        }
    };
    let mut found = |finding: &Finding| {
        exit::complain(&exit::problem(finding.message.clone()));
        exit = Exit::Problems;
    };
    let positions = Box::new(chunks.iter().map(Ok));
    explain_touched(storage, positions, &rules, &options, &mut explain, &mut found, &bar);
    drop(bar);
    written.map(|()| exit)
}

fn write_score(
    is_json: bool,
    at: ChunkPos,
    reasons: &[Reason],
    console: &mut Console,
) -> anyhow::Result<()> {
    let (ChunkPos { x, z }, score) = (at, touched_score(reasons));
    if is_json {
        return json::line(console, &Score { x, z, score, reasons });
    }
    writeln!(console, "chunk {x},{z}: score {score}")?;
    for reason in reasons {
        writeln!(console, "  {:>3}  {}", reason.score, text::printable(&reason.text))?;
    }
    Ok(())
}

fn write_summary(console: &mut Console, chunks: &ChunkSet) -> anyhow::Result<()> {
    let regions = text::count(chunks.region_count() as u64, "region");
    writeln!(console, "{} in {regions}", text::count(chunks.len(), "chunk"))?;
    if let Some(area) = chunks.bounds() {
        let (min, max) = (Position::from(area.min()), Position::from(area.max()));
        writeln!(console, "  chunks  {min} to {max}")?;
        let (low, high) = blocks(area);
        writeln!(console, "  blocks  {},{} to {},{}", low.0, low.1, high.0 - 1, high.1 - 1)?;
    }
    Ok(())
}

/// Returns the first block of an area and the first block past its end, along both axes.
fn blocks(area: ChunkRect) -> ((i64, i64), (i64, i64)) {
    let block = |chunk: i32, more: i64| (i64::from(chunk) + more) * i64::from(CHUNK_SIDE_BLOCKS);
    let (min, max) = (area.min(), area.max());
    ((block(min.x, 0), block(min.z, 0)), (block(max.x, 1), block(max.z, 1)))
}

/// Writes `regionX;regionZ` for whole regions and `regionX;regionZ;chunkX;chunkZ` for others.
pub(super) fn write_csv(console: &mut Console, chunks: &ChunkSet) -> anyhow::Result<()> {
    for (region, _) in chunks.regions().filter(|(_, count)| *count == REGION_CHUNKS) {
        writeln!(console, "{};{}", region.x, region.z)?;
    }
    for at in chunks.iter() {
        let region = at.region();
        if chunks.count_in(region) < REGION_CHUNKS {
            writeln!(console, "{};{};{};{}", region.x, region.z, at.x, at.z)?;
        }
    }
    Ok(())
}

/// Writes one feature: a rectangle for each row of adjacent chunks of a region.
pub(super) fn write_geojson(console: &mut Console, chunks: &ChunkSet) -> anyhow::Result<()> {
    write!(console, "{{\"type\":\"Feature\",\"properties\":{{\"chunks\":{}}},", chunks.len())?;
    write!(console, "\"geometry\":{{\"type\":\"MultiPolygon\",\"coordinates\":[")?;
    let mut rows = rows(chunks).peekable();
    while let Some(area) = rows.next() {
        let ((x, z), (x2, z2)) = blocks(area);
        write!(console, "[[[{x},{z}],[{x2},{z}],[{x2},{z2}],[{x},{z2}],[{x},{z}]]]")?;
        if rows.peek().is_some() {
            write!(console, ",")?;
        }
    }
    writeln!(console, "]}}}}")?;
    Ok(())
}

/// Returns the rows of adjacent chunks.
fn rows(chunks: &ChunkSet) -> impl Iterator<Item = ChunkRect> {
    let mut all = chunks.iter().peekable();
    std::iter::from_fn(move || {
        let first = all.next()?;
        let mut last = first;
        let follows =
            |last: ChunkPos, at: &ChunkPos| last.z == at.z && last.x.checked_add(1) == Some(at.x);
        while let Some(next) = all.next_if(|at| follows(last, at)) {
            last = next;
        }
        Some(ChunkRect::new(first, last))
    })
}

fn listed<S: Serializer>(chunks: &ChunkSet, to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(usize::try_from(chunks.len()).ok())?;
    for at in chunks.iter() {
        list.serialize_element(&Position::from(at))?;
    }
    list.end()
}
