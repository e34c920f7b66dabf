//! JSON: one object a line, keys in the order in which the documentation lists them.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

/// Writes a report as one object and ends the line.
pub(crate) fn line(out: &mut impl Write, report: &impl Serialize) -> anyhow::Result<()> {
    writeln!(out, "{}", serde_json::to_string(report)?)?;
    Ok(())
}

/// As [`line`], with one more member at the end, whose value is JSON text already. Documents of
/// chunks are such text: read into a [`Value`] they would lose keys that occur twice, and the last
/// bit of some floats.
pub(crate) fn line_with(
    out: &mut impl Write,
    object: &Value,
    key: &str,
    last: impl Display,
) -> io::Result<()> {
    let object = object.to_string();
    let members = object.strip_suffix('}').unwrap_or(&object);
    let comma = if members == "{" { "" } else { "," };
    writeln!(out, "{members}{comma}{}:{last}}}", Value::from(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_goes_behind_the_other_members() {
        let written = |object: &Value| {
            let mut out = Vec::new();
            line_with(&mut out, object, "last", "[1,1.50]").unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(&json!({"a": {}})), "{\"a\":{},\"last\":[1,1.50]}\n");
        assert_eq!(written(&json!({})), "{\"last\":[1,1.50]}\n");
    }
}
