//! [`Rgb`]: a colour with integer arithmetic.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A colour without transparency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rgb(pub [u8; 3]);

/// An error from parsing a colour.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?}: not a colour; expected six hexadecimal digits, such as #5b9e28")]
pub struct NotAColor(String);

impl Rgb {
    /// White, the neutral colour of [`times`](Self::times).
    pub const WHITE: Self = Self([255; 3]);

    /// Returns the low 24 bits of `0xAARRGGBB`, the form in which chunks store tints.
    pub const fn from_argb(argb: i32) -> Self {
        let [_, r, g, b] = argb.to_be_bytes();
        Self([r, g, b])
    }

    /// Multiplies two colours: `a * b / 255` for each channel, rounded down.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b / 255)
    }

    /// Returns the colour `numerator / denominator` of the way to `other`, rounded down. The
    /// arithmetic is exact, without floating point. A fraction above 1 is 1; a denominator of 0 is
    /// 1.
    #[must_use]
    pub fn toward(self, other: Self, numerator: u32, denominator: u32) -> Self {
        let denominator = denominator.max(1);
        let there = numerator.min(denominator);
        // Both products fit: a channel has 8 bits.
        let (here, there) = (u64::from(denominator - there), u64::from(there));
        self.zip(other, |a, b| {
            let sum = u64::from(a) * here + u64::from(b) * there;
            u32::try_from(sum / u64::from(denominator)).unwrap_or(u32::MAX)
        })
    }

    /// Combines two colours channel by channel. Results above 255 are 255.
    #[must_use]
    fn zip(self, other: Self, combine: impl Fn(u32, u32) -> u32) -> Self {
        let mut channels = self.0;
        for (channel, other) in channels.iter_mut().zip(other.0) {
            let combined = combine((*channel).into(), other.into());
            *channel = u8::try_from(combined).unwrap_or(u8::MAX);
        }
        Self(channels)
    }

    /// Returns an opaque pixel.
    pub const fn opaque(self) -> [u8; 4] {
        let [r, g, b] = self.0;
        [r, g, b, 255]
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

impl FromStr for Rgb {
    type Err = NotAColor;

    /// Parses `#RRGGBB`, with or without `#`. Two more digits, for transparency, are ignored.
    fn from_str(text: &str) -> Result<Self, NotAColor> {
        let bad = || NotAColor(text.chars().take(32).collect());
        let digits = text.trim().trim_start_matches('#');
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let rgb = digits.get(..6).filter(|_| is_hex && [6, 8].contains(&digits.len()));
        let value = i32::from_str_radix(rgb.ok_or_else(bad)?, 16).map_err(|_| bad())?;
        Ok(Self::from_argb(value))
    }
}

impl Serialize for Rgb {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip() {
        for text in ["#000000", "#5b9e28", "#ffffff"] {
            assert_eq!(text.parse::<Rgb>().unwrap().to_string(), text);
        }
        assert_eq!("5B9E28ff".parse::<Rgb>().unwrap(), Rgb([0x5b, 0x9e, 0x28]));
        for text in ["", "#", "#12345", "#1234567", "#12345g", "+12345", "#-12345", "#\u{e9}12345"]
        {
            assert!(text.parse::<Rgb>().is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_rounds_down_and_is_exact() {
        assert_eq!(Rgb([255, 128, 1]).times(Rgb([128, 128, 254])), Rgb([128, 64, 0]));
        assert_eq!(Rgb([0, 10, 200]).toward(Rgb([100, 0, 255]), 29, 100), Rgb([29, 7, 215]));
        assert_eq!(Rgb([9; 3]).toward(Rgb([0; 3]), 5, 4), Rgb([0; 3]));
        assert_eq!(Rgb([9; 3]).toward(Rgb([0; 3]), 1, 0), Rgb([0; 3]));
        assert_eq!(Rgb([9; 3]).toward(Rgb([0; 3]), 0, u32::MAX), Rgb([9; 3]));
    }

    #[test]
    fn stored_tints_lose_their_transparency() {
        assert_eq!(Rgb::from_argb(-1), Rgb::WHITE);
        assert_eq!(Rgb::from_argb(0x7f01_0203), Rgb([1, 2, 3]));
    }
}
