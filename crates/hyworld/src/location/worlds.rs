//! Finding the worlds at a path.

use std::path::{Path, PathBuf};

use hyworld_world::{PathKind, Universe, WorldEntry, discover};

use super::{CHUNKS_FOLDER, DATABASE_FOLDER, bad_location, not_found};
use crate::error::{Error, ErrorKind, Result};

/// The maximum length of a list of world names in an error.
const NAMES_CHARS_MAX: usize = 200;

/// Returns the folder of the world at `path`: the path itself, a parent of it, or the only world
/// with chunks inside it.
///
/// # Errors
/// Returns an error if there is no world or if there are several.
pub fn find_world(path: &Path) -> Result<PathBuf> {
    if !path.exists() {
        return Err(not_found(path, "no such folder"));
    }
    let kind = discover(path)?;
    let worlds = kind.worlds()?.into_iter().map(|world| world.path).collect();
    let no_world = || {
        let text = format!("{}: no world found; this is {}", path.display(), kind.kind());
        Error::new(ErrorKind::NotAWorld, text)
    };
    only(path, worlds)?.ok_or_else(no_world)
}

/// Returns the folder of the world with this name in a save, universe or asset pack. For a backup,
/// returns the path that opens the world.
///
/// # Errors
/// Returns an error if there is no world of that name.
pub fn find_named_world(path: &Path, name: &str) -> Result<PathBuf> {
    if !path.exists() {
        return Err(not_found(path, "no such file or folder"));
    }
    let is_backup = path.extension().is_some_and(|last| last.eq_ignore_ascii_case("zip"));
    if path.is_file() && is_backup {
        return Ok(path.join(name));
    }
    let worlds = discover(path)?.worlds()?;
    let is_same = |world: &&WorldEntry| world.name.eq_ignore_ascii_case(name);
    let found = worlds.iter().find(|world| world.name == name);
    if let Some(world) = found.or_else(|| worlds.iter().find(is_same)) {
        return Ok(world.path.clone());
    }
    let names: Vec<_> = worlds.into_iter().map(|world| world.name).collect();
    let names = if names.is_empty() { "none".to_owned() } else { shortened(names) };
    Err(not_found(path, &format!("no world {name:?}; existing worlds: {names}")))
}

/// Returns the worlds with chunks if `path` contains several; otherwise `path` itself.
///
/// # Errors
/// Returns an error if the worlds cannot be listed.
pub fn find_worlds(path: &Path) -> Result<Vec<PathBuf>> {
    match only_world_with_chunks(path) {
        Err(error) if error.kind() == ErrorKind::SeveralWorlds => {}
        _ => return Ok(vec![path.to_owned()]),
    }
    let mut worlds: Vec<_> =
        discover(path)?.worlds()?.into_iter().map(|world| world.path).collect();
    worlds.retain(|world| has_storage(world));
    worlds.sort();
    Ok(worlds)
}

/// Returns the universe at `path` or inside it.
///
/// # Errors
/// Returns an error if there is no universe.
pub fn find_universe(path: &Path) -> Result<Universe> {
    if !path.exists() {
        return Err(not_found(path, "no such folder"));
    }
    match discover(path)? {
        PathKind::Save { universe } | PathKind::Universe { universe } => Ok(universe),
        other => {
            let advice = "name the universe, the folder that contains worlds/";
            Err(bad_location(path, &format!("this is {}; {advice}", other.kind())))
        }
    }
}

/// Like [`find_world`], for a path that is not part of a world.
pub(super) fn only_world_with_chunks(path: &Path) -> Result<Option<PathBuf>> {
    let worlds = match discover(path) {
        Ok(PathKind::Chunks { .. } | PathKind::Region { .. })
        | Err(hyworld_world::Error::NotFound { .. }) => Vec::new(),
        Ok(kind) => kind.worlds()?.into_iter().map(|world| world.path).collect(),
        Err(error) => return Err(error.into()),
    };
    only(path, worlds)
}

pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed =
        |error| Error::new(ErrorKind::Io, format!("{}: cannot list: {error}", folder.display()));
    let entries = folder.read_dir().map_err(failed)?;
    entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect()
}

fn has_storage(world: &Path) -> bool {
    [CHUNKS_FOLDER, DATABASE_FOLDER].into_iter().any(|folder| world.join(folder).is_dir())
}

/// Returns the world if there is only one. Worlds without chunks are ignored if any has chunks.
fn only(path: &Path, mut worlds: Vec<PathBuf>) -> Result<Option<PathBuf>> {
    if worlds.iter().any(|world| has_storage(world)) {
        worlds.retain(|world| has_storage(world));
    }
    worlds.sort();
    match worlds.as_slice() {
        [] => Ok(None),
        [world] => Ok(Some(world.clone())),
        [first, ..] => Err(several(path, first, &worlds)),
    }
}

fn several(path: &Path, first: &Path, worlds: &[PathBuf]) -> Error {
    let names = worlds.iter().filter_map(|world| world.file_name());
    let names = shortened(names.map(|name| name.display().to_string()).collect());
    let (path, count, first) = (path.display(), worlds.len(), first.display());
    let text = format!(
        "{path}: contains {count} worlds: {names}; \
         choose one by path, as in {first}, or with --world"
    );
    Error::new(ErrorKind::SeveralWorlds, text)
}

/// Joins as many names as fit into an error, and adds the number of others.
fn shortened(mut names: Vec<String>) -> String {
    let mut chars = 0_usize;
    let fits = names.iter().take_while(|name| {
        chars = chars.saturating_add(name.chars().count()).saturating_add(2);
        chars <= NAMES_CHARS_MAX
    });
    let (shown, all) = (fits.count().max(1), names.len());
    names.truncate(shown);
    if let more @ 1.. = all.saturating_sub(shown) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
