//! Encoding a changed chunk: changes are written, and everything else stays as it was stored.

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{BlockSection, Chunk, EditError, Error};
use hyworld_coords::SectionY;

use super::{at, old_chunks};

/// Returns chunks in forms that the game does not write today.
fn odd_chunks() -> Vec<Chunk> {
    let y = SectionY::from_block_y(40).unwrap();
    let with_block = |change: &dyn Fn(&mut DocumentWriter, &[u8])| {
        let mut chunk = Chunk::new();
        let data = chunk.get_in::<BlockSection>(y).unwrap().unwrap().encode();
        let mut writer = DocumentWriter::new();
        change(&mut writer, &data);
        chunk.section_mut(y).set_raw("Block", &writer.finish()).unwrap();
        chunk
    };
    let unknown = with_block(&|writer, data| {
        writer.int32("Version", 6);
        writer.string("Unknown", "kept");
        writer.binary("Data", 0, data);
    });
    let behind = with_block(&|writer, data| {
        writer.binary("Data", 0, data);
        writer.int32("Version", 6);
    });
    let mut short = Chunk::new();
    short.remove("ChunkColumn");
    let mut other = Chunk::new();
    other.section_mut(y).remove("Block");
    vec![unknown, behind, short, other]
}

/// A chunk in memory equals its encoded document, and unchanged parts are copied as they were.
#[test]
fn a_changed_chunk_equals_its_document() {
    let edits: [&dyn Fn(&mut Chunk) -> bool; 5] = [
        &|_| false,
        &|chunk| chunk.set_block(at(1, 40, 1), "Rock_Stone").unwrap().changed,
        &|chunk| chunk.set_block(at(2, 41, 3), "Soil_Dirt").unwrap().changed,
        &|chunk| chunk.set_fluid(at(2, 41, 3), "Water", 3).unwrap(),
        &|chunk| chunk.set_block(at(9, 200, 9), "Rock_Stone").unwrap().changed,
    ];
    let chunks = old_chunks().into_iter().chain([Chunk::new()]).chain(odd_chunks());
    for (number, original) in chunks.enumerate() {
        let original = Chunk::decode(original.encode()).unwrap();
        let document = original.encode();
        let mut chunk = original.clone();
        for (edit, change) in edits.into_iter().enumerate() {
            assert_eq!(change(&mut chunk), edit > 0, "chunk {number}: edit {edit}");
            let mut encoded = vec![7; 100];
            chunk.encode_into(&mut encoded);
            let again = Chunk::decode(encoded.clone()).unwrap();
            for y in SectionY::all() {
                let (mine, stored) = (chunk.section(y), again.section(y));
                assert!(mine.blocks().unwrap().same_cells(stored.blocks().unwrap()));
                assert!(mine.fluids().unwrap().same_cells(stored.fluids().unwrap()));
            }
            assert!(again.encode() == encoded && chunk.encode() == encoded);
            assert!(original.encode() == document, "chunk {number}: edit {edit}");
            assert_eq!(edit > 0, encoded != document, "chunk {number}: edit {edit}");
        }
        // Encoding between the edits, as a save does, makes no difference.
        let mut at_once = original;
        for change in edits {
            change(&mut at_once);
        }
        assert!(at_once.encode() == chunk.encode(), "chunk {number}");
        let encoded = chunk.encode();
        chunk.forget_decoded().unwrap();
        assert!(!chunk.is_changed() && chunk.encode() == encoded);
    }
}

#[test]
fn an_edit_keeps_unknown_fields_and_field_order() {
    for mut chunk in odd_chunks().into_iter().take(2) {
        let y = SectionY::from_block_y(40).unwrap();
        let keys = |chunk: &Chunk| -> Vec<String> {
            let document = chunk.section_holder(y).unwrap().raw("Block").unwrap();
            document.elements().map(|element| element.unwrap().key().to_owned()).collect()
        };
        let before = keys(&chunk);
        chunk.set_block(at(1, 40, 1), "Rock_Stone").unwrap();
        assert_eq!(keys(&chunk), before);
        assert_eq!(keys(&Chunk::decode(chunk.encode()).unwrap()), before);
    }
}

/// A component of a newer version cannot be read; everything else of the chunk can.
#[test]
fn a_newer_component_does_not_hide_the_others() {
    let y = SectionY::from_block_y(40).unwrap();
    let mut chunk = Chunk::new();
    let mut writer = DocumentWriter::new();
    writer.int32("Version", 7);
    writer.string("Later", "not known");
    let newer = writer.finish();
    chunk.section_mut(y).set_raw("Block", &newer).unwrap();
    let mut chunk = Chunk::decode(chunk.encode()).unwrap();
    let error = chunk.block(at(0, 40, 0)).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 7, known: 6, .. }), "{error}");
    let refused = chunk.set_block(at(0, 40, 0), "Rock_Stone").unwrap_err();
    assert!(matches!(refused, EditError::Malformed(Error::Newer { .. })), "{refused}");
    assert!(!chunk.is_changed());
    assert_eq!(chunk.section(y).fluids().unwrap().level(at(0, 40, 0).local()), 0);
    chunk.set_block(at(0, 3, 0), "Rock_Stone").unwrap();
    let again = Chunk::decode(chunk.encode()).unwrap();
    assert_eq!(again.block(at(0, 3, 0)).unwrap().name(), "Rock_Stone");
    assert_eq!(again.section_holder(y).unwrap().raw("Block").unwrap().as_bytes(), newer);
}
