//! The data of columns: heights, tints and environments. Also the health of blocks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::{self, Display};

use hyworld_coords::{BlockPos, ColumnArray, LocalColumn};

use super::ascii::{Ascii, hex};
use super::json::{Object, list, number, number_runs, or_null, runs_of, text};
use super::pairs;
use super::seeded::Seeded;
use crate::block_chunk::BlockChunk;
use crate::block_health::{BlockHealthChunk, DamagedBlock, FragileBlock};
use crate::environment::{EnvironmentChunk, UNKNOWN_ENVIRONMENT};

/// The alpha that the game writes for every tint.
const OPAQUE: u8 = 0xFF;

/// The number of columns of a chunk.
const COLUMNS: usize = 1024;

/// Space for the text of the distinct columns of most chunks.
const PATTERNS_BYTES: usize = 64 << 10;

/// Writes the values of all columns in rows from z = 0 on, each with the values from x = 0 on.
fn rows<T: Copy>(values: &ColumnArray<T>, push: impl Fn(&mut Ascii, T)) -> Ascii {
    let mut out = Ascii::from("[");
    for column in LocalColumn::all() {
        out.push_str(match (column.x(), column.z()) {
            (0, 0) => "[",
            (0, _) => "],[",
            _ => ",",
        });
        push(&mut out, values[column]);
    }
    out.push_str("]]");
    out
}

pub(super) fn heights(columns: &BlockChunk) -> impl Display + use<> {
    rows(&columns.heights.values(), |out, height| out.push_signed(height.into()))
}

pub(super) fn tints(columns: &BlockChunk) -> impl Display + use<> {
    rows(&columns.tints.values(), push_tint)
}

/// Writes `"#rrggbb"`, or `"#aarrggbb"` if alpha is not what the game writes.
fn push_tint(out: &mut Ascii, tint: i32) {
    let [alpha, red, green, blue] = tint.to_be_bytes();
    if alpha == OPAQUE {
        let [[r, r2], [g, g2], [b, b2]] = [red, green, blue].map(hex);
        return out.push_bytes(&[b'"', b'#', r, r2, g, g2, b, b2, b'"']);
    }
    out.push_str("\"#");
    out.push_hex(tint.cast_unsigned(), 8);
    out.push_str("\"");
}

pub(super) fn environments(environments: &EnvironmentChunk) -> impl Display {
    fmt::from_fn(|f| {
        let found = Environments::of(environments);
        let palette = found.palette.iter().map(|&(id, name)| {
            fmt::from_fn(move |f| {
                let mut object = Object::begin(f)?;
                object.member("id", id)?;
                object.member("name", text(name))?;
                object.end()
            })
        });
        let mut object = Object::begin(f)?;
        object.member("palette", list(|| palette.clone()))?;
        object.member("patterns", &found.patterns)?;
        object.member("columns", number_runs(&runs_of(&found.columns)))?;
        object.end()
    })
}

/// The environments of all columns. Most columns are equal to others.
struct Environments<'a> {
    stored: &'a EnvironmentChunk,
    /// The listed environments, then those that columns use without listing them.
    palette: Vec<(i32, &'a str)>,
    /// The palette index of each id.
    indices: HashMap<i32, u32>,
    /// The last index that was looked up, for each last byte of an id.
    recent: [Option<(i32, u32)>; 256],
    /// The number of each distinct column. The key is its bytes without unused runs.
    known: HashMap<Cow<'a, [u8]>, u16, Seeded>,
    /// The distinct columns as text: a list of `[[greatest y or null, palette index], ...]`.
    patterns: Ascii,
    columns: Vec<u16>,
}

