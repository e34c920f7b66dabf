//! Reads claimed chunks from arbitrary JSON with arbitrary paths.
//!
//! An input is a byte that selects the unit, a line for each path, and the JSON text.
#![no_main]

use hyworld_maintenance::claimed_chunks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let mut parts = text.splitn(3, '\n');
    let (Some(x), Some(z), Some(json)) = (parts.next(), parts.next(), parts.next()) else { return };
    let unit = [1, 32, 16, 512, 0][usize::from(*choice) % 5];
    match claimed_chunks(json, x, z, unit) {
        Ok(chunks) => {
            // Each claim has a number of at least one digit.
            let most = (unit / 32 + 2) as u64;
            assert!(chunks.len() <= most * most * json.len() as u64);
            assert_eq!(chunks.iter().take(1000).count() as u64, chunks.len().min(1000));
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
});
