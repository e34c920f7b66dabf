//! Tiles: the picture of a world in squares, and smaller and smaller overviews of it.

use hyworld_coords::{CHUNK_SIDE_BLOCKS, ChunkPos, ChunkRect};

use crate::style::SCALE_MAX;

/// The width and height of a tile in pixels.
pub const TILE_PIXELS: u32 = 512;

/// The bytes of the pixels of a tile.
pub const TILE_BYTES: usize = 4 * TILE_PIXELS as usize * TILE_PIXELS as usize;

/// The position of a tile. Level 0 has the full resolution. A tile of the next level shows four
/// tiles with half of the resolution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TilePos {
    /// The level: each one halves the resolution.
    pub level: u8,
    /// Tiles from the origin of the world to the south.
    pub z: i32,
    /// Tiles from the origin of the world to the east.
    pub x: i32,
}

impl TilePos {
    /// Creates a position.
    pub const fn new(level: u8, x: i32, z: i32) -> Self {
        Self { level, z, x }
    }

    /// Returns the tile of the next level that shows this one.
    #[must_use]
    pub const fn parent(self) -> Self {
        Self { level: self.level.saturating_add(1), z: self.z >> 1, x: self.x >> 1 }
    }

    /// Returns the four tiles that this one shows, in rows from the north-west; none on level 0 or
    /// beyond the ends of the world.
    pub fn children(self) -> [Option<Self>; 4] {
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dz)| {
            let level = self.level.checked_sub(1)?;
            let x = self.x.checked_mul(2)?.checked_add(dx)?;
            Some(Self { level, z: self.z.checked_mul(2)?.checked_add(dz)?, x })
        })
    }
}

/// How blocks are divided into tiles: pixels for each side of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TileGrid {
    scale: u8,
    /// The logarithm of the number of chunks on each side of a tile.
    shift: u32,
}

impl TileGrid {
    /// Creates the grid of a scale. Returns `None` unless the scale is 1, 2, 4, 8 or 16: other
    /// tiles would end inside of chunks.
    pub fn new(scale: u8) -> Option<Self> {
        let is_valid = scale.is_power_of_two() && scale <= SCALE_MAX;
        let chunks = TILE_PIXELS / CHUNK_SIDE_BLOCKS.unsigned_abs() / u32::from(scale.max(1));
        is_valid.then(|| Self { scale, shift: chunks.trailing_zeros() })
    }

    /// Returns the pixels for each side of a block.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// Returns the number of chunks on each side of a tile.
    pub fn chunks(self) -> i32 {
        1 << self.shift
    }

    /// Returns the tile of level 0 that shows a chunk.
    pub fn tile_of(self, at: ChunkPos) -> TilePos {
        TilePos { level: 0, z: at.z >> self.shift, x: at.x >> self.shift }
    }

    /// Returns the chunks of a tile of level 0.
    pub fn chunks_of(self, tile: TilePos) -> ChunkRect {
        let first = |tile: i32| tile.saturating_mul(self.chunks());
        let last = |tile: i32| first(tile).saturating_add(self.chunks() - 1);
        ChunkRect::new(
            ChunkPos::new(first(tile.x), first(tile.z)),
            ChunkPos::new(last(tile.x), last(tile.z)),
        )
    }

    /// Returns the chunks that a tile of level 0 is painted from: its own, and one more on each
    /// side for shading.
    pub fn chunks_around(self, tile: TilePos) -> ChunkRect {
        let own = self.chunks_of(tile);
        let (min, max) = (own.min(), own.max());
        ChunkRect::new(
            ChunkPos::new(min.x.saturating_sub(1), min.z.saturating_sub(1)),
            ChunkPos::new(max.x.saturating_add(1), max.z.saturating_add(1)),
        )
    }
}

/// Returns the number of levels that reduce some tiles of level 0 to at most four around the
/// origin; at least 1.
pub fn level_count(tiles: impl Iterator<Item = TilePos>) -> u8 {
    let bits = |value: i32| 32 - if value < 0 { !value } else { value }.leading_zeros();
    let most = tiles.map(|tile| bits(tile.x).max(bits(tile.z))).max().unwrap_or(0);
    u8::try_from(most).unwrap_or(u8::MAX).saturating_add(1)
}

