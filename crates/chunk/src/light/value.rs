//! The light of one cell.

use std::fmt;

/// The red, green, blue and sky light of a cell, each from 0 to 15.
///
/// ```
/// use hyworld_chunk::LightValue;
///
/// let light = LightValue::from_bits(0xf321);
/// assert_eq!((light.red(), light.green(), light.blue(), light.sky()), (1, 2, 3, 15));
/// assert_eq!(LightValue::new(1, 2, 3, 15), Some(light));
/// assert_eq!(LightValue::new(16, 0, 0, 0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LightValue(u16);

impl LightValue {
    /// No light.
    pub const DARK: Self = Self(0);

    /// Creates a light value. Returns `None` unless all channels are below 16.
    pub const fn new(red: u8, green: u8, blue: u8, sky: u8) -> Option<Self> {
        if (red | green | blue | sky) > 15 {
            return None;
        }
        Some(Self((sky as u16) << 12 | (blue as u16) << 8 | (green as u16) << 4 | red as u16))
    }

    /// Creates a light value from its stored form. Every value is valid.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Returns the stored form: red in the lowest four bits, then green, blue and sky.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns the red light, 0 to 15.
    pub const fn red(self) -> u8 {
        (self.0 & 15) as u8
    }

    /// Returns the green light, 0 to 15.
    pub const fn green(self) -> u8 {
        (self.0 >> 4 & 15) as u8
    }

    /// Returns the blue light, 0 to 15.
    pub const fn blue(self) -> u8 {
        (self.0 >> 8 & 15) as u8
    }

    /// Returns the light from the sky, 0 to 15.
    pub const fn sky(self) -> u8 {
        (self.0 >> 12 & 15) as u8
    }
}

impl fmt::Debug for LightValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bits) = self;
        write!(f, "{bits:#06x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_has_its_four_bits() {
        for bits in 0..=u16::MAX {
            let light = LightValue::from_bits(bits);
            assert_eq!(
                LightValue::new(light.red(), light.green(), light.blue(), light.sky()),
                Some(light)
            );
            assert_eq!(light.bits(), bits);
        }
        assert_eq!(LightValue::new(0, 0, 0, 15), Some(LightValue::from_bits(0xf000)));
        assert_eq!(format!("{:?}", LightValue::from_bits(0xf1)), "0x00f1");
    }

    #[test]
    fn channels_are_checked() {
        for channel in 0..4 {
            let mut channels = [0; 4];
            channels[channel] = 16;
            let [red, green, blue, sky] = channels;
            assert_eq!(LightValue::new(red, green, blue, sky), None);
        }
    }
}
