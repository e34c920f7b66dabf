//! The table of components.

use std::collections::HashMap;
use std::io::{self, Write};

use hyworld_chunk::bson::{Kind, RawDocument};
use hyworld_chunk::{
    BlockChunk, BlockComponentChunk, BlockHealthChunk, ComponentRegistry, EntityChunk,
    EnvironmentChunk, Holder, ReadableChunk,
};

use crate::output::table::Table;
use crate::output::text;

/// How many components are listed at each level, and the maximum width of an id.
const COMPONENTS_MAX: usize = 24;
const ID_CHARS: usize = 36;

/// The component that contains the sections.
const COLUMN_ID: &str = "ChunkColumn";

/// The note for components in a format of a newer game that hyworld cannot decode.
const OPAQUE: &str = "written by game 0.7 or newer, kept unchanged";

/// A component, or the components of several sections with the same id.
struct Row {
    id: String,
    version: Option<i32>,
    bytes: usize,
    sections: Vec<usize>,
}

pub(super) fn write(out: &mut impl Write, readable: &ReadableChunk<'_>) -> io::Result<()> {
    let known = ComponentRegistry::with_game_components();
    let mut table = Table::new("component|>version|>bytes|what");
    let root = rows([(None, readable.chunk().holder())]);
    for row in root.iter().take(COMPONENTS_MAX) {
        table.row(cells(&row.id, row, description(readable, &known, &row.id)));
        if row.id == COLUMN_ID {
            let sections = readable.chunk().section_holders().iter().enumerate();
            let inner = rows(sections.map(|(number, section)| (Some(number), section)));
            for row in inner.iter().take(COMPONENTS_MAX) {
                table.row(cells(&format!("  {}", row.id), row, in_sections(&known, row)));
            }
            more(&mut table, inner.len());
        }
    }
    more(&mut table, root.len());
    table.write(out, "  ")
}

fn more(table: &mut Table, rows: usize) {
    if let Some(more @ 1..) = rows.checked_sub(COMPONENTS_MAX) {
        table.row([format!("and {more} more"), String::new(), String::new(), String::new()]);
    }
}

/// Groups the components of holders by id.
fn rows<'a>(holders: impl IntoIterator<Item = (Option<usize>, &'a Holder)>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut row_numbers = HashMap::new();
    for (number, holder) in holders {
        for (id, kind, bytes) in holder.entries() {
            let version = version(kind, bytes);
            let known = number.and_then(|_| row_numbers.get(&(id, version)).copied());
            let row_number = known.unwrap_or(rows.len());
            if known.is_none() {
                row_numbers.insert((id, version), row_number);
                let id = text::short(id, ID_CHARS);
                rows.push(Row { id, version, bytes: 0, sections: Vec::new() });
            }
            if let Some(row) = rows.get_mut(row_number) {
                row.bytes = row.bytes.saturating_add(bytes.len());
                row.sections.extend(number);
            }
        }
    }
    rows
}

fn version(kind: Kind, bytes: &[u8]) -> Option<i32> {
    let document = RawDocument::new(bytes).ok().filter(|_| kind == Kind::DOCUMENT)?;
    document.get("Version").ok().flatten()?.as_i32()
}

fn cells(id: &str, row: &Row, what: String) -> [String; 4] {
    let version = row.version.map_or_else(|| "-".to_owned(), |version| version.to_string());
    [id.to_owned(), version, text::thousands(row.bytes as u64), what]
}

fn in_sections(known: &ComponentRegistry, row: &Row) -> String {
    let numbers: Vec<String> = row.sections.iter().map(ToString::to_string).collect();
    let sections = match row.sections.len() {
        1 => format!("in section {}", numbers.concat()),
        count @ 2..5 => format!("in {count} sections: {}", numbers.join(", ")),
        count => format!("in {count} sections"),
    };
    match &*row.id {
        "EnvironmentSection" | "BlockHealthSection" => format!("{OPAQUE}, {sections}"),
        id if known.is_registered(id) => sections,
        _ => format!("unknown, {sections}"),
    }
}

fn description(readable: &ReadableChunk<'_>, known: &ComponentRegistry, id: &str) -> String {
    let count = |number: usize, noun: &str| text::count(number as u64, noun);
    let found = match id {
        "BlockChunk" => {
            readable.get::<BlockChunk>().map(|columns| match columns.inline_sections() {
                None => "heights and tints".to_owned(),
                Some(inline) => {
                    format!("heights, tints, blocks of {}", count(inline.count(), "section"))
                }
            })
        }
        "EnvironmentChunk" => readable
            .get::<EnvironmentChunk>()
            .map(|environments| count(environments.names_used().len(), "environment")),
        "BlockComponentChunk" => {
            readable.get::<BlockComponentChunk>().map(|blocks| entities("block ", blocks.len()))
        }
        "EntityChunk" => {
            readable.get::<EntityChunk>().map(|found| entities("", found.entities.len()))
        }
        "HeightmapColumn" => Some(OPAQUE.to_owned()),
        "BlockHealthChunk" => {
            readable.get::<BlockHealthChunk>().map(|health| match health.damaged.len() {
                0 if health.fragile.is_empty() => "no damaged blocks".to_owned(),
                damaged => format!("{damaged} damaged, {} fragile", health.fragile.len()),
            })
        }
        COLUMN_ID => Some(count(readable.chunk().section_holders().len(), "section")),
        "WorldChunk" | "ChunkSpawnedNPCData" => Some(String::new()),
        _ if known.is_registered(id) => Some(String::new()),
        _ => return "unknown, kept unchanged".to_owned(),
    };
    found.unwrap_or_else(|| "cannot be decoded".to_owned())
}

fn entities(which: &str, count: usize) -> String {
    let noun = if count == 1 { "entity" } else { "entities" };
    format!("{} {which}{noun}", text::thousands(count as u64))
}
