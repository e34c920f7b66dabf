//! Tests of decoding columns.

use hyworld_chunk::EnvironmentChunk;
use hyworld_testkit::game_0_7_chunk;

use super::*;
use crate::style::Layer;

fn at(x: u8, y: u16, z: u8) -> ChunkBlock {
    ChunkBlock::new(x, y, z).unwrap()
}

fn read(chunk: &Chunk, layer: Layer) -> ColumnTile {
    read_with(chunk, &Needs::of(&[layer])).unwrap()
}

fn read_with(chunk: &Chunk, needs: &Needs) -> Result<ColumnTile> {
    let colors = Colors::default();
    let reader = TileReader::new(&colors, Palette::Game, needs);
    reader.read(chunk, Facts::default(), Other::None)
}

fn column(tile: &ColumnTile, x: u8, z: u8) -> Column {
    tile.columns[LocalColumn::new(x, z).unwrap()]
}

fn pond() -> Chunk {
    let mut chunk = Chunk::new();
    chunk.set_block(at(1, 40, 2), "Rock_Stone").unwrap();
    for y in 41..=70 {
        chunk.set_fluid(at(1, y, 2), "Water_Source", 1).unwrap();
    }
    chunk
}

#[test]
fn air_has_no_ground() {
    let tile = read(&Chunk::new(), Layer::Surface);
    assert!(tile.columns.values().all(|column| *column == Column::default()));
    assert!(tile.environments.is_empty());
}

#[test]
fn a_fluid_ends_at_the_first_cell_of_another_colour() {
    let mut chunk = pond();
    let fluid = |chunk: &Chunk| column(&read(chunk, Layer::Surface), 1, 2).fluid.unwrap();
    let found = fluid(&chunk);
    assert_eq!((found.top, found.bottom, found.depth()), (70, 40, 31));
    assert_eq!(found.color, Rgb([0x19, 0x83, 0xd9]), "water of an unknown environment");
    // Both names have the same colour.
    chunk.set_fluid(at(1, 69, 2), "Water", 8).unwrap();
    assert_eq!(fluid(&chunk).bottom, 40);
    chunk.set_fluid(at(1, 68, 2), "Lava_Source", 1).unwrap();
    assert_eq!(fluid(&chunk).bottom, 68);
    chunk.set_fluid(at(1, 40, 2), "Water_Source", 1).unwrap();
    chunk.set_fluid(at(1, 68, 2), "Water_Source", 1).unwrap();
    assert_eq!(fluid(&chunk).bottom, 40, "water in the ground ends there");
}

#[test]
fn only_fluids_above_the_ground_are_seen() {
    let mut chunk = pond();
    chunk.set_block(at(1, 300, 2), "Rock_Stone").unwrap();
    assert_eq!(column(&read(&chunk, Layer::Surface), 1, 2).fluid, None);
    chunk.set_fluid(at(1, 319, 2), "Lava_Source", 1).unwrap();
    let fluid = column(&read(&chunk, Layer::Surface), 1, 2).fluid.unwrap();
    assert_eq!((fluid.top, fluid.bottom), (319, 318));
}

#[test]
fn stored_heights_decide_even_if_they_are_wrong() {
    for (height, has_ground) in
        [(40, true), (39, false), (-1, false), (320, false), (i16::MAX, false)]
    {
        let mut chunk = pond();
        let columns = chunk.get_mut::<BlockChunk>().unwrap().unwrap();
        columns.heights.set(LocalColumn::new(1, 2).unwrap(), height);
        let found = column(&read(&chunk, Layer::Surface), 1, 2);
        assert_eq!((found.height, found.ground.is_some()), (height, has_ground));
    }
}

#[test]
fn without_stored_heights_blocks_are_searched() {
    let mut chunk = pond();
    chunk.set_block(at(1, 90, 2), "Plant_Grass_Lush").unwrap();
    chunk.set_block(at(3, 0, 3), "Soil_Grass").unwrap();
    assert!(chunk.remove("BlockChunk"));
    let tile = read(&chunk, Layer::Surface);
    assert_eq!(column(&tile, 1, 2).height, 40, "grass is transparent");
    assert_eq!(column(&tile, 3, 3).ground, Some(DEFAULT_TINT));
    assert_eq!(column(&tile, 5, 5).ground, None);
}

