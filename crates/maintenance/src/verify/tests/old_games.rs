//! Chunks of old games, in which other things are normal, and names that the game reads as air.

use hyworld_chunk::{BlockChunk, BlockSection, Chunk, Holder};
use hyworld_coords::{ChunkBlock, ChunkPos, LocalColumn, SectionY};
use hyworld_indexed_storage::{MemoryFile, OpenOptions};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use hyworld_testkit::fixture;

use super::AT;
use crate::{Class, Finding, NoProgress, ScanOptions, Severity, check_chunk, verify};

/// The chunks of the fixture whose sections have version 4, as a server of January 2026 stored
/// them: without `ChunkSection` and `Fluid`, with heights of -1 and tints that are not opaque.
fn chunks_of_january() -> Vec<Chunk> {
    let bytes = fixture("original/chunks/synthetic_old_versions.region.bin");
    let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "old").unwrap();
    let read = |slot| Chunk::decode(file.read(slot).unwrap().unwrap()).unwrap();
    let chunks = file.occupied().into_iter().map(read);
    let mut chunks: Vec<_> = chunks.filter(|chunk| lowest_version(chunk) == Some(4)).collect();
    for chunk in &mut chunks {
        for y in SectionY::all() {
            let section = chunk.section_mut(y);
            assert!(section.remove("ChunkSection") | section.remove("Fluid"));
        }
        let columns = chunk.get_mut::<BlockChunk>().unwrap().unwrap();
        for column in LocalColumn::all() {
            let tint = if column.x() < 9 { 0x007e_a629 } else { 0 };
            columns.heights.set(column, -1);
            columns.tints.set(column, tint);
        }
    }
    assert!(!chunks.is_empty(), "the fixture has no sections of version 4");
    chunks
}

fn lowest_version(chunk: &Chunk) -> Option<i32> {
    let versions = SectionY::all().filter_map(|y| chunk.get_in::<BlockSection>(y).unwrap());
    versions.map(BlockSection::version).min()
}

/// Returns the warnings and errors.
fn check(chunk: &Chunk) -> Vec<Finding> {
    let mut found = check_chunk(AT, chunk.encode());
    found.retain(|finding| finding.severity > Severity::Note);
    found
}

#[test]
fn a_chunk_of_an_old_game_has_no_warnings() {
    for chunk in chunks_of_january() {
        assert_eq!(check(&chunk), []);
    }
}

#[test]
fn one_note_says_how_old_the_chunks_are() {
    let storage = MemoryStorage::new();
    for x in 0..3 {
        storage.write(ChunkPos::new(x, 0), &chunks_of_january()[0].encode()).unwrap();
    }
    storage.write(ChunkPos::new(9, 0), &Chunk::new().encode()).unwrap();
    let report = verify(&storage, &ScanOptions::new(), &mut |_| {}, &NoProgress);
    let is_note = |finding: &&Finding| finding.class == Class::OldVersion;
    let notes: Vec<_> = report.findings.kept().iter().filter(is_note).collect();
    let [note] = notes[..] else { panic!("{:?}", report.findings) };
    assert_eq!(report.findings.total(), report.findings.count(Severity::Note));
    assert!(note.message.starts_with("3 of 4 chunks"), "{note}");
    assert!(note.message.contains("version 4"), "{note}");
}

#[test]
fn what_is_normal_in_old_chunks_is_still_reported_in_new_ones() {
    let mut chunk = Chunk::new();
    chunk.section_mut(SectionY::BOTTOM).remove("Fluid");
    let columns = chunk.get_mut::<BlockChunk>().unwrap().unwrap();
    columns.heights.set(LocalColumn::all().next().unwrap(), -1);
    columns.tints.set(LocalColumn::all().next().unwrap(), 0x007e_a629);
    let found = check(&chunk);
    let messages: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "-1 is the height of a column without blocks: {messages:?}");
    assert!(messages.iter().any(|message| message.contains("no component Fluid")));
    assert!(messages.iter().any(|message| message.contains("tints that are not opaque")));
}

#[test]
fn heights_below_minus_one_are_reported() {
    let mut chunk = Chunk::new();
    let columns = chunk.get_mut::<BlockChunk>().unwrap().unwrap();
    columns.heights.set(LocalColumn::all().next().unwrap(), -2);
    assert!(check(&chunk)[0].message.contains("heights outside of the world: 1, such as -2"));
}

#[test]
fn air_in_another_spelling_is_reported() {
    let mut chunk = Chunk::new();
    let at = ChunkBlock::new(3, 70, 3).unwrap();
    chunk.set_block(at, "Xmpty").unwrap();
    let document = chunk.encode();
    let name = document.windows(5).position(|bytes| bytes == b"Xmpty").unwrap();
    let mut changed = document;
    changed[name] = b'e';
    let found = check_chunk(AT, changed.clone());
    let message = "section 2: blocks: \"empty\" is read by the game as Empty";
    assert!(found.iter().any(|finding| finding.message.starts_with(message)), "{found:?}");
    assert!(Chunk::decode(changed).unwrap().block(at).unwrap().is_air());
}

#[test]
fn a_block_entity_without_components_is_reported() {
    let mut chunk = Chunk::new();
    let at = ChunkBlock::new(3, 70, 3).unwrap();
    chunk.set_block(at, "Rock_Stone").unwrap();
    let json = r#"{"BlockComponents": {"71779": {"Components": {}}}}"#;
    let list = hyworld_chunk::bson::Document::from_json(json).unwrap();
    chunk.set_raw("BlockComponentChunk", &list.to_bytes()).unwrap();
    assert_eq!(chunk.block_entity(at), Ok(Some(&Holder::new())));
    let found = check(&chunk);
    let message = "a block entity without components is dropped by the game, at 3,70,3";
    assert!(found.iter().any(|finding| finding.message.starts_with(message)), "{found:?}");
}
