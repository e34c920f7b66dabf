//! Tests of painting tiles.

use std::sync::Arc;

use hyworld_assets::Colors;
use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkBlock, ChunkBox};

use super::*;
use crate::column::{Facts, Other, TileReader};
use crate::style::Palette;

const LAYERS: [Layer; 2] = [Layer::Surface, Layer::Height];

/// A chunk with flat ground at a height.
fn flat(y: u16) -> Tile {
    let mut chunk = Chunk::new();
    let corner = |x, z| ChunkBlock::new(x, y, z).unwrap();
    chunk.fill(ChunkBox::new(corner(0, 0), corner(31, 31)), "Rock_Stone").unwrap();
    let (colors, needs) = (Colors::default(), Needs::of(&LAYERS).with_names());
    let reader = TileReader::new(&colors, Palette::Game, &needs);
    Tile::Columns(Arc::new(reader.read(&chunk, Facts::default(), Other::None).unwrap()))
}

fn paint(chunks: &[(i32, i32, u16, bool)]) -> Vec<PaintedTile> {
    let needs = Needs::of(&LAYERS).with_names();
    let mut painter = TilePainter::new(TileGrid::new(1).unwrap(), &LAYERS, &needs);
    let mut tiles = Vec::new();
    for (x, z, y, is_drawn) in chunks {
        let at = ChunkPos::new(*x, *z);
        painter.add(at, flat(*y), *is_drawn, &mut |tile| tiles.push(tile));
    }
    painter.finish(&mut |tile| tiles.push(tile));
    tiles
}

fn pixel(tile: &PaintedTile, layer: usize, x: usize, z: usize) -> [u8; 4] {
    let start = 4 * (z * TILE_PIXELS as usize + x);
    tile.layers[layer].as_ref().unwrap()[start..start + 4].try_into().unwrap()
}

#[test]
fn chunks_are_painted_into_their_tiles() {
    let tiles = paint(&[(-1, -1, 319, true), (0, 0, 0, true), (15, 15, 319, true)]);
    let positions: Vec<_> = tiles.iter().map(|tile| (tile.at.x, tile.at.z)).collect();
    assert_eq!(positions, [(-1, -1), (0, 0)]);
    assert_eq!(pixel(&tiles[0], 1, 511, 511), [255; 4]);
    assert_eq!(pixel(&tiles[0], 1, 479, 511), [0; 4]);
    assert_eq!(pixel(&tiles[1], 1, 31, 31), [0, 0, 0, 255]);
    assert_eq!(pixel(&tiles[1], 1, 480, 480), [255; 4]);
    let script = tiles[1].info.as_ref().unwrap().script("f", tiles[1].at).unwrap();
    assert!(String::from_utf8(script).unwrap().contains("[\"Rock_Stone\"]"));
}

#[test]
fn chunks_of_the_next_tile_shade_the_border() {
    let shade = |tiles: &[PaintedTile]| pixel(&tiles[0], 0, 511, 500);
    let (alone, high, flat) = (
        paint(&[(15, 15, 100, true)]),
        paint(&[(15, 15, 100, true), (16, 15, 110, false)]),
        paint(&[(15, 15, 100, true), (16, 15, 100, false)]),
    );
    assert_eq!(high.len(), 1, "a chunk that only shades has no tile");
    let shades = [shade(&alone), shade(&high), shade(&flat)];
    assert!(shades[0] != shades[1] && shades[1] != shades[2], "{shades:?}");
}

#[test]
fn a_painter_can_be_used_again() {
    let needs = Needs::of(&LAYERS);
    let mut painter = TilePainter::new(TileGrid::new(1).unwrap(), &LAYERS, &needs);
    for _ in 0..2 {
        let mut tiles = Vec::new();
        painter.add(ChunkPos::new(3, i32::MIN), flat(5), true, &mut |tile| tiles.push(tile));
        painter.add(ChunkPos::new(3, i32::MAX), flat(5), true, &mut |tile| tiles.push(tile));
        painter.finish(&mut |tile| tiles.push(tile));
        assert_eq!(tiles.len(), 2);
        assert!(tiles.iter().all(|tile| tile.info.is_none()));
    }
}
