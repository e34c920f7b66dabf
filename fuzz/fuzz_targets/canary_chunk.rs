//! Must fail: it panics as soon as a chunk contains a block other than air. If the fuzzer does not
//! report that within seconds, the seeds do not reach the contents of chunks.
#![no_main]

use hyworld_chunk::{AssetKey, Chunk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((_, document)) = hyworld_fuzz::split(data) else { return };
    let Ok(chunk) = Chunk::decode(document) else { return };
    let Ok(histogram) = chunk.histogram() else { return };
    assert!(histogram.keys().all(|name| name == AssetKey::EMPTY_NAME), "the canary works");
});
