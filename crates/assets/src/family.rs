//! Colours by name, for everything that no asset describes. All were chosen by hand for this crate.

use crate::colors::{BlockColor, EnvironmentColor, FluidColor, Source};
use crate::rgb::Rgb;

/// Colours of families, by the start of a name without leading `*`. The longest match is used.
const BLOCKS: [(&str, Rgb); 71] = [
    ("Bone", Rgb([214, 206, 180])),
    ("Cloth", Rgb([196, 188, 176])),
    ("Cloth_Black", Rgb([40, 40, 44])),
    ("Cloth_Blue", Rgb([54, 82, 170])),
    ("Cloth_Brown", Rgb([112, 78, 50])),
    ("Cloth_Cyan", Rgb([60, 160, 170])),
    ("Cloth_Green", Rgb([70, 130, 60])),
    ("Cloth_Grey", Rgb([120, 120, 122])),
    ("Cloth_Orange", Rgb([206, 120, 44])),
    ("Cloth_Pink", Rgb([208, 130, 160])),
    ("Cloth_Purple", Rgb([112, 64, 150])),
    ("Cloth_Red", Rgb([168, 48, 44])),
    ("Cloth_White", Rgb([228, 226, 220])),
    ("Cloth_Yellow", Rgb([216, 184, 64])),
    ("Deco", Rgb([150, 130, 104])),
    ("Deco_Coral", Rgb([206, 110, 120])),
    ("Furniture", Rgb([134, 98, 62])),
    ("Glass", Rgb([196, 220, 226])),
    ("Hay", Rgb([196, 164, 70])),
    ("Ice", Rgb([166, 204, 232])),
    ("Metal", Rgb([140, 144, 150])),
    ("Metal_Copper", Rgb([178, 104, 66])),
    ("Metal_Gold", Rgb([218, 178, 62])),
    ("Ore", Rgb([116, 110, 104])),
    ("Ore_Adamantite", Rgb([150, 56, 52])),
    ("Ore_Cobalt", Rgb([70, 92, 150])),
    ("Ore_Copper", Rgb([150, 104, 76])),
    ("Ore_Gold", Rgb([176, 150, 74])),
    ("Ore_Iron", Rgb([140, 120, 108])),
    ("Ore_Silver", Rgb([168, 172, 178])),
    ("Ore_Thorium", Rgb([92, 140, 84])),
    ("Plant", Rgb([96, 130, 60])),
    ("Plant_Bramble", Rgb([92, 84, 56])),
    ("Plant_Cactus", Rgb([88, 130, 70])),
    ("Plant_Crop", Rgb([150, 146, 70])),
    ("Plant_Flower", Rgb([176, 130, 150])),
    ("Plant_Leaves_Burnt", Rgb([62, 54, 48])),
    ("Plant_Leaves_Dry", Rgb([146, 124, 72])),
    ("Plant_Seaweed", Rgb([56, 112, 78])),
    ("Rock", Rgb([124, 122, 118])),
    ("Rock_Aqua", Rgb([88, 136, 136])),
    ("Rock_Basalt", Rgb([72, 72, 78])),
    ("Rock_Bedrock", Rgb([48, 48, 52])),
    ("Rock_Calcite", Rgb([212, 206, 196])),
    ("Rock_Chalk", Rgb([222, 220, 210])),
    ("Rock_Crystal", Rgb([160, 140, 206])),
    ("Rock_Ice", Rgb([166, 204, 232])),
    ("Rock_Marble", Rgb([208, 208, 208])),
    ("Rock_Quartzite", Rgb([186, 174, 164])),
    ("Rock_Sandstone", Rgb([196, 168, 116])),
    ("Rock_Sandstone_Red", Rgb([176, 100, 66])),
    ("Rock_Sandstone_White", Rgb([220, 208, 180])),
    ("Rock_Shale", Rgb([104, 100, 98])),
    ("Rock_Slate", Rgb([86, 90, 98])),
    ("Rock_Volcanic", Rgb([64, 56, 56])),
    ("Rubble", Rgb([118, 114, 108])),
    ("Soil", Rgb([116, 86, 58])),
    ("Soil_Ash", Rgb([98, 94, 92])),
    ("Soil_Clay", Rgb([158, 120, 96])),
    ("Soil_Gravel", Rgb([130, 124, 118])),
    ("Soil_Mud", Rgb([88, 70, 54])),
    ("Soil_Pathway", Rgb([146, 116, 78])),
    ("Soil_Pebbles", Rgb([130, 124, 118])),
    ("Soil_Sand", Rgb([214, 190, 132])),
    ("Soil_Sand_Red", Rgb([188, 112, 70])),
    ("Soil_Sand_White", Rgb([228, 218, 192])),
    ("Soil_Snow", Rgb([236, 240, 244])),
    ("Snow", Rgb([236, 240, 244])),
    ("Wood", Rgb([126, 94, 60])),
    ("Wood_Birch", Rgb([190, 172, 136])),
    ("Wood_Burnt", Rgb([56, 48, 44])),
];

