//! Pairs of numbers as JSON. A chunk has thousands of them, and most occur many times.

use std::cell::RefCell;

use super::ascii::Ascii;

/// Two numbers; the first is written as `null` if it is `None`.
type Pair = (Option<i32>, u32);

/// The number of texts that are kept; a power of two.
const KEPT: usize = 1024;

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
        let mut text = Ascii::with_capacity(TEXT_BYTES);
        text.push_str("[");
        match pair.0 {
            Some(first) => text.push_signed(first),
            None => text.push_str("null"),
        }
        text.push_str(",");
        text.push_number(pair.1);
        text.push_str("],");
        let mut new = Self { pair, ..Self::NONE };
        for (byte, &found) in new.bytes.iter_mut().zip(text.as_bytes()) {
            *byte = found;
            new.len += 1;
        }
        new
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
