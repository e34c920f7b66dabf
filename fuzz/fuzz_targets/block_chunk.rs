//! `BlockChunk.Data` of every version round-trips, and a change moves the sections inside old ones
//! to where newer versions store them.
#![no_main]

use hyworld_chunk::{BlockChunk, Chunk};
use hyworld_fuzz::{columns, edits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, field)) = hyworld_fuzz::split(data) else { return };
    let version = i32::from(choices.byte() % 6) - 1;
    let Ok(columns) = BlockChunk::decode(version, &field) else { return };
    assert!(columns.encode() == field);

    let mut edited = columns.clone();
    for _ in 0..2 {
        let (column, height) = (choices.column(), choices.word().cast_signed());
        columns::check_set(&mut edited.heights, column, height);
        columns::check_set(&mut edited.tints, column, i32::from(height) << 16);
    }
    edited.set_needs_physics(!columns.needs_physics());
    assert_ne!(edited.needs_physics(), columns.needs_physics());
    assert!(BlockChunk::decode(version, &edited.encode()).expect("just encoded") == edited);
    let inline = edited.upgrade();
    assert_eq!(inline.as_ref(), columns.inline_sections());
    assert!(BlockChunk::decode(3, &edited.encode()).expect("just encoded") == edited);

    let mut chunk = Chunk::new();
    chunk.put(&columns).expect("nothing is malformed");
    assert!(inline.is_some() || chunk.decode_blocks().is_ok());
    edits::check(&chunk, &mut choices);
});
