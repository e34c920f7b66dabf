//! Which world a path means.

use std::path::{Path, PathBuf};

use hyworld_world::{PathKind, Universe, WorldEntry, discover};

use super::{CHUNKS_FOLDER, DATABASE_FOLDER, bad_location, not_found};
use crate::error::{Error, ErrorKind, Result};

/// How many characters the names of worlds may take in an error.
const NAMES_CHARS_MAX: usize = 200;

/// The folder of the world that a path is, belongs to, or has as the only one with chunks.
///
/// # Errors
/// There is no world, or there are several.
pub fn find_world(path: &Path) -> Result<PathBuf> {
    if !path.exists() {
        return Err(not_found(path, "no such folder"));
    }
    let place = discover(path)?;
    let worlds = place.worlds()?.into_iter().map(|world| world.path).collect();
    let no_world = || {
        let problem = format!("there is no world here, only {}", place.kind());
        Error::new(ErrorKind::NotAWorld, format!("{}: {problem}", path.display()))
    };
    only(path, worlds)?.ok_or_else(no_world)
}

/// The folder of the world with this name in a save, universe or asset pack. In a backup, the path
/// by which the world is opened.
///
/// # Errors
/// There is no world of that name.
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
    Err(not_found(path, &format!("no world {name:?}; the worlds here are {names}")))
}

/// The worlds with chunks at a path where there are several; otherwise the path itself.
///
/// # Errors
/// The worlds cannot be listed.
pub fn find_worlds(path: &Path) -> Result<Vec<PathBuf>> {
    match only_world_with_chunks(path) {
        Err(error) if error.kind() == ErrorKind::SeveralWorlds => {}
        _ => return Ok(vec![path.to_owned()]),
    }
    let mut worlds: Vec<_> = match discover(path) {
        Ok(place) => place.worlds()?.into_iter().map(|world| world.path).collect(),
        Err(_) => entries(path)?,
    };
    worlds.retain(|world| has_storage(world));
    worlds.sort();
    Ok(worlds)
}

/// The universe that a path is or has in it.
///
/// # Errors
/// There is no universe.
pub fn find_universe(path: &Path) -> Result<Universe> {
    if !path.exists() {
        return Err(not_found(path, "no such folder"));
    }
    match discover(path)? {
        PathKind::Save { universe } | PathKind::Universe { universe } => Ok(universe),
        other => {
            let wanted = "name the universe, which is the folder with worlds/ in it";
            Err(bad_location(path, &format!("this is {}; {wanted}", other.kind())))
        }
    }
}

/// As [`find_world`], for a path that is not a part of a world itself; also finds worlds in a
/// folder that is not a universe.
pub(super) fn only_world_with_chunks(path: &Path) -> Result<Option<PathBuf>> {
    let worlds = match discover(path) {
        Ok(PathKind::Chunks { .. } | PathKind::Region { .. }) => Vec::new(),
        Ok(place) => place.worlds()?.into_iter().map(|world| world.path).collect(),
        Err(hyworld_world::Error::NotFound { .. }) => {
            entries(path)?.into_iter().filter(|path| has_storage(path)).collect()
        }
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

/// The only one of several worlds. Worlds without chunks count only where none has chunks.
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
        "{path}: {count} worlds are here, {names}; name one of them, as in {first}, or with --world"
    );
    Error::new(ErrorKind::SeveralWorlds, text)
}

/// As many names as fit into an error, and how many more there are.
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
