//! Differences of the files beside the chunks of two worlds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hyworld_documents::{Document, Value};
use hyworld_maintenance::Change;
use hyworld_world::{Backup, OsFileSystem, Players, Resources, WorldOptions};
use serde::Serialize;

use crate::error::Result;
use crate::location::Location;

/// The maximum number of keys that are listed for a file.
const KEYS_MAX: usize = 50;

/// The depth to which keys are listed.
const DEPTH: u32 = 4;

/// A file that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileDiff {
    /// Its name, such as `config.json` or `resources/Time.json`.
    pub file: String,
    /// What happened to it.
    pub change: Change,
    /// The keys that differ, as paths with dots; the first 50.
    pub keys: Vec<String>,
}

/// Compares the configuration, the resources and the players of two worlds as documents, whatever
/// the order and format of their JSON. A damaged file counts as missing. Players are compared if
/// both worlds are in a universe or a backup. Returns `None` if one of the locations has no such
/// files.
///
/// # Errors
/// Returns an error if a folder cannot be listed, or a backup cannot be opened.
pub fn diff_files(first: &Location, second: &Location) -> Result<Option<Vec<FileDiff>>> {
    let (Some(mut a), Some(mut b)) = (Files::of(first)?, Files::of(second)?) else {
        return Ok(None);
    };
    let (old, new) = (a.names()?, b.names()?);
    let has_players = a.has_players() && b.has_players();
    let all = old.union(&new).filter(|name| has_players || !name.starts_with("players/"));
    let mut found = Vec::new();
    for name in all {
        let old = if old.contains(name) { a.load(name) } else { None };
        let new = if new.contains(name) { b.load(name) } else { None };
        add(&mut found, name.clone(), old.as_ref(), new.as_ref());
    }
    Ok(Some(found))
}

const CONFIG: &str = "config.json";

/// The files beside the chunks of a world.
enum Files {
    Folder { world: PathBuf, resources: Resources<'static>, players: Option<Players<'static>> },
    Backup { backup: Backup, world: String },
}

impl Files {
    fn of(location: &Location) -> Result<Option<Self>> {
        if let Location::Backup { zip, world } = location {
            return Ok(Some(Self::Backup { backup: Backup::open(zip)?, world: world.clone() }));
        }
        let Some(world) = location.world_folder() else { return Ok(None) };
        let opened = WorldOptions::new().without_chunks().open(&world);
        let usual = |_| Resources::in_folder(&OsFileSystem, world.join("resources"));
        let resources = opened.map_or_else(usual, |opened| opened.resources().clone());
        let universe = world.parent().filter(|worlds| worlds.ends_with("worlds"));
        let players = universe.and_then(Path::parent).map(Players::of_universe);
        Ok(Some(Self::Folder { world, resources, players }))
    }

    fn has_players(&self) -> bool {
        !matches!(self, Self::Folder { players: None, .. })
    }

    /// Returns names such as `config.json`, `resources/Time.json` and `players/UUID.json`.
    fn names(&mut self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::from([CONFIG.to_owned()]);
        match self {
            Self::Folder { resources, players, .. } => {
                names.extend(resources.ids()?.iter().map(|id| format!("resources/{id}.json")));
                for player in players.iter().map(Players::list) {
                    names.extend(player?.iter().map(|one| format!("players/{}.json", one.uuid)));
                }
            }
            Self::Backup { backup, world } => {
                let folder = format!("worlds/{world}/");
                for entry in backup.entries()? {
                    let name = entry.name.strip_prefix(&folder).unwrap_or(&entry.name);
                    let (inside, file) = name.rsplit_once('/').unwrap_or(("", name));
                    let is_one = (inside == "resources" && entry.name.starts_with(&folder))
                        || (inside == "players" && !entry.name.starts_with(&folder));
                    if is_one && file.ends_with(".json") {
                        names.insert(name.to_owned());
                    }
                }
            }
        }
        Ok(names)
    }

