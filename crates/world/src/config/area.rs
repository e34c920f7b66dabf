//! [`ChunkConfig`]: areas of a world that are generated in advance or kept loaded.

use hyworld_coords::{BlockPos, ChunkRect, Rect};
use hyworld_documents::{Document, Value};

use super::setting::{Setting, SettingProblem, object, read_key};

const PREGENERATE_KEY: &str = "PregenerateRegion";
const KEEP_LOADED_KEY: &str = "KeepLoadedRegion";

/// A rectangle of blocks. Files call the second coordinate `Y`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockArea {
    /// The lower corner: x and z.
    pub min: (f64, f64),
    /// The upper corner: x and z.
    pub max: (f64, f64),
}

/// Areas that are generated in advance or kept loaded.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ChunkConfig {
    /// The area that is generated when the world starts.
    pub pregenerate_region: Option<BlockArea>,
    /// The area whose chunks are never unloaded.
    pub keep_loaded_region: Option<BlockArea>,
}

impl BlockArea {
    /// Creates the area between two opposite corners, in any order.
    pub fn new(corner: (f64, f64), opposite: (f64, f64)) -> Self {
        Self {
            min: (corner.0.min(opposite.0), corner.1.min(opposite.1)),
            max: (corner.0.max(opposite.0), corner.1.max(opposite.1)),
        }
    }

    /// Returns the chunks that the area touches.
    pub fn chunks(self) -> ChunkRect {
        let corner = |(x, z): (f64, f64)| BlockPos::new(floor(x), 0, floor(z)).chunk();
        Rect::new(corner(self.min), corner(self.max))
    }

    /// Returns whether a position is inside the area.
    pub fn contains(self, x: f64, z: f64) -> bool {
        (self.min.0..=self.max.0).contains(&x) && (self.min.1..=self.max.1).contains(&z)
    }
}

/// Converts a coordinate to its block, clamped to the range of `i32`. NaN becomes 0.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a float stops at the ends")]
fn floor(coordinate: f64) -> i32 {
    coordinate.floor() as i32
}

fn corner(document: &Document, key: &str, second: &str) -> Result<(f64, f64), SettingProblem> {
    let corner: Document = read_key(document, key)?.unwrap_or_default();
    let number = |axis| {
        let number = read_key(&corner, axis).map_err(|problem| problem.inside(key))?;
        Ok(number.unwrap_or(0.0))
    };
    Ok((number("X")?, number(second)?))
}

/// Parses an area; `second` is the key of the second coordinate.
pub(super) fn read_area(value: &Value, second: &str) -> Result<BlockArea, SettingProblem> {
    let document = object(value)?;
    Ok(BlockArea::new(corner(document, "Min", second)?, corner(document, "Max", second)?))
}

impl Setting for BlockArea {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        read_area(value, "Y")
    }

    fn write(&self, old: Option<&Value>) -> Option<Value> {
        if let Some(old) = old
            && Self::read(old).as_ref() == Ok(self)
        {
            return Some(old.clone());
        }
        let mut document = Document::new();
        for (key, (x, z)) in [("Min", self.min), ("Max", self.max)] {
            let mut corner = Document::new();
            corner.set("X", Value::Double(x));
            corner.set("Y", Value::Double(z));
            document.set(key, Value::Document(corner));
        }
        Some(Value::Document(document))
    }
}

impl Setting for ChunkConfig {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let document = object(value)?;
        Ok(Self {
            pregenerate_region: read_key(document, PREGENERATE_KEY)?,
            keep_loaded_region: read_key(document, KEEP_LOADED_KEY)?,
        })
    }

    fn write(&self, old: Option<&Value>) -> Option<Value> {
        let mut document = old.and_then(Value::as_document).cloned().unwrap_or_default();
        let regions = [
            (PREGENERATE_KEY, self.pregenerate_region),
            (KEEP_LOADED_KEY, self.keep_loaded_region),
        ];
        for (key, area) in regions {
            match area.write(document.get(key)) {
                Some(value) => document.set(key, value),
                None => drop(document.remove(key)),
            }
        }
        Some(Value::Document(document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ChunkPos;

    fn parsed(text: &str) -> Value {
        Value::Document(Document::from_json(text).unwrap())
    }

    #[test]
    fn corners_are_put_in_order_and_y_is_z() {
        let value =
            parsed("{\"Min\": {\"X\": 33, \"Y\": -1.5}, \"Max\": {\"X\": -2, \"Y\": 64.0}}");
        let area = BlockArea::read(&value).unwrap();
        assert_eq!(area, BlockArea { min: (-2.0, -1.5), max: (33.0, 64.0) });
        let chunks = Rect::new(ChunkPos::new(-1, -1), ChunkPos::new(1, 2));
        assert_eq!(area.chunks(), chunks);
        assert!(area.contains(-2.0, 0.0) && !area.contains(-2.1, 0.0));
    }

    #[test]
    fn coordinates_are_clamped() {
        let value = parsed("{\"Min\": {\"X\": -Infinity}, \"Max\": {\"X\": 1e300, \"Y\": NaN}}");
        let chunks = BlockArea::read(&value).unwrap().chunks();
        let last = BlockPos::new(i32::MAX, 0, 0).chunk();
        let first = BlockPos::new(i32::MIN, 0, 0).chunk();
        assert_eq!((chunks.min(), chunks.max()), (first, last));
    }

    #[test]
    fn other_keys_and_unchanged_areas_are_preserved() {
        let old = parsed(
            "{\"A\": 1, \"KeepLoadedRegion\": {\"Max\": {\"X\": 1, \"Y\": 2}, \"Min\": {}}, \
             \"B\": 2}",
        );
        let mut config = ChunkConfig::read(&old).unwrap();
        assert_eq!(config.write(Some(&old)), Some(old.clone()));
        config.pregenerate_region = Some(BlockArea::new((0.0, 0.0), (1.0, 1.0)));
        let written = config.write(Some(&old)).unwrap();
        assert_eq!(ChunkConfig::read(&written), Ok(config));
        let keys: Vec<_> = written.as_document().unwrap().fields().map(|(key, _)| key).collect();
        assert_eq!(keys, ["A", "KeepLoadedRegion", "B", "PregenerateRegion"]);
        config.pregenerate_region = None;
        assert_eq!(config.write(Some(&written)), Some(old));
    }
}
