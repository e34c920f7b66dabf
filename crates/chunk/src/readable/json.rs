//! A writer for JSON on one line.

use std::fmt::{self, Display};

use hyworld_documents::quoted;

/// Writes the members of an object in order.
pub(super) struct Object<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    is_empty: bool,
}

impl<'a, 'f> Object<'a, 'f> {
    pub(super) fn begin(out: &'a mut fmt::Formatter<'f>) -> Result<Self, fmt::Error> {
        out.write_str("{")?;
        Ok(Self { out, is_empty: true })
    }

    /// Writes a member. `value` must display as JSON.
    pub(super) fn member(&mut self, key: &str, value: impl Display) -> fmt::Result {
        let comma = if self.is_empty { "" } else { "," };
        self.is_empty = false;
        write!(self.out, "{comma}{}:{value}", quoted(key))
    }

    pub(super) fn end(self) -> fmt::Result {
        self.out.write_str("}")
    }
}

/// Writes an array. Calls `items` each time it is displayed.
pub(super) fn list<I: Iterator<Item: Display>>(items: impl Fn() -> I) -> impl Display {
    fmt::from_fn(move |f| {
        f.write_str("[")?;
        for (number, item) in items().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{item}")?;
        }
        f.write_str("]")
    })
}

/// The size of the buffer at which text is written.
const PIECE_BYTES: usize = 16 << 10;

/// The number of values that are compared at once.
const STRIDE: usize = 32;

/// Returns the runs of equal values, each with its length.
pub(super) fn runs_of<T: Copy + PartialEq>(values: &[T]) -> Vec<(T, u32)> {
    let (mut rest, mut runs) = (values, Vec::new());
    while let Some(&first) = rest.first() {
        let len = run_len(first, rest);
        runs.push((first, u32::try_from(len).unwrap_or(u32::MAX)));
        rest = rest.get(len..).unwrap_or_default();
    }
    runs
}

/// Writes runs as `[[value, length], ...]`; `push` writes a value.
///
/// A chunk has millions of cell values, so this avoids `Display` for each run.
pub(super) fn runs<T: Copy>(runs: &[(T, u32)], push: impl Fn(&mut Ascii, T)) -> impl Display {
    fmt::from_fn(move |f| {
        let mut out = Ascii::from("[");
        for (number, &(value, len)) in runs.iter().enumerate() {
            out.push_str(if number == 0 { "[" } else { ",[" });
            push(&mut out, value);
            out.push_str(",");
            push_number(&mut out, len);
            out.push_str("]");
            if out.0.len() > PIECE_BYTES {
                out.fmt(f)?;
                out.0.clear();
            }
        }
        out.push_str("]");
        out.fmt(f)
    })
}

/// Counts the leading values that equal `first`, the first of them.
fn run_len<T: Copy + PartialEq>(first: T, values: &[T]) -> usize {
    let is_same = |stride: &&[T]| stride.iter().filter(|value| **value == first).count() == STRIDE;
    let whole = values.chunks_exact(STRIDE).take_while(is_same).count() * STRIDE;
    let rest = values.get(whole..).unwrap_or_default();
    whole + rest.iter().take_while(|value| **value == first).count()
}

/// A buffer of ASCII text that is written byte by byte, without encoding characters.
pub(super) struct Ascii(Vec<u8>);

impl From<&str> for Ascii {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Ascii {
    pub(super) fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }
}

impl Display for Ascii {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.0).map_err(|_| fmt::Error)?)
    }
}

/// The two digits of the numbers below 100.
#[expect(clippy::indexing_slicing, reason = "a constant: an invalid index would not compile")]
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0_u8;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

/// Writes a number.
pub(super) fn push_number(out: &mut Ascii, number: impl Into<u32>) {
    let number = number.into();
    if number >= 100 {
        push_number(out, number / 100);
    }
    #[expect(clippy::indexing_slicing, reason = "the remainder is below 100")]
    let [tens, ones] = PAIRS[(number % 100) as usize];
    if number >= 10 {
        out.0.push(tens);
    }
    out.0.push(ones);
}

/// Writes the lowest hexadecimal digits of a number.
pub(super) fn push_hex(out: &mut Ascii, number: u32, digits: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for digit in (0..digits).rev() {
        #[expect(clippy::indexing_slicing, reason = "four bits are below 16")]
        out.0.push(DIGITS[(number >> (4 * digit) & 0xF) as usize]);
    }
}

pub(super) fn or_null(value: Option<impl Display>) -> impl Display {
    fmt::from_fn(move |f| match &value {
        Some(value) => value.fmt(f),
        None => f.write_str("null"),
    })
}

/// Writes text in quotes.
pub(super) fn text(value: impl AsRef<str>) -> impl Display {
    fmt::from_fn(move |f| f.write_str(&quoted(value.as_ref())))
}

/// Writes a number, or null for `NaN` and infinities.
pub(super) fn number<N: Display + Into<f64> + Copy>(value: N) -> impl Display {
    or_null(Some(value).filter(|&value| value.into().is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_numbers_of_every_length() {
        for len in [1_u16, 31, 32, 33, 64, 32_768] {
            let mut values = vec![9_u16; len.into()];
            values.push(10);
            let expected = format!("[[9,{len}],[10,1]]");
            assert_eq!(runs(&runs_of(&values), push_number).to_string(), expected);
        }
        let mut hex = Ascii::from("");
        push_hex(&mut hex, 0x1_0A2F, 4);
        assert_eq!(hex.to_string(), "0a2f");
        for number in (0..1_200).chain([9_999, 10_000, 32_768, 100_007, u32::MAX]) {
            let mut text = Ascii::from("");
            push_number(&mut text, number);
            assert_eq!(text.to_string(), number.to_string());
        }
    }

    #[test]
    fn golden_texts() {
        let object = fmt::from_fn(|f| {
            let mut object = Object::begin(f)?;
            object.member("a\"b", text("c\n"))?;
            object.member("runs", runs(&runs_of(&[7_u8, 7, 3, 7]), push_number))?;
            object.member("none", runs(&runs_of(&[0_u8; 0]), push_number))?;
            object.member("list", list(|| [1, 1].into_iter()))?;
            object.member("null", or_null(None::<u8>))?;
            object.member("numbers", list(|| [1.5, f64::NAN, f64::MAX].into_iter().map(number)))?;
            object.end()
        });
        let max = format!("17976931348623157{}", "0".repeat(292));
        let expected = format!(
            "{{\"a\\\"b\":\"c\\n\",\"runs\":[[7,2],[3,1],[7,1]],\"none\":[],\"list\":[1,1],\
             \"null\":null,\"numbers\":[1.5,null,{max}]}}"
        );
        assert_eq!(object.to_string(), expected);
    }
}
