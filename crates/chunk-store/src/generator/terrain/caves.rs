//! Where the rock is hollow.

use hyworld_coords::{ChunkPos, LocalColumn};

use super::super::noise::{ONE, between, corner};
use super::origin;

/// Caves are worms: where two fields are both near their middle.
const FIELDS: [u64; 2] = [0xca5e, 0x5eca];

/// How far from the middle still counts.
const WIDTH: i64 = ONE / 11;

/// Corners of the lattice are 16 blocks apart.
const STEP: i64 = 16;

/// Corners along a side of a chunk, and up.
const SIDE: i64 = 32 / STEP + 1;
const UP: i64 = 240 / STEP + 1;

pub(super) struct Caves {
    /// The values at the corners of both fields, upwards first, then by x, then by z.
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

    /// The heights in a column that are hollow.
    pub(super) fn hollow(
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

/// The values of a field above one column, at each corner's height.
fn line(values: &[i64], column: LocalColumn) -> Vec<i64> {
    let (x, z) = (i64::from(column.x()), i64::from(column.z()));
    let (part_x, part_z) = ((x % STEP) << 12, (z % STEP) << 12);
    let value = |x: i64, y: i64, z: i64| {
        let place = usize::try_from((z * SIDE + x) * UP + y).unwrap_or(usize::MAX);
        values.get(place).copied().unwrap_or(0)
    };
    let (x, z) = (x / STEP, z / STEP);
    let at_height = |y| {
        let row = |z| between(value(x, y, z), value(x + 1, y, z), part_x);
        between(row(z), row(z + 1), part_z)
    };
    (0..UP).map(at_height).collect()
}