/// Families whose colour is the tint of the column.
const TINTED: [&str; 7] = [
    "Plant_Bush",
    "Plant_Fern",
    "Plant_Grass",
    "Plant_Leaves",
    "Plant_Moss",
    "Plant_Vine",
    "Soil_Grass",
];

/// Families that do not count as the top of a column, although they are not air.
const TRANSPARENT: [&str; 4] = ["Deco", "Furniture", "Plant", "Rubble"];
/// Exceptions to `TRANSPARENT`.
const SOLID: [&str; 3] = ["Plant_Cactus", "Plant_Leaves", "Plant_Moss_Block"];

const FLUIDS: [(&str, Rgb); 6] = [
    ("Lava", Rgb([226, 96, 24])),
    ("Poison", Rgb([126, 70, 150])),
    ("Slime", Rgb([104, 178, 70])),
    ("Tar", Rgb([40, 36, 34])),
    ("Water", Rgb::WHITE),
    ("Water_Glow", Rgb([170, 236, 240])),
];

/// The colour of water in environments, by the start of the name without `Env_`.
const WATER: [(&str, Rgb); 16] = [
    ("Zone0", Rgb([0x10, 0x70, 0xb0])),
    ("Zone0_Cold", Rgb([0x20, 0x76, 0xb5])),
    ("Zone0_Temperate", Rgb([0x19, 0x83, 0xd9])),
    ("Zone0_Warm", Rgb([0x19, 0x8d, 0xea])),
    ("Zone1", Rgb([0x19, 0x83, 0xd9])),
    ("Zone1_Autumn", Rgb([0x61, 0x6f, 0x6f])),
    ("Zone1_Azure", Rgb([0x20, 0xa0, 0xff])),
    ("Zone1_Swamps", Rgb([0x66, 0x68, 0x2b])),
    ("Zone2", Rgb([0x19, 0x8d, 0xea])),
    ("Zone2_Oasis", Rgb([0x30, 0xb8, 0xc0])),
    ("Zone3", Rgb([0x20, 0x76, 0xb5])),
    ("Zone3_Glacial", Rgb([0xa0, 0xd8, 0xef])),
    ("Zone3_Hedera", Rgb([0x26, 0x4d, 0x3d])),
    ("Zone4", Rgb([0x66, 0x70, 0x30])),
    ("Zone4_Jungles", Rgb([0x4a, 0x60, 0x20])),
    ("Zone4_Volcanoes", Rgb([0xc0, 0x40, 0x20])),
];
const OTHER_WATER: Rgb = Rgb([0x19, 0x83, 0xd9]);

/// How far the colour of a name may differ from that of its family, per channel.
const JITTER: u32 = 6;

/// Returns the colours of a block by its name.
pub(crate) fn block(name: &str) -> BlockColor {
    let name = name.trim_start_matches('*');
    let is_in = |families: &[&str]| families.iter().any(|family| starts(name, family));
    let found = longest(&BLOCKS, name);
    let is_tinted = is_in(&TINTED) && found.is_none_or(|(family, _)| !family.contains("Leaves_"));
    let color = found.map_or_else(|| hashed(name), |(_, color)| jittered(color, name));
    BlockColor {
        tint: if is_tinted { Rgb::WHITE } else { color },
        biome_percent: if is_tinted { 100 } else { 0 },
        particle: None,
        texture: None,
        is_transparent: is_in(&TRANSPARENT) && !is_in(&SOLID),
        source: source(is_tinted || found.is_some()),
    }
}

