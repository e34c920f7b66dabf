//! The operations of a program on a chunk: reading, changing and encoding it.

use hyworld_chunk::{
    AssetKey, Block, BlockChunk, BlockSection, CellDigests, Chunk, Fingerprint, Palette,
    ReadableChunk,
};
use hyworld_coords::{ChunkBlock, ChunkPos, SectionY};

use crate::Choices;

/// Reads and changes a chunk as chosen, and checks that exactly the changes are encoded.
pub fn check(chunk: &Chunk, choices: &mut Choices) {
    let document = chunk.encode();
    let chunk = &Chunk::decode(document.clone()).expect("it is a chunk");
    if chunk.decode_blocks().is_err() {
        Fingerprint::of(document).expect_err("a fingerprint needs all blocks");
        check_edit_of_damaged(chunk, choices);
        return;
    }
    // Digests take most of the time, so they are computed half of the time.
    let checks_digests = choices.byte() & 1 == 1;
    let digests = |chunk: &Chunk| CellDigests::of(chunk).expect("it was decoded before");
    if checks_digests && let Ok(fingerprint) = Fingerprint::of(document.clone()) {
        assert_eq!(fingerprint.cells, digests(chunk));
    }
    check_histogram(chunk);
    check_readable(chunk, choices.byte());
    check_set_back(chunk, &mut choices.clone());
    assert!(chunk.encode() == document, "an untouched chunk stays as it is");

    let mut edited = chunk.clone();
    let mut is_changed = false;
    while !choices.is_empty() {
        is_changed |= edit(&mut edited, choices);
    }
    assert!(is_changed || edited.encode() == document);
    let again = check_encoded(&edited, chunk);
    assert!(!checks_digests || digests(&again) == digests(&edited));
    edited.forget_decoded().expect("it was encoded before");
    assert!(edited == again);
}

/// Checks that an edit of a damaged chunk succeeds or changes nothing.
fn check_edit_of_damaged(chunk: &Chunk, choices: &mut Choices) {
    let mut edited = chunk.clone();
    let at = choices.block();
    match edited.set_block(at, "Fuzz_Damaged") {
        Ok(_) => {
            let again = Chunk::decode(edited.encode()).expect("just encoded");
            assert_eq!(again.block(at).expect("just encoded").name(), "Fuzz_Damaged");
        }
        Err(_) => assert!(edited.encode() == chunk.encode()),
    }
}

fn check_histogram(chunk: &Chunk) {
    let skimmed = Chunk::decode(chunk.encode()).expect("it is a chunk");
    let skimmed = skimmed.histogram().expect("its blocks were decoded");
    assert_eq!(skimmed, chunk.histogram().expect("its blocks were decoded"));
    let has_no_anomalies = |y| {
        let section = chunk.section(y).blocks().expect("it was decoded before");
        section.blocks().check().is_empty()
    };
    if SectionY::all().all(has_no_anomalies) {
        assert_eq!(skimmed.values().sum::<u64>(), 327_680);
    }
}

/// Checks that the readable form is valid JSON.
fn check_readable(chunk: &Chunk, choice: u8) {
    // The text is long, so this is slow.
    if choice.is_multiple_of(8) {
        let readable = ReadableChunk::new(chunk, ChunkPos::new(choice.into(), -1));
        readable.errors().for_each(|error| drop(error.to_string()));
        let json = readable.to_string();
        let parsed = serde_json::from_str::<serde::de::IgnoredAny>(&json);
        parsed.unwrap_or_else(|error| panic!("{error}: {json}"));
    }
}

fn block(chunk: &Chunk, at: ChunkBlock) -> Block {
    chunk.block(at).expect("it was decoded before").to_block()
}

fn names(chunk: &Chunk, at: ChunkBlock) -> Palette<AssetKey> {
    let section = chunk.section(at.section()).blocks().expect("it was decoded before");
    section.blocks().clone()
}

/// Checks that setting blocks and setting them back leaves a chunk of the current version as it
/// was, except for the counters.
fn check_set_back(chunk: &Chunk, choices: &mut Choices) {
    let mut edited = chunk.clone();
    let (first, second) = (choices.block(), choices.block());
    let was = [first, second].map(|at| (at, block(chunk, at)));
    for (at, was) in &was {
        let key = choices.key(&names(chunk, *at));
        if edited.set_block(*at, Block { key, ..was.clone() }).is_err() {
            return;
        }
    }
    for (at, was) in was {
        edited.set_block(at, was).expect("there was room for it");
    }
    let is_old = |y| {
        let section = chunk.get_in::<BlockSection>(y);
        section.is_ok_and(|section| section.is_none_or(|section| section.version() < 6))
    };
    let columns = chunk.columns().expect("it was decoded before");
    if SectionY::all().any(is_old) || columns.version() != BlockChunk::VERSION {
        return;
    }
    let saved = Chunk::decode(edited.encode()).expect("just encoded");
    assert_eq!(saved.get::<BlockChunk>(), chunk.get::<BlockChunk>());
    for y in SectionY::all() {
        assert_eq!(without_counters(&saved, y), without_counters(chunk, y), "{y:?}");
    }
}

