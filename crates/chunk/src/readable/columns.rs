//! What belongs to columns: heights, tints, environments. Also the health of blocks.

use std::collections::HashMap;
use std::fmt::{self, Display};

use hyworld_coords::{BlockPos, ColumnArray, LocalColumn};

use super::json::{Object, list, number, or_null, runs, text};
use crate::block_chunk::BlockChunk;
use crate::block_health::{BlockHealthChunk, DamagedBlock, FragileBlock};
use crate::environment::{EnvironmentChunk, UNKNOWN_ENVIRONMENT};

/// The alpha that the game gives every tint.
const OPAQUE: u8 = 0xFF;

/// Rows from z = 0 on, in each of them the values from x = 0 on.
fn rows<T: Display + Copy>(values: ColumnArray<T>) -> impl Display {
    fmt::from_fn(move |f| {
        let rows = (0..32).map(|z| {
            let row = (0..32).filter_map(move |x| LocalColumn::new(x, z));
            let row = row.map(|column| values[column]);
            list(move || row.clone())
        });
        write!(f, "{}", list(|| rows.clone()))
    })
}

pub(super) fn heights(columns: &BlockChunk) -> impl Display + use<> {
    rows(columns.heights.values())
}

pub(super) fn tints(columns: &BlockChunk) -> impl Display + use<> {
    let tints = columns.tints.values();
    rows(ColumnArray::from_fn(|column| Tint(tints[column])))
}

/// `"#rrggbb"`, with alpha before it unless it is what the game writes.
#[derive(Clone, Copy)]
struct Tint(i32);

impl Display for Tint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [alpha, red, green, blue] = self.0.to_be_bytes();
        f.write_str("\"#")?;
        if alpha != OPAQUE {
            write!(f, "{alpha:02x}")?;
        }
        write!(f, "{red:02x}{green:02x}{blue:02x}\"")
    }
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
        object.member("patterns", list(|| found.patterns.iter().map(|runs| pattern(runs))))?;
        object.member("columns", runs(|| found.columns.iter()))?;
        object.end()
    })
}

/// Some heights of a column, by the greatest of them, and the number of their environment in the
/// list.
type Heights = (Option<i32>, usize);

fn pattern(runs: &[Heights]) -> impl Display {
    list(|| {
        runs.iter().map(|&(max_y, environment)| {
            fmt::from_fn(move |f| write!(f, "[{},{environment}]", or_null(max_y)))
        })
    })
}

/// The environments of all columns. Most columns are like others.
struct Environments<'a> {
    /// What is listed, and behind it what columns use without its being listed.
    palette: Vec<(i32, &'a str)>,
    patterns: Vec<Vec<Heights>>,
    columns: Vec<usize>,
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
            let next = found.patterns.len();
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
        places: &mut HashMap<i32, usize>,
    ) -> Vec<Heights> {
        let runs = environments.runs(column);
        runs.map(|run| {
            let next = self.palette.len();
            let place = *places.entry(run.id).or_insert_with(|| {
                self.palette.push((run.id, UNKNOWN_ENVIRONMENT));
                next
            });
            (Some(*run.ys.end()).filter(|&max_y| max_y < i32::MAX), place)
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
