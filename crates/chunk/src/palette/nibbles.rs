//! Four bits for each cell of a section, two cells per byte.

use crate::shared_bytes::SharedBytes;
use crate::wire::Reader;
use hyworld_documents::Malformed;

/// A number from 0 to 15 for each cell. The cell with the even index is in the high half of its
/// byte, as in palettes and `BlockPhysics`. Fluid levels use the opposite order; their code passes
/// `index ^ 1`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Nibbles(SharedBytes);

impl Nibbles {
    /// The size of all cells.
    pub(crate) const BYTES: usize = 16_384;

    pub(crate) fn zeros() -> Self {
        Self(SharedBytes::new(vec![0; Self::BYTES]))
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.shared_bytes(Self::BYTES).map(Self)
    }

    /// Packs numbers below 16, one for each cell.
    pub(crate) fn pack(values: &[u16]) -> Self {
        let (pairs, _) = values.as_chunks();
        let byte = |&[even, odd]: &[u16; 2]| ((even & 15) as u8) << 4 | (odd & 15) as u8;
        Self(SharedBytes::new(pairs.iter().map(byte).collect()))
    }

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.as_bytes().iter().all(|&byte| byte == 0)
    }

    /// Returns the values of all cells, in order.
    pub(crate) fn values(&self) -> impl Iterator<Item = u8> {
        self.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 15])
    }

    #[inline]
    pub(crate) fn get(&self, index: u16) -> u8 {
        let byte = self.as_bytes().get(usize::from(index >> 1)).copied().unwrap_or(0);
        if index & 1 == 0 { byte >> 4 } else { byte & 15 }
    }

    /// Sets a cell to a number below 16.
    pub(crate) fn set(&mut self, index: u16, value: u8) {
        if let Some(byte) = self.0.make_mut().get_mut(usize::from(index >> 1)) {
            let value = value & 15;
            *byte = if index & 1 == 0 { *byte & 15 | value << 4 } else { *byte & 0xf0 | value };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_even_cell_has_the_high_half() {
        let mut bytes = vec![0; Nibbles::BYTES];
        bytes[0] = 0x4d;
        bytes[16_383] = 0x9e;
        let mut reader = Reader::new(&bytes);
        let mut nibbles = Nibbles::decode(&mut reader).unwrap();
        assert_eq!([0, 1, 2, 32_766, 32_767].map(|index| nibbles.get(index)), [4, 13, 0, 9, 14]);
        nibbles.set(1, 7);
        nibbles.set(32_766, 1);
        assert_eq!((nibbles.as_bytes()[0], nibbles.as_bytes()[16_383]), (0x47, 0x1e));
        assert_eq!(nibbles.values().take(3).collect::<Vec<_>>(), [4, 7, 0]);
    }

    #[test]
    fn packing_round_trips() {
        let values: Vec<u16> = (0..32_768).map(|index| (index % 16) ^ (index >> 11)).collect();
        let nibbles = Nibbles::pack(&values);
        assert_eq!(nibbles.as_bytes().len(), Nibbles::BYTES);
        assert!(nibbles.values().map(u16::from).eq(values));
    }

    #[test]
    fn cells_out_of_range_are_zero_and_ignored() {
        let mut nibbles = Nibbles::pack(&vec![15; 32_768]);
        nibbles.set(32_768, 3);
        assert_eq!(nibbles.get(u16::MAX), 0);
        assert!(nibbles.as_bytes().iter().all(|&byte| byte == 0xff));
    }
}
