//! A sample world: hills, water, caves, ores and trees.
//!
//! This is not the game's world generation. It generates natural-looking chunks that compress like
//! real ones, for demonstrations, tests and benchmarks. All arithmetic is on integers, so a seed
//! gives the same bytes on every machine.

mod caves;
mod surface;
mod trees;

use std::sync::OnceLock;

use hyworld_chunk::{AssetKey, Chunk, EnvironmentChunk};
use hyworld_coords::{ChunkPos, ColumnArray, LocalColumn};

use super::blocks::{Grid, Parts, build, names};
use super::noise::hash;
use super::{ChunkGenerator, GenerateRequest};
use crate::error::BoxedError;
use caves::Caves;
use surface::Surface;

/// The y of the highest water block.
const SEA_LEVEL: i32 = 100;

/// Caves below this y are full of lava.
const LAVA_LEVEL: i32 = 10;

/// Rock below about this y is basalt.
const BASALT_TOP: i32 = 28;

/// Rock above this y is bare.
const BARE_FROM: i32 = 148;

/// Numbers of blocks, in the order of [`BLOCK_NAMES`].
mod block {
    pub(super) const AIR: u8 = 0;
    pub(super) const BEDROCK: u8 = 1;
    pub(super) const STONE: u8 = 2;
    pub(super) const BASALT: u8 = 3;
    pub(super) const DIRT: u8 = 4;
    pub(super) const GRASS: u8 = 5;
    pub(super) const SAND: u8 = 6;
    pub(super) const GRAVEL: u8 = 7;
    pub(super) const QUARTZITE: u8 = 8;
    pub(super) const TRUNK: u8 = 9;
    pub(super) const LEAVES: u8 = 10;
    pub(super) const TALL_GRASS: u8 = 11;
    pub(super) const SHORT_GRASS: u8 = 12;
    /// The first of three ores in stone, followed by the same three in basalt.
    pub(super) const ORES: u8 = 13;
}

const BLOCK_NAMES: [&str; 19] = [
    "Empty",
    "Rock_Bedrock",
    "Rock_Stone",
    "Rock_Basalt",
    "Soil_Dirt",
    "Soil_Grass",
    "Soil_Sand_White",
    "Soil_Gravel",
    "Rock_Quartzite",
    "Wood_Oak_Trunk",
    "Plant_Leaves_Oak",
    "Plant_Grass_Lush_Tall",
    "Plant_Grass_Lush_Short",
    "Ore_Copper_Stone",
    "Ore_Iron_Stone",
    "Ore_Gold_Stone",
    "Ore_Copper_Basalt",
    "Ore_Iron_Basalt",
    "Ore_Gold_Basalt",
];

const WATER: u8 = 1;
const LAVA: u8 = 2;
const FLUID_NAMES: [&str; 3] = ["Empty", "Water_Source", "Lava_Source"];

/// Generates a natural-looking world.
///
/// ```
/// use hyworld_chunk_store::{ChunkGenerator, GenerateRequest, SampleTerrain};
/// use hyworld_coords::ChunkPos;
///
/// let request = GenerateRequest { at: ChunkPos::new(3, -7), seed: 42, still_needed: None };
/// let chunk = SampleTerrain.generate(&request)?.ok_or("not generated")?;
/// assert_eq!(chunk.encode(), SampleTerrain.generate(&request)?.ok_or("")?.encode());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SampleTerrain;

impl ChunkGenerator for SampleTerrain {
    fn generate(&self, request: &GenerateRequest) -> Result<Option<Chunk>, BoxedError> {
        if request.is_abandoned() {
            return Ok(None);
        }
        Work::new(request.seed, request.at).chunk().map(Some)
    }
}

/// A chunk being generated.
struct Work {
    seed: u64,
    at: ChunkPos,
    surface: Surface,
    blocks: Grid,
    fluids: Grid,
}

impl Work {
    fn new(seed: i32, at: ChunkPos) -> Self {
        let seed = u64::from(seed.cast_unsigned());
        let surface = Surface::around(seed, at);
        Self { seed, at, surface, blocks: Grid::air(), fluids: Grid::air() }
    }

    fn chunk(mut self) -> Result<Chunk, BoxedError> {
        let caves = Caves::of(self.seed, self.at);
        for column in LocalColumn::all() {
            self.fill_column(column);
            self.carve(column, &caves);
        }
        self.place_ores();
        self.plant();
        let opaque =
            |number| !matches!(number, block::AIR | block::TALL_GRASS | block::SHORT_GRASS);
        build(&Parts {
            heights: &ColumnArray::from_fn(|column| self.blocks.height(column, opaque)),
            tints: &ColumnArray::from_fn(|column| self.surface.tint(column)),
            environments: &self.environments()?,
            blocks: &self.blocks,
            block_names: block_names(),
            fluids: &self.fluids,
            fluid_names: fluid_names(),
        })
    }

