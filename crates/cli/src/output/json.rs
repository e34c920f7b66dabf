//! The one writer of JSON: a report as one object a line. `docs/json.md` has the shapes.

use std::fmt::{self, Display};
use std::io::Write;

use hyworld_coords::{ChunkPos, RegionPos};
use serde::Serialize;

/// Writes a report as one object and ends the line.
pub(crate) fn line(out: &mut impl Write, report: &impl Serialize) -> anyhow::Result<()> {
    writeln!(out, "{}", serde_json::to_string(report)?)?;
    Ok(())
}

/// As [`line`], with one more member at the end, whose value is JSON text already. Documents of
/// chunks are such text: they have keys that occur twice, and can be too large to be in memory.
pub(crate) fn line_with(
    out: &mut impl Write,
    report: &impl Serialize,
    key: &str,
    last: impl Display,
) -> anyhow::Result<()> {
    let object = serde_json::to_string(report)?;
    let members = object.strip_suffix('}').unwrap_or(&object);
    let comma = if members == "{" { "" } else { "," };
    writeln!(out, "{members}{comma}\"{key}\":{last}}}")?;
    Ok(())
}

/// The position of a chunk or a region.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Position {
    x: i32,
    z: i32,
}

impl Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.x, self.z)
    }
}

impl From<ChunkPos> for Position {
    fn from(ChunkPos { x, z }: ChunkPos) -> Self {
        Self { x, z }
    }
}

impl From<RegionPos> for Position {
    fn from(RegionPos { x, z }: RegionPos) -> Self {
        Self { x, z }
    }
}

/// The position of a chunk where there is one, as members of another object.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct MaybeChunk {
    x: Option<i32>,
    z: Option<i32>,
}

impl From<Option<ChunkPos>> for MaybeChunk {
    fn from(at: Option<ChunkPos>) -> Self {
        Self { x: at.map(|at| at.x), z: at.map(|at| at.z) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

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
