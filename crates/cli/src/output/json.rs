//! JSON: one object a line, keys in the order in which the documentation lists them.

use std::io::{self, Write};

use serde_json::Value;

/// Writes one object and ends the line.
pub(crate) fn line(out: &mut impl Write, object: &Value) -> io::Result<()> {
    writeln!(out, "{object}")
}
