//! [`Pieces`]: the content of a chunk as hashes of small boxes of cells, so that versions of a
//! chunk are recognised by what an edit left alone.

use hyworld_chunk::{AssetKey, Chunk, Palette, PaletteIndices, Result};
use hyworld_coords::ChunkPos;

/// The columns of a piece, in x and z.
const PIECE_COLUMNS: usize = 4;
/// The height of a piece.
const PIECE_HEIGHT: usize = 8;
/// The width of a chunk and the height of a section.
const SIDE: usize = 32;
/// Pieces in a row of a chunk.
const ROW: usize = SIDE / PIECE_COLUMNS;
/// Pieces of one layer: 8 by 8.
const LAYER: usize = ROW * ROW;
/// Pieces of a section.
const SECTION: usize = LAYER * SIDE / PIECE_HEIGHT;

/// The hashes of the pieces of a chunk, of its tints and of its heights, about 11 KB. A piece whose
/// cells are all equal has the hash 0: rock and air are everywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pieces(Vec<u32>);

/// How much an orphan shares with one chunk and with no other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct VersionMatch {
    /// The chunk that shares most.
    pub(super) at: ChunkPos,
    /// Different pieces of it that the orphan has too, and no other chunk.
    pub(super) shared: u32,
    /// The same for the next best chunk.
    pub(super) next_best: u32,
    /// All pieces of the orphan that could be compared.
    pub(super) pieces: u32,
}

impl Pieces {
    /// Hashes the pieces of a chunk.
    ///
    /// # Errors
    /// Returns an error if blocks, fluids or columns are malformed or a newer game wrote them.
    pub(crate) fn of(chunk: &Chunk) -> Result<Self> {
        let mut hashes = Vec::with_capacity(12 * SECTION);
        for section in chunk.sections() {
            let (blocks, fluids) = (section.blocks()?.blocks(), section.fluids()?.fluids());
            match Cells::of(blocks, fluids) {
                Some(cells) => hashes.extend(cells.pieces()),
                None => hashes.resize(hashes.len() + SECTION, 0),
            }
        }
        let columns = chunk.columns()?;
        let tints: Vec<u32> =
            columns.tints.values().values().map(|tint| tint.cast_unsigned()).collect();
        let heights = columns.heights.values();
        let heights: Vec<u32> =
            heights.values().map(|height| u32::from(height.cast_unsigned())).collect();
        for values in [tints, heights] {
            let mut layer = [Piece::default(); LAYER];
            add_layer(&mut layer, &values);
            hashes.extend(layer.map(Piece::hash));
        }
        Ok(Self(hashes))
    }

    /// Finds the chunk of `known`, in which each position occurs once, that shares most with this
    /// one and with no other.
    pub(super) fn version_of(&self, known: &[(ChunkPos, &Self)]) -> Option<VersionMatch> {
        let mut owners = vec![0_u16; self.0.len()];
        for (_, other) in known {
            for ((owners, own), other) in owners.iter_mut().zip(&self.0).zip(&other.0) {
                *owners = owners.saturating_add(u16::from(own == other));
            }
        }
        let pieces = self.0.iter().filter(|hash| **hash != 0).count();
        let pieces = u32::try_from(pieces).unwrap_or(u32::MAX);
        let mut best: Option<VersionMatch> = None;
        for (at, other) in known {
            let shared = self.only_shared_with(other, &owners);
            match &mut best {
                Some(best) if shared <= best.shared => best.next_best = best.next_best.max(shared),
                _ => {
                    let next_best = best.map_or(0, |best| best.shared);
                    best = Some(VersionMatch { at: *at, shared, next_best, pieces });
                }
            }
        }
        best
    }

    /// Counts the pieces that this chunk shares with `other` alone. Equal pieces count once: a
    /// filled layer or a shaft is one coincidence, whatever its size.
    fn only_shared_with(&self, other: &Self, owners: &[u16]) -> u32 {
        let all = owners.iter().zip(&self.0).zip(&other.0);
        let shared =
            all.filter(|((owners, own), other)| **owners == 1 && own == other && **own != 0);
        let mut hashes: Vec<u32> = shared.map(|((_, own), _)| *own).collect();
        hashes.sort_unstable();
        hashes.dedup();
        u32::try_from(hashes.len()).unwrap_or(u32::MAX)
    }

    /// Returns the fraction of the pieces of either chunk that are equal.
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        let both = || self.0.iter().zip(&other.0).filter(|(a, b)| **a != 0 || **b != 0);
        let (equal, all) = (both().filter(|(a, b)| a == b).count(), both().count());
        #[expect(clippy::cast_precision_loss, reason = "a chunk has some thousand pieces")]
        let fraction = equal as f64 / all.max(1) as f64;
        fraction
    }
}

