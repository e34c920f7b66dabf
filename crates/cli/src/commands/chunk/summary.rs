//! The readable summary of a chunk.

use std::collections::HashMap;
use std::io::{self, Write};

use hyworld::StoredChunk;
use hyworld_chunk::{BlockChunk, EnvironmentChunk, ReadableChunk, UNKNOWN_ENVIRONMENT};
use hyworld_coords::{BLOCKS_PER_CHUNK, COLUMNS_PER_CHUNK, LocalColumn, MAX_Y, MIN_Y};

use super::{LINE_CHARS, components, contents, sections};
use crate::commands::block;
use crate::output::{Console, text};

/// The width of the labels.
const NAME_CHARS: usize = 14;

pub(super) fn write(
    console: &mut Console,
    located: &StoredChunk,
    readable: &ReadableChunk<'_>,
) -> anyhow::Result<()> {
    let (x, z) = (located.at.x, located.at.z);
    writeln!(console, "chunk {x},{z}")?;
    location(console, located)?;
    columns(console, readable)?;
    environments(console, readable)?;
    contents::facts(console, readable)?;
    writeln!(console)?;
    components::write(console, readable)?;
    sections::write(console, readable)?;
    contents::write(console, readable)?;
    Ok(())
}

/// A placeholder for a space at which lines are not wrapped.
const KEPT_SPACE: &str = "\u{a0}";

/// Writes a label and its value, wrapped over several lines if needed.
pub(super) fn fact(out: &mut impl Write, name: &str, what: &str) -> io::Result<()> {
    let what = text::printable(what);
    let indent = " ".repeat(NAME_CHARS + 4);
    let lines = text::wrap(&what, &indent, LINE_CHARS).replace(KEPT_SPACE, " ");
    writeln!(out, "  {name:<NAME_CHARS$}  {}", lines.trim_start())
}

fn location(out: &mut impl Write, located: &StoredChunk) -> io::Result<()> {
    let (region, slot) = (located.at.region(), located.at.slot());
    if let Some(blocks) = located.at.blocks() {
        let (min, max) = (blocks.min(), blocks.max());
        let extent = format!("x {} to {}, z {} to {}", min.x, max.x, min.z, max.z);
        fact(out, "blocks", &extent)?;
    }
    fact(out, "file", &located.path.display().to_string())?;
    let (index, x, z) = (slot.index(), slot.x(), slot.z());
    let slot = format!("{index} (x {x}, z {z}) of region {},{}", region.x, region.z);
    fact(out, "slot", &slot)?;
    let raw = text::count(located.size.raw, "byte");
    let Some(stored) = located.size.stored else { return fact(out, "size", &raw) };
    let ratio = text::ratio(located.size.raw, stored);
    fact(out, "size", &format!("{raw}, compressed to {} ({ratio})", text::thousands(stored)))
}

/// Writes heights and tints.
fn columns(out: &mut impl Write, readable: &ReadableChunk<'_>) -> io::Result<()> {
    let Some(columns) = readable.get::<BlockChunk>() else { return Ok(()) };
    let (heights, tints) = (columns.heights.values(), columns.tints.values());
    let (min, max) = (heights.values().min(), heights.values().max());
    if let (Some(min), Some(max)) = (min, max) {
        let all = if min == max { format!("{min}") } else { format!("{min} to {max}") };
        fact(out, "heights", &all)?;
    }
    let tints = ranked(tints.values().map(|&tint| (block::tint(tint), 1)));
    fact(out, "tints", &shares(&tints, COLUMNS_PER_CHUNK.into(), 2))?;
    if columns.needs_physics() {
        fact(out, "physics", "must be computed when the chunk is loaded")?;
    }
    Ok(())
}

/// Writes the environments with the share of blocks they cover.
fn environments(out: &mut impl Write, readable: &ReadableChunk<'_>) -> io::Result<()> {
    let Some(environments) = readable.get::<EnvironmentChunk>() else { return Ok(()) };
    let mut blocks: HashMap<i32, u64> = HashMap::new();
    for run in LocalColumn::all().flat_map(|column| environments.runs(column)) {
        let (first, last) = ((*run.ys.start()).max(MIN_Y), (*run.ys.end()).min(MAX_Y));
        if first <= last {
            let sum = blocks.entry(run.id).or_default();
            *sum = sum.saturating_add(u64::from(first.abs_diff(last)) + 1);
        }
    }
    // If an id is listed twice, the last entry counts.
    let names: HashMap<i32, &str> =
        environments.list().iter().map(|entry| (entry.id, entry.name.as_str())).collect();
    let ranked = ranked(blocks.into_iter().map(|(id, count)| {
        let name = names.get(&id).copied().unwrap_or(UNKNOWN_ENVIRONMENT);
        (text::short(name, LINE_CHARS / 2), count)
    }));
    fact(out, "environments", &shares(&ranked, BLOCKS_PER_CHUNK.into(), 4))
}

/// Counts equal names, most frequent first.
pub(super) fn ranked(counts: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for (name, count) in counts {
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(count);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then_with(|| a.cmp(b)));
    sums
}

/// Formats the first `most` names, each with its share of `all` unless it is the only one.
fn shares(ranked: &[(String, u64)], all: u64, most: usize) -> String {
    if let [(only, _)] = ranked {
        return only.clone();
    }
    let first = ranked.iter().take(most);
    let first = first.map(|(name, count)| {
        format!("{name} {}", text::share(*count, all)).replace(' ', KEPT_SPACE)
    });
    let more = ranked.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("{more} more"));
    first.chain(more).collect::<Vec<_>>().join(", ")
}
