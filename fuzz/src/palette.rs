//! Invariants of palettes.

use hyworld_chunk::{Palette, PaletteKey};
use hyworld_coords::LocalBlock;

/// Checks that all queries of a palette return the same cells.
pub fn check<K: PaletteKey>(palette: &Palette<K>, probe: LocalBlock) {
    let found = palette.indices();
    let key = |cell: LocalBlock| found.keys[usize::from(found.indices[cell])];
    assert_eq!(palette.get(probe), key(probe));
    let mut cells = 0;
    let mut last = None;
    for run in palette.runs() {
        assert!(run.start.index() == cells && last != Some(run.key));
        let mut indices = run.cells().map(|cell| found.indices[cell]).collect::<Vec<_>>();
        indices.dedup();
        assert!(indices.iter().all(|index| found.keys[usize::from(*index)] == run.key));
        cells += run.len;
        last = Some(run.key);
    }
    assert_eq!(cells, 32_768);
    let counts = palette.exact_counts();
    assert_eq!(counts.iter().map(|(_, cells)| cells).sum::<u32>(), 32_768);
    assert_eq!(palette.uniform().is_some(), counts.len() == 1);
    assert_eq!(palette.rebuilt().is_ok(), counts.len() < 32_768);
    if let Ok(rebuilt) = palette.rebuilt() {
        assert!(rebuilt.same_cells(palette) && rebuilt.check().is_empty());
    }
    if palette.check().is_empty() {
        let sum: u32 = palette.stored_counts().into_iter().map(|(_, cells)| cells).sum();
        assert_eq!(sum, 32_768);
    }
    drop(palette.check().into_iter().map(|anomaly| anomaly.to_string()).collect::<Vec<_>>());
}

/// Checks a change of the cells between two corners: they have the new value, the others the old
/// one, and there are no anomalies any more.
pub fn check_change<K: PaletteKey>(
    before: &Palette<K>,
    after: &Palette<K>,
    corners: [LocalBlock; 2],
    key: &K,
) {
    for cell in samples(corners) {
        let expected = if is_between(cell, corners) { key } else { before.get(cell) };
        assert_eq!(after.get(cell), expected, "{cell:?}");
    }
    assert!(before == after || after.check().is_empty());
}

/// Returns cells all over a section, and those near two corners. Visiting every cell would be so
/// slow that the fuzzer finds less.
pub fn samples(corners: [LocalBlock; 2]) -> impl Iterator<Item = LocalBlock> {
    let near = corners.into_iter().flat_map(|corner| {
        let index = corner.index();
        [1, 32, 1024]
            .into_iter()
            .flat_map(move |step| [index, index.wrapping_sub(step), index.wrapping_add(step)])
    });
    LocalBlock::all().step_by(61).chain(near.filter_map(LocalBlock::from_index))
}

pub fn is_between(cell: LocalBlock, [corner, opposite]: [LocalBlock; 2]) -> bool {
    [LocalBlock::x, LocalBlock::y, LocalBlock::z].iter().all(|side| {
        let (one, other) = (side(corner), side(opposite));
        (one.min(other)..=one.max(other)).contains(&side(cell))
    })
}
