//! `BlockHealthChunk.Data`: kept as it was read, and a fragile block makes it version 2.
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
    // Not compared as values: a float may be one that does not equal itself.
    let again = BlockHealthChunk::decode(&health.encode()).expect("we wrote it");
    assert!(again.encode() == health.encode());
    assert_eq!(again.fragile.last(), health.fragile.last());
    assert_eq!(again.damaged.len(), health.damaged.len());
});
