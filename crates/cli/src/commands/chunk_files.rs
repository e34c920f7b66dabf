//! Which region files a path means, and the chunks in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::BlobIndex;

use crate::exit;
use crate::output::text;

/// The folder of a world in which its region files are.
const CHUNKS_FOLDER: &str = "chunks";

/// The folders of which a world has at least one.
const STORAGE_FOLDERS: [&str; 2] = [CHUNKS_FOLDER, "db"];

/// Where the worlds of a save are, and those of a universe.
const WORLDS_FOLDERS: [&str; 2] = ["universe/worlds", "worlds"];

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
        Some(world) => {
            let name = world.display();
            Err(exit::problem(format!("{name}: this world has no region files")))
        }
        None => Err(nothing_here(path)),
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

/// The world in a save, in a universe or in a folder of worlds, if it is the only one; `None` if
/// there are no worlds.
pub(super) fn only_world(path: &Path) -> anyhow::Result<Option<PathBuf>> {
    let folders = WORLDS_FOLDERS.map(|folder| path.join(folder)).into_iter();
    for folder in folders.chain([path.to_owned()]).filter(|folder| folder.is_dir()) {
        let mut worlds = entries(&folder)?;
        worlds.retain(|world| STORAGE_FOLDERS.iter().any(|folder| world.join(folder).is_dir()));
        worlds.sort();
        match worlds.as_slice() {
            [] => {}
            [world] => return Ok(Some(world.clone())),
            [first, ..] => {
                let names = worlds.iter().filter_map(|world| world.file_name());
                let names: Vec<_> = names.map(|name| name.display().to_string()).collect();
                return Err(exit::usage(format!(
                    "{}: {} worlds are here, {}; name one of them, as in {}",
                    path.display(),
                    worlds.len(),
                    text::as_many(&names, 200),
                    first.display()
                )));
            }
        }
    }
    Ok(None)
}

fn region(path: &Path) -> Option<RegionPos> {
    RegionPos::from_file_name(path.file_name()?.to_str()?)
}

/// The chunk that a slot of a region's file holds.
pub(super) fn chunk(region: RegionPos, slot: BlobIndex) -> Option<ChunkPos> {
    let place = u16::try_from(slot.get()).ok().and_then(RegionSlot::from_index);
    place.and_then(|place| region.chunk(place))
}
