//! Differences of the files beside the chunks of two worlds.

use std::collections::BTreeSet;
use std::path::Path;

use hyworld_documents::{Document, Value};
use hyworld_maintenance::Change;
use hyworld_world::{OsFileSystem, Players, Resources, WorldOptions};
use serde::Serialize;

use crate::error::Result;

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
/// the order and format of their JSON. A damaged file counts as empty.
///
/// # Errors
/// Returns an error if a folder cannot be listed.
pub fn diff_files(first: &Path, second: &Path) -> Result<Vec<FileDiff>> {
    let mut found = Vec::new();
    let config = |world: &Path| {
        let opened = WorldOptions::new().without_chunks().open(world);
        opened.map(|opened| opened.document().clone()).unwrap_or_default()
    };
    add(&mut found, "config.json".to_owned(), Some(&config(first)), Some(&config(second)));
    let resources = |world: &Path| {
        let opened = WorldOptions::new().without_chunks().open(world);
        let usual = |_| Resources::in_folder(&OsFileSystem, world.join("resources"));
        opened.map_or_else(usual, |opened| opened.resources().clone())
    };
    let (a, b) = (resources(first), resources(second));
    for id in a.ids()?.into_iter().chain(b.ids()?).collect::<BTreeSet<_>>() {
        let load = |of: &Resources<'_>| of.load(&id).ok().map(|loaded| loaded.document);
        let of = |of: &Resources<'_>, ids: &[String]| ids.contains(&id).then(|| load(of)).flatten();
        let (old, new) = (of(&a, &a.ids()?), of(&b, &b.ids()?));
        add(&mut found, format!("resources/{id}.json"), old.as_ref(), new.as_ref());
    }
    let players = |world: &Path| {
        let universe = world.parent().filter(|worlds| worlds.ends_with("worlds"));
        universe.and_then(Path::parent).map(Players::of_universe)
    };
    if let (Some(a), Some(b)) = (players(first), players(second)) {
        let list = |of: &Players<'_>| of.list();
        let (old, new) = (list(&a)?, list(&b)?);
        let uuids: Vec<_> = old.iter().chain(&new).map(|entry| entry.uuid).collect();
        for uuid in uuids.iter().map(ToString::to_string).collect::<BTreeSet<_>>() {
            let of = |of: &Players<'_>, list: &[hyworld_world::PlayerEntry]| {
                let entry = list.iter().find(|entry| entry.uuid.to_string() == uuid)?;
                of.load(entry.uuid).ok().map(|loaded| loaded.document)
            };
            let name = format!("players/{uuid}.json");
            add(&mut found, name, of(&a, &old).as_ref(), of(&b, &new).as_ref());
        }
    }
    Ok(found)
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
    let all: BTreeSet<&str> = old.fields().chain(new.fields()).map(|(key, _)| key).collect();
    for key in all {
        let (a, b) = (old.get(key), new.get(key));
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
