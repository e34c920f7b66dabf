//! [`Rotation`]: the orientation of a block.

use std::fmt;

use crate::palette::{EditError, PaletteKey, Wire, sealed};
use crate::wire::Reader;
use hyworld_documents::Malformed;

/// The rotation of a block in quarter turns about its three axes.
///
/// ```
/// use hyworld_chunk::Rotation;
///
/// let rotation = Rotation::new(1, 2, 0).ok_or("not a quarter turn")?;
/// assert_eq!(rotation.index(), 9);
/// assert_eq!((rotation.yaw(), rotation.pitch(), rotation.roll()), (1, 2, 0));
/// assert_eq!(Rotation::from_degrees(90, 180, 0), Some(rotation));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rotation(u8);

impl Rotation {
    /// No rotation.
    pub const NONE: Self = Self(0);

    /// Creates a rotation from quarter turns. Returns `None` unless all are from 0 to 3.
    pub const fn new(yaw: u8, pitch: u8, roll: u8) -> Option<Self> {
        if (yaw | pitch | roll) > 3 { None } else { Some(Self(roll << 4 | pitch << 2 | yaw)) }
    }

    /// Creates a rotation from degrees, which may be negative or exceed a full turn. Returns `None`
    /// unless all are multiples of 90.
    pub fn from_degrees(yaw: i32, pitch: i32, roll: i32) -> Option<Self> {
        let turns = |degrees: i32| {
            let whole = degrees.rem_euclid(360);
            u8::try_from(whole / 90).ok().filter(|_| whole % 90 == 0)
        };
        Self::new(turns(yaw)?, turns(pitch)?, turns(roll)?)
    }

    /// Creates a rotation from its stored form. Values above 63 are invalid but are kept.
    pub const fn from_index(index: u8) -> Self {
        Self(index)
    }

    /// Returns the stored form: `roll * 16 + pitch * 4 + yaw`.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// Returns whether the game accepts this rotation.
    pub const fn is_valid(self) -> bool {
        self.0 < 64
    }

    pub(crate) fn check_valid(self) -> Result<(), EditError> {
        let (what, expected) = ("the rotation", "0 to 63");
        let refused = EditError::Value { what, found: self.0, expected };
        if self.is_valid() { Ok(()) } else { Err(refused) }
    }

    /// Returns the quarter turns about the vertical axis, 0 to 3.
    pub const fn yaw(self) -> u8 {
        self.0 & 3
    }

    /// Returns the quarter turns up or down, 0 to 3.
    pub const fn pitch(self) -> u8 {
        self.0 >> 2 & 3
    }

    /// Returns the quarter turns to the side, 0 to 3.
    pub const fn roll(self) -> u8 {
        self.0 >> 4 & 3
    }
}

impl sealed::Sealed for Rotation {}

impl PaletteKey for Rotation {
    fn default_key() -> &'static Self {
        &Self::NONE
    }
}

impl Wire for Rotation {
    const BYTES_MIN: usize = 1;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.u8().map(Self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.0);
    }
}

impl fmt::Debug for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_valid() {
            write!(f, "yaw {} pitch {} roll {}", self.yaw(), self.pitch(), self.roll())
        } else {
            write!(f, "rotation {}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values() {
        let index = |yaw, pitch, roll| Rotation::new(yaw, pitch, roll).map(Rotation::index);
        assert_eq!(index(3, 0, 0), Some(3));
        assert_eq!(index(0, 1, 0), Some(4));
        assert_eq!(index(0, 0, 2), Some(32));
        assert_eq!(index(3, 3, 3), Some(63));
        assert_eq!([index(4, 0, 0), index(0, 4, 0), index(0, 0, 4)], [None; 3]);
    }

    #[test]
    fn every_value_round_trips() {
        for number in 0..=255 {
            let rotation = Rotation::from_index(number);
            assert_eq!((rotation.index(), rotation.is_valid()), (number, number < 64));
            let turns = Rotation::new(rotation.yaw(), rotation.pitch(), rotation.roll());
            assert_eq!(turns.map(Rotation::index), Some(number & 63));
        }
    }

    #[test]
    fn degrees_are_quarter_turns() {
        assert_eq!(Rotation::from_degrees(450, -90, 720), Rotation::new(1, 3, 0));
        for odd in [1, 45, 91, -1, i32::MAX, i32::MIN] {
            assert_eq!(Rotation::from_degrees(odd, 0, 0), None);
            assert_eq!(Rotation::from_degrees(0, odd, 0), None);
            assert_eq!(Rotation::from_degrees(0, 0, odd), None);
        }
    }

    #[test]
    fn shows_as_turns() {
        assert_eq!(format!("{:?}", Rotation::from_index(9)), "yaw 1 pitch 2 roll 0");
        assert_eq!(format!("{:?}", Rotation::from_index(64)), "rotation 64");
    }
}
