//! Tests of whole pictures, decoded again.

use std::io::Cursor;
use std::sync::{Arc, Mutex};

use hyworld_assets::{Colors, Rgb};
use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkBlock, ChunkBox};

use super::*;
use crate::column::{ColumnTile, Facts, Other, TileReader};
use crate::rows::{CHUNK_LINE, REGION_LINE};
use crate::style::Layer;

/// A file in memory that can be read after the canvas is dropped.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Picture {
    fn at(&self, x: u32, y: u32) -> [u8; 4] {
        let start = (y * self.width + x) as usize * PIXEL;
        self.pixels[start..start + PIXEL].try_into().unwrap()
    }
}

fn draw(area: ChunkRect, style: Style, tiles: &[(ChunkPos, &Tile, bool)]) -> Picture {
    let out = Shared::default();
    let mut canvas = Canvas::new(out.clone(), area, style, PictureFormat::Png).unwrap();
    for (at, tile, is_drawn) in tiles {
        canvas.add(*at, (*tile).clone(), *is_drawn).unwrap();
    }
    canvas.finish().unwrap();
    let bytes = out.0.lock().unwrap().clone();
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    Picture { width: info.width, height: info.height, pixels }
}

/// A chunk with flat ground at a height.
fn flat(y: u16, style: Style) -> Tile {
    let mut chunk = Chunk::new();
    let corner = |x, z| ChunkBlock::new(x, y, z).unwrap();
    chunk.fill(ChunkBox::new(corner(0, 0), corner(31, 31)), "Rock_Stone").unwrap();
    let (colors, needs) = (Colors::default(), Needs::of(&[style.layer]));
    let reader = TileReader::new(&colors, style.palette, &needs);
    Tile::Columns(Arc::new(reader.read(&chunk, Facts::default(), Other::None).unwrap()))
}

const fn at(x: i32, z: i32) -> ChunkPos {
    ChunkPos::new(x, z)
}

#[test]
fn chunks_are_placed_and_the_rest_is_transparent() {
    let style = Style { scale: 2, ..Style::new(Layer::Height) };
    let (low, high) = (flat(0, style), flat(319, style));
    let area = ChunkRect::new(at(-2, -1), at(0, 1));
    let picture = draw(area, style, &[(at(-2, -1), &high, true), (at(0, 1), &low, true)]);
    assert_eq!((picture.width, picture.height), (192, 192));
    assert_eq!(picture.at(0, 0), [255; 4]);
    assert_eq!(picture.at(63, 63), [255; 4]);
    assert_eq!(picture.at(64, 63), [0; 4]);
    assert_eq!(picture.at(63, 64), [0; 4]);
    assert_eq!(picture.at(128, 128), [0, 0, 0, 255]);
    assert_eq!(picture.at(127, 128), [0; 4]);
}

#[test]
fn neighbours_that_are_not_drawn_still_shade() {
    let style = Style::new(Layer::Surface);
    let tile = flat(100, style);
    let area = ChunkRect::single(at(0, 0));
    let alone = draw(area, style, &[(at(0, 0), &tile, true)]);
    let around: Vec<_> = (-1..=1)
        .flat_map(|z| (-1..=1).map(move |x| at(x, z)))
        .map(|chunk| (chunk, &tile, chunk == at(0, 0)))
        .collect();
    let among = draw(area, style, &around);
    let middle = among.at(15, 15);
    assert!(among.pixels.chunks(4).all(|pixel| pixel == middle), "flat up to its borders");
    assert_eq!(alone.at(15, 15), middle);
    assert_ne!(alone.at(0, 15), middle, "a missing neighbour has height 0");
}

#[test]
fn chunks_that_cannot_be_read_are_hatched() {
    let style = Style::new(Layer::Surface);
    let area = ChunkRect::new(at(0, 0), at(1, 0));
    let tiles = [(at(0, 0), &Tile::Damaged, true), (at(1, 0), &Tile::Newer, true)];
    let picture = draw(area, style, &tiles);
    assert_eq!(picture.at(0, 0), Rgb([224, 40, 40]).opaque());
    assert_eq!(picture.at(4, 0), Rgb([72, 8, 8]).opaque());
    assert_eq!(picture.at(2, 2), Rgb([72, 8, 8]).opaque());
    assert_eq!(picture.at(32, 0), Rgb([152, 96, 216]).opaque());
}

#[test]
fn the_grid_marks_chunks_and_regions() {
    let style = Style { has_grid: true, ..Style::new(Layer::Damage) };
    let tile = flat(5, style);
    let area = ChunkRect::new(at(31, 1), at(32, 1));
    let picture = draw(area, style, &[(at(31, 1), &tile, true), (at(32, 1), &tile, true)]);
    assert_eq!((picture.at(0, 9), picture.at(9, 0)), (CHUNK_LINE, CHUNK_LINE));
    assert_eq!(picture.at(32, 9), REGION_LINE);
    assert_eq!(picture.at(9, 9), Rgb([64, 128, 88]).opaque());
}

#[test]
fn a_picture_that_is_too_large_is_refused() {
    let of = |area| PictureSize::of(area, 16, PictureFormat::Png);
    of(ChunkRect::new(at(0, 0), at(63, 0))).unwrap();
    let error = of(ChunkRect::new(at(0, 0), at(64, 0))).unwrap_err();
    assert!(error.to_string().contains("33280 x 512 pixels"), "{error}");
    let world = ChunkRect::new(at(i32::MIN, i32::MIN), at(i32::MAX, i32::MAX));
    of(world).unwrap_err();
    let webp = |side| {
        let area = ChunkRect::new(at(0, 0), at(side, side));
        PictureSize::of(area, 1, PictureFormat::Webp)
    };
    webp(150).unwrap();
    let error = webp(160).unwrap_err();
    assert!(error.to_string().contains(".png"), "{error}");
}

#[test]
fn chunks_at_the_end_of_the_world_are_drawn() {
    let style = Style::new(Layer::Height);
    let (tile, last) = (flat(319, style), at(i32::MAX, i32::MAX));
    let picture = draw(ChunkRect::single(last), style, &[(last, &tile, true)]);
    assert_eq!(picture.at(31, 31), [255; 4]);
    let first = at(i32::MIN, i32::MIN);
    let picture = draw(ChunkRect::single(first), style, &[(first, &tile, true)]);
    assert_eq!(picture.at(0, 0), [255; 4]);
}

/// A column tile is kept for three rows of chunks: its size bounds the memory of a picture.
#[test]
fn columns_are_small() {
    assert!(size_of::<crate::Column>() <= 22, "{}", size_of::<crate::Column>());
    assert!(size_of::<ColumnTile>() <= 256);
}
