//! [`SourceIdentity`]: the source of a copy.

use std::fmt;
use std::path::Path;

use hyworld_world::WorldOptions;
use serde_json::{Value, json};

/// The format version of the note that records the source of an unfinished copy.
const VERSION: u64 = 2;

/// The identity of the source of a copy. An unfinished copy is continued only from the same source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceIdentity {
    location: String,
    world: Option<String>,
}

impl SourceIdentity {
    /// Returns the identity of a folder or region file: its absolute path with symbolic links
    /// resolved, and the UUID of its world, if the configuration has one.
    pub fn of_path(path: &Path) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        // A region file is in the chunks folder of a world.
        let levels = if path.is_dir() { 2 } else { 3 };
        let world = path.ancestors().take(levels).find_map(world_uuid);
        Self { location: path.display().to_string(), world }
    }

    /// Returns the identity of a storage that is named by a URL.
    pub fn of_url(url: &str) -> Self {
        Self { location: url.to_owned(), world: None }
    }

    pub(crate) fn to_note(&self) -> Value {
        json!({ "version": VERSION, "source": self.location, "world": self.world })
    }

    /// Parses a note. The error describes the recorded source: older versions wrote only a path,
    /// possibly relative, which does not identify the world.
    pub(crate) fn from_note(note: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(note).unwrap_or_default();
        let text = |key| value.get(key).and_then(Value::as_str).map(str::to_owned);
        match (value.get("version").and_then(Value::as_u64), text("source")) {
            (Some(VERSION), Some(location)) => Ok(Self { location, world: text("world") }),
            (None, Some(location)) => Err(format!(
                "{location:?}, started by an older version that did not record the world"
            )),
            _ => Err("an unknown source".to_owned()),
        }
    }
}

impl fmt::Display for SourceIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.location)?;
        match &self.world {
            Some(uuid) => write!(f, " (world {uuid})"),
            None => Ok(()),
        }
    }
}

fn world_uuid(folder: &Path) -> Option<String> {
    if !folder.is_dir() {
        return None;
    }
    let world = WorldOptions::new().without_chunks().open(folder).ok()?;
    Some(world.config().ok()?.settings.uuid?.to_string())
}
