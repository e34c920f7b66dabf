//! The files of worlds and universes that are not chunks.

use std::path::{Path, PathBuf};

use hyworld_files::with_suffix;
use hyworld_maintenance::{Class, Finding, Severity};
use hyworld_world::{
    Backup, FallbackRule, JsonFile, LoadedFrom, OsFileSystem, PathKind, TextProblem, Universe,
    WorldEntry, WorldOptions, backup_folder, find_backups, find_writer,
};

use crate::error::Result;
use crate::info::{find, storage_outside_world};
use crate::location::CHUNKS_FOLDER;

/// The endings of files that a program writes before it renames them.
const TEMPORARY: [&str; 3] = [".tmp", ".hyworld-partial", ".hyworld-partial.json"];

/// The folders of a world whose files are checked, and the world's folder itself.
const WORLD_FOLDERS: [&str; 3] = ["", CHUNKS_FOLDER, "resources"];

/// Checks all files at a path.
pub(super) fn check(path: &Path) -> Result<Vec<Finding>> {
    if storage_outside_world(path)?.is_some() {
        return Ok(Vec::new());
    }
    let found = find(path)?;
    let mut findings = check_outside_worlds(path, &found);
    for entry in found.worlds()? {
        findings.extend(check_world(&entry));
    }
    Ok(findings)
}

/// Checks the files of a save or universe that do not belong to a world.
pub(super) fn check_outside_worlds(path: &Path, found: &PathKind) -> Vec<Finding> {
    let mut findings = Vec::new();
    match found {
        PathKind::Save { universe } => {
            check_folder(path, &mut findings);
            check_universe(universe, &mut findings);
        }
        PathKind::Universe { universe } => check_universe(universe, &mut findings),
        _ => {}
    }
    findings
}

fn check_universe(universe: &Universe, findings: &mut Vec<Finding>) {
    for folder in ["", "players", "resources"] {
        check_folder(&universe.path().join(folder), findings);
    }
    match find_backups(&backup_folder(universe.path())) {
        Ok(backups) => {
            for backup in backups {
                if let Err(error) = Backup::open(&backup.path) {
                    findings.push(about(&backup.path, Class::Backup, &error));
                }
            }
        }
        Err(error) => findings.push(Finding::new(Class::WorldFile, error)),
    }
}

fn check_world(entry: &WorldEntry) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in WORLD_FOLDERS {
        check_folder(&entry.path.join(folder), &mut findings);
    }
    if let Some(other) = entry.collides_with.first() {
        let reason = "the game treats both as one world and loads only one of them";
        let message = format!("name collides with {other}: {reason}");
        findings.push(about(&entry.path, Class::WorldFile, &message));
    }
    if let Err(error) = find_writer(&entry.path, std::time::SystemTime::now()) {
        findings.push(Finding::new(Class::WorldFile, error));
    }
    check_settings(&entry.path, &mut findings);
    findings.into_iter().map(|one| Finding { world: Some(entry.name.clone()), ..one }).collect()
}

/// Checks that the settings of the configuration are valid, and that it names the provider in use.
fn check_settings(world: &Path, findings: &mut Vec<Finding>) {
    let config = world.join("config.json");
    let is_reported = findings.iter().any(|found| found.file.as_ref() == Some(&config));
    let reason = match WorldOptions::new().without_chunks().open(world) {
        Err(error) => Some(error.to_string()),
        Ok(folder) => {
            if let Some(pending) = &folder.provider().pending {
                let (stored, configured) =
                    (folder.provider().provider.type_name(), pending.type_name());
                let message = format!(
                    "config.json names the provider {configured}, but {stored} is in use: on its \
                     next start the game moves the chunks, or finds none"
                );
                findings.push(about(&provider_file(world), Class::Provider, &message));
            }
            folder.config().err().map(ToString::to_string)
        }
    };
    let reason = reason.or_else(|| why_missing(world));
    if let Some(reason) = reason.filter(|_| !is_reported) {
        findings.push(about(&config, Class::WorldFile, &reason));
    }
}

/// Returns what is wrong with a world that has data but no configuration.
fn why_missing(world: &Path) -> Option<String> {
    let text =
        "it is missing: the game would use default settings, with another seed, spawn and UUID";
    lacks_config(world).then(|| text.to_owned())
}

/// Returns whether a world of a universe has data but no configuration. Other folders with chunks
/// need none.
pub(crate) fn lacks_config(world: &Path) -> bool {
    const CONFIGS: [&str; 4] = ["config.json", "config.json.bak", "config.bson", "instance.bson"];
    let has = |name: &str| world.join(name).exists();
    let is_used = [CHUNKS_FOLDER, "db", "resources"].into_iter().any(has);
    let real = world.canonicalize().unwrap_or_else(|_| world.to_owned());
    let is_in_universe = real.parent().is_some_and(|parent| parent.ends_with("worlds"));
    is_used && is_in_universe && !CONFIGS.into_iter().any(has)
}

/// Returns the file that names the provider in use.
fn provider_file(world: &Path) -> PathBuf {
    let resource = world.join("resources/ChunkStorage.json");
    if resource.exists() { resource } else { world.join("config.json") }
}

/// Checks the JSON files of a folder, and reports what interrupted programs left in it. A folder
/// that does not exist or cannot be listed has no findings.
fn check_folder(folder: &Path, findings: &mut Vec<Finding>) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if TEMPORARY.iter().any(|ending| name.ends_with(ending)) || name == "recovery-tmp" {
            let message = "left behind by an interrupted program";
            findings.push(about(&path, Class::Leftover, &message));
        } else if is_json(&path) && path.is_file() {
            findings.extend(check_json(&path));
        } else if let Some(stem) = name.strip_suffix(".bak")
            && is_json(Path::new(stem))
            && let Some(reason) = why_unreadable(&path)
            // If the file itself is damaged too, there is one finding for both.
            && why_unreadable(&path.with_file_name(stem)).is_none()
        {
            let message = format!("{reason}; it is a backup, and the file itself is intact");
            let found = about(&path, Class::WorldFile, &message);
            findings.push(Finding { severity: Severity::Warning, ..found });
        }
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// Checks a JSON file. Reports whether its backup can be used instead.
fn check_json(path: &Path) -> Option<Finding> {
    let reason = why_unreadable(path)?;
    let backup = with_suffix(path, ".bak");
    let has_backup = backup.is_file() && why_unreadable(&backup).is_none();
    let backup = if has_backup { "its backup is intact" } else { "it has no usable backup" };
    Some(about(path, Class::WorldFile, &format!("{reason}; {backup}")))
}

/// Returns the reason why a file is not JSON. Returns `None` for a missing file.
fn why_unreadable(path: &Path) -> Option<String> {
    let file = JsonFile::new(&OsFileSystem, path, FallbackRule::Resource);
    match file.load() {
        Ok(loaded) => match loaded.from {
            LoadedFrom::Nothing { problem } if problem != TextProblem::Missing => {
                Some(problem.to_string())
            }
            _ => None,
        },
        Err(error) => Some(error.to_string()),
    }
}

/// Creates a finding about a file.
fn about(path: &Path, class: Class, message: &dyn std::fmt::Display) -> Finding {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let message = message.to_string();
    // Some errors begin with the whole path.
    let full = format!("{}: ", path.display());
    let message = message.strip_prefix(&full).unwrap_or(&message);
    Finding { file: Some(path.to_owned()), ..Finding::new(class, format!("{name}: {message}")) }
}
