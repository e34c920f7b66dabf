//! Everything that a program does with a chunk: look at it, change it, save it.

use hyworld_chunk::{
    AssetKey, BlockChunk, BlockSection, CellDigests, Chunk, ChunkView, Fingerprint, Palette,
    ReadableChunk,
};
use hyworld_coords::{ChunkBlock, ChunkPos, SectionY};

use crate::Choices;

/// Looks at a chunk, changes it as chosen, and checks that all of it and nothing else is saved.
pub fn check(chunk: &Chunk, choices: &mut Choices) {
    let document = chunk.encode();
    let Ok(view) = ChunkView::new(chunk) else {
        Fingerprint::of(document).expect_err("it needs a view too");
        return;
    };
    // Digests take most of the time, and are taken half of the time.
    let takes_digests = choices.byte() & 1 == 1;
    if takes_digests && let Ok(fingerprint) = Fingerprint::of(document.clone()) {
        assert_eq!(fingerprint.cells, CellDigests::of(&view));
    }
    check_histogram(chunk, &view);
    check_readable(chunk, choices.byte());
    check_set_back(chunk, &view, &mut choices.clone());
    let mut same = chunk.clone();
    view.save(&mut same).expect("nothing is to be written");
    assert!(same.encode() == document, "an untouched chunk stays as it is");

    let mut edited = view;
    let mut is_changed = false;
    while !choices.is_empty() {
        is_changed |= edit(&mut edited, choices);
    }
    let mut saved = chunk.clone();
    // A document that could be read up to what was asked for may be broken behind that.
    if edited.save(&mut saved).is_err() {
        return;
    }
    assert!(is_changed || saved.encode() == document);
    let over = edited.encode_over(chunk, Vec::new()).expect("it was saved");
    assert!(over == saved.encode(), "the short way to a document gives the same");
    let again = check_saved(&edited, &saved, chunk);
    assert!(!takes_digests || CellDigests::of(&again) == CellDigests::of(&edited));
}

fn check_histogram(chunk: &Chunk, view: &ChunkView) {
    let histogram = view.histogram();
    if view.sections().iter().all(|section| section.block().blocks().check().is_empty()) {
        assert_eq!(histogram.values().sum::<u64>(), 327_680);
    }
    let skimmed = chunk.histogram().expect("the view was read too");
    let found = histogram.iter().map(|(name, cells)| (name.as_str(), *cells));
    assert!(found.eq(skimmed.iter().map(|(name, cells)| (name.as_ref(), *cells))));
}

/// What people are shown is JSON for everybody.
fn check_readable(chunk: &Chunk, choice: u8) {
    // It is long, and so is the time that it takes.
    if choice.is_multiple_of(8) {
        let readable = ReadableChunk::new(chunk, ChunkPos::new(choice.into(), -1));
        readable.problems().for_each(|problem| drop(problem.to_string()));
        let json = readable.to_string();
        let parsed = serde_json::from_str::<serde::de::IgnoredAny>(&json);
        parsed.unwrap_or_else(|error| panic!("{error}: {json}"));
    }
}

/// Blocks that are set and set back leave a chunk of today as it was, but for the counters.
fn check_set_back(chunk: &Chunk, view: &ChunkView, choices: &mut Choices) {
    let mut edited = view.clone();
    let (first, second) = (choices.block(), choices.block());
    let was = [first, second].map(|at| (at, view.block(at)));
    for (at, info) in &was {
        let key = choices.key(view.sections()[usize::from(at.section().index())].block().blocks());
        if edited.set_cell(*at, key, info.rotation, info.filler).is_err() {
            return;
        }
    }
    for (at, info) in was {
        let back = edited.set_cell(at, info.block, info.rotation, info.filler);
        back.expect("there was room for it");
    }
    let mut saved = chunk.clone();
    let is_old =
        |section: Option<BlockSection>| section.is_none_or(|section| section.version() < 6);
    let is_old = |y| chunk.get_in(y).is_ok_and(is_old);
    if SectionY::all().any(is_old) || edited.save(&mut saved).is_err() {
        return;
    }
    if view.columns().version() == BlockChunk::VERSION {
        assert_eq!(saved.get::<BlockChunk>(), chunk.get::<BlockChunk>());
        for y in SectionY::all() {
            assert_eq!(without_counters(&saved, y), without_counters(chunk, y), "{y:?}");
        }
    }
}