/// One number for each cell of a section; 0 is air without a fluid.
struct Cells(Vec<u32>);

impl Cells {
    /// Returns `None` if all cells are equal.
    fn of(blocks: &Palette<AssetKey>, fluids: &Palette<AssetKey>) -> Option<Self> {
        let is_uniform = |palette: &Palette<AssetKey>| palette.stored_counts().len() <= 1;
        if is_uniform(blocks) && is_uniform(fluids) {
            return None;
        }
        let mut cells = numbers(blocks);
        if !is_uniform(fluids) {
            let fluids = numbers(fluids);
            cells.iter_mut().zip(fluids).for_each(|(cell, fluid)| *cell ^= fluid.rotate_left(11));
        }
        Some(Self(cells))
    }

    fn pieces(&self) -> impl Iterator<Item = u32> {
        let slabs = self.0.chunks_exact(SIDE * SIDE * PIECE_HEIGHT).map(|slab| {
            let mut pieces = [Piece::default(); LAYER];
            slab.chunks_exact(SIDE * SIDE).for_each(|layer| add_layer(&mut pieces, layer));
            pieces.map(Piece::hash)
        });
        slabs.flatten()
    }
}

/// Returns a number for each cell of a palette: a hash of its name, 0 for air.
fn numbers(palette: &Palette<AssetKey>) -> Vec<u32> {
    let PaletteIndices { keys, indices } = palette.indices();
    let number = |key: &&AssetKey| if key.is_air() { 0 } else { hash_of(key.as_str()) };
    let numbers: Vec<u32> = keys.iter().map(number).collect();
    let number = |index: &u16| numbers.get(usize::from(*index)).copied().unwrap_or_default();
    indices.values().map(number).collect()
}

/// Adds 32 x 32 values to the pieces of a layer.
fn add_layer(pieces: &mut [Piece; LAYER], values: &[u32]) {
    let rows = values.chunks_exact(SIDE * PIECE_COLUMNS).zip(pieces.chunks_exact_mut(ROW));
    for (values, pieces) in rows {
        for row in values.chunks_exact(SIDE) {
            for (values, piece) in row.chunks_exact(PIECE_COLUMNS).zip(pieces.iter_mut()) {
                for value in values {
                    piece.add(*value);
                }
            }
        }
    }
}

/// A piece while its cells are added.
#[derive(Clone, Copy, Default)]
struct Piece {
    hash: u32,
    first: Option<u32>,
    is_mixed: bool,
}

impl Piece {
    fn add(&mut self, value: u32) {
        self.hash = (self.hash.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B1);
        self.is_mixed |= *self.first.get_or_insert(value) != value;
    }

    /// Returns the hash; 0 for a piece of equal cells, which is no evidence.
    fn hash(self) -> u32 {
        if self.is_mixed { self.hash.max(1) } else { 0 }
    }
}

/// Returns a hash of a name (FNV-1a).
fn hash_of(name: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811C_9DC5, mix)
}

#[cfg(test)]
mod tests {
    use hyworld_coords::ChunkBlock;

    use super::*;

    fn chunk(blocks: &[(u8, u16, u8)]) -> Pieces {
        let mut chunk = Chunk::new();
        for (x, y, z) in blocks {
            chunk.set_block(ChunkBlock::new(*x, *y, *z).unwrap(), "Rock_Stone").unwrap();
        }
        Pieces::of(&chunk).unwrap()
    }

    #[test]
    fn only_the_piece_of_a_changed_block_differs() {
        let (one, two) = (chunk(&[(3, 40, 3)]), chunk(&[(3, 40, 3), (20, 100, 20)]));
        let differs = one.0.iter().zip(&two.0).filter(|(a, b)| a != b).count();
        // The piece of the block and the one of its height.
        assert_eq!(differs, 2);
        assert_eq!(chunk(&[]).0.iter().filter(|hash| **hash != 0).count(), 0);
    }

    #[test]
    fn pieces_that_several_chunks_have_are_not_evidence() {
        let (old, new) = (chunk(&[(3, 40, 3)]), chunk(&[(3, 40, 3), (20, 100, 20)]));
        let other = chunk(&[(9, 70, 9)]);
        let (here, there) = (ChunkPos::new(0, 0), ChunkPos::new(5, 5));
        let found = old.version_of(&[(there, &other), (here, &new)]).unwrap();
        assert_eq!((found.at, found.shared, found.next_best), (here, 2, 0));
        let found = old.version_of(&[(there, &new), (here, &new)]).unwrap();
        assert_eq!((found.shared, found.next_best), (0, 0));
        assert!(old.similarity(&new) > old.similarity(&other));
    }
}
