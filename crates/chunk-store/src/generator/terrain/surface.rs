//! The height, moisture and environment of the ground.

use hyworld_coords::{ChunkPos, LocalColumn};

use super::super::noise::{ONE, between, field};
use super::{BARE_FROM, SEA_LEVEL, origin};

/// The number of columns around the chunk whose heights are computed too, because their trees reach
/// into the chunk.
pub(super) const MARGIN: i64 = 4;

/// The number of columns along a side, including both margins.
const SIDE: i64 = 32 + 2 * MARGIN;

/// The ground of a chunk and its margins.
pub(super) struct Surface {
    /// Row by row, including the margins.
    heights: Vec<i32>,
    /// From 0 to [`ONE`].
    moistures: Vec<i64>,
}

impl Surface {
    pub(super) fn around(seed: u64, at: ChunkPos) -> Self {
        let (x, z) = origin(at);
        let side = -MARGIN..32 + MARGIN;
        let columns = || {
            let side_x = side.clone();
            side.clone().flat_map(move |dz| side_x.clone().map(move |dx| (x + dx, z + dz)))
        };
        Self {
            heights: columns().map(|(x, z)| height(seed, x, z)).collect(),
            moistures: columns().map(|(x, z)| field(seed ^ 0x1077, x, z, 8)).collect(),
        }
    }

    fn index(x: i64, z: i64) -> Option<usize> {
        usize::try_from((z + MARGIN) * SIDE + x + MARGIN).ok()
    }

    /// Returns the height of a column relative to the chunk's corner, also in the margins.
    pub(super) fn height_at(&self, x: i64, z: i64) -> i32 {
        Self::index(x, z).and_then(|index| self.heights.get(index)).copied().unwrap_or(0)
    }

    pub(super) fn height(&self, column: LocalColumn) -> i32 {
        self.height_at(column.x().into(), column.z().into())
    }

    pub(super) fn moisture_at(&self, x: i64, z: i64) -> i64 {
        Self::index(x, z).and_then(|index| self.moistures.get(index)).copied().unwrap_or(0)
    }

    /// Returns the grass colour, from yellowish (dry) to green (wet) in 32 steps.
    pub(super) fn tint(&self, column: LocalColumn) -> i32 {
        let moisture = self.moisture_at(column.x().into(), column.z().into());
        let step = (moisture >> 11) << 11;
        let (dry, wet) = ([0x8F_i64, 0xA8, 0x3A], [0x3B, 0x8E, 0x28]);
        let mut tint: u32 = 0xFF;
        for (dry, wet) in dry.into_iter().zip(wet) {
            let part = u32::try_from(between(dry, wet, step)).unwrap_or(0);
            tint = tint << 8 | part & 0xff;
        }
        tint.cast_signed()
    }

    pub(super) fn environment(&self, column: LocalColumn) -> &'static str {
        let moisture = self.moisture_at(column.x().into(), column.z().into());
        match self.height(column) {
            height if height >= BARE_FROM - 20 => "Env_Zone1_Mountains",
            height if height < SEA_LEVEL - 3 => "Env_Zone0_Temperate",
            height if height <= SEA_LEVEL + 2 => "Env_Zone1_Shores",
            _ if moisture > ONE * 5 / 9 => "Env_Zone1_Forests",
            _ => "Env_Zone1_Plains",
        }
    }
}

/// Returns the height of any column of the world.
fn height(seed: u64, x: i64, z: i64) -> i32 {
    // Each ranges from -1/2 to 1/2.
    let part = |which: u64, scale: u32| field(seed ^ which, x, z, scale) - ONE / 2;
    let land = part(0x11, 8) * 76;
    let hills = part(0x22, 6) * 34;
    let bumps = part(0x33, 4) * 8 + part(0x44, 3) * 3;
    let peaks = (field(seed ^ 0x55, x, z, 7) - ONE * 2 / 3).max(0) * 150;
    let height = 108 + ((land + hills + bumps + peaks) >> 16);
    i32::try_from(height).unwrap_or(0).clamp(20, 220)
}
