//! Finding something to damage in a world, and copying worlds.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use super::{Bson, DamageLocation, RegionBytes};

/// Copies a folder with everything in it.
///
/// # Panics
/// Panics if something cannot be copied.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Returns the region files of a world, the largest first.
pub(crate) fn regions(world: &Path) -> Vec<RegionBytes> {
    let files = world.join("chunks").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        files.filter(|path| path.to_string_lossy().ends_with(".region.bin")).collect();
    paths.sort();
    paths.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).unwrap().len()));
    paths
        .iter()
        .map(|path| RegionBytes::open(path))
        .filter(|file| !file.slots().is_empty())
        .collect()
}

/// Returns the largest region file of a world.
pub(crate) fn region(world: &Path) -> RegionBytes {
    regions(world).into_iter().next().unwrap()
}

/// Returns a region file and the slot in the middle of its list: the damaged chunk then has
/// healthy chunks before and after it.
pub(crate) fn region_and_slot(world: &Path) -> (RegionBytes, u32) {
    let file = region(world);
    let slots = file.slots();
    let slot = slots.get(slots.len() / 2).copied().unwrap();
    (file, slot)
}

/// Calls `edit` with the documents of the chunks until it returns true, and stores that one.
/// Returns its location.
///
/// # Panics
/// Panics if a file cannot be read or written.
pub fn edit_any_chunk(
    world: &Path,
    mut edit: impl FnMut(&mut Bson, (i32, i32)) -> bool,
) -> Option<DamageLocation> {
    for mut file in regions(world) {
        for slot in file.slots() {
            let mut document = Bson::parse(&file.document(slot));
            if edit(&mut document, file.chunk(slot)) {
                file.set_document(slot, &document.encode());
                file.save();
                return Some(file.blob_location(slot));
            }
        }
    }
    None
}

/// Like [`edit_any_chunk`] for the bytes of a binary field; `paths` are tried in each chunk.
pub(crate) fn edit_any_data(
    world: &Path,
    paths: &[&str],
    mut edit: impl FnMut(&mut Vec<u8>) -> bool,
) -> Option<DamageLocation> {
    edit_any_chunk(world, |document, _| {
        for path in paths {
            let Some(value) = document.at(path) else { continue };
            let mut data = value.data().unwrap_or_default().to_vec();
            if edit(&mut data) {
                *value = Bson::binary(&data);
                return true;
            }
        }
        false
    })
}
