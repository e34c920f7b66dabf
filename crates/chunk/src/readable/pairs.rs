//! Pairs of numbers as JSON. A chunk has thousands of them, and most numbers are small.

use super::ascii::{Ascii, three_digits};

/// Texts are kept for the numbers below this.
const KEPT: usize = 1024;

/// The longest kept text, `[1023,` or `1023],`, has six bytes.
const TEXT_BYTES: usize = 7;

/// The bytes of a text in memory order, with its length in the highest byte.
type Text = u64;

/// `[n,` for each number.
static FIRST: [Text; KEPT] = texts(b"[", b",");

/// `n],` for each number.
static SECOND: [Text; KEPT] = texts(b"", b"],");

/// The text for a missing first number.
const NULL: Text = text(b"[", b"null", b",");

/// `[-1,`: below the world, where most columns of environments begin.
const BELOW_WORLD: Text = text(b"[", b"-1", b",");

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

/// Joins three parts, which must not be longer than a text.
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
fn parts(text: Text) -> (u128, usize) {
    let len = text >> (8 * TEXT_BYTES);
    (u128::from(text & (u64::MAX >> 8)), usize::try_from(len).unwrap_or_default())
}

/// The space that a text needs: each is copied in one step, whatever its length.
const COPIED_BYTES: usize = 16;

/// The size of the text that is collected before it is appended to the output.
const RECENT_BYTES: usize = 512;

/// The text of a list of pairs.
pub(super) struct PairText {
    text: Ascii,
    /// The end of the text. Writing to an array needs fewer instructions than appending to a
    /// vector.
    recent: [u8; RECENT_BYTES],
}

impl PairText {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { text: Ascii::with_capacity(bytes), recent: [0; RECENT_BYTES] }
    }

    /// Begins the list.
    pub(super) fn begin(&mut self) -> Pairs<'_> {
        let mut pairs = Pairs { text: &mut self.text, recent: &mut self.recent, recent_len: 0 };
        pairs.begin_list();
        pairs
    }
}

impl From<PairText> for Ascii {
    fn from(text: PairText) -> Self {
        text.text
    }
}

/// Writes a list of pairs, which may contain lists of pairs. It has only references, so that a loop
/// can keep it in registers.
pub(super) struct Pairs<'a> {
    text: &'a mut Ascii,
    recent: &'a mut [u8; RECENT_BYTES],
    recent_len: usize,
}

impl Pairs<'_> {
    /// Begins a list inside this one.
    pub(super) fn begin_list(&mut self) {
        self.put(u128::from(b'['), 1);
    }

    /// Ends the list inside this one that was begun last.
    pub(super) fn end_list(&mut self) {
        self.remove_comma();
        self.put(u128::from(u16::from_le_bytes(*b"],")), 2);
    }

    /// Ends the list.
    pub(super) fn finish(mut self) {
        self.remove_comma();
        self.put(u128::from(b']'), 1);
        self.text.push_bytes(self.recent.get(..self.recent_len).unwrap_or_default());
    }

    /// Removes the comma after the last item, if there is one. There is always a last byte: `put`
    /// empties the array only before it adds to it.
    fn remove_comma(&mut self) {
        let Some(before) = self.recent_len.checked_sub(1) else { return };
        if self.recent.get(before) == Some(&b',') {
            self.recent_len = before;
        }
    }

    /// Appends the `len` lowest bytes of a text. Copying all bytes is faster.
    #[expect(clippy::inline_always, reason = "a call would move the list out of registers")]
    #[inline(always)]
    fn put(&mut self, bytes: u128, len: usize) {
        if self.recent_len > const { RECENT_BYTES - COPIED_BYTES } {
            self.text.push_bytes(self.recent.get(..self.recent_len).unwrap_or_default());
            self.recent_len = 0;
        }
        let space = self.recent.get_mut(self.recent_len..).and_then(<[u8]>::first_chunk_mut);
        if let Some(space) = space {
            *space = bytes.to_le_bytes();
        }
        self.recent_len = self.recent_len.wrapping_add(len);
    }

    /// Appends `[first,second],`. The first number is written as `null` if it is missing.
    #[expect(clippy::inline_always, reason = "a call would move the list out of registers")]
    #[inline(always)]
    pub(super) fn push(&mut self, first: Option<i32>, second: u32) {
        let kept = match first {
            Some(-1) => Some(&BELOW_WORLD),
            Some(first) => usize::try_from(first).ok().and_then(|first| FIRST.get(first)),
            None => Some(&NULL),
        };
        if let (Some(first_text), Some(second_text)) = (kept, SECOND.get(second as usize)) {
            let ((bytes, len), (more, more_len)) = (parts(*first_text), parts(*second_text));
            let pair = bytes | more << (8 * (len & 7));
            return self.put(pair, len.wrapping_add(more_len));
        }
        for (bytes, len) in large(first, second) {
            self.put(bytes, len);
        }
    }
}

/// Returns the texts of a pair of large numbers, each with its length.
#[cold]
fn large(first: Option<i32>, second: u32) -> [(u128, usize); 2] {
    let (mut before, mut after) = (Ascii::from("["), Ascii::default());
    match first {
        Some(first) => before.push_signed(first),
        None => before.push_str("null"),
    }
    before.push_str(",");
    after.push_number(second);
    after.push_str("],");
    [before, after].map(|text| {
        let bytes = text.as_bytes().iter().rev();
        (bytes.fold(0, |sum, byte| sum << 8 | u128::from(*byte)), text.as_bytes().len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Pairs<'_>)) -> String {
        let mut text = PairText::with_capacity(0);
        let mut pairs = text.begin();
        write(&mut pairs);
        pairs.finish();
        Ascii::from(text).to_string()
    }

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
        let written = written(|list| {
            for (first, second) in &pairs {
                list.push(*first, *second);
            }
        });
        assert_eq!(written, format!("[{}]", texts.join(",")));
        assert_eq!(self::written(|_| ()), "[]");
    }

    #[test]
    fn every_kept_number() {
        for number in 0..2000_u32 {
            let written = written(|list| list.push(i32::try_from(number).ok(), number));
            assert_eq!(written, format!("[[{number},{number}]]"));
        }
    }

    #[test]
    fn lists_in_a_list() {
        let counts = (0..90_u32).chain([0]);
        let written = written(|list| {
            for count in counts.clone() {
                list.begin_list();
                for number in 0..count {
                    list.push(Some(-1), number);
                }
                list.end_list();
            }
        });
        let pairs = |count| (0..count).map(|number| format!("[-1,{number}]")).collect::<Vec<_>>();
        let lists: Vec<_> = counts.map(|count| format!("[{}]", pairs(count).join(","))).collect();
        assert_eq!(written, format!("[{}]", lists.join(",")));
    }
}