#[test]
fn environments_are_named_within_limits() {
    let mut chunk = Chunk::new();
    for x in 0..32 {
        for z in 0..32 {
            chunk.set_block(at(x, 9, z), "Rock_Stone").unwrap();
        }
    }
    let tile = read(&chunk, Layer::Environment);
    assert_eq!(tile.environments, ["Unknown"]);
    let color = |tile: &ColumnTile, x, z| tile.environment_color(&column(tile, x, z)).unwrap();
    assert_eq!(color(&tile, 0, 0), environment_color("Unknown"));
    let other = read(&chunk, Layer::Surface);
    assert!(other.environments.is_empty() && column(&other, 0, 0).environment == NO_NAME);
    let mut environments = EnvironmentChunk::uniform("Env").unwrap();
    for column in LocalColumn::all() {
        let name = format!("{:200}", column.index());
        let name = if column.index() % 2 == 0 { name.trim() } else { &name };
        environments.set(column, 0..=319, name).unwrap();
    }
    chunk.put(&environments).unwrap();
    let tile = read(&chunk, Layer::Environment);
    assert_eq!(tile.environments.len(), 512);
    assert!(tile.environments.iter().all(|name| name.len() <= NAME_BYTES_MAX));
    assert_ne!(color(&tile, 30, 31), color(&tile, 31, 31));
}

#[test]
fn changes_are_summed_only_for_their_layer() {
    let chunk = pond();
    assert_eq!(read(&chunk, Layer::Surface).changes, 0);
    assert_eq!(read(&chunk, Layer::Changes).changes, 31, "a block and 30 cells of water");
}

#[test]
fn chunks_of_newer_games_and_damaged_chunks_differ() {
    let (colors, needs) = (Colors::default(), Needs::of(&[Layer::Surface]));
    let reader = TileReader::new(&colors, Palette::Game, &needs);
    let newer = Chunk::decode(game_0_7_chunk()).unwrap();
    let (tile, error) = reader.tile(Ok(&newer), Facts::default(), Other::None);
    assert_eq!(tile, Tile::Newer, "{error:?}");
    let mut damaged = pond();
    damaged.set_raw("BlockChunk", &[5, 0, 0, 0, 0]).unwrap();
    let (tile, error) = reader.tile(Ok(&damaged), Facts::default(), Other::None);
    assert_eq!(tile, Tile::Damaged, "{error:?}");
}

/// Fluids of a column, cell by cell, as the map's documentation describes them.
fn slow_fluid(chunk: &Chunk, at: LocalColumn, ground: u16) -> Option<(u16, u16)> {
    let colors = Colors::default();
    let color = |y: u16| {
        let cell = ChunkBlock::new(at.x(), y, at.z()).unwrap();
        let fluid = chunk.block(cell).unwrap().fluid().unwrap();
        fluid.map(|fluid| colors.fluid(fluid.name()).particle)
    };
    let top = (ground..320).rev().find(|y| color(*y).is_some())?;
    let bottom = (ground..top).rev().find(|y| color(*y) != color(top));
    Some((top, bottom.unwrap_or(ground)))
}

#[test]
fn fluids_agree_with_reading_cell_by_cell() {
    let mut random = 7_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % below
    };
    for _ in 0..40 {
        let mut chunk = Chunk::new();
        let fluids = ["Water_Source", "Water", "Lava_Source", "Empty"];
        for _ in 0..6 {
            let mut layer = || u16::try_from(next(130)).unwrap();
            let (a, b) = (layer(), layer());
            let fluid = fluids[usize::try_from(next(4)).unwrap()];
            let side = if next(3) == 0 { 3 } else { 31 };
            for (x, z) in (0..=side).flat_map(|x| (0..=side).map(move |z| (x, z))) {
                for y in a.min(b)..=a.max(b).min(a.min(b) + 40) {
                    let level = u8::from(fluid != "Empty");
                    chunk.set_fluid(at(x, y, z), fluid, level).unwrap();
                }
            }
        }
        let ground = u16::try_from(next(100)).unwrap();
        for (x, z) in [(0, 0), (2, 3), (4, 4), (31, 31)] {
            chunk.set_block(at(x, ground, z), "Rock_Stone").unwrap();
        }
        let tile = read(&chunk, Layer::Surface);
        for (x, z) in [(0, 0), (2, 3), (4, 4), (31, 31)] {
            let fast = column(&tile, x, z).fluid.map(|fluid| (fluid.top, fluid.bottom));
            let slow = slow_fluid(&chunk, LocalColumn::new(x, z).unwrap(), ground);
            assert_eq!(fast, slow, "{x},{z} with the ground at {ground}");
        }
    }
}

