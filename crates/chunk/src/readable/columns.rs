//! The data of columns: heights, tints and environments. Also the health of blocks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::{self, Display};

use hyworld_coords::{BlockPos, ColumnArray, LocalColumn};

use super::ascii::{Ascii, hex};
use super::json::{Object, list, number, number_runs, or_null, runs_of, text};
use super::pairs::{PairText, Pairs};
use super::seeded::Seeded;
use crate::block_chunk::BlockChunk;
use crate::block_health::{BlockHealthChunk, DamagedBlock, FragileBlock};
use crate::environment::{EnvironmentChunk, UNKNOWN_ENVIRONMENT};

/// The alpha that the game writes for every tint.
const OPAQUE: u8 = 0xFF;

/// The number of columns of a chunk.
const COLUMNS: usize = 1024;

/// Space for the text of a value for each column.
const ROWS_BYTES: usize = 12 << 10;

/// Space for the text of the distinct columns of most chunks.
const PATTERNS_BYTES: usize = 64 << 10;

/// Writes the values of all columns in rows from z = 0 on, each with the values from x = 0 on.
fn rows<T: Copy>(values: &ColumnArray<T>, push: impl Fn(&mut Ascii, T)) -> Ascii {
    let mut out = Ascii::with_capacity(ROWS_BYTES);
    out.push_bytes(b"[");
    for column in LocalColumn::all() {
        if column.x() == 0 {
            out.push_bytes(b"[");
        }
        push(&mut out, values[column]);
        out.push_bytes(b",");
        if column.x() == 31 {
            out.end_list();
            out.push_bytes(b",");
        }
    }
    out.end_list();
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
        let palette = found.palette.names.iter().map(|&(id, name)| {
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
    palette: Ids<'a>,
    /// The distinct columns as text: a list of `[[greatest y or null, palette index], ...]`.
    patterns: Ascii,
    columns: Vec<u16>,
}

impl<'a> Environments<'a> {
    fn of(stored: &'a EnvironmentChunk) -> Self {
        let mut text = PairText::with_capacity(PATTERNS_BYTES);
        let mut patterns = Patterns {
            palette: Ids::of(stored),
            known: HashMap::with_capacity_and_hasher(COLUMNS, Seeded::new()),
            text: text.begin(),
        };
        let mut columns = Vec::with_capacity(COLUMNS);
        // Most columns are stored in the same way as the one before or the one to the north.
        let (mut before, mut row) = (None, [None; 32]);
        for column in LocalColumn::all() {
            let bytes = stored.column_bytes(column);
            let is_same = |other: &(&[u8], u16)| other.0 == bytes;
            #[expect(clippy::indexing_slicing, reason = "x is below 32")]
            let north = &mut row[usize::from(column.x())];
            let known = before.filter(is_same).or_else(|| north.filter(is_same));
            let known = known.unwrap_or_else(|| (bytes, patterns.add(stored.used_bytes(column))));
            (before, *north) = (Some(known), Some(known));
            columns.push(known.1);
        }
        patterns.text.finish();
        Self { palette: patterns.palette, patterns: text.into(), columns }
    }
}

/// The distinct columns.
struct Patterns<'a, 't> {
    palette: Ids<'a>,
    /// The number of each column. The key is its bytes without unused runs.
    known: HashMap<Cow<'a, [u8]>, u16, Seeded>,
    text: Pairs<'t>,
}

impl<'a> Patterns<'a, '_> {
    /// Returns the number of a column. `used` is the number of its heights, its heights and its
    /// ids, of which there is one more.
    fn add(&mut self, used: Cow<'a, [u8]>) -> u16 {
        // There are at most as many patterns as columns, so it fits.
        let next = u16::try_from(self.known.len()).unwrap_or(u16::MAX);
        let new = match self.known.entry(used) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => new,
        };
        let words = new.key().as_chunks().0.get(1..).unwrap_or_default();
        let (heights, ids) = words.split_at(words.len() / 2);
        self.text.begin_list();
        for (max_y, id) in heights.iter().zip(ids) {
            let index = self.palette.index_of(i32::from_be_bytes(*id));
            self.text.push(Some(i32::from_be_bytes(*max_y)), index);
        }
        if let Some(id) = ids.last() {
            self.text.push(None, self.palette.index_of(i32::from_be_bytes(*id)));
        }
        self.text.end_list();
        new.insert(next);
        next
    }
}

/// The listed environments, then those that columns use without listing them.
struct Ids<'a> {
    names: Vec<(i32, &'a str)>,
    /// The index of each id.
    indices: HashMap<i32, u32>,
    /// A cache with one entry for each value of an id's last byte: the id looked up last, and its
    /// index.
    recent: [Option<(i32, u32)>; 256],
}

impl<'a> Ids<'a> {
    fn of(stored: &'a EnvironmentChunk) -> Self {
        let list = stored.list().iter();
        let names: Vec<_> = list.map(|entry| (entry.id, entry.name.as_str())).collect();
        // If an id is listed twice, the last entry wins.
        let indices = names.iter().zip(0..).map(|(&(id, _), index)| (id, index)).collect();
        Self { names, indices, recent: [None; 256] }
    }

    #[inline]
    fn index_of(&mut self, id: i32) -> u32 {
        let [.., low] = id.to_be_bytes();
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
        match self.recent[usize::from(low)] {
            Some((known, index)) if known == id => index,
            _ => self.find(id),
        }
    }

    fn find(&mut self, id: i32) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let index = *self.indices.entry(id).or_insert_with(|| {
            self.names.push((id, UNKNOWN_ENVIRONMENT));
            next
        });
        let [.., low] = id.to_be_bytes();
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
        let recent = &mut self.recent[usize::from(low)];
        *recent = Some((id, index));
        index
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