/// Returns the colours of a fluid by its name.
pub(crate) fn fluid(name: &str) -> FluidColor {
    let found = longest(&FLUIDS, name);
    let particle = found.map_or_else(|| hashed(name), |(_, color)| color);
    let is_water = found.is_some_and(|(family, _)| family.starts_with("Water"));
    FluidColor { particle, is_water, source: source(found.is_some()) }
}

/// Returns the colour of an environment by its name.
pub(crate) fn environment(name: &str) -> EnvironmentColor {
    let found = longest(&WATER, name.strip_prefix("Env_").unwrap_or(name));
    let water = found.map_or(OTHER_WATER, |(_, color)| color);
    EnvironmentColor { water, source: Source::Family }
}

fn source(is_family: bool) -> Source {
    if is_family { Source::Family } else { Source::Hash }
}

/// Returns whether a block belongs to a family: its name is that of the family, alone or followed
/// by `_` and more.
fn starts(name: &str, family: &str) -> bool {
    let rest = name.strip_prefix(family);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

fn longest<'a>(table: &[(&'a str, Rgb)], name: &str) -> Option<(&'a str, Rgb)> {
    let matching = table.iter().filter(|(family, _)| starts(name, family));
    matching.max_by_key(|(family, _)| family.len()).copied()
}

/// Returns the 32-bit FNV-1a hash, which is the same on every computer.
fn hash(name: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, step)
}

/// Returns a colour of medium brightness that depends only on the name.
fn hashed(name: &str) -> Rgb {
    let [_, r, g, b] = hash(name).to_be_bytes();
    Rgb([r, g, b].map(|channel| 64 + channel / 2))
}

/// Returns a slightly different colour for each name of a family.
fn jittered(color: Rgb, name: &str) -> Rgb {
    let shift = hash(name) % (2 * JITTER + 1);
    Rgb(color.0.map(|channel| {
        let shifted = (u32::from(channel) + shift).saturating_sub(JITTER);
        u8::try_from(shifted).unwrap_or(u8::MAX)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_family_of_whole_words_wins() {
        let red = longest(&BLOCKS, "Soil_Sand_Red").unwrap();
        assert_eq!(red.0, "Soil_Sand_Red");
        assert_eq!(longest(&BLOCKS, "Soil_Sand_Redder").unwrap().0, "Soil_Sand");
        assert_eq!(longest(&BLOCKS, "Rocket"), None);
        assert_eq!(block("Rocket").source, Source::Hash);
    }

    #[test]
    fn names_of_a_family_are_similar_and_not_equal() {
        let (a, b) = (block("Rock_Stone").tint, block("Rock_Stone_Cobble").tint);
        assert_ne!(a, b);
        assert!(a.0.iter().zip(b.0).all(|(a, b)| a.abs_diff(b) <= 12), "{a} {b}");
        assert_eq!(block("*Rock_Stone").tint, a, "a state has the colour of its block");
    }

    #[test]
    fn plants_take_the_tint_of_the_column_unless_they_are_dead() {
        for name in ["Soil_Grass", "Plant_Leaves_Oak", "Plant_Grass_Lush_Tall"] {
            assert_eq!(block(name).with_tint(Rgb([1, 2, 3])), Rgb([1, 2, 3]), "{name}");
        }
        assert_eq!(block("Plant_Leaves_Burnt").biome_percent, 0);
        assert!(block("Plant_Grass_Lush").is_transparent);
        assert!(!block("Plant_Leaves_Oak").is_transparent);
    }

    #[test]
    fn water_depends_on_the_environment() {
        assert_eq!(environment("Env_Zone1_Swamps").water.to_string(), "#66682b");
        assert_eq!(environment("Env_Zone1_Caves_Swamps").water.to_string(), "#1983d9");
        assert_eq!(environment("Unknown").water, OTHER_WATER);
        assert!(fluid("Water_Source").is_water && !fluid("Lava").is_water);
        assert_eq!(fluid("Mercury").source, Source::Hash);
    }

    #[test]
    fn tables_have_no_duplicates() {
        for table in [&BLOCKS[..], &FLUIDS, &WATER] {
            let mut names: Vec<_> = table.iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.len());
        }
    }
}
