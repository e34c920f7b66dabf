//! Finds the cells of a horizontal layer that have an id, many at a time.

use super::cells::Cells;

/// The number of words with one bit for each of the 1,024 cells of a layer.
pub(super) const LAYER_WORDS: usize = 16;

/// The cells of a layer.
const LAYER_CELLS: usize = 1024;

impl Cells {
    /// Returns one bit for each cell of a layer, set if the cell has this id. Without stored cells,
    /// all have the id 0.
    pub(super) fn layer_cells(&self, y: u8, id: u16) -> [u64; LAYER_WORDS] {
        let words = self.layer_bytes(y).as_chunks::<8>().0;
        match (self, u8::try_from(id)) {
            (Self::Empty, _) => [if id == 0 { u64::MAX } else { 0 }; LAYER_WORDS],
            (Self::HalfByte(_), Ok(id)) if id < 16 => collect::<4>(words, |word| half(word, id)),
            (Self::Byte(_), Ok(id)) => collect::<8>(words, |word| whole(word, id)),
            (Self::HalfByte(_) | Self::Byte(_), _) => [0; LAYER_WORDS],
            (Self::Short(_), _) => self.short_layer(y, id),
        }
    }

    /// Returns the ids of the cells of a layer. Without stored cells, all are 0.
    pub(super) fn layer_ids(&self, y: u8) -> Vec<u16> {
        let bytes = self.layer_bytes(y);
        match self {
            Self::Empty => vec![0; LAYER_CELLS],
            Self::HalfByte(_) => {
                bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(u16::from).collect()
            }
            Self::Byte(_) => bytes.iter().map(|byte| u16::from(*byte)).collect(),
            Self::Short(_) => {
                bytes.as_chunks().0.iter().map(|short| u16::from_be_bytes(*short)).collect()
            }
        }
    }

    /// Returns the bytes of a layer; none beyond the section.
    fn layer_bytes(&self, y: u8) -> &[u8] {
        let bytes = self.as_bytes();
        let len = bytes.len() / 32;
        let start = usize::from(y).saturating_mul(len);
        bytes.get(start..start.saturating_add(len)).unwrap_or_default()
    }

    /// Tests cell by cell: no real chunk has cells of 16 bits.
    fn short_layer(&self, y: u8, id: u16) -> [u64; LAYER_WORDS] {
        let mut bits = [0; LAYER_WORDS];
        let first = usize::from(y).saturating_mul(LAYER_CELLS);
        for number in 0..LAYER_CELLS {
            let index = u16::try_from(first.saturating_add(number)).unwrap_or(u16::MAX);
            if let Some(word) = bits.get_mut(number / 64).filter(|_| self.id(index) == id) {
                *word |= 1 << (number % 64);
            }
        }
        bits
    }
}

/// Joins the bits of words, `PER` words for each word of the result.
fn collect<const PER: usize>(
    words: &[[u8; 8]],
    bits_of: impl Fn([u8; 8]) -> u64,
) -> [u64; LAYER_WORDS] {
    let mut bits = [0; LAYER_WORDS];
    for (joined, words) in bits.iter_mut().zip(words.as_chunks::<PER>().0) {
        for (number, word) in words.iter().enumerate() {
            *joined |= bits_of(*word) << (number * (64 / PER));
        }
    }
    bits
}

/// Returns the 16 cells of a word that have an id of four bits. The even cell of a byte is in its
/// high half.
fn half(word: [u8; 8], id: u8) -> u64 {
    const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    const ONES: u64 = 0x1111_1111_1111_1111;
    let word = u64::from_le_bytes(word);
    let ordered = ((word & LOW) << 4) | ((word >> 4) & LOW);
    let differs = ordered ^ (ONES * u64::from(id));
    let differs = differs | (differs >> 1) | (differs >> 2) | (differs >> 3);
    // One bit for every four, moved together.
    let mut bits = !differs & ONES;
    bits = (bits | (bits >> 3)) & 0x0303_0303_0303_0303;
    bits = (bits | (bits >> 6)) & 0x000f_000f_000f_000f;
    bits = (bits | (bits >> 12)) & 0x0000_00ff_0000_00ff;
    (bits | (bits >> 24)) & 0xffff
}

/// Returns the 8 cells of a word that have an id of eight bits.
fn whole(word: [u8; 8], id: u8) -> u64 {
    let bits = word.iter().enumerate().map(|(number, cell)| u64::from(*cell == id) << number);
    bits.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::PaletteType;

    #[test]
    fn layers_agree_with_reading_cell_by_cell() {
        for (kind, ids) in [
            (PaletteType::HalfByte, 16),
            (PaletteType::Byte, 256),
            (PaletteType::Short, 700),
            (PaletteType::Empty, 1),
        ] {
            let id = |index: u32| u16::try_from(index.wrapping_mul(2_654_435_761) >> 7).ok();
            let id = |index: u32| id(index % 60_000).unwrap_or(5) % ids;
            let stored: Vec<u16> = (0..32_768).map(id).collect();
            let cells = Cells::pack(kind, &stored);
            for y in [0, 1, 17, 31] {
                for id in [0, 1, 5, 15, 16, 255, 256, 699] {
                    let bits = cells.layer_cells(y, id);
                    for number in 0..1024_u16 {
                        let is_set = bits[usize::from(number) / 64] >> (number % 64) & 1 == 1;
                        let index = u16::from(y) * 1024 + number;
                        assert_eq!(is_set, cells.id(index) == id, "{kind:?} {y} {id} {number}");
                    }
                }
            }
            assert_eq!(cells.layer_cells(32, 1), [0; LAYER_WORDS]);
        }
    }
}
