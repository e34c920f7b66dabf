//! Evaluates a selection on the chunks of a storage.

use hyworld_providers::{ChunkStorage, Error};

use super::Selection;
use super::chunk_set::ChunkSet;
use super::truth::Truth;
use crate::finding::Finding;
use crate::progress::Progress;
use crate::scan::ScanOptions;

/// Returns the stored chunks that are selected. Only what the selection needs is read: no other
/// region for a selection by position, and no chunk whose position decides. A chunk about which a
/// test cannot be decided, because it cannot be read or decoded, is not selected; `found` is called
/// for it.
pub fn select(
    storage: &dyn ChunkStorage,
    selection: &Selection,
    _options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    _progress: &dyn Progress,
) -> ChunkSet {
    let all = selection.needs_stored().then(|| stored(storage, found));
    let mut selected = ChunkSet::new();
    let is_wanted = |region| selection.test_region(region) != Truth::No;
    for at in storage.positions_in(&is_wanted) {
        match at {
            Ok(at) if selection.test_position(at, all.as_ref()) == Truth::Yes => {
                selected.insert(at);
            }
            Ok(_) => {}
            Err(error) => found(&Finding::of_storage(&error)),
        }
    }
    selected
}

/// Returns all stored chunks. Parts that cannot be listed are reported by the scan that follows.
fn stored(storage: &dyn ChunkStorage, _found: &mut dyn FnMut(&Finding)) -> ChunkSet {
    storage.positions().filter_map(Result::<_, Error>::ok).collect()
}
