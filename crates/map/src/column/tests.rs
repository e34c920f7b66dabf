//! Tests of decoding columns.

use hyworld_chunk::EnvironmentChunk;
use hyworld_testkit::game_0_7_chunk;

use super::*;

fn at(x: u8, y: u16, z: u8) -> ChunkBlock {
    ChunkBlock::new(x, y, z).unwrap()
}

fn read(chunk: &Chunk, layer: Layer) -> ColumnTile {
    TileReader::new(&Colors::default(), Style::new(layer)).read(chunk).unwrap()
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
    assert_eq!(column(&tile, 0, 0).environment, Some(environment_color("Unknown")));
    let other = read(&chunk, Layer::Surface);
    assert!(other.environments.is_empty() && column(&other, 0, 0).environment.is_none());
    let mut environments = EnvironmentChunk::uniform("Env").unwrap();
    for column in LocalColumn::all() {
        let name = format!("{:200}", column.index());
        let name = if column.index() % 2 == 0 { name.trim() } else { &name };
        environments.set(column, 0..=319, name).unwrap();
    }
    chunk.put(&environments).unwrap();
    let tile = read(&chunk, Layer::Environment);
    assert_eq!(tile.environments.len(), ENVIRONMENTS_MAX);
    assert!(tile.environments.iter().all(|name| name.len() <= ENVIRONMENT_BYTES_MAX));
    assert_ne!(column(&tile, 30, 31).environment, column(&tile, 31, 31).environment);
}

#[test]
fn changes_are_summed_only_for_their_layer() {
    let chunk = pond();
    assert_eq!(read(&chunk, Layer::Surface).changes, 0);
    assert_eq!(read(&chunk, Layer::Changes).changes, 31, "a block and 30 cells of water");
}

#[test]
fn chunks_of_newer_games_and_damaged_chunks_differ() {
    let (colors, style) = (Colors::default(), Style::new(Layer::Surface));
    let reader = TileReader::new(&colors, style);
    let newer = Chunk::decode(game_0_7_chunk()).unwrap();
    let (tile, error) = reader.tile(Ok(&newer));
    assert_eq!(tile, Tile::Newer, "{error:?}");
    let mut damaged = pond();
    damaged.set_raw("BlockChunk", &[5, 0, 0, 0, 0]).unwrap();
    let (tile, error) = reader.tile(Ok(&damaged));
    assert_eq!(tile, Tile::Damaged, "{error:?}");
}
