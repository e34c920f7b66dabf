//! Pairs of numbers as JSON. A chunk has thousands of them, and most numbers are small.

use super::ascii::{Ascii, three_digits};

/// Texts are kept for the numbers below this.
const KEPT: usize = 1024;

/// The longest kept text, `[1023,` or `1023],`, has six bytes.
const TEXT_BYTES: usize = 7;

/// The bytes of a text in the order of memory, with its length in the highest byte.
type Text = u64;

/// `[n,` for each number.
static FIRST: [Text; KEPT] = texts(b"[", b",");

/// `n],` for each number.
static SECOND: [Text; KEPT] = texts(b"", b"],");

/// The text of a first number that is missing.
const NULL: Text = text(b"[", b"null", b",");

/// `[-1,`: below the world, where most columns of environments begin.
const BELOW: Text = text(b"[", b"-1", b",");

const fn texts(before: &[u8], after: &[u8]) -> [Text; KEPT] {
    let mut texts = [0; KEPT];
    let (mut rest, mut number) = (texts.as_mut_slice(), 0);
    while let Some((first, others)) = rest.split_first_mut() {
        let [a, b, c] = three_digits(number);
        let digits = [if number < 1000 { b'0' } else { b'1' }, a, b, c];
        let zeros = (number < 1000) as usize + (number < 100) as usize + (number < 10) as usize;
        *first = text(before, digits.as_slice().split_at(zeros).1, after);
        rest = others;
        number += 1;
    }
    texts
}

/// Returns the text of three parts, which must fit.
const fn text(before: &[u8], number: &[u8], after: &[u8]) -> Text {
    let (mut bytes, mut len) = (0, 0);
    let parts = [before, number, after];
    let mut rest = parts.as_slice();
    while let Some((part, others)) = rest.split_first() {
        let mut part = *part;
        while let Some((byte, tail)) = part.split_first() {
            bytes |= (*byte as u64) << (8 * len);
            len += 1;
            part = tail;
        }
        rest = others;
    }
    assert!(len <= TEXT_BYTES as u64);
    bytes | len << (8 * TEXT_BYTES)
}

/// Splits a text into its bytes and its length.
fn parts(text: Text) -> (u128, u32) {
    let len = text >> (8 * TEXT_BYTES);
    (u128::from(text & (u64::MAX >> 8)), u32::try_from(len).unwrap_or_default())
}

/// Appends `[first,second],`. The first number is written as `null` if it is missing.
#[inline]
pub(super) fn push_one(out: &mut Ascii, first: Option<i32>, second: u32) {
    let kept = match first {
        Some(-1) => Some(&BELOW),
        Some(first) => usize::try_from(first).ok().and_then(|first| FIRST.get(first)),
        None => Some(&NULL),
    };
    let (Some(first_text), Some(second_text)) = (kept, SECOND.get(second as usize)) else {
        return push_large(out, first, second);
    };
    let ((bytes, len), (more, more_len)) = (parts(*first_text), parts(*second_text));
    let pair = bytes | more << (8 * (len & 7));
    out.push_part(&pair.to_le_bytes(), len.saturating_add(more_len) as usize);
}

#[cold]
fn push_large(out: &mut Ascii, first: Option<i32>, second: u32) {
    out.push_str("[");
    match first {
        Some(first) => out.push_signed(first),
        None => out.push_str("null"),
    }
    out.push_str(",");
    out.push_number(second);
    out.push_str("],");
}

/// Appends `[[a,b],[c,d],...]`.
pub(super) fn push(out: &mut Ascii, pairs: impl Iterator<Item = (Option<i32>, u32)>) {
    out.push_str("[");
    pairs.for_each(|(first, second)| push_one(out, first, second));
    out.end_list();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_every_length() {
        let numbers = [0, 1, 9, 10, 99, 100, 999, 1000, 1023, 1024, 12_345, 32_768, u32::MAX];
        let firsts = [None, Some(i32::MIN), Some(-7), Some(-1), Some(319), Some(i32::MAX)];
        let firsts = firsts.into_iter().chain([0, 9, 10, 99, 1000, 1023, 1024].map(Some));
        let pairs: Vec<_> =
            firsts.flat_map(|first| numbers.map(|second| (first, second))).collect();
        let text = |(a, b): &(Option<i32>, u32)| {
            format!("[{},{b}]", a.map_or("null".into(), |a| a.to_string()))
        };
        let texts: Vec<_> = pairs.iter().map(text).collect();
        let mut out = Ascii::from("");
        push(&mut out, pairs.into_iter());
        assert_eq!(out.to_string(), format!("[{}]", texts.join(",")));
        let mut none = Ascii::from("");
        push(&mut none, std::iter::empty());
        assert_eq!(none.to_string(), "[]");
    }

    #[test]
    fn every_kept_number() {
        for number in 0..2000_u32 {
            let mut out = Ascii::from("");
            push_one(&mut out, i32::try_from(number).ok(), number);
            assert_eq!(out.to_string(), format!("[{number},{number}],"));
        }
    }
}
