//! Everything that a program does with a chunk: look at it, change it, save it.

use hyworld_chunk::{AssetKey, CellDigests, Chunk, ChunkView, Fingerprint, Palette};

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
    check_histogram(&view);
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
    let again = check_saved(&edited, &saved, chunk);
    assert!(!takes_digests || CellDigests::of(&again) == CellDigests::of(&edited));
}

fn check_histogram(view: &ChunkView) {
    let histogram = view.histogram();
    if view.sections().iter().all(|section| section.block().blocks().check().is_empty()) {
        assert_eq!(histogram.values().sum::<u64>(), 327_680);
    }
}

/// One change. It must be there afterwards, and another place must be as it was.
fn edit(view: &mut ChunkView, choices: &mut Choices) -> bool {
    let (at, witness, kind) = (choices.block(), choices.block(), choices.byte());
    let (before, elsewhere) = (view.block(at), view.block(witness));
    let section = &view.sections()[usize::from(at.section().index())];
    let (blocks, fluids) = (section.block().blocks().clone(), section.fluid().fluids().clone());
    let changed = match kind & 1 {
        0 => set_block(view, at, &blocks, choices),
        _ => set_fluid(view, at, &fluids, choices),
    };
    let after = view.block(at);
    assert!(changed || after == before);
    let other = view.block(witness);
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
    at: hyworld_coords::ChunkBlock,
    listed: &Palette<AssetKey>,
    choices: &mut Choices,
) -> bool {
    let (key, (rotation, _)) = (choices.key(listed), choices.turn());
    let Ok(outcome) = view.set_block(at, key.clone(), rotation) else { return false };
    let found = view.block(at);
    assert_eq!((&found.block, found.rotation), (&key, rotation));
    assert!(found.filler.is_base());
    let height = i32::from(view.height(at.column()));
    let is_air = key.is_empty_key();
    assert!(!outcome.changed || is_air || height >= i32::from(at.y()), "the height follows");
    assert!(!outcome.changed || !is_air || at.y() == 0 || height != i32::from(at.y()));
    outcome.changed
}

fn set_fluid(
    view: &mut ChunkView,
    at: hyworld_coords::ChunkBlock,
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