fn without_counters(chunk: &Chunk, y: SectionY) -> Option<BlockSection> {
    let mut section = chunk.get_in::<BlockSection>(y).expect("it was read before")?.clone();
    (section.local_change_counter, section.global_change_counter) = (0, 0);
    Some(section)
}

/// The properties of a block: itself, fluid and level, support and environment.
type Known = (Block, Option<(AssetKey, u8)>, u8, String);

fn known(chunk: &Chunk, at: ChunkBlock) -> Known {
    let found = chunk.block(at).expect("it was decoded before");
    let fluid = found.fluid().expect("it was decoded before");
    let fluid = fluid.map(|fluid| (fluid.key().clone(), fluid.level()));
    let support = found.support().expect("it was decoded before");
    let environment = found.environment().expect("it was decoded before").to_owned();
    (found.to_block(), fluid, support, environment)
}

/// Makes one change, and checks that it took effect and that another cell did not change.
fn edit(chunk: &mut Chunk, choices: &mut Choices) -> bool {
    let (at, witness, kind) = (choices.block(), choices.block(), choices.byte());
    let (before, elsewhere) = (known(chunk, at), known(chunk, witness));
    let height = chunk.height(witness.column()).expect("it was decoded before");
    let changed = match kind & 1 {
        0 => set_block(chunk, at, choices),
        _ => set_fluid(chunk, at, choices),
    };
    assert!(changed || known(chunk, at) == before);
    let other = known(chunk, witness);
    let is_height_same = chunk.height(witness.column()) == Ok(height);
    assert!(at.column() == witness.column() || is_height_same);
    // Levels without a fluid are removed with the last fluid.
    let fluid = |known: &Known| known.1.as_ref().map(|(key, _)| key.clone());
    let fluid = |known: &Known| fluid(known).filter(|key| !key.is_air());
    assert!(at == witness || (&other.0, fluid(&other)) == (&elsewhere.0, fluid(&elsewhere)));
    assert_eq!((other.2, other.3), (elsewhere.2, elsewhere.3));
    changed
}

fn set_block(chunk: &mut Chunk, at: ChunkBlock, choices: &mut Choices) -> bool {
    let (key, (rotation, filler)) = (choices.key(&names(chunk, at)), choices.turn());
    let expected = Block { key, rotation, filler };
    let Ok(outcome) = chunk.set_block(at, expected.clone()) else { return false };
    assert_eq!(block(chunk, at), expected);
    outcome.changed
}

fn set_fluid(chunk: &mut Chunk, at: ChunkBlock, choices: &mut Choices) -> bool {
    let fluids = chunk.section(at.section()).fluids().expect("it was decoded before");
    let (key, level) = (choices.key(fluids.fluids()), choices.byte() % 17);
    let Ok(changed) = chunk.set_fluid(at, key.clone(), level) else { return false };
    let found = known(chunk, at).1.unwrap_or_default();
    assert_eq!(found, (key, level));
    changed
}

/// Checks that the encoded chunk equals the one in memory and round-trips.
fn check_encoded(edited: &Chunk, original: &Chunk) -> Chunk {
    let document = edited.encode();
    let again = Chunk::decode(document.clone()).expect("just encoded");
    again.decode_blocks().expect("just encoded");
    let columns = |chunk: &Chunk| chunk.columns().expect("it was decoded before").clone();
    assert!(columns(&again).heights.values() == columns(edited).heights.values());
    assert!(columns(&again).tints.values() == columns(edited).tints.values());
    assert_eq!(again.environments(), edited.environments());
    for (one, other) in again.sections().zip(edited.sections()) {
        let decoded = "it was decoded before";
        let same_blocks = one.blocks().expect(decoded).same_cells(other.blocks().expect(decoded));
        let same_fluids = one.fluids().expect(decoded).same_cells(other.fluids().expect(decoded));
        let same_support = one.physics().expect(decoded);
        let same_support = same_support.same_cells(other.physics().expect(decoded));
        assert!(same_blocks && same_fluids && same_support);
    }
    assert!(again.encode() == document);
    for id in original.holder().ids().filter(|id| !["ChunkColumn", "BlockChunk"].contains(id)) {
        assert_eq!(again.holder().raw(id), original.holder().raw(id), "{id}");
    }
    again
}