/// Returns the pixels of a square at half its resolution. `side` is its width in pixels.
pub fn halved(pixels: &[u8], side: u32) -> Vec<u8> {
    let side = side as usize;
    let rows = pixels.as_chunks::<4>().0.chunks_exact(2 * side);
    let mut half = vec![0; side * side];
    let lines = half.as_chunks_mut::<4>().0.chunks_exact_mut(side / 2);
    for (line, rows) in lines.zip(rows) {
        if is_blank(rows.as_flattened()) {
            continue;
        }
        let (north, south) = rows.split_at(side);
        let pairs = north.as_chunks::<2>().0.iter().zip(south.as_chunks::<2>().0);
        for (pixel, ([a, b], [c, d])) in line.iter_mut().zip(pairs) {
            *pixel = mean([*a, *b, *c, *d]);
        }
    }
    half
}

/// Returns the pixels of a square made of four quarters, which are numbered like
/// [`TilePos::children`]; missing ones are transparent. `side` is its width in pixels. Returns
/// `None` if all quarters are missing.
pub fn joined(quarters: [Option<&[u8]>; 4], side: u32) -> Option<Vec<u8>> {
    let mut pixels = None;
    for (number, quarter) in quarters.into_iter().enumerate() {
        if let Some(quarter) = quarter {
            let pixels = pixels.get_or_insert_with(|| vec![0; 4 * side as usize * side as usize]);
            place_quarter(quarter, number, pixels, side);
        }
    }
    pixels
}

fn place_quarter(quarter: &[u8], number: usize, pixels: &mut [u8], side: u32) {
    let line_bytes = 4 * side as usize;
    let quarter_bytes = line_bytes / 2;
    let origin = (number / 2) * (pixels.len() / 2) + (number % 2) * quarter_bytes;
    let lines = pixels.get_mut(origin..).unwrap_or_default().chunks_mut(line_bytes);
    for (line, row) in lines.zip(quarter.chunks_exact(quarter_bytes)) {
        if let Some(line) = line.get_mut(..quarter_bytes) {
            line.copy_from_slice(row);
        }
    }
}

/// Returns whether all bytes are 0: transparent black.
pub(crate) fn is_blank(pixels: &[u8]) -> bool {
    let (lines, rest) = pixels.as_chunks::<1024>();
    lines.iter().all(|line| *line == [0; 1024]) && rest.iter().all(|byte| *byte == 0)
}