#[test]
fn caves_and_slices_are_below_the_ground() {
    let mut chunk = Chunk::new();
    for y in (0..=20).chain(30..=90) {
        chunk.set_block(at(1, y, 2), "Rock_Stone").unwrap();
    }
    chunk.set_fluid(at(1, 25, 2), "Lava_Source", 1).unwrap();
    chunk.set_block(at(3, 90, 2), "Rock_Stone").unwrap();
    let needs = Needs::of(&[Layer::Caves, Layer::Slice(25), Layer::Slice(10), Layer::Slice(28)]);
    let tile = read_with(&chunk, &needs).unwrap();
    let here = LocalColumn::new(1, 2).unwrap();
    let caves = tile.caves.as_ref().unwrap();
    assert_eq!(caves[here].unwrap().floor, 20);
    assert_eq!(caves[LocalColumn::new(3, 2).unwrap()], None, "no floor");
    let slices: Vec<bool> = tile.slices.iter().map(|slice| slice[here].is_some()).collect();
    assert_eq!(slices, [true, true, false], "rock, lava, air");
}

#[test]
fn names_are_kept_if_they_are_needed() {
    let mut chunk = pond();
    chunk.set_block(at(9, 3, 9), "Soil_Grass").unwrap();
    let tile = read_with(&chunk, &Needs::default().with_names()).unwrap();
    let name = |x, z| tile.blocks[usize::from(column(&tile, x, z).block)].as_str();
    assert_eq!((name(1, 2), name(9, 9)), ("Rock_Stone", "Soil_Grass"));
    assert_eq!(column(&tile, 5, 5).block, NO_NAME);
    assert_eq!(tile.environments, ["Unknown"]);
}

#[test]
fn columns_that_differ_are_found() {
    let (mut chunk, other) = (pond(), pond());
    let colors = Colors::default();
    let needs = Needs::of(&[Layer::Diff]);
    let reader = TileReader::new(&colors, Palette::Game, &needs);
    let difference =
        |chunk: &Chunk, other| reader.read(chunk, Facts::default(), other).unwrap().difference;
    assert_eq!(difference(&chunk, Other::Missing), Difference::Added);
    assert_eq!(difference(&chunk, Other::Only), Difference::Removed);
    chunk.set_block(at(4, 7, 5), "Soil_Grass").unwrap();
    chunk.set_fluid(at(1, 68, 2), "Lava_Source", 1).unwrap();
    let Difference::Columns(differ) = difference(&chunk, Other::Chunk(&other)) else { panic!() };
    let found: Vec<_> =
        differ.cells().filter(|(_, is)| **is).map(|(at, _)| (at.x(), at.z())).collect();
    assert_eq!(found, [(1, 2), (4, 5)]);
}

#[test]
fn equal_documents_give_equal_tiles() {
    let (colors, needs) = (Colors::default(), Needs::of(&[Layer::Surface]));
    let reader = TileReader::new(&colors, Palette::Game, &needs);
    let memo = TileMemo::default();
    let (mut one, other) = (pond(), pond().encode());
    one.set_block(at(1, 40, 2), "Soil_Grass").unwrap();
    let one = one.encode();
    for document in [&one, &other, &other, &other, &one, &one, &other, &one] {
        let (tile, error) = memo.tile(&reader, &mut document.clone());
        assert!(error.is_none());
        let chunk = Chunk::decode(document.clone()).unwrap();
        assert_eq!(tile, reader.tile(Ok(&chunk), Facts::default(), Other::None).0);
    }
    let (tile, error) = memo.tile(&reader, &mut b"not a chunk".to_vec());
    assert!(tile == Tile::Damaged && error.is_some());
}
