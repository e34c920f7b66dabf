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

/// The two digits of the numbers below 100.
#[expect(clippy::indexing_slicing, reason = "a constant: an invalid index would not compile")]
const TWO_DIGITS: [[u8; 2]; 100] = {
    let mut digits = [[0; 2]; 100];
    let mut number = 0_u8;
    while number < 100 {
        digits[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    digits
};

/// Returns the decimal digits of a number below 100.
pub(super) fn two_digits(number: u32) -> [u8; 2] {
    TWO_DIGITS.get(number as usize).copied().unwrap_or_default()
}

impl Ascii {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

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
    pub(super) fn end_list(&mut self) {
        match self.0.last_mut() {
            Some(comma) if *comma == b',' => *comma = b']',
            _ => self.0.push(b']'),
        }
    }

    pub(super) fn push_number(&mut self, number: u32) {
        if number >= 100 {
            self.push_number(number / 100);
        }
        let [tens, ones] = two_digits(number % 100);
        if number >= 10 {
            self.0.push(tens);
        }
        self.0.push(ones);
    }

    pub(super) fn push_signed(&mut self, number: i32) {
        if number < 0 {
            self.push_str("-");
        }
        self.push_number(number.unsigned_abs());
    }

    /// Appends the lowest hexadecimal digits of a number.
    pub(super) fn push_hex(&mut self, number: u32, digits: u32) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for digit in (0..digits).rev() {
            #[expect(clippy::indexing_slicing, reason = "four bits are below 16")]
            self.0.push(DIGITS[(number >> (4 * digit) & 0xF) as usize]);
        }
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
