//! Tables of the sections: their blocks, and how they are stored. Equal neighbours share a line.

use std::io::{self, Write};

use hyworld_chunk::{
    AssetKey, BlockPhysics, BlockSection, FluidSection, Palette, PaletteKey, PaletteType,
    ReadableChunk, Section,
};
use hyworld_coords::{BLOCKS_PER_SECTION, SectionY};

use super::LINE_CHARS;
use super::summary::ranked;
use crate::output::table::Table;
use crate::output::text;

/// The maximum width of the name of a block or fluid.
const NAME_CHARS: usize = 44;

/// The components of a section.
struct Decoded<'a> {
    block: &'a BlockSection,
    fluid: &'a FluidSection,
    physics: &'a BlockPhysics,
}

impl<'a> Decoded<'a> {
    /// Returns `None` if a component cannot be decoded.
    fn of(section: Section<'a>) -> Option<Self> {
        let (block, fluid) = (section.blocks().ok()?, section.fluids().ok()?);
        Some(Self { block, fluid, physics: section.physics().ok()? })
    }
}

/// The width left in a line after the heights and the number of kinds.
const BLOCKS_CHARS: usize = LINE_CHARS - 20;

pub(super) fn write(out: &mut impl Write, readable: &ReadableChunk<'_>) -> io::Result<()> {
    writeln!(out)?;
    let columns = ">y|>kinds|blocks, fluids";
    stacked(readable, columns, |section| {
        let mut lines = vec![kinds(section.block.blocks(), "")];
        if !section.fluid.is_empty() {
            lines.push(kinds(section.fluid.fluids(), "fluid "));
        }
        lines
    })
    .write(out, "  ")?;
    writeln!(out)?;
    let columns = ">y|>block|>filler|>rotation|>fluid|>support|>ticking|>changes|light";
    stacked(readable, columns, |section| vec![state(section)]).write(out, "  ")
}

/// Writes a table of sections from the top down. `lines` returns the lines of a section without
/// the first cell; neighbours with equal lines are merged.
fn stacked(
    readable: &ReadableChunk<'_>,
    columns: &str,
    lines: impl Fn(&Decoded<'_>) -> Vec<Vec<String>>,
) -> Table {
    let mut groups: Vec<(SectionY, SectionY, Vec<Vec<String>>)> = Vec::new();
    for section in readable.chunk().sections().rev() {
        let y = section.y();
        let none = || {
            let empty = columns.matches('|').count().saturating_sub(1);
            let empty = std::iter::repeat_n(String::new(), empty);
            vec![empty.chain(["cannot be decoded".to_owned()]).collect()]
        };
        let lines = Decoded::of(section).as_ref().map_or_else(none, &lines);
        match groups.last_mut() {
            Some((_, lowest, same)) if *same == lines => *lowest = y,
            _ => groups.push((y, y, lines)),
        }
    }
    let mut table = Table::new(columns);
    for (highest, lowest, lines) in groups {
        let mut heights = format!("{}-{}", lowest.first_y(), highest.last_y());
        for line in lines {
            table.row([std::mem::take(&mut heights)].into_iter().chain(line));
        }
    }
    table
}

/// Returns the number of kinds of blocks, and the most frequent of them.
fn kinds(palette: &Palette<AssetKey>, before: &str) -> Vec<String> {
    let counts = palette.exact_counts();
    let fluids = !before.is_empty();
    let counts = counts.into_iter().filter(|(key, _)| !fluids || !key.is_air());
    let ranked =
        ranked(counts.map(|(key, count)| (text::short(key.as_str(), NAME_CHARS), count.into())));
    let all = u64::from(BLOCKS_PER_SECTION);
    let share = |(name, count): &(String, u64)| {
        if *count == all { name.clone() } else { format!("{name} {}", text::share(*count, all)) }
    };
    let shares: Vec<String> = ranked.iter().map(share).collect();
    let width = BLOCKS_CHARS.saturating_sub(before.len());
    let shown = format!("{before}{}", text::join_fitting(&shares, width));
    vec![ranked.len().to_string(), shown]
}

/// Describes how a section is stored.
fn state(section: &Decoded<'_>) -> Vec<String> {
    let block = section.block;
    let changes = format!("{}/{}", block.local_change_counter, block.global_change_counter);
    vec![
        kind(block.blocks()),
        kind(block.fillers()),
        kind(block.rotations()),
        kind(section.fluid.fluids()),
        if section.physics.has_data() { "stored" } else { "-" }.to_owned(),
        match block.ticking().count() {
            0 => "-".to_owned(),
            count => text::thousands(count),
        },
        changes,
        light(block),
    ]
}

fn kind<K: PaletteKey>(palette: &Palette<K>) -> String {
    let name = match palette.kind() {
        PaletteType::Empty => "-",
        PaletteType::HalfByte => "half",
        PaletteType::Byte => "byte",
        PaletteType::Short => "short",
    };
    name.to_owned()
}

fn light(block: &BlockSection) -> String {
    let (local, global) = (&block.local_light, &block.global_light);
    let stored = match (local.tree.is_some(), global.tree.is_some()) {
        (false, false) => "none",
        (true, false) => "local",
        (false, true) => "global",
        (true, true) => "both",
    };
    let is_current = local.is_current(block.local_change_counter)
        && global.is_current(block.global_change_counter);
    match (stored, is_current) {
        (stored, true) => stored.to_owned(),
        ("none", false) => "not computed".to_owned(),
        (stored, false) => format!("{stored}, stale"),
    }
}