    /// Fills one column with rock, soil and water.
    fn fill_column(&mut self, column: LocalColumn) {
        let height = self.surface.height(column);
        let random = self.random(column, 0);
        let basalt = BASALT_TOP + i32::try_from(random % 4).unwrap_or(0);
        let soil = height - 3 - i32::try_from((random >> 8) % 2).unwrap_or(0);
        self.blocks.set(column, 0, block::BEDROCK);
        self.blocks.fill(column, 1..basalt.min(soil), block::BASALT);
        self.blocks.fill(column, basalt..soil, block::STONE);
        let (ground, top) = match height {
            _ if height >= BARE_FROM => (block::STONE, block::QUARTZITE),
            _ if height > SEA_LEVEL + 2 => (block::DIRT, block::GRASS),
            _ if height >= SEA_LEVEL - 3 => (block::SAND, block::SAND),
            _ => (block::GRAVEL, block::GRAVEL),
        };
        self.blocks.fill(column, soil..height, ground);
        self.blocks.set(column, height, top);
        self.fluids.fill(column, (height + 1)..(SEA_LEVEL + 1), WATER);
    }

    /// Carves the caves of one column. They open to the sky, but not to the sea.
    fn carve(&mut self, column: LocalColumn, caves: &Caves) {
        let height = self.surface.height(column);
        let is_dry = height > SEA_LEVEL + 4;
        let top = if is_dry { height } else { height - 8 };
        for y in caves.cave_heights(column, 3, top) {
            self.blocks.set(column, y, block::AIR);
            if y < LAVA_LEVEL {
                self.fluids.set(column, y, LAVA);
            }
        }
    }

    /// Puts a small cluster of ore into some of the 16-block cubes.
    fn place_ores(&mut self) {
        let (origin_x, origin_z) = origin(self.at);
        for (x, z) in [(0, 0), (16, 0), (0, 16), (16, 16)] {
            for y in (0..112).step_by(16) {
                let random = hash(self.seed ^ 0x04e5, origin_x + x, y, origin_z + z);
                if random % 10 < 6 {
                    self.place_ore([x, y, z], random >> 8);
                }
            }
        }
    }

    fn place_ore(&mut self, cube: [i64; 3], random: u64) {
        let ore = match random % 6 {
            0..3 => 0,
            3..5 => 1,
            _ => 2,
        };
        let shift = |bits: u32| i64::try_from((random >> bits) % 11).unwrap_or(0) + 2;
        let [x, y, z] = cube;
        let (x, y, z) = (x + shift(8), y + shift(16), z + shift(24));
        for (dx, dy, dz) in nearby() {
            let is_part = !hash(random, dx, dy, dz).is_multiple_of(3);
            let Some(column) = local(x + dx, z + dz).filter(|_| is_part) else { continue };
            let y = i32::try_from(y + dy).unwrap_or(0);
            match self.blocks.get(column, y) {
                block::STONE => self.blocks.set(column, y, block::ORES + ore),
                block::BASALT => self.blocks.set(column, y, block::ORES + 3 + ore),
                _ => {}
            }
        }
    }

    /// Returns the random number with index `which` of a column.
    fn random(&self, column: LocalColumn, which: i64) -> u64 {
        let (x, z) = origin(self.at);
        hash(self.seed, x + i64::from(column.x()), which, z + i64::from(column.z()))
    }

    fn environments(&self) -> Result<EnvironmentChunk, BoxedError> {
        let environments = EnvironmentChunk::from_columns(|column| {
            let cave_top = self.surface.height(column) - 12;
            vec![(cave_top, "Env_Zone1_Caves"), (0, self.surface.environment(column))]
        });
        Ok(environments?)
    }
}

/// Returns the first block of a chunk, as `i64` because it may be outside the range of `i32`.
fn origin(at: ChunkPos) -> (i64, i64) {
    (i64::from(at.x) * 32, i64::from(at.z) * 32)
}

/// Returns the column of this chunk, or `None` if it is outside.
fn local(x: i64, z: i64) -> Option<LocalColumn> {
    LocalColumn::new(u8::try_from(x).ok()?, u8::try_from(z).ok()?)
}

/// Returns the offsets of a cube with a side of three blocks.
fn nearby() -> impl Iterator<Item = (i64, i64, i64)> {
    let axis = -1..=1;
    axis.clone().flat_map(move |y| {
        let xs = axis.clone();
        axis.clone().flat_map(move |z| xs.clone().map(move |x| (x, y, z)))
    })
}

fn block_names() -> &'static [AssetKey] {
    static NAMES: OnceLock<Vec<AssetKey>> = OnceLock::new();
    NAMES.get_or_init(|| names(&BLOCK_NAMES))
}

fn fluid_names() -> &'static [AssetKey] {
    static NAMES: OnceLock<Vec<AssetKey>> = OnceLock::new();
    NAMES.get_or_init(|| names(&FLUID_NAMES))
}

#[cfg(test)]
mod tests;
