//! `BlockPhysics.Data`: the distance of each block to its support.
//!
//! ```text
//! 0  1      whether the values follow
//! 1  16384  four bits for each cell, the cell with the even index in the high half
//! ```

use std::fmt;

use hyworld_coords::{LocalBlock, SectionArray};

use crate::error::Result;
use crate::palette::{EditError, Nibbles};
use crate::wire::Reader;

/// The support of all blocks of a section: 0 is none, 1 to 14 the distance to the supporting block,
/// and [`DECORATION`](Self::DECORATION) a block that never falls.
///
/// Air with support occurs in sample worlds and is kept.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct BlockPhysics {
    support: Option<Support>,
}

#[derive(Clone, PartialEq, Eq)]
struct Support {
    /// The stored flag, kept as it was read. The game writes 1; any value except 0 is accepted.
    flag: u8,
    values: Nibbles,
}

impl BlockPhysics {
    /// The support of a block that never falls.
    pub const DECORATION: u8 = 15;

    /// Creates physics data without support.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the field.
    ///
    /// # Errors
    /// Returns [`Error::Malformed`](crate::Error::Malformed) if the bytes do not follow the format.
    pub fn decode(data: &[u8]) -> Result<Self> {
        Self::read(Reader::new(data))
    }

    pub(crate) fn read(mut reader: Reader<'_>) -> Result<Self> {
        let flag = reader.u8()?;
        let support = match flag {
            0 => None,
            _ => Some(Support { flag, values: Nibbles::decode(&mut reader)? }),
        };
        reader.finish()?;
        Ok(Self { support })
    }

    /// Encodes the field.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        match &self.support {
            None => out.push(0),
            Some(support) => {
                out.push(support.flag);
                out.extend(support.values.as_bytes());
            }
        }
    }

    /// Returns whether support values are stored.
    pub fn has_data(&self) -> bool {
        self.support.is_some()
    }

    /// Returns the support of one block, 0 to 15.
    pub fn support(&self, cell: LocalBlock) -> u8 {
        self.support.as_ref().map_or(0, |support| support.values.get(cell.index()))
    }

    /// Returns the support of every block.
    pub fn to_array(&self) -> SectionArray<u8> {
        let values = self.support.as_ref().map(|support| support.values.values().collect());
        values.and_then(SectionArray::from_vec).unwrap_or_else(|| SectionArray::filled(0))
    }

    /// Sets the support of one block. Returns whether it changed. All zeros are not stored.
    ///
    /// # Errors
    /// Returns [`EditError::Value`] above 15.
    pub fn set_support(&mut self, cell: LocalBlock, support: u8) -> Result<bool, EditError> {
        if support > Self::DECORATION {
            let (what, expected) = ("the support of a block", "0 to 15");
            return Err(EditError::Value { what, found: support, expected });
        }
        if self.support(cell) == support {
            return Ok(false);
        }
        let fresh = || Support { flag: 1, values: Nibbles::zeros() };
        let values = &mut self.support.get_or_insert_with(fresh).values;
        values.set(cell.index(), support);
        if support == 0 && values.is_zero() {
            self.support = None;
        }
        Ok(true)
    }

    /// Copies the support of every block that has some in `other`.
    pub fn overlay(&mut self, other: &Self) {
        let Some(theirs) = &other.support else { return };
        let fresh = || Support { flag: 1, values: Nibbles::zeros() };
        let mine = &mut self.support.get_or_insert_with(fresh).values;
        for (cell, value) in LocalBlock::all().zip(theirs.values.values()) {
            if value != 0 {
                mine.set(cell.index(), value);
            }
        }
    }

    /// Returns whether every block has the same support in both, stored or not.
    pub fn same_cells(&self, other: &Self) -> bool {
        match (&self.support, &other.support) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => mine.values == theirs.values,
            (Some(one), None) | (None, Some(one)) => one.values.is_zero(),
        }
    }

    /// Creates physics data from one value for each block. All values must be below 16.
    pub(crate) fn from_values(values: &[u16]) -> Self {
        let values = Nibbles::pack(values);
        Self { support: (!values.is_zero()).then_some(Support { flag: 1, values }) }
    }
}

impl fmt::Debug for BlockPhysics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_data = self.has_data();
        f.debug_struct("BlockPhysics").field("has_data", &has_data).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(index: u16) -> LocalBlock {
        LocalBlock::from_index(index).unwrap()
    }

    fn golden() -> Vec<u8> {
        let mut bytes = vec![0; 16_385];
        bytes[0] = 1;
        bytes[1] = 0xf3;
        bytes[16_384] = 0x02;
        bytes
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(BlockPhysics::decode(&[0]), Ok(BlockPhysics::new()));
        assert_eq!(BlockPhysics::new().encode(), [0]);
        let physics = BlockPhysics::decode(&golden()).unwrap();
        let support = [0, 1, 2, 32_766, 32_767].map(|index| physics.support(cell(index)));
        assert_eq!(support, [15, 3, 0, 0, 2]);
        assert_eq!(physics.encode(), golden());
        assert_eq!(physics.to_array().values().map(|&value| u32::from(value)).sum::<u32>(), 20);
    }

    #[test]
    fn truncations_and_long_fields_are_rejected() {
        let long = [golden(), vec![0]].concat();
        for len in (0..64).chain(16_300..16_385).chain([16_386]) {
            assert!(BlockPhysics::decode(&long[..len]).is_err(), "{len} bytes");
        }
        assert!(BlockPhysics::decode(&[0, 0]).is_err());
    }

    #[test]
    fn every_flipped_bit_is_an_error_or_kept() {
        for bit in (0..64).chain(16_384 * 8..16_385 * 8) {
            let mut bytes = golden();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(physics) = BlockPhysics::decode(&bytes) {
                assert!(physics.encode() == bytes, "bit {bit}");
            }
        }
    }

    #[test]
    fn clearing_the_last_value_stores_none() {
        let mut physics = BlockPhysics::new();
        assert_eq!(physics.set_support(cell(9), 0), Ok(false));
        assert_eq!(physics.set_support(cell(9), 4), Ok(true));
        assert_eq!(physics.set_support(cell(8), BlockPhysics::DECORATION), Ok(true));
        assert_eq!((physics.encode()[5], physics.support(cell(8))), (0xf4, 15));
        assert!(physics.set_support(cell(9), 16).is_err());
        assert_eq!(physics.set_support(cell(8), 0), Ok(true));
        assert_eq!(physics.set_support(cell(9), 0), Ok(true));
        assert_eq!(physics, BlockPhysics::new());
    }

    #[test]
    fn zeros_are_the_same_stored_or_not() {
        let stored = BlockPhysics::decode(&[&[7][..], &[0; 16_384]].concat()).unwrap();
        assert!(stored.same_cells(&BlockPhysics::new()) && BlockPhysics::new().same_cells(&stored));
        assert_ne!(stored, BlockPhysics::new());
        assert_eq!(stored.encode()[0], 7);
        let other = BlockPhysics::decode(&golden()).unwrap();
        assert!(!other.same_cells(&stored) && !stored.same_cells(&other));
    }

    #[test]
    fn overlay_copies_nonzero_support() {
        let mut physics = BlockPhysics::decode(&golden()).unwrap();
        let mut other = BlockPhysics::new();
        other.set_support(cell(1), 7).unwrap();
        physics.overlay(&other);
        physics.overlay(&BlockPhysics::new());
        assert_eq!([0, 1, 32_767].map(|index| physics.support(cell(index))), [15, 7, 2]);
    }
}
