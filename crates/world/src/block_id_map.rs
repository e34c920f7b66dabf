//! [`BlockIdMap`]: `blockIdMap.legacy.json`, which maps old block ids to names.

use std::collections::BTreeMap;
use std::path::Path;

use hyworld_documents::{Document, Value};
use hyworld_files::FileSystem;

use crate::config::SettingProblem;
use crate::error::{Error, Result};
use crate::json_file::{FallbackRule, JsonFile, LoadedFrom};

/// The file name, and the name that the game renames to it on its next start.
const NAMES: [&str; 2] = ["blockIdMap.legacy.json", "blockIdMap.json"];

/// Block names by the ids that sections used before the game's release.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BlockIdMap {
    names: BTreeMap<i32, String>,
}

impl BlockIdMap {
    /// Reads the map of a universe. Returns `None` if there is none, which is the usual case.
    ///
    /// # Errors
    /// Returns an error if the file exists but cannot be used.
    pub fn load(files: &dyn FileSystem, universe: &Path) -> Result<Option<Self>> {
        // The game would rename the second file over the first, so it takes precedence.
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

    /// Parses a map. If an id occurs twice, the last entry is used, as in the game.
    ///
    /// # Errors
    /// Returns an error unless the document is `{"Blocks": [{"Id": NUMBER, "BlockType": NAME},
    /// ...]}`.
    pub fn from_document(document: &Document) -> Result<Self, SettingProblem> {
        let blocks = match document.get("Blocks") {
            None => &[],
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(other) => {
                return Err(SettingProblem::new("a list", other).inside("Blocks"));
            }
        };
        let entry = |(index, block): (usize, &Value)| {
            let fields = block.as_document();
            let id = fields.and_then(|fields| fields.get("Id"));
            let name = fields.and_then(|fields| fields.get("BlockType")).and_then(Value::as_str);
            if let (Some(Value::Int32(id)), Some(name)) = (id, name) {
                return Ok((*id, name.to_owned()));
            }
            let problem = SettingProblem::new("a block with Id and BlockType", block);
            Err(problem.inside(&format!("Blocks.{index}")))
        };
        Ok(Self { names: blocks.iter().enumerate().map(entry).collect::<Result<_, _>>()? })
    }

    /// Returns the block name of an id.
    pub fn get(&self, id: i32) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// Returns all ids and names, sorted by id.
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
    fn ids_are_mapped_to_names() {
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
    fn other_shapes_are_rejected_with_their_key() {
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
