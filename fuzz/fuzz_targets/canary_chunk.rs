//! Must fail: it panics as soon as a chunk shows a block that is not air. If the fuzzer does not
//! report that within seconds, the seeds do not reach what is inside of chunks.
#![no_main]

use hyworld_chunk::{Chunk, ChunkView};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((_, document)) = hyworld_fuzz::split(data) else { return };
    let view = Chunk::decode(document).and_then(|chunk| ChunkView::new(&chunk));
    let is_air = |view: ChunkView| view.histogram().keys().all(|name| name.is_empty_key());
    assert!(view.map_or(true, is_air), "the canary works");
});
