//! [`Filler`]: the offset of a cell within a multi-block object.

use std::fmt;

use crate::palette::{PaletteKey, Wire, sealed};
use crate::wire::Reader;
use hyworld_documents::Malformed;

/// The offset from the base cell of a block to one of the other cells that it fills.
///
/// A block larger than one cell is stored in each of its cells with the same name and rotation; its
/// base cell has the filler [`BASE`](Self::BASE). The base cell is at the cell's position minus the
/// offset, possibly in another section or chunk.
///
/// ```
/// use hyworld_chunk::Filler;
///
/// let upper = Filler::from_bits(1024);
/// assert_eq!((upper.x(), upper.y(), upper.z()), (0, 1, 0));
/// assert_eq!(Filler::new(0, 1, 0), Some(upper));
/// assert_eq!(Filler::new(0, 16, 0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Filler(u16);

impl Filler {
    /// The base cell of a block. Most blocks have no other cell.
    pub const BASE: Self = Self(0);

    /// Creates an offset from the base. Returns `None` unless all components are from -16 to 15.
    pub const fn new(x: i8, y: i8, z: i8) -> Option<Self> {
        if !fits(x) || !fits(y) || !fits(z) {
            return None;
        }
        Some(Self(five_bits(y) << 10 | five_bits(z) << 5 | five_bits(x)))
    }

    /// Creates an offset from its stored form. Every value is valid, and all bits are kept.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Returns the stored form: five bits each for x, z and y, lowest first. The game leaves
    /// the top bit 0.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns whether this is the base cell of its block.
    pub const fn is_base(self) -> bool {
        self.0 == 0
    }

    /// Returns the offset from the base along x, -16 to 15.
    pub const fn x(self) -> i8 {
        signed(self.0)
    }

    /// Returns the offset from the base along y, -16 to 15.
    pub const fn y(self) -> i8 {
        signed(self.0 >> 10)
    }

    /// Returns the offset from the base along z, -16 to 15.
    pub const fn z(self) -> i8 {
        signed(self.0 >> 5)
    }
}

const fn fits(offset: i8) -> bool {
    -16 <= offset && offset <= 15
}

const fn five_bits(offset: i8) -> u16 {
    (offset.cast_unsigned() & 31) as u16
}

/// Sign-extends the low five bits.
const fn signed(bits: u16) -> i8 {
    ((bits & 31) as u8).cast_signed() << 3 >> 3
}

impl sealed::Sealed for Filler {}

impl PaletteKey for Filler {
    fn default_key() -> &'static Self {
        &Self::BASE
    }
}

impl Wire for Filler {
    const BYTES_MIN: usize = 2;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.u16().map(Self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.0.to_be_bytes());
    }
}

impl fmt::Debug for Filler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x(), self.y(), self.z())?;
        if self.0 >> 15 == 1 { f.write_str(" and bit 15") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values() {
        for (bits, x, y, z) in
            [(1024, 0, 1, 0), (0x7c00, 0, -1, 0), (31, -1, 0, 0), (992, 0, 0, -1), (0, 0, 0, 0)]
        {
            let filler = Filler::from_bits(bits);
            assert_eq!((filler.x(), filler.y(), filler.z()), (x, y, z), "{bits}");
            assert_eq!(Filler::new(x, y, z), Some(filler));
        }
    }

    #[test]
    fn every_value_round_trips() {
        for bits in 0..0x8000 {
            let filler = Filler::from_bits(bits);
            assert_eq!(Filler::new(filler.x(), filler.y(), filler.z()), Some(filler));
            let odd = Filler::from_bits(bits | 0x8000);
            assert_eq!((odd.x(), odd.y(), odd.z()), (filler.x(), filler.y(), filler.z()));
            assert_eq!(odd.bits(), bits | 0x8000);
        }
    }

    #[test]
    fn offsets_are_checked() {
        for far in [-128, -17, 16, 127] {
            assert_eq!(Filler::new(far, 0, 0), None);
            assert_eq!(Filler::new(0, far, 0), None);
            assert_eq!(Filler::new(0, 0, far), None);
        }
        assert!(Filler::new(-16, 15, -16).is_some_and(|filler| !filler.is_base()));
    }

    #[test]
    fn shows_as_an_offset() {
        assert_eq!(format!("{:?}", Filler::from_bits(0x7c1f)), "(-1, -1, 0)");
        assert_eq!(format!("{:?}", Filler::from_bits(0x8000)), "(0, 0, 0) and bit 15");
    }
}
