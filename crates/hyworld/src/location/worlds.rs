//! Which world a path means.

use std::path::{Path, PathBuf};

use hyworld_world::{Place, Universe, discover};

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

/// The universe that a path is or has in it.
///
/// # Errors
/// There is no universe.
pub fn find_universe(path: &Path) -> Result<Universe> {
    if !path.exists() {
        return Err(not_found(path, "no such folder"));
    }
    match discover(path)? {
        Place::Save { universe } | Place::Universe { universe } => Ok(universe),
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
        Ok(Place::Chunks { .. } | Place::Region { .. }) => Vec::new(),
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
    let names: Vec<_> = names.map(|name| name.display().to_string()).collect();
    let mut chars = 0_usize;
    let fits = names.iter().take_while(|name| {
        chars = chars.saturating_add(name.chars().count()).saturating_add(2);
        chars <= NAMES_CHARS_MAX
    });
    let shown = fits.count().max(1);
    let mut names: Vec<_> = names.into_iter().take(shown).collect();
    if let more @ 1.. = worlds.len().saturating_sub(shown) {
        names.push(format!("{more} more"));
    }
    let names = names.join(", ");
    let (path, count, first) = (path.display(), worlds.len(), first.display());
    let text = format!("{path}: {count} worlds are here, {names}; name one of them, as in {first}");
    Error::new(ErrorKind::SeveralWorlds, text)
}