    fn load(&mut self, name: &str) -> Option<Document> {
        let (inside, file) = name.rsplit_once('/').unwrap_or(("", name));
        let stem = file.strip_suffix(".json")?;
        match self {
            Self::Folder { world, resources, players } => match inside {
                "resources" => resources.load(stem).ok().map(|loaded| loaded.document),
                "players" => {
                    let loaded = players.as_ref()?.load(stem.parse().ok()?).ok()?;
                    Some(loaded.document)
                }
                _ => {
                    let opened = WorldOptions::new().without_chunks().open(world).ok()?;
                    Some(opened.document().clone())
                }
            },
            Self::Backup { backup, .. } if inside == "players" => backup.document(name).ok()?,
            Self::Backup { backup, world } => {
                backup.document(&format!("worlds/{world}/{name}")).ok()?
            }
        }
    }
}

fn add(found: &mut Vec<FileDiff>, file: String, old: Option<&Document>, new: Option<&Document>) {
    let change = match (old, new) {
        (Some(old), Some(new)) if same(old, new) => return,
        (Some(_), Some(_)) => Change::Changed,
        (Some(_), None) => Change::Removed,
        (None, Some(_)) => Change::Added,
        (None, None) => return,
    };
    let mut keys = Vec::new();
    if let (Some(old), Some(new)) = (old, new) {
        changed_keys(old, new, "", DEPTH, &mut keys);
        keys.truncate(KEYS_MAX);
    }
    found.push(FileDiff { file, change, keys });
}

/// Returns whether documents are equal, whatever the order of their keys.
fn same(old: &Document, new: &Document) -> bool {
    let mut keys = Vec::new();
    changed_keys(old, new, "", u32::MAX, &mut keys);
    keys.is_empty()
}

/// Adds the paths of keys whose values differ, up to a depth.
fn changed_keys(old: &Document, new: &Document, path: &str, depth: u32, keys: &mut Vec<String>) {
    // Looking up each key in the documents would take quadratic time.
    let mut all: BTreeMap<&str, [Option<&Value>; 2]> = BTreeMap::new();
    for (number, document) in [old, new].into_iter().enumerate() {
        for (key, value) in document.fields() {
            // Of equal keys the first counts, as in `Document::get`.
            if let Some(found @ None) = all.entry(key).or_default().get_mut(number) {
                *found = Some(value);
            }
        }
    }
    for (key, [a, b]) in all {
        let inner = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match (a, b) {
            (Some(Value::Document(a)), Some(Value::Document(b))) if depth > 1 => {
                changed_keys(a, b, &inner, depth.saturating_sub(1), keys);
            }
            (Some(Value::Document(a)), Some(Value::Document(b))) if same(a, b) => {}
            (a, b) if a == b => {}
            _ => keys.push(inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keys_are_compared_in_time() {
        let text: Vec<_> = (0..200_000).map(|key| format!("\"{key}\":{key}")).collect();
        let old = Document::from_json(&format!("{{{}}}", text.join(","))).unwrap();
        let mut new = old.clone();
        new.set("123456", Value::String("other".to_owned()));
        let started = std::time::Instant::now();
        let mut found = Vec::new();
        add(&mut found, "a".to_owned(), Some(&old), Some(&new));
        assert_eq!(found[0].keys, ["123456"]);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    #[test]
    fn keys_are_compared_in_any_order() {
        let document = |json: &str| Document::from_json(json).unwrap();
        let old = document(r#"{"A": 1, "B": {"C": {"D": 1, "E": 2}, "F": [1]}}"#);
        let new = document(r#"{"B": {"F": [1], "C": {"E": 3, "D": 1}}, "A": 1, "G": null}"#);
        let mut found = Vec::new();
        add(&mut found, "a".to_owned(), Some(&old), Some(&new));
        assert_eq!(found[0].keys, ["B.C.E", "G"]);
        let same = document(r#"{"B": {"F": [1], "C": {"E": 2, "D": 1}}, "A": 1}"#);
        add(&mut found, "b".to_owned(), Some(&old), Some(&same));
        add(&mut found, "c".to_owned(), None, Some(&same));
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].change, found[1].keys.len()), (Change::Added, 0));
    }
}
