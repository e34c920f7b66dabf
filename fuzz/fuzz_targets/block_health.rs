//! `BlockHealthChunk.Data` round-trips, and adding a fragile block raises it to version 2.
#![no_main]

use hyworld_chunk::{BlockHealthChunk, FragileBlock};
use hyworld_coords::BlockPos;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, field)) = hyworld_fuzz::split(data) else { return };
    let Ok(mut health) = BlockHealthChunk::decode(&field) else { return };
    assert!(health.encode() == field);
    assert_eq!(health.version(), field[0]);
    assert_eq!(health.is_empty(), field.len() < 10);
    let pos = BlockPos::new(choices.word().into(), choices.byte().into(), i32::MIN);
    health.fragile.push(FragileBlock { pos, seconds: f32::from(choices.byte()) });
    assert_eq!(health.version(), 2);
    // Compared as bytes, because a float may be NaN.
    let again = BlockHealthChunk::decode(&health.encode()).expect("just encoded");
    assert!(again.encode() == health.encode());
    assert_eq!(again.fragile.last(), health.fragile.last());
    assert_eq!(again.damaged.len(), health.damaged.len());
});