fn without_counters(chunk: &Chunk, y: SectionY) -> Option<BlockSection> {
    let mut section = chunk.get_in::<BlockSection>(y).expect("it was read before")?;
    (section.local_change_counter, section.global_change_counter) = (0, 0);
    Some(section)
}

/// One change. It must be there afterwards, and another place must be as it was.
fn edit(view: &mut ChunkView, choices: &mut Choices) -> bool {
    let (at, witness, kind) = (choices.block(), choices.block(), choices.byte());
    let (before, elsewhere) = (view.block(at), view.block(witness));
    let height = view.height(witness.column());
    let section = &view.sections()[usize::from(at.section().index())];
    let (blocks, fluids) = (section.block().blocks().clone(), section.fluid().fluids().clone());
    let changed = match kind & 1 {
        0 => set_block(view, at, &blocks, choices),
        _ => set_fluid(view, at, &fluids, choices),
    };
    let after = view.block(at);
    assert!(changed || after == before);
    let other = view.block(witness);
    assert!(at.column() == witness.column() || view.height(witness.column()) == height);
    // Ticking and levels without a block or fluid go when the last of those goes.
    assert!(at == witness || (&other.block, &other.fluid) == (&elsewhere.block, &elsewhere.fluid));
    assert!(
        at == witness || (other.rotation, other.filler) == (elsewhere.rotation, elsewhere.filler)
    );
    assert_eq!((other.support, other.environment), (elsewhere.support, elsewhere.environment));
    changed
}

fn set_block(
    view: &mut ChunkView,
    at: ChunkBlock,
    listed: &Palette<AssetKey>,
    choices: &mut Choices,
) -> bool {
    let (key, (rotation, filler)) = (choices.key(listed), choices.turn());
    let Ok(outcome) = view.set_cell(at, key.clone(), rotation, filler) else { return false };
    let found = view.block(at);
    assert_eq!((&found.block, found.rotation, found.filler), (&key, rotation, filler));
    outcome.changed
}

fn set_fluid(
    view: &mut ChunkView,
    at: ChunkBlock,
    listed: &Palette<AssetKey>,
    choices: &mut Choices,
) -> bool {
    let (key, level) = (choices.key(listed), choices.byte() % 17);
    let Ok(changed) = view.set_fluid(at, key.clone(), level) else { return false };
    let found = view.block(at);
    assert_eq!((found.fluid, found.fluid_level), (key, level));
    changed
}

/// What was saved is what was seen, and saving it again changes nothing.
fn check_saved(edited: &ChunkView, saved: &Chunk, original: &Chunk) -> ChunkView {
    let document = saved.encode();
    let again = Chunk::decode(document.clone()).expect("we wrote it");
    let view = ChunkView::new(&again).expect("we wrote it");
    assert!(view.columns().heights.values() == edited.columns().heights.values());
    assert!(view.columns().tints.values() == edited.columns().tints.values());
    assert_eq!(view.environments(), edited.environments());
    for (one, other) in view.sections().iter().zip(edited.sections()) {
        assert!(one.block().same_cells(other.block()) && one.fluid().same_cells(other.fluid()));
        assert!(one.physics().same_cells(other.physics()));
    }
    let mut same = again.clone();
    view.save(&mut same).expect("nothing is to be written");
    assert!(same.encode() == document);
    for id in original.holder().ids().filter(|id| !["ChunkColumn", "BlockChunk"].contains(id)) {
        assert_eq!(again.holder().raw(id), original.holder().raw(id), "{id}");
    }
    view
}
