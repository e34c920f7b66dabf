//! A flat world of layers.

use hyworld_chunk::{AssetKey, Chunk, EnvironmentChunk};
use hyworld_coords::{ColumnArray, WORLD_HEIGHT_BLOCKS};

use super::blocks::{Grid, Parts, build};
use super::{ChunkGenerator, GenerateRequest};
use crate::error::BoxedError;

/// The grass tint of a temperate climate, as 0xAARRGGBB.
const TINT: i32 = 0xFF5B_9E28_u32.cast_signed();

/// Generates identical chunks: layers from the bottom up, and air above.
#[derive(Clone, Debug)]
pub struct FlatGenerator {
    chunk: Chunk,
}

impl FlatGenerator {
    /// Creates a generator from layers (block name and height in blocks) and an environment. Layers
    /// above the top of the world are cut off.
    ///
    /// # Errors
    /// Returns an error if a name is too long or there are more than 255 layers.
    pub fn new(layers: &[(&str, u16)], environment: &str) -> Result<Self, BoxedError> {
        let (mut blocks, mut names) = (Grid::air(), vec![AssetKey::EMPTY]);
        let mut y = 0;
        for (name, height) in layers {
            let number = u8::try_from(names.len()).map_err(|_| "more than 255 layers")?;
            names.push(AssetKey::new(name).ok_or("the name of a block is too long")?);
            let end = i32::from(*height).saturating_add(y).min(WORLD_HEIGHT_BLOCKS);
            (y..end).for_each(|y| blocks.set_layer(y, number));
            y = end;
        }
        let is_block = |number: u8| names.get(usize::from(number)).is_some_and(|n| !n.is_air());
        let chunk = build(&Parts {
            heights: &ColumnArray::from_fn(|column| blocks.height(column, is_block)),
            blocks: &blocks,
            block_names: &names,
            fluids: &Grid::air(),
            fluid_names: &[AssetKey::EMPTY],
            tints: &ColumnArray::filled(TINT),
            environments: &EnvironmentChunk::uniform(environment)?,
        })?;
        Ok(Self { chunk })
    }

    /// Creates a generator of bedrock, stone, dirt, and grass at height 63.
    ///
    /// # Errors
    /// Never returns an error for these layers.
    pub fn meadow() -> Result<Self, BoxedError> {
        let layers = [("Rock_Bedrock", 1), ("Rock_Stone", 59), ("Soil_Dirt", 3), ("Soil_Grass", 1)];
        Self::new(&layers, "Env_Zone1_Plains")
    }
}

impl ChunkGenerator for FlatGenerator {
    fn generate(&self, _request: &GenerateRequest) -> Result<Option<Chunk>, BoxedError> {
        Ok(Some(self.chunk.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ChunkBlock;

    #[test]
    fn layers_have_the_given_heights() {
        let chunk = FlatGenerator::meadow().unwrap().chunk;
        let block = |y| chunk.block(ChunkBlock::new(31, y, 7).unwrap()).unwrap().name();
        let found = [0, 1, 59, 60, 62, 63, 64, 319].map(block);
        let (stone, dirt) = ("Rock_Stone", "Soil_Dirt");
        let expected = ["Rock_Bedrock", stone, stone, dirt, dirt, "Soil_Grass", "Empty", "Empty"];
        assert_eq!(found, expected);
        assert_eq!(chunk.height(ChunkBlock::new(5, 0, 5).unwrap().column()), Ok(63));
    }

    #[test]
    fn a_stack_that_is_too_high_is_cut_off() {
        let tall = FlatGenerator::new(&[("Rock_Stone", 300), ("Soil_Dirt", 300)], "Env").unwrap();
        let top = tall.chunk.block(ChunkBlock::new(0, 319, 0).unwrap()).unwrap();
        assert_eq!(top.name(), "Soil_Dirt");
    }
}
