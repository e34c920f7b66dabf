//! Which region files a path means, and the chunks in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::BlobIndex;
use hyworld_world::{Error, Place, discover};

use crate::exit;
use crate::output::text;

/// The folder of a world in which its region files are.
const CHUNKS_FOLDER: &str = "chunks";

/// The folders of which a world has at least one.
const STORAGE_FOLDERS: [&str; 2] = [CHUNKS_FOLDER, "db"];

/// Region files by rows of regions, from the lowest z up: chunks that are sorted by z come row by
/// row, so that only the files of one row need be open.
pub(super) type Rows = BTreeMap<i32, Vec<(RegionPos, PathBuf)>>;

/// The region files that `path` means: itself, those in it, those in its `chunks` folder, or those
/// of the only world in it.
pub(super) fn find(path: &Path) -> anyhow::Result<Rows> {
    let name = path.display();
    if !path.is_dir() {
        let region = region(path).ok_or_else(|| {
            let exists = path.exists();
            let named = "not a folder, and not named like 0.0.region.bin";
            exit::usage(format!(
                "{name}: {}",
                if exists { named } else { "no such file or folder" }
            ))
        })?;
        return Ok(Rows::from([(region.z, vec![(region, path.to_owned())])]));
    }
    let rows = in_folder(path)?;
    if !rows.is_empty() {
        return Ok(rows);
    }
    let world = only_world(path)?;
    let rows = world.as_deref().map(in_folder).transpose()?.unwrap_or_default();
    match world {
        _ if !rows.is_empty() => Ok(rows),
        Some(world) if world != path => {
            let name = world.display();
            Err(exit::problem(format!("{name}: this world has no region files")))
        }
        _ => Err(nothing_here(path)),
    }
}

/// The error for a folder without chunks and without worlds.
pub(super) fn nothing_here(path: &Path) -> anyhow::Error {
    let name = path.display();
    exit::problem(format!("{name}: no region files here or in {CHUNKS_FOLDER}/, and no worlds"))
}

/// The region files in a folder and in its `chunks` folder.
fn in_folder(path: &Path) -> anyhow::Result<Rows> {
    let mut rows = Rows::new();
    let folders = [path.to_owned(), path.join(CHUNKS_FOLDER)];
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for path in entries(folder)? {
            if let Some(region) = region(&path) {
                rows.entry(region.z).or_default().push((region, path));
            }
        }
    }
    Ok(rows)
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let context = || format!("{}: cannot list", folder.display());
    let entries = folder.read_dir().with_context(context)?;
    entries.map(|entry| Ok(entry.with_context(context)?.path())).collect()
}

/// The world that a path is, or the only one in a save, in a universe or in a folder of worlds;
/// `None` if there are no worlds. One without chunks counts only where none has chunks.
pub(super) fn only_world(path: &Path) -> anyhow::Result<Option<PathBuf>> {
    let has_storage =
        |world: &PathBuf| STORAGE_FOLDERS.iter().any(|folder| world.join(folder).is_dir());
    let mut worlds: Vec<_> = match discover(path) {
        Ok(Place::Chunks { .. } | Place::Region { .. }) => Vec::new(),
        Ok(place) => place.worlds()?.into_iter().map(|world| world.path).collect(),
        // Worlds may be in any folder.
        Err(Error::NotFound { .. }) => entries(path)?.into_iter().filter(has_storage).collect(),
        Err(error) => return Err(error.into()),
    };
    if worlds.iter().any(has_storage) {
        worlds.retain(has_storage);
    }
    worlds.sort();
    match worlds.as_slice() {
        [] => Ok(None),
        [world] => Ok(Some(world.clone())),
        [first, ..] => Err(several(path, first, &worlds)),
    }
}

/// The error for a path with several worlds.
fn several(path: &Path, first: &Path, worlds: &[PathBuf]) -> anyhow::Error {
    let names = worlds.iter().filter_map(|world| world.file_name());
    let names: Vec<_> = names.map(|name| name.display().to_string()).collect();
    exit::usage(format!(
        "{}: {} worlds are here, {}; name one of them, as in {}",
        path.display(),
        worlds.len(),
        text::as_many(&names, 200),
        first.display()
    ))
}

fn region(path: &Path) -> Option<RegionPos> {
    RegionPos::from_file_name(path.file_name()?.to_str()?)
}

/// The chunk that a slot of a region's file holds.
pub(super) fn chunk(region: RegionPos, slot: BlobIndex) -> Option<ChunkPos> {
    let place = u16::try_from(slot.get()).ok().and_then(RegionSlot::from_index);
    place.and_then(|place| region.chunk(place))
}
