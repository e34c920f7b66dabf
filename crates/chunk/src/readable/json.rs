//! JSON on one line, written piece by piece.

use std::fmt::{self, Display};

use hyworld_documents::quoted;

/// The members of an object, in the order in which they are written.
pub(super) struct Object<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    is_empty: bool,
}

impl<'a, 'f> Object<'a, 'f> {
    pub(super) fn begin(out: &'a mut fmt::Formatter<'f>) -> Result<Self, fmt::Error> {
        out.write_str("{")?;
        Ok(Self { out, is_empty: true })
    }

    /// Writes a member. `value` shows as JSON.
    pub(super) fn member(&mut self, key: &str, value: impl Display) -> fmt::Result {
        let comma = if self.is_empty { "" } else { "," };
        self.is_empty = false;
        write!(self.out, "{comma}{}:{value}", quoted(key))
    }

    pub(super) fn end(self) -> fmt::Result {
        self.out.write_str("}")
    }
}

/// An array of what `items` gives, which is asked for each time that it is shown.
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

/// Equal neighbours taken together: `[[value, how many], ...]`.
pub(super) fn runs<I: Iterator<Item: Display + PartialEq>>(values: impl Fn() -> I) -> impl Display {
    fmt::from_fn(move |f| {
        let mut values = values();
        let mut current = values.next();
        let mut comma = "";
        f.write_str("[")?;
        while let Some(value) = current {
            let mut len = 1_usize;
            current = values.next();
            while current.as_ref() == Some(&value) {
                len = len.saturating_add(1);
                current = values.next();
            }
            write!(f, "{comma}[{value},{len}]")?;
            comma = ",";
        }
        f.write_str("]")
    })
}

pub(super) fn or_null(value: Option<impl Display>) -> impl Display {
    fmt::from_fn(move |f| match &value {
        Some(value) => value.fmt(f),
        None => f.write_str("null"),
    })
}

/// Text in quotes.
pub(super) fn text(value: impl AsRef<str>) -> impl Display {
    fmt::from_fn(move |f| f.write_str(&quoted(value.as_ref())))
}

/// A number; null for those that JSON does not have.
pub(super) fn number<N: Display + Into<f64> + Copy>(value: N) -> impl Display {
    or_null(Some(value).filter(|&value| value.into().is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_texts() {
        let object = fmt::from_fn(|f| {
            let mut object = Object::begin(f)?;
            object.member("a\"b", text("c\n"))?;
            object.member("runs", runs(|| [7, 7, 3, 7].into_iter()))?;
            object.member("none", runs(|| [0_u8; 0].into_iter()))?;
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
