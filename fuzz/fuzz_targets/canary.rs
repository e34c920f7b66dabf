//! Must fail: it panics as soon as a blob can be read from the container. If the fuzzer does not
//! report that within seconds, the harness does not reach the parser or does not detect failures.
#![no_main]

use hyworld_indexed_storage::{MemoryFile, OpenOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let memory = Box::new(MemoryFile::new(data.to_vec()));
    if let Ok(file) = OpenOptions::new().blob_bytes_max(1 << 16).open_raw(memory, "canary") {
        let readable = file.occupied().into_iter().filter(|slot| file.read(*slot).is_ok()).count();
        assert_eq!(readable, 0, "the canary works");
    }
});
