//! Sets a block and sets it back, in chunks of all sample worlds, and compares the documents.
//!
//! In memory only the change counters may differ. If the chunk was stored and decoded in between,
//! some information for a complete undo is lost; such cases are counted.

use std::collections::BTreeMap;
use std::sync::Mutex;

use hyworld_chunk::{AssetKey, BlockChunk, BlockSection, Chunk, Palette, PaletteKey, PaletteType};
use hyworld_coords::{ChunkBlock, LocalBlock, SectionY};
use hyworld_testkit::WORLDS;

use super::for_each_chunk;

/// Why a chunk differs after a block was set, stored, decoded, and set back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cause {
    /// It does not differ.
    None,
    /// A palette changed its type, as the game's does at the same numbers of entries.
    PaletteType,
    /// A removed value did not have the lowest free id, so it got another one.
    PaletteIds,
    /// A value was removed from a list whose order is unknown.
    PaletteOrder,
    /// The list of heights differs, although every column has the same height.
    HeightList,
    /// The only block of its kind above a height was removed, so it is no longer known to be
    /// transparent.
    Height,
    /// The last block of a section was removed, and with it the ticking flags.
    Ticking,
}

fn palette_cause<K: PaletteKey>(before: &Palette<K>, after: &Palette<K>) -> Cause {
    let by_id = |palette: &Palette<K>| {
        let entries = palette.entries().iter();
        let mut entries: Vec<_> = entries.map(|entry| (entry.internal_id, &entry.key)).collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        entries.iter().map(|(id, key)| format!("{id} {key:?}")).collect::<Vec<_>>()
    };
    assert!(before.same_cells(after));
    match () {
        () if before == after => Cause::None,
        () if before.kind() != after.kind() => Cause::PaletteType,
        () if by_id(before) != by_id(after) => Cause::PaletteIds,
        () => Cause::PaletteOrder,
    }
}

fn causes(original: &Chunk, after: &Chunk, y: SectionY) -> Vec<Cause> {
    let section = |chunk: &Chunk| chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    let (was, is) = (section(original), section(after));
    let columns = |chunk: &Chunk| chunk.get::<BlockChunk>().unwrap().unwrap().heights.clone();
    let (was_heights, are_heights) = (columns(original), columns(after));
    let heights = match () {
        () if was_heights == are_heights => Cause::None,
        () if was_heights.values() == are_heights.values() => Cause::HeightList,
        () => Cause::Height,
    };
    let ticking = if was.ticking() == is.ticking() { Cause::None } else { Cause::Ticking };
    let causes = [
        palette_cause(was.blocks(), is.blocks()),
        palette_cause(was.fillers(), is.fillers()),
        palette_cause(was.rotations(), is.rotations()),
        heights,
        ticking,
    ];
    causes.into_iter().filter(|cause| *cause != Cause::None).collect()
}

/// Returns the document with the original change counters of one section.
fn but_for_counters(original: &Chunk, mut after: Chunk, y: SectionY) -> Vec<u8> {
    let was = original.get_in::<BlockSection>(y).unwrap().unwrap();
    let mut is = after.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    assert_eq!(is.local_change_counter, was.local_change_counter.wrapping_add(2));
    assert_eq!(is.global_change_counter, was.global_change_counter.wrapping_add(2));
    is.local_change_counter = was.local_change_counter;
    is.global_change_counter = was.global_change_counter;
    after.put_in(y, &is).unwrap();
    after.encode()
}

/// Checks that only the blocks of one section, and possibly the heights, differ.
fn check_only_section_differs(original: &Chunk, changed: &Chunk, pos: ChunkBlock) {
    for id in original.holder().ids().filter(|id| !["ChunkColumn", "BlockChunk"].contains(id)) {
        assert!(original.holder().raw(id) == changed.holder().raw(id), "{id}");
    }
    for y in SectionY::all() {
        let (before, after) =
            (original.section_holder(y).unwrap(), changed.section_holder(y).unwrap());
        assert!(before.ids().eq(after.ids()));
        for id in before.ids() {
            let same = before.raw(id) == after.raw(id);
            let is_touched = y == pos.section() && id == "Block";
            assert_eq!(same, !is_touched, "{y:?} {id}");
        }
    }
}

/// Sets a block and sets it back, in memory and with a save in between. Returns why the chunk that
/// was saved in between differs from the original.
fn set_and_set_back(
    (original, document): (&Chunk, &[u8]),
    (at, block): (ChunkBlock, AssetKey),
) -> Vec<Cause> {
    let was = original.block(at).unwrap().to_block();
    let mut changed = original.clone();
    assert!(changed.set_block(at, block.clone()).unwrap().changed);
    check_only_section_differs(original, &changed, at);
    let stored = changed.encode();
    changed.set_block(at, was.clone()).unwrap();
    let changed = Chunk::decode(changed.encode()).unwrap();
    assert!(but_for_counters(original, changed, at.section()) == document, "{at:?} {block}");
    let mut stored = Chunk::decode(stored).unwrap();
    assert_eq!(*stored.block(at).unwrap().key(), block);
    stored.set_block(at, was).unwrap();
    let stored = Chunk::decode(stored.encode()).unwrap();
    let causes = causes(original, &stored, at.section());
    let is_same = but_for_counters(original, stored, at.section()) == document;
    assert_eq!(is_same, causes.is_empty(), "{at:?} {block} {causes:?}");
    causes
}

