//! Caves.

use hyworld_coords::{ChunkPos, LocalColumn};

use super::super::noise::{ONE, between, corner};
use super::origin;

/// Caves are tunnels where two noise fields are both near their middle value.
const FIELDS: [u64; 2] = [0xca5e, 0x5eca];

/// The maximum distance from the middle value inside a cave.
const WIDTH: i64 = ONE / 11;

/// Lattice corners are 16 blocks apart.
const STEP: i64 = 16;

/// Lattice corners along a horizontal side and the height of a chunk.
const SIDE: i64 = 32 / STEP + 1;
const UP: i64 = 240 / STEP + 1;

pub(super) struct Caves {
    /// The corner values of both fields, ordered by z, then x, then y.
    fields: [Vec<i64>; 2],
}

impl Caves {
    pub(super) fn of(seed: u64, at: ChunkPos) -> Self {
        let (x, z) = origin(at);
        let values = |which: u64| {
            let mut values = Vec::new();
            for corner_z in 0..SIDE {
                for corner_x in 0..SIDE {
                    let (x, z) = (x / STEP + corner_x, z / STEP + corner_z);
                    values.extend((0..UP).map(|y| corner(seed ^ which, x, y, z)));
                }
            }
            values
        };
        Self { fields: FIELDS.map(values) }
    }

    /// Returns the heights in a column that are inside a cave.
    pub(super) fn cave_heights(
        &self,
        column: LocalColumn,
        bottom: i32,
        top: i32,
    ) -> impl Iterator<Item = i32> + use<> {
        let lines = self.fields.each_ref().map(|values| line(values, column));
        (bottom..=top).filter(move |&y| {
            lines.iter().all(|line| {
                let (cell, part) = (y >> 4, i64::from(y & 15) << 12);
                let cell = usize::try_from(cell).unwrap_or(usize::MAX);
                let value = |cell: usize| line.get(cell).copied().unwrap_or(0);
                let here = between(value(cell), value(cell.saturating_add(1)), part);
                (here - ONE / 2).abs() < WIDTH
            })
        })
    }
}

/// Returns the values of a field along one column, at the height of each corner.
fn line(values: &[i64], column: LocalColumn) -> Vec<i64> {
    let (x, z) = (i64::from(column.x()), i64::from(column.z()));
    let (part_x, part_z) = ((x % STEP) << 12, (z % STEP) << 12);
    let value = |x: i64, y: i64, z: i64| {
        let index = usize::try_from((z * SIDE + x) * UP + y).unwrap_or(usize::MAX);
        values.get(index).copied().unwrap_or(0)
    };
    let (x, z) = (x / STEP, z / STEP);
    let at_height = |y| {
        let row = |z| between(value(x, y, z), value(x + 1, y, z), part_x);
        between(row(z), row(z + 1), part_z)
    };
    (0..UP).map(at_height).collect()
}
