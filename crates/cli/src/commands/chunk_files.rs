//! Which region files a path means, and the chunks in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile};

use crate::exit;

/// The folder of a world in which its region files are.
const CHUNKS_FOLDER: &str = "chunks";

/// Region files by rows of regions, from the lowest z up: chunks that are sorted by z come row by
/// row, so that only the files of one row need be open.
pub(super) type Rows = BTreeMap<i32, Vec<(RegionPos, PathBuf)>>;

/// The region files that `path` means: itself, those in it, or those in its `chunks` folder.
pub(super) fn find(path: &Path) -> anyhow::Result<Rows> {
    let folders = [path.to_owned(), path.join(CHUNKS_FOLDER)];
    let mut rows = Rows::new();
    if !path.is_dir() {
        let region = region(path).ok_or_else(|| {
            let name = path.display();
            exit::usage(format!("{name}: not a folder, and not named like 0.0.region.bin"))
        })?;
        rows.entry(region.z).or_default().push((region, path.to_owned()));
        return Ok(rows);
    }
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let context = || format!("{}: cannot list", folder.display());
        for entry in folder.read_dir().with_context(context)? {
            let path = entry.with_context(context)?.path();
            if let Some(region) = region(&path) {
                rows.entry(region.z).or_default().push((region, path));
            }
        }
    }
    if rows.is_empty() {
        let name = path.display();
        return Err(exit::problem(format!("{name}: no region files here or in {CHUNKS_FOLDER}/")));
    }
    Ok(rows)
}

fn region(path: &Path) -> Option<RegionPos> {
    RegionPos::from_file_name(path.file_name()?.to_str()?)
}

/// A chunk in an open file.
#[derive(Debug)]
pub(super) struct StoredChunk<'a> {
    pub(super) at: ChunkPos,
    pub(super) file: &'a IndexedStorageFile,
    pub(super) slot: BlobIndex,
}

/// The chunks of open files, by z and then by x.
pub(super) fn sorted(files: &[(RegionPos, IndexedStorageFile)]) -> Vec<StoredChunk<'_>> {
    let mut chunks = Vec::new();
    for (region, file) in files {
        for slot in file.occupied() {
            let place = u16::try_from(slot.get()).ok().and_then(RegionSlot::from_index);
            if let Some(at) = place.and_then(|place| region.chunk(place)) {
                chunks.push(StoredChunk { at, file, slot });
            }
        }
    }
    chunks.sort_by_key(|chunk| (chunk.at.z, chunk.at.x));
    chunks
}