impl<'a> Environments<'a> {
    fn of(stored: &'a EnvironmentChunk) -> Self {
        let list = stored.list().iter();
        let palette: Vec<_> = list.map(|entry| (entry.id, entry.name.as_str())).collect();
        // If an id is listed twice, the last entry wins.
        let indices = palette.iter().zip(0..).map(|(&(id, _), index)| (id, index)).collect();
        let known = HashMap::with_capacity_and_hasher(COLUMNS, Seeded::new());
        let mut patterns = Ascii::with_capacity(PATTERNS_BYTES);
        patterns.push_str("[");
        let columns = Vec::with_capacity(COLUMNS);
        let recent = [None; 256];
        let mut found = Self { stored, palette, indices, recent, known, patterns, columns };
        for column in LocalColumn::all() {
            let number = found.neighbour_pattern(column).unwrap_or_else(|| found.pattern(column));
            found.columns.push(number);
        }
        found.patterns.end_list();
        found
    }

    /// Returns the pattern of the column to the west or north if it is stored in the same way.
    fn neighbour_pattern(&self, column: LocalColumn) -> Option<u16> {
        let (x, z) = (column.x(), column.z());
        let neighbours = [(x.checked_sub(1), Some(z)), (Some(x), z.checked_sub(1))];
        let mut neighbours = neighbours.into_iter().filter_map(|(x, z)| LocalColumn::new(x?, z?));
        let bytes = self.stored.column_bytes(column);
        let same = neighbours.find(|&other| self.stored.column_bytes(other) == bytes)?;
        self.columns.get(usize::from(same.index())).copied()
    }

    fn index_of(&mut self, id: i32) -> u32 {
        let [.., low] = id.to_be_bytes();
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
        let recent = &mut self.recent[usize::from(low)];
        if let Some((known, index)) = *recent
            && known == id
        {
            return index;
        }
        let next = u32::try_from(self.palette.len()).unwrap_or(u32::MAX);
        let index = *self.indices.entry(id).or_insert_with(|| {
            self.palette.push((id, UNKNOWN_ENVIRONMENT));
            next
        });
        *recent = Some((id, index));
        index
    }

    fn pattern(&mut self, column: LocalColumn) -> u16 {
        // There are at most as many patterns as columns, so it fits.
        let next = u16::try_from(self.known.len()).unwrap_or(u16::MAX);
        match self.known.entry(self.stored.used_bytes(column)) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => *new.insert(next),
        };
        let mut patterns = std::mem::take(&mut self.patterns);
        let runs = self.stored.runs(column).map(|run| {
            let max_y = Some(*run.ys.end()).filter(|&max_y| max_y < i32::MAX);
            (max_y, self.index_of(run.id))
        });
        pairs::push(&mut patterns, runs);
        patterns.push_str(",");
        self.patterns = patterns;
        next
    }
}

pub(super) fn health(
    object: &mut Object<'_, '_>,
    health: Option<&BlockHealthChunk>,
) -> fmt::Result {
    let damaged = health.map(|health| list(|| health.damaged.iter().map(damaged)));
    object.member("damaged", or_null(damaged))?;
    let fragile = health.map(|health| list(|| health.fragile.iter().map(fragile)));
    object.member("fragile", or_null(fragile))
}

fn damaged(block: &DamagedBlock) -> impl Display {
    fmt::from_fn(|f| {
        let mut object = Object::begin(f)?;
        position(&mut object, Some(block.pos))?;
        object.member("health", number(block.health))?;
        object.member("last_damage_ms", block.last_damage_ms)?;
        object.end()
    })
}

fn fragile(block: &FragileBlock) -> impl Display {
    fmt::from_fn(|f| {
        let mut object = Object::begin(f)?;
        position(&mut object, Some(block.pos))?;
        object.member("seconds", number(block.seconds))?;
        object.end()
    })
}

/// Writes the position of a block in the world.
pub(super) fn position(object: &mut Object<'_, '_>, pos: Option<BlockPos>) -> fmt::Result {
    object.member("x", or_null(pos.map(|pos| pos.x)))?;
    object.member("y", or_null(pos.map(|pos| pos.y)))?;
    object.member("z", or_null(pos.map(|pos| pos.z)))
}
