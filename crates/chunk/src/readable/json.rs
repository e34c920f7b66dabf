//! A writer for JSON on one line.

use std::fmt::{self, Display};

use hyworld_documents::quoted;

use super::ascii::Ascii;
use super::pairs::PairText;

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

    /// Writes a member. `key` must not need escapes, and `value` must display as JSON.
    pub(super) fn member(&mut self, key: &'static str, value: impl Display) -> fmt::Result {
        self.out.write_str(if self.is_empty { "\"" } else { ",\"" })?;
        self.is_empty = false;
        self.out.write_str(key)?;
        self.out.write_str("\":")?;
        value.fmt(self.out)
    }

    /// Writes a member with any key. `value` must display as JSON.
    pub(super) fn named(&mut self, key: &str, value: impl Display) -> fmt::Result {
        if !self.is_empty {
            self.out.write_str(",")?;
        }
        self.is_empty = false;
        write_text(self.out, key)?;
        self.out.write_str(":")?;
        value.fmt(self.out)
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
            if number > 0 {
                f.write_str(",")?;
            }
            item.fmt(f)?;
        }
        f.write_str("]")
    })
}

/// The number of values that are compared at once.
const STRIDE: usize = 32;

/// The usual length of a run as text.
const RUN_BYTES: usize = 8;

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

/// Writes runs of numbers as `[[value, length], ...]`.
pub(super) fn number_runs<T: Copy + Into<i32>>(runs: &[(T, u32)]) -> impl Display {
    fmt::from_fn(move |f| {
        let mut text = PairText::with_capacity(runs.len().saturating_mul(RUN_BYTES));
        let mut pairs = text.begin();
        for &(value, len) in runs {
            pairs.push(Some(value.into()), len);
        }
        pairs.finish();
        Ascii::from(text).fmt(f)
    })
}

/// Writes runs as `[[value, length], ...]`; `push` writes a value.
pub(super) fn runs<T: Copy>(runs: &[(T, u32)], push: impl Fn(&mut Ascii, T)) -> impl Display {
    fmt::from_fn(move |f| {
        let mut out = Ascii::with_capacity(runs.len().saturating_mul(2 * RUN_BYTES));
        out.push_str("[");
        for &(value, len) in runs {
            out.push_str("[");
            push(&mut out, value);
            out.push_str(",");
            out.push_number(len);
            out.push_str("],");
        }
        out.end_list();
        out.fmt(f)
    })
}

/// Counts the leading values that are equal to `first`, which is the first value.
fn run_len<T: Copy + PartialEq>(first: T, values: &[T]) -> usize {
    let is_same = |stride: &&[T]| stride.iter().filter(|value| **value == first).count() == STRIDE;
    let whole = values.chunks_exact(STRIDE).take_while(is_same).count() * STRIDE;
    let rest = values.get(whole..).unwrap_or_default();
    whole + rest.iter().take_while(|value| **value == first).count()
}

pub(super) fn or_null(value: Option<impl Display>) -> impl Display {
    fmt::from_fn(move |f| match &value {
        Some(value) => value.fmt(f),
        None => f.write_str("null"),
    })
}

/// Writes text in quotes.
pub(super) fn text(value: impl AsRef<str>) -> impl Display {
    fmt::from_fn(move |f| write_text(f, value.as_ref()))
}

fn write_text(f: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    // Most keys and names need no escapes.
    if value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        f.write_str("\"")?;
        f.write_str(value)?;
        return f.write_str("\"");
    }
    f.write_str(&quoted(value))
}

/// Writes a number, or null for `NaN` and infinities.
pub(super) fn number<N: Display + Into<f64> + Copy>(value: N) -> impl Display {
    or_null(Some(value).filter(|&value| value.into().is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_every_length() {
        for len in [1_u16, 31, 32, 33, 64, 32_768] {
            let mut values = vec![9_u16; len.into()];
            values.push(10);
            let expected = format!("[[9,{len}],[10,1]]");
            assert_eq!(number_runs(&runs_of(&values)).to_string(), expected);
        }
    }

    #[test]
    fn golden_texts() {
        let object = fmt::from_fn(|f| {
            let mut object = Object::begin(f)?;
            object.named("a\"b", text("c\n"))?;
            object.member("runs", number_runs(&runs_of(&[7_u8, 7, 3, 7])))?;
            object.member("none", number_runs(&runs_of(&[0_u8; 0])))?;
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
