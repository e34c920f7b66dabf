//! A buffer of ASCII text.

use std::fmt::{self, Display};

/// ASCII text that is built byte by byte, without the cost of encoding characters.
#[derive(Default)]
pub(super) struct Ascii(Vec<u8>);

impl From<&str> for Ascii {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Display for Ascii {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.0).map_err(|_| fmt::Error)?)
    }
}

/// The digits of the numbers below 1000, without leading zeros, each with the number of digits.
static DIGITS: [[u8; 4]; 1000] = {
    let mut texts = [[0; 4]; 1000];
    let (mut rest, mut number) = (texts.as_mut_slice(), 0_u16);
    while let Some((text, others)) = rest.split_first_mut() {
        let [a, b, c] = three_digits(number as u32);
        *text = match number {
            0..10 => [c, 0, 0, 1],
            10..100 => [b, c, 0, 2],
            _ => [a, b, c, 3],
        };
        rest = others;
        number += 1;
    }
    texts
};

/// Returns the last three decimal digits of a number.
pub(super) const fn three_digits(number: u32) -> [u8; 3] {
    [b'0' + (number / 100 % 10) as u8, b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]
}

/// Returns the two hexadecimal digits of a byte.
pub(super) fn hex(byte: u8) -> [u8; 2] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    #[expect(clippy::indexing_slicing, reason = "four bits are below 16")]
    [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]
}

impl Ascii {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    #[inline]
    pub(super) fn push_bytes(&mut self, ascii: &[u8]) {
        self.0.extend_from_slice(ascii);
    }

    /// Appends the first `len` bytes of an array. Copying a fixed number of bytes and cutting them
    /// off is faster than copying a short slice.
    #[inline]
    pub(super) fn push_part<const N: usize>(&mut self, ascii: &[u8; N], len: usize) {
        let end = self.0.len().saturating_add(len.min(N));
        self.0.extend_from_slice(ascii);
        self.0.truncate(end);
    }

    /// Closes a list: replaces the comma after its last item, if there is one, with a bracket.
    #[inline]
    pub(super) fn end_list(&mut self) {
        match self.0.last_mut() {
            Some(comma) if *comma == b',' => *comma = b']',
            _ => self.0.push(b']'),
        }
    }

    pub(super) fn push_number(&mut self, number: u32) {
        if let Some([text @ .., len]) = DIGITS.get(number as usize) {
            self.push_part(text, usize::from(*len));
        } else {
            self.push_number(number / 1000);
            self.push_bytes(&three_digits(number));
        }
    }

    pub(super) fn push_signed(&mut self, number: i32) {
        if number < 0 {
            self.push_str("-");
        }
        self.push_number(number.unsigned_abs());
    }

    /// Appends the lowest hexadecimal digits of a number.
    pub(super) fn push_hex(&mut self, number: u32, digits: u32) {
        let bytes = number.to_be_bytes().map(hex);
        let text = bytes.as_flattened();
        let start = text.len().saturating_sub(digits as usize);
        self.push_bytes(text.get(start..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        for number in (0..1_200).chain([9_999, 10_000, 32_768, 100_007, u32::MAX]) {
            let mut text = Ascii::from("");
            text.push_number(number);
            assert_eq!(text.to_string(), number.to_string());
        }
        let mut text = Ascii::from("a ");
        text.push_signed(-120);
        text.push_hex(0x1_0A2F, 4);
        assert_eq!(text.to_string(), "a -1200a2f");
    }
}
