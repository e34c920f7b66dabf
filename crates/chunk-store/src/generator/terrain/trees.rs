//! Trees and grass.

use hyworld_coords::LocalColumn;

use super::super::noise::{ONE, hash};
use super::surface::MARGIN;
use super::{BARE_FROM, SEA_LEVEL, Work, block, local, origin};

/// Each square with this side has at most one tree.
const SQUARE: i64 = 8;

/// How far leaves reach from the trunk; must be less than the margin.
const CROWN: i64 = 2;

impl Work {
    pub(super) fn plant(&mut self) {
        for column in LocalColumn::all() {
            self.grow_grass(column);
        }
        // Includes squares of neighbours, whose trees reach into this chunk.
        for square_z in -1..=32 / SQUARE {
            for square_x in -1..=32 / SQUARE {
                self.plant_square(square_x * SQUARE, square_z * SQUARE);
            }
        }
    }

    fn grow_grass(&mut self, column: LocalColumn) {
        let height = self.surface.height(column);
        let random = self.random(column, 1);
        let is_meadow = self.blocks.get(column, height) == block::GRASS;
        let is_free = self.blocks.get(column, height + 1) == block::AIR;
        if is_meadow && is_free && random.is_multiple_of(7) {
            let plant = if (random >> 8).is_multiple_of(4) {
                block::TALL_GRASS
            } else {
                block::SHORT_GRASS
            };
            self.blocks.set(column, height + 1, plant);
        }
    }

    /// Depends only on the square, so that both chunks at a border have the same tree.
    fn plant_square(&mut self, square_x: i64, square_z: i64) {
        let (origin_x, origin_z) = origin(self.at);
        let random = hash(self.seed ^ 0x73ee, origin_x + square_x, 0, origin_z + square_z);
        let within = |bits: u32| i64::try_from((random >> bits) % 8).unwrap_or(0);
        let (x, z) = (square_x + within(8), square_z + within(16));
        let is_known = |axis: i64| (-MARGIN..32 + MARGIN).contains(&axis);
        if !is_known(x) || !is_known(z) {
            // Too far away to reach into this chunk.
            return;
        }
        let height = self.surface.height_at(x, z);
        let is_fit = height > SEA_LEVEL + 2 && height < BARE_FROM - 10;
        let chance = if self.surface.moisture_at(x, z) > ONE * 5 / 9 { 70 } else { 12 };
        if is_fit && random % 100 < chance {
            let trunk = 5 + i32::try_from((random >> 24) % 3).unwrap_or(0);
            self.plant_tree(x, z, height + 1, trunk);
        }
    }

    fn plant_tree(&mut self, x: i64, z: i64, foot: i32, trunk: i32) {
        let top = foot + trunk;
        for dz in -CROWN..=CROWN {
            for dx in -CROWN..=CROWN {
                let Some(column) = local(x + dx, z + dz) else { continue };
                let (far, is_corner) = (dx.abs().max(dz.abs()), dx.abs() + dz.abs() == 2 * CROWN);
                let leaves = match far {
                    _ if is_corner => continue,
                    2 => top - 3..top - 1,
                    _ => top - 3..top + 1,
                };
                for y in leaves {
                    if matches!(self.blocks.get(column, y), block::AIR) {
                        self.blocks.set(column, y, block::LEAVES);
                    }
                }
            }
        }
        if let Some(column) = local(x, z) {
            self.blocks.fill(column, foot..top, block::TRUNK);
        }
    }
}