/// Returns the mean of four pixels, each weighted by its alpha, so that transparent pixels do not
/// darken borders.
fn mean(pixels: [[u8; 4]; 4]) -> [u8; 4] {
    let [first, ..] = pixels;
    if pixels.iter().all(|pixel| *pixel == first) {
        return first;
    }
    let alphas = pixels.map(|[.., alpha]| u32::from(alpha));
    if alphas == [255; 4] {
        // The same as below, in fewer steps.
        let mut sums = [2_u16; 4];
        for pixel in pixels {
            for (sum, value) in sums.iter_mut().zip(pixel) {
                *sum += u16::from(value);
            }
        }
        return sums.map(|sum| u8::try_from(sum / 4).unwrap_or(u8::MAX));
    }
    let sum: u32 = alphas.iter().sum();
    let channel = |number: usize| {
        let values = pixels.iter().zip(alphas);
        let weighted: u32 = values
            .map(|(pixel, alpha)| u32::from(pixel.get(number).copied().unwrap_or(0)) * alpha)
            .sum();
        let rounded = weighted.saturating_add(sum / 2).checked_div(sum).unwrap_or(0);
        u8::try_from(rounded).unwrap_or(u8::MAX)
    };
    [channel(0), channel(1), channel(2), u8::try_from((sum + 2) / 4).unwrap_or(u8::MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_hold_whole_chunks() {
        for (scale, chunks) in [(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)] {
            let grid = TileGrid::new(scale).unwrap();
            assert_eq!(grid.chunks(), chunks);
            for at in [(0, 0), (-1, 31), (100, -4_000), (i32::MAX, i32::MIN)] {
                let at = ChunkPos::new(at.0, at.1);
                let tile = grid.tile_of(at);
                assert!(grid.chunks_of(tile).contains(at), "{at:?} {tile:?}");
                assert_eq!(grid.chunks_of(tile).count(), u128::from(chunks.unsigned_abs().pow(2)));
            }
        }
        for scale in [0, 3, 5, 32, 255] {
            assert_eq!(TileGrid::new(scale), None);
        }
    }

    #[test]
    fn parents_and_children_agree() {
        for (x, z) in [(0, 0), (-1, -1), (5, -8), (i32::MIN / 2, 7)] {
            let parent = TilePos::new(3, x, z);
            let children = parent.children().map(Option::unwrap);
            assert!(children.iter().all(|child| child.parent() == parent));
        }
        assert_eq!(TilePos::new(0, 1, 1).children(), [None; 4]);
        assert_eq!(TilePos::new(1, i32::MAX, 0).children(), [None; 4]);
    }

    #[test]
    fn levels_end_with_four_tiles() {
        let count =
            |tiles: &[(i32, i32)]| level_count(tiles.iter().map(|(x, z)| TilePos::new(0, *x, *z)));
        assert_eq!(count(&[]), 1);
        assert_eq!(count(&[(0, 0), (-1, -1)]), 1);
        assert_eq!(count(&[(1, 0)]), 2);
        assert_eq!(count(&[(-2, 0)]), 2);
        assert_eq!(count(&[(3, -4)]), 3);
        assert_eq!(count(&[(i32::MAX, i32::MIN)]), 32);
    }

    #[test]
    fn transparent_pixels_do_not_darken() {
        let red = [200, 10, 0, 255];
        assert_eq!(mean([red, [0; 4], [0; 4], [0; 4]]), [200, 10, 0, 64]);
        assert_eq!(mean([red, red, [0, 0, 100, 255], [0, 0, 100, 255]]), [100, 5, 50, 255]);
        assert_eq!(mean([[0; 4]; 4]), [0; 4]);
        for sum in 1..=6 {
            let [a, b] = [[sum, 0, 255, 255], [0, 0, 254, 255]];
            assert_eq!(mean([a, b, b, b]), [(sum + 2) / 4, 0, 254, 255]);
        }
    }

    #[test]
    fn quarters_are_drawn_where_they_belong() {
        let quarters = [0, 1, 2, 3].map(|number| Some([number, 0, 0, 255].repeat(TILE_BYTES / 16)));
        let pixels = joined(quarters.each_ref().map(Option::as_deref), TILE_PIXELS).unwrap();
        assert_eq!(pixels.len(), TILE_BYTES);
        let at = |x: usize, z: usize| pixels[4 * (z * TILE_PIXELS as usize + x)];
        assert_eq!([at(0, 0), at(256, 0), at(0, 256), at(511, 511)], [0, 1, 2, 3]);
        assert_eq!([at(255, 255), at(511, 255), at(255, 511)], [0, 1, 2]);
        assert_eq!(joined([None; 4], TILE_PIXELS), None);
    }

    #[test]
    fn quarters_can_be_halved_before_they_are_joined() {
        let noise = |seed: u32| {
            let bytes =
                (0..64 * 64).map(|n: u32| (n ^ seed).wrapping_mul(0x9e37_79b9).to_le_bytes());
            Some(bytes.flatten().collect::<Vec<u8>>())
        };
        let quarters = [noise(1), None, noise(2), noise(3)];
        let quarters = quarters.each_ref().map(Option::as_deref);
        let halves = quarters.map(|quarter| Some(halved(quarter?, 64)));
        let halves = joined(halves.each_ref().map(Option::as_deref), 64).unwrap();
        assert_eq!(halves, halved(&joined(quarters, 128).unwrap(), 128));
    }
}
