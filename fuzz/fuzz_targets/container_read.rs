//! Opens arbitrary bytes and calls every read operation. Nothing may panic, hang, or use more
//! memory than the limits allow, and repeated reads must return the same.
#![no_main]

use hyworld_indexed_storage::{Geometry, IndexedStorageFile, MemoryFile, OpenOptions};
use libfuzzer_sys::fuzz_target;

/// Small, so that the fuzzer does not spend its time on large allocations.
const BLOB_BYTES_MAX: u32 = 1 << 16;

fuzz_target!(|data: &[u8]| {
    let options = OpenOptions::new().blob_bytes_max(BLOB_BYTES_MAX);
    let memory = || Box::new(MemoryFile::new(data.to_vec()));
    if let Ok(file) = options.open_raw(memory(), "fuzz") {
        exercise(&file);
    }
    // Ignoring the header reaches the index and the blobs more often.
    let geometry = Geometry::new(16, 64).expect("within limits");
    if let Ok(file) = options.assume_geometry(geometry).open_raw(memory(), "fuzz") {
        exercise(&file);
    }
});

fn exercise(file: &IndexedStorageFile) {
    for slot in file.occupied() {
        let first = file.read(slot);
        let again = file.read(slot);
        assert_eq!(first.as_ref().ok(), again.as_ref().ok());
        file.verify(slot).expect("memory does not fail");
        drop((file.stat(slot), file.seal(slot), file.read_encoded(slot)));
    }
    let usage = file.usage().expect("memory does not fail");
    assert!(usage.overhead_bytes <= usage.file_bytes || usage.live_bytes > 0);
    for blob in file.salvage().expect("memory does not fail").blobs {
        let found = file.salvage_at(blob.segment).expect("it was found");
        found.decompress().expect("salvaged blobs are valid");
    }
    file.plan_rebuild().expect("memory does not fail");
}
