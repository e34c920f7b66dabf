//! Pairs of numbers as JSON. A chunk has thousands of them, and most occur many times.

use std::cell::RefCell;

use super::ascii::{Ascii, two_digits};

/// Two numbers; the first is written as `null` if it is `None`.
type Pair = (Option<i32>, u32);

/// The number of texts that are kept; a power of two.
const KEPT: usize = 4096;

/// The longest text, `[-2147483648,4294967295],`, has 25 bytes. Copying 32 is faster.
const TEXT_BYTES: usize = 32;

thread_local! {
    static TEXTS: RefCell<Vec<Text>> = const { RefCell::new(Vec::new()) };
}

/// The text of a pair with a comma after it.
#[derive(Clone, Copy)]
struct Text {
    pair: Pair,
    bytes: [u8; TEXT_BYTES],
    len: u8,
}

impl Text {
    const NONE: Self = Self { pair: (None, 0), bytes: [0; TEXT_BYTES], len: 0 };

    fn new(pair: Pair) -> Self {
        let mut text = Self { pair, ..Self::NONE };
        text.push(b"[");
        match pair.0 {
            Some(first) => {
                if first < 0 {
                    text.push(b"-");
                }
                text.push_number(first.unsigned_abs());
            }
            None => text.push(b"null"),
        }
        text.push(b",");
        text.push_number(pair.1);
        text.push(b"],");
        text
    }

    fn push<const N: usize>(&mut self, ascii: &[u8; N]) {
        let rest = self.bytes.get_mut(self.len.into()..);
        // Every text fits.
        if let Some(to) = rest.and_then(<[u8]>::first_chunk_mut) {
            *to = *ascii;
            self.len = self.len.saturating_add(u8::try_from(N).unwrap_or(u8::MAX));
        }
    }

    fn push_number(&mut self, number: u32) {
        if number >= 100 {
            self.push_number(number / 100);
        }
        let [tens, ones] = two_digits(number % 100);
        if number >= 10 {
            self.push(&[tens]);
        }
        self.push(&[ones]);
    }
}

/// Appends `[[a,b],[c,d],...]`.
pub(super) fn push(out: &mut Ascii, pairs: impl Iterator<Item = Pair>) {
    TEXTS.with_borrow_mut(|texts| {
        texts.resize(KEPT, Text::NONE);
        out.push_str("[");
        for pair in pairs {
            #[expect(clippy::indexing_slicing, reason = "the slot is below the number of texts")]
            let text = &mut texts[slot(pair)];
            if text.pair != pair || text.len == 0 {
                *text = Text::new(pair);
            }
            out.push_part(&text.bytes, text.len.into());
        }
        out.end_list();
    });
}

/// Returns which of the kept texts a pair may be: the highest bits of a hash.
fn slot((first, second): Pair) -> usize {
    let first = first.unwrap_or(i32::MAX).cast_unsigned();
    let hash = first.wrapping_mul(0x9E37_79B1) ^ second.wrapping_mul(0x85EB_CA6B);
    (hash >> (u32::BITS - KEPT.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_every_length() {
        let numbers = [0, 1, 9, 10, 99, 100, 12_345, 32_768, u32::MAX];
        let pairs: Vec<_> = [None, Some(i32::MIN), Some(-7), Some(0), Some(319), Some(i32::MAX)]
            .into_iter()
            .flat_map(|first| numbers.map(|second| (first, second)))
            .collect();
        // Twice, so that kept texts are used.
        let pairs = pairs.repeat(2);
        let text = |(a, b): &Pair| format!("[{},{b}]", a.map_or("null".into(), |a| a.to_string()));
        let texts: Vec<_> = pairs.iter().map(text).collect();
        let mut out = Ascii::from("");
        push(&mut out, pairs.into_iter());
        assert_eq!(out.to_string(), format!("[{}]", texts.join(",")));
        let mut none = Ascii::from("");
        push(&mut none, std::iter::empty());
        assert_eq!(none.to_string(), "[]");
    }

    #[test]
    fn more_pairs_than_are_kept() {
        let pairs = || (0..5_000).map(|number: i32| (Some(number), 7 * number.cast_unsigned()));
        let texts: Vec<_> = (0..5_000).map(|number| format!("[{number},{}]", 7 * number)).collect();
        for _ in 0..2 {
            let mut out = Ascii::from("");
            push(&mut out, pairs());
            assert_eq!(out.to_string(), format!("[{}]", texts.join(",")));
        }
    }
}