/// Returns the edits to try in a chunk: in every section a rare block, a common block, a cell of a
/// multi-block object, and in the top section a block in air.
fn cases(chunk: &Chunk) -> Vec<(ChunkBlock, AssetKey)> {
    let glass = AssetKey::new("Test_Glass").unwrap();
    let mut cases = Vec::new();
    for section in chunk.sections() {
        let (y, section) = (section.y(), section.blocks().unwrap());
        let (blocks, fillers) = (section.blocks(), section.fillers());
        let middle = LocalBlock::from_index(20_000).unwrap();
        if blocks.kind() != PaletteType::Empty || y == SectionY::TOP {
            cases.push((y.block(middle), glass.clone()));
        }
        if blocks.kind() == PaletteType::Empty {
            continue;
        }
        let rarest = blocks.entries().iter().min_by_key(|entry| entry.count).unwrap();
        let other = blocks.entries().iter().find(|entry| entry.key != rarest.key);
        let cell = blocks.runs().find(|run| *run.key == rarest.key).unwrap().start;
        cases.extend(other.map(|other| (y.block(cell), other.key.clone())));
        let large = fillers.runs().find(|run| !run.key.is_base());
        cases.extend(large.map(|run| (y.block(run.start), AssetKey::EMPTY)));
    }
    cases.retain(|(at, block)| chunk.block(*at).unwrap().key() != block);
    cases
}

/// Returns whether an edit removes a block entity or other cells of an object. Compares them with
/// the queries of the original chunk.
fn removes_more(original: &Chunk, (at, block): &(ChunkBlock, AssetKey)) -> bool {
    let mut changed = original.clone();
    let removed = changed.set_block(*at, block.clone()).unwrap().removed;
    let old = original.block(*at).unwrap();
    let anchor = old.anchor().unwrap_or((*at).into());
    let mut cells = original.cells_pointing_to(anchor, old.key()).unwrap();
    let base = anchor.in_chunk();
    let base = base.filter(|base| {
        let found = original.block(*base).unwrap();
        found.key() == old.key() && found.filler().is_base()
    });
    cells.extend(base);
    if base.is_none() && anchor.in_chunk().is_some() {
        cells = vec![*at];
    }
    let is_entity = |cell: &&ChunkBlock| original.block_entity(**cell).unwrap().is_some();
    let entities = cells.iter().filter(is_entity).count();
    let expected = (cells.len() - 1, entities);
    assert_eq!((removed.cells as usize, removed.block_entities as usize), expected, "{at:?}");
    let left = changed.block_entity_count().unwrap() + entities;
    assert_eq!(left, original.block_entity_count().unwrap());
    for cell in cells {
        assert!(cell == *at || changed.block(cell).unwrap().is_air(), "{cell:?}");
    }
    removed.cells + removed.block_entities > 0
}

#[derive(Default, Debug)]
struct Tally {
    chunks: usize,
    /// Edits that removed more than the block, which cannot be undone by setting the block.
    removing: usize,
    tried: usize,
    same: usize,
    causes: BTreeMap<Cause, usize>,
}

fn try_in(document: &[u8], tally: &Mutex<Tally>) {
    let original = Chunk::decode(document.to_vec()).unwrap();
    let (removing, cases): (Vec<_>, Vec<_>) =
        cases(&original).into_iter().partition(|case| removes_more(&original, case));
    let found = cases.into_iter().map(|case| set_and_set_back((&original, document), case));
    let found: Vec<Vec<Cause>> = found.collect();
    let mut tally = tally.lock().unwrap();
    tally.chunks += 1;
    tally.removing += removing.len();
    tally.tried += found.len();
    tally.same += found.iter().filter(|causes| causes.is_empty()).count();
    for cause in found.into_iter().flatten() {
        *tally.causes.entry(cause).or_default() += 1;
    }
}

#[test]
fn a_block_that_is_set_back_leaves_only_change_counters() {
    let tally = Mutex::new(Tally::default());
    for world in WORLDS {
        // The large worlds are similar everywhere.
        let step = if world.contains("2026-01") { 1 } else { 40 };
        let done = for_each_chunk(world, |at, document| {
            if (at.x + 7 * at.z).rem_euclid(step) == 0 {
                try_in(&document, &tally);
            }
        });
        if done.is_none() {
            return;
        }
    }
    let tally = tally.into_inner().unwrap();
    println!("set back in one view: {} of {} the same", tally.tried, tally.tried);
    println!("stored in between: {tally:?}");
    assert_eq!((tally.chunks, tally.removing), (469, 614));
    assert_eq!((tally.tried, tally.same), (3169, 3053));
    let causes = [(Cause::PaletteIds, 2), (Cause::PaletteOrder, 22), (Cause::Height, 93)];
    assert_eq!(tally.causes, BTreeMap::from(causes));
}
