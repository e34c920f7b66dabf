//! Chunks listed in JSON files of other programs, such as claims of land.

use std::collections::BTreeMap;

use hyworld_chunk::bson::{Document, Value};
use hyworld_coords::{BlockRect, ChunkRect, ColumnPos};

use crate::select::ChunkSet;

/// The maximum number of values in a file: a large server has some hundred thousand claims. They
/// are in memory once.
const VALUES_MAX: u32 = 2_000_000;

/// The maximum number of chunks of a list.
const CHUNKS_MAX: u128 = 10_000_000;

/// The keys that a path's `*` stood for.
type Trail = Vec<String>;

/// Returns the chunks whose coordinates are in a JSON file. A path is a list of keys with dots
/// between them; `*` stands for every member of an object or list. `@0`, `@1`, ... at the end of a
/// path is that number in the key of the last `*`, as for keys such as `"3,-7"`. Both paths must
/// have their `*` at the same depth. `unit` is the number of blocks for each step of a coordinate:
/// 32 for chunks, 1 for blocks.
///
/// ```
/// use hyworld_maintenance::claimed_chunks;
///
/// let by_key = r#"{"default": {"3,-7": "Anna", "4,-7": "Anna"}}"#;
/// assert_eq!(claimed_chunks(by_key, "*.*.@0", "*.*.@1", 32)?.len(), 2);
/// let list = r#"{"Claims": [{"ChunkX": 3, "ChunkY": -7}]}"#;
/// assert_eq!(claimed_chunks(list, "Claims.*.ChunkX", "Claims.*.ChunkY", 32)?.len(), 1);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Returns the reason if the text is not JSON, if a path finds no number, or if a number of one
/// path has no counterpart.
pub fn claimed_chunks(
    text: &str,
    x_path: &str,
    z_path: &str,
    unit: u32,
) -> Result<ChunkSet, String> {
    let root = parse(text)?;
    let (xs, zs) = (numbers(&root, x_path)?, numbers(&root, z_path)?);
    let (mut chunks, mut count) = (ChunkSet::new(), 0);
    if let Some(trail) = zs.keys().find(|trail| !xs.contains_key(*trail)) {
        return Err(format!("{z_path} has a number at {} and {x_path} has none", trail.join(".")));
    }
    for (trail, x) in &xs {
        let missing =
            || format!("{x_path} has a number at {} and {z_path} has none", trail.join("."));
        let z = zs.get(trail).ok_or_else(missing)?;
        let area = area(*x, *z, unit).ok_or_else(|| format!("{x},{z} is outside of the world"))?;
        count = area.count().saturating_add(count);
        if count > CHUNKS_MAX {
            // Claims that overlap count once. Counting takes time, so it is done only here.
            count = area.count().saturating_add(chunks.len().into());
        }
        if count > CHUNKS_MAX {
            return Err(format!("more than {CHUNKS_MAX} chunks"));
        }
        chunks.extend(area.in_rows());
    }
    Ok(chunks)
}

/// Parses JSON text. The parser bounds the number of values, and so the memory.
fn parse(text: &str) -> Result<Value, String> {
    // It parses objects only, and a list of claims is often an array.
    let wrapped = Document::from_large_json(&format!("{{\"\":\n{text}\n}}"), VALUES_MAX);
    let document = wrapped.map_err(|error| {
        let line = error.line.saturating_sub(1);
        format!("line {line}, column {}: {}", error.column, error.reason)
    })?;
    let root = document.get("").cloned();
    root.ok_or_else(|| "no value".to_owned())
}

/// Returns the chunks that a square of blocks touches.
fn area(x: i64, z: i64, unit: u32) -> Option<ChunkRect> {
    let unit = i64::from(unit.max(1));
    let span = |at: i64| {
        let first = at.checked_mul(unit)?;
        Some((i32::try_from(first).ok()?, i32::try_from(first + unit - 1).ok()?))
    };
    let ((left, right), (top, bottom)) = (span(x)?, span(z)?);
    Some(BlockRect::new(ColumnPos::new(left, top), ColumnPos::new(right, bottom)).chunks())
}

/// Returns the numbers at a path, by the keys that its `*` stood for.
fn numbers(root: &Value, path: &str) -> Result<BTreeMap<Trail, i64>, String> {
    let keys: Vec<&str> = path.split('.').collect();
    let mut found = BTreeMap::new();
    walk(root, &keys, &mut Vec::new(), &mut found);
    if found.is_empty() {
        return Err(format!("no number at {path}"));
    }
    Ok(found)
}

