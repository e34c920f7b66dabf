//! [`BlockIdMap`]: `blockIdMap.legacy.json`, which block an old number stood for.

use std::collections::BTreeMap;
use std::path::Path;

use hyworld_documents::{Document, Value};
use hyworld_files::FileSystem;

use crate::config::SettingProblem;
use crate::error::{Error, Result};
use crate::json_file::{FallbackRule, JsonFile, LoadedFrom};

/// Its name, and the one that the game renames at its next start.
const NAMES: [&str; 2] = ["blockIdMap.legacy.json", "blockIdMap.json"];

/// Names of blocks by the numbers that sections had before the game was published.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BlockIdMap {
    names: BTreeMap<i32, String>,
}

impl BlockIdMap {
    /// Reads the map of a universe; `None` if it has none, which is the usual case.
    ///
    /// # Errors
    /// It is there and cannot be used.
    pub fn load(files: &dyn FileSystem, universe: &Path) -> Result<Option<Self>> {
        // The newer name is what the game would rename over the other.
        for name in NAMES.iter().rev() {
            let path = universe.join(name);
            let loaded = JsonFile::new(files, &path, FallbackRule::Config).load()?;
            if loaded.from == LoadedFrom::File {
                let map = Self::from_document(&loaded.document);
                return map.map(Some).map_err(|problem| Error::Setting { path, problem });
            }
        }
        Ok(None)
    }

    /// Reads a map. A number that stands twice means what it means last, as in the game.
    ///
    /// # Errors
    /// It is not `{"Blocks": [{"Id": NUMBER, "BlockType": NAME}, ...]}`.
    pub fn from_document(document: &Document) -> Result<Self, SettingProblem> {
        let blocks = match document.get("Blocks") {
            None => &[],
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(other) => {
                return Err(SettingProblem::new("a list", other).inside("Blocks"));
            }
        };
        let entry = |(place, block): (usize, &Value)| {
            let fields = block.as_document();
            let id = fields.and_then(|fields| fields.get("Id"));
            let name = fields.and_then(|fields| fields.get("BlockType")).and_then(Value::as_str);
            if let (Some(Value::Int32(id)), Some(name)) = (id, name) {
                return Ok((*id, name.to_owned()));
            }
            let problem = SettingProblem::new("a block with Id and BlockType", block);
            Err(problem.inside(&format!("Blocks.{place}")))
        };
        Ok(Self { names: blocks.iter().enumerate().map(entry).collect::<Result<_, _>>()? })
    }

    /// The block that a number stood for.
    pub fn get(&self, id: i32) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// All numbers and names, sorted by number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (i32, &str)> {
        self.names.iter().map(|(id, name)| (*id, name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_files::MemoryFileSystem;

    const TEXT: &str = "{\"Blocks\": [{\"Id\": 7, \"BlockType\": \"Stone\"}, \
                        {\"BlockType\": \"Air\", \"Id\": 0}, \
                        {\"Id\": 7, \"BlockType\": \"Rock\"}]}";

    #[test]
    fn numbers_have_names() {
        let files = MemoryFileSystem::new();
        let universe = Path::new("u");
        assert_eq!(BlockIdMap::load(&files, universe).unwrap(), None);
        files.write(&universe.join("blockIdMap.legacy.json"), TEXT.as_bytes()).unwrap();
        let map = BlockIdMap::load(&files, universe).unwrap().unwrap();
        assert_eq!(map.iter().collect::<Vec<_>>(), [(0, "Air"), (7, "Rock")]);
        assert_eq!((map.get(0), map.get(1)), (Some("Air"), None));
        files.write(&universe.join("blockIdMap.json"), b"{}").unwrap();
        assert_eq!(BlockIdMap::load(&files, universe).unwrap().unwrap().iter().len(), 0);
    }

    #[test]
    fn other_shapes_are_refused_with_their_place() {
        for (text, key) in [
            ("{\"Blocks\": {}}", "Blocks"),
            ("{\"Blocks\": [{\"Id\": 1, \"BlockType\": \"a\"}, {\"Id\": 2}]}", "Blocks.1"),
            ("{\"Blocks\": [{\"Id\": 1.5, \"BlockType\": \"a\"}]}", "Blocks.0"),
            ("{\"Blocks\": [1]}", "Blocks.0"),
        ] {
            let document = Document::from_json(text).unwrap();
            assert_eq!(BlockIdMap::from_document(&document).unwrap_err().key, key);
        }
    }
}
