//! The JSON files of a world or universe, and files that interrupted programs left.

use std::fs;
use std::path::{Path, PathBuf};

use hyworld_documents::Document;
use hyworld_files::{read_regular, with_suffix};
use hyworld_maintenance::Finding;

use super::RepairOptions;
use crate::health::lacks_config;
use crate::sources::Source;

/// How the names of temporary files end, those of the game and those of hyworld.
const TEMPORARY: &str = ".tmp";

/// Files that are at most this large are parsed.
const BYTES_MAX: u64 = hyworld_world::limits::JSON_BYTES_MAX;

/// The configuration of a world, without which the game uses default settings.
const CONFIG: &str = "config.json";

/// Where the new version of a file comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileRemedy {
    /// Its backup beside it, `NAME.bak`.
    Backup {
        /// The contents of the backup.
        bytes: Vec<u8>,
    },
    /// A source.
    Copy {
        /// The name of the source.
        source: String,
        /// The contents of the file.
        bytes: Vec<u8>,
    },
    /// No good copy exists, or the file is not needed: it is moved into the undo bundle.
    Quarantine,
}

/// The repair of a file that is not a region file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRepair {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// How it is repaired.
    pub remedy: FileRemedy,
}

/// Plans the repair of the files of a world folder.
pub(super) fn plan(world: &Path, sources: &[Source], options: &RepairOptions) -> Vec<FileRepair> {
    let is_named = |class: &str| options.only.iter().any(|name| name == class);
    let selects = |class: &str| options.only.is_empty() || is_named(class);
    let mut repairs = Vec::new();
    if options.warnings || is_named("world-file") {
        repairs.extend(damaged_backup(&world.join("config.json")));
    }
    if selects("world-file") {
        for name in ["config.json", "paths.json"] {
            let copy = |name: &str| copy_of(sources, |source| source.world_file(name));
            repairs.extend(json_file(&world.join(name), name, &copy, false));
        }
        for path in json_files(&world.join("resources")) {
            let name = format!("resources/{}", file_name(&path));
            let copy = |name: &str| copy_of(sources, |source| source.world_file(name));
            repairs.extend(json_file(&path, &name, &copy, true));
        }
    }
    if selects("leftover") {
        for folder in [world.to_owned(), world.join("chunks"), world.join("resources")] {
            repairs.extend(left_over(&folder));
        }
    }
    repairs
}

/// Plans the repair of the files of a universe that do not belong to a world.
pub(crate) fn plan_universe(universe: &Path, sources: &[Source]) -> Vec<FileRepair> {
    let mut repairs = Vec::new();
    // The game replaces players and resources by default values.
    for (folder, has_defaults) in [("", false), ("players/", true), ("resources/", true)] {
        for path in json_files(&universe.join(folder)) {
            let name = format!("{folder}{}", file_name(&path));
            let copy = |name: &str| copy_of(sources, |source| source.universe_file(name));
            repairs.extend(json_file(&path, &name, &copy, has_defaults));
        }
        repairs.extend(left_over(&universe.join(folder)));
    }
    repairs
}

/// Returns whether a change of the file that a finding is about is planned.
pub(super) fn is_planned(repairs: &[FileRepair], finding: &Finding) -> bool {
    repairs.iter().any(|repair| finding.file.as_ref() == Some(&repair.path))
}

/// Returns the first good copy of a file among the accepted sources.
fn copy_of(
    sources: &[Source],
    read: impl Fn(&Source) -> Option<Vec<u8>>,
) -> Option<(String, Vec<u8>)> {
    let accepted = sources.iter().filter(|source| source.info.same_world.is_accepted());
    let mut good = accepted.filter_map(|source| {
        let bytes = read(source).filter(|bytes| why_unreadable(bytes).is_none())?;
        Some((source.info.name.clone(), bytes))
    });
    good.next()
}

/// Returns the name of a source and its copy of a file.
type CopyOf<'a> = &'a dyn Fn(&str) -> Option<(String, Vec<u8>)>;

/// Plans the repair of a JSON file that cannot be parsed. A file without any good copy is moved
/// into the bundle if the game replaces it by default values.
fn json_file(path: &Path, name: &str, copy: CopyOf<'_>, has_defaults: bool) -> Option<FileRepair> {
    let backup = with_suffix(path, ".bak");
    let reason = match read(path) {
        Some(bytes) => why_unreadable(&bytes)?,
        None if path.exists() => "it cannot be read".to_owned(),
        // The game reads the backup then, so nothing is broken.
        None if name == CONFIG && path.parent().is_some_and(lacks_config) => {
            "it is missing".to_owned()
        }
        None => return None,
    };
    let good = read(&backup).filter(|bytes| why_unreadable(bytes).is_none());
    let remedy = match (good, copy(name)) {
        (Some(bytes), _) => FileRemedy::Backup { bytes },
        (None, Some((source, bytes))) => FileRemedy::Copy { source, bytes },
        (None, None) if has_defaults => FileRemedy::Quarantine,
        (None, None) => return None,
    };
    Some(FileRepair { path: path.to_owned(), reason, remedy })
}

/// Plans to remove a damaged backup of a good file. The game writes a new one with the next save.
fn damaged_backup(path: &Path) -> Option<FileRepair> {
    let backup = with_suffix(path, ".bak");
    let reason = read(&backup).and_then(|bytes| why_unreadable(&bytes))?;
    read(path).filter(|bytes| why_unreadable(bytes).is_none())?;
    Some(FileRepair { path: backup, reason, remedy: FileRemedy::Quarantine })
}

fn read(path: &Path) -> Option<Vec<u8>> {
    read_regular(path, BYTES_MAX).ok()
}

/// Returns what is wrong with a JSON file; `None` if it can be parsed.
fn why_unreadable(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some("it is empty".to_owned());
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Some("it is not UTF-8".to_owned());
    };
    Document::from_json(text.trim_start_matches('\u{feff}')).err().map(|error| error.to_string())
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    listed(folder, |name| Path::new(name).extension().is_some_and(|end| end == "json"))
}

fn left_over(folder: &Path) -> Vec<FileRepair> {
    let found = listed(folder, |name| name.ends_with(TEMPORARY)).into_iter();
    let reason = "an interrupted program left it".to_owned();
    found
        .map(|path| FileRepair { path, reason: reason.clone(), remedy: FileRemedy::Quarantine })
        .collect()
}

/// Lists the files of a folder whose names match, sorted.
fn listed(folder: &Path, matches: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.is_file() && matches(&file_name(path))).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