/// Follows a path. The recursion is as deep as the path, however deep the file is.
fn walk(value: &Value, keys: &[&str], trail: &mut Trail, found: &mut BTreeMap<Trail, i64>) {
    let Some((key, rest)) = keys.split_first() else {
        let number = match value {
            Value::Int32(number) => Some(i64::from(*number)),
            Value::Int64(number) => Some(*number),
            Value::Double(number) => whole(*number),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        found.extend(number.map(|number| (trail.clone(), number)));
        return;
    };
    if let Some(index) = key.strip_prefix('@').and_then(|index| index.parse::<usize>().ok()) {
        let number = trail.last().and_then(|name| number_in(name, index));
        found.extend(number.map(|number| (trail.clone(), number)));
        return;
    }
    match (value, *key) {
        (Value::Document(members), "*") => {
            for (name, member) in members.fields() {
                trail.push(name.to_owned());
                walk(member, rest, trail, found);
                trail.pop();
            }
        }
        (Value::Array(items), "*") => {
            for (index, item) in items.iter().enumerate() {
                trail.push(index.to_string());
                walk(item, rest, trail, found);
                trail.pop();
            }
        }
        (Value::Document(members), name) => {
            if let Some(member) = members.get(name) {
                walk(member, rest, trail, found);
            }
        }
        _ => {}
    }
}

/// Returns a coordinate without its fraction.
fn whole(number: f64) -> Option<i64> {
    let floor = number.floor();
    #[expect(clippy::cast_possible_truncation, reason = "within the range of i32")]
    (floor.abs() < f64::from(i32::MAX)).then_some(floor as i64)
}

/// Returns one of the numbers in a text such as `3,-7` or `3:-7`.
fn number_in(text: &str, index: usize) -> Option<i64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '-';
    let mut numbers = text.split(|c| !is_part(c)).filter_map(|part| part.parse().ok());
    numbers.nth(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_found_by_path() {
        let by_key = r#"{"one": {"3,-7": {}, "4:-7": {}}, "two": {"3,-7": {}}}"#;
        assert_eq!(claimed_chunks(by_key, "*.*.@0", "*.*.@1", 32).unwrap().len(), 2);
        let list = r#"[{"a": {"x": "1", "z": 2.5}}, {"a": {"x": 9, "z": 9}}, {"b": 1}]"#;
        assert_eq!(claimed_chunks(list, "*.a.x", "*.a.z", 32).unwrap().len(), 2);
        // 16 blocks for each step: two steps in one chunk.
        let objects = r#"[{"x": 0, "z": 0}, {"x": 1, "z": 1}, {"x": 2, "z": 0}]"#;
        assert_eq!(claimed_chunks(objects, "*.x", "*.z", 16).unwrap().len(), 2);
        assert_eq!(claimed_chunks(objects, "*.x", "*.z", 64).unwrap().len(), 12);
    }

    /// Each claim is in a region of its own.
    #[test]
    fn scattered_claims_are_read_in_time() {
        let claims = (0..200_000).map(|n| format!("{{\"x\": {}, \"z\": 0}}", n * 40));
        let text = format!("[{}]", claims.collect::<Vec<_>>().join(","));
        let started = std::time::Instant::now();
        assert_eq!(claimed_chunks(&text, "*.x", "*.z", 32).unwrap().len(), 200_000);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    #[test]
    fn files_without_coordinates_are_refused() {
        let reason = |text: &str, x: &str, z: &str| claimed_chunks(text, x, z, 32).unwrap_err();
        assert_eq!(reason("{}", "a.x", "a.z"), "no number at a.x");
        assert!(reason(r#"[{"x": 1}, {"x": 2, "z": 2}]"#, "*.x", "*.z").contains("at 0 and *.z"));
        assert!(reason(r#"[{"z": 1}, {"x": 2, "z": 2}]"#, "*.x", "*.z").contains("at 0 and *.x"));
        assert!(reason(r#"[{"x": 99999999999, "z": 2}]"#, "*.x", "*.z").contains("outside"));
        let wide = claimed_chunks(r#"{"x": 0, "z": 0}"#, "x", "z", u32::MAX);
        assert!(wide.is_err());
        assert!(claimed_chunks("not json", "x", "z", 32).is_err());
    }
}
