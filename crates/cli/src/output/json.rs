//! Writes JSON, one object per line. The shapes are documented in `docs/json.md`.

use std::fmt::{self, Display};
use std::io::Write;

use hyworld_coords::{ChunkPos, RegionPos};
use serde::Serialize;

/// Writes a report as one line.
pub(crate) fn line(out: &mut impl Write, report: &impl Serialize) -> anyhow::Result<()> {
    writeln!(out, "{}", serde_json::to_string(report)?)?;
    Ok(())
}

/// As [`line`], with one more member whose value is already JSON text. Chunk documents are written
/// this way because they can have duplicate keys and can be too large for memory.
pub(crate) fn line_with(
    out: &mut impl Write,
    report: &impl Serialize,
    key: &'static str,
    last: impl Display,
) -> anyhow::Result<()> {
    writeln!(out, "{}", object_with(report, key, last)?)?;
    Ok(())
}

/// Returns the JSON object that [`line_with`] writes, as text.
pub(crate) fn object_with<R: Serialize, L: Display>(
    report: &R,
    key: &'static str,
    last: L,
) -> anyhow::Result<impl Display + use<R, L>> {
    let object = serde_json::to_string(report)?;
    Ok(fmt::from_fn(move |f| {
        let members = object.strip_suffix('}').unwrap_or(&object);
        let comma = if members == "{" { "" } else { "," };
        write!(f, "{members}{comma}\"{key}\":{last}}}")
    }))
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

/// The position of a chunk, or two nulls, as members of another object.
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
