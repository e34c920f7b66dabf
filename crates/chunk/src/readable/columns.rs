//! What belongs to columns: heights, tints, environments. Also the health of blocks.

use std::collections::HashMap;
use std::fmt::{self, Display};

use hyworld_coords::{BlockPos, ColumnArray, LocalColumn};

use super::json::{Object, list, number, or_null, push_hex, push_number, runs, runs_of, text};
use crate::block_chunk::BlockChunk;
use crate::block_health::{BlockHealthChunk, DamagedBlock, FragileBlock};
use crate::environment::{EnvironmentChunk, UNKNOWN_ENVIRONMENT};

/// The alpha that the game gives every tint.
const OPAQUE: u8 = 0xFF;

/// Rows from z = 0 on, in each of them the values from x = 0 on.
fn rows<T: Copy>(values: &ColumnArray<T>, push: impl Fn(&mut String, T)) -> String {
    let mut out = String::from("[");
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
    rows(&columns.heights.values(), push_signed)
}

fn push_signed(out: &mut String, number: impl Into<i32>) {
    let number = number.into();
    if number < 0 {
        out.push('-');
    }
    push_number(out, number.unsigned_abs());
}

pub(super) fn tints(columns: &BlockChunk) -> impl Display + use<> {
    rows(&columns.tints.values(), push_tint)
}

/// `"#rrggbb"`, with alpha before it unless it is what the game writes.
fn push_tint(out: &mut String, tint: i32) {
    let [alpha, ..] = tint.to_be_bytes();
    out.push_str("\"#");
    push_hex(out, tint.cast_unsigned(), if alpha == OPAQUE { 6 } else { 8 });
    out.push('"');
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
        object.member("patterns", patterns(&found.patterns))?;
        object.member("columns", runs(&runs_of(&found.columns), push_number))?;
        object.end()
    })
}

/// Some heights of a column that have one environment. Two numbers in one are hashed at once: the
/// greatest height, `i32::MAX` for the last, and the number of the environment in the list.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Heights {
    max_y: i32,
    environment: u32,
}

impl Heights {
    fn packed(self) -> u64 {
        u64::from(self.max_y.cast_unsigned()) << 32 | u64::from(self.environment)
    }

    fn unpacked(packed: u64) -> Self {
        let [a, b, c, d, environment @ ..] = packed.to_be_bytes();
        let max_y = i32::from_be_bytes([a, b, c, d]);
        Self { max_y, environment: u32::from_be_bytes(environment) }
    }
}

/// A list of patterns, each `[[greatest y or null, environment], ...]`.
fn patterns(patterns: &[Vec<u64>]) -> String {
    let mut out = String::from("[");
    for (number, pattern) in patterns.iter().enumerate() {
        out.push_str(if number == 0 { "[" } else { ",[" });
        for (number, &packed) in pattern.iter().enumerate() {
            let Heights { max_y, environment } = Heights::unpacked(packed);
            out.push_str(if number == 0 { "[" } else { ",[" });
            match max_y {
                i32::MAX => out.push_str("null"),
                max_y => push_signed(&mut out, max_y),
            }
            out.push(',');
            push_number(&mut out, environment);
            out.push(']');
        }
        out.push(']');
    }
    out.push(']');
    out
}

/// The environments of all columns. Most columns are like others.
struct Environments<'a> {
    /// What is listed, and behind it what columns use without its being listed.
    palette: Vec<(i32, &'a str)>,
    /// Each is a list of packed [`Heights`].
    patterns: Vec<Vec<u64>>,
    columns: Vec<u16>,
}

impl<'a> Environments<'a> {
    fn of(environments: &'a EnvironmentChunk) -> Self {
        let list = environments.list().iter();
        let palette: Vec<_> = list.map(|entry| (entry.id, entry.name.as_str())).collect();
        // Should an id be listed twice, the last entry counts.
        let mut places = palette.iter().zip(0..).map(|(&(id, _), place)| (id, place)).collect();
        let mut found = Self { palette, patterns: Vec::new(), columns: Vec::new() };
        let mut known = HashMap::new();
        for column in LocalColumn::all() {
            let runs = found.column(environments, column, &mut places);
            // No more than there are columns.
            let next = u16::try_from(found.patterns.len()).unwrap_or(u16::MAX);
            let number = *known.entry(runs).or_insert_with_key(|runs| {
                found.patterns.push(runs.clone());
                next
            });
            found.columns.push(number);
        }
        found
    }

    fn column(
        &mut self,
        environments: &EnvironmentChunk,
        column: LocalColumn,
        places: &mut HashMap<i32, u32>,
    ) -> Vec<u64> {
        let runs = environments.runs(column);
        runs.map(|run| {
            let next = u32::try_from(self.palette.len()).unwrap_or(u32::MAX);
            let environment = *places.entry(run.id).or_insert_with(|| {
                self.palette.push((run.id, UNKNOWN_ENVIRONMENT));
                next
            });
            Heights { max_y: *run.ys.end(), environment }.packed()
        })
        .collect()
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

/// Where a block is in the world.
pub(super) fn position(object: &mut Object<'_, '_>, pos: Option<BlockPos>) -> fmt::Result {
    object.member("x", or_null(pos.map(|pos| pos.x)))?;
    object.member("y", or_null(pos.map(|pos| pos.y)))?;
    object.member("z", or_null(pos.map(|pos| pos.z)))
}
