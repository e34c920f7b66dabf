//! Parses arbitrary text as a selection, and evaluates it on a few chunks. If the position of a
//! region decides, the positions of its chunks must decide the same, and so must the evaluation.
//!
//! An input is a selection up to the first zero byte, and then the text of every file it names.
#![no_main]

use std::sync::LazyLock;

use hyworld_chunk::Chunk;
use hyworld_coords::{BlockPos, ChunkPos};
use hyworld_maintenance::{
    Landmark, NoProgress, ScanOptions, SelectContext, Selection, Truth, select,
};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use libfuzzer_sys::fuzz_target;

const CHUNKS: [ChunkPos; 3] = [ChunkPos::new(0, 0), ChunkPos::new(31, 31), ChunkPos::new(-1, 5)];

static STORAGE: LazyLock<MemoryStorage> = LazyLock::new(|| {
    let storage = MemoryStorage::new();
    for (number, at) in (1..).zip(CHUNKS) {
        let mut chunk = Chunk::new();
        for y in 0..number {
            let pos = BlockPos::new(0, 60 + y, 0).in_chunk().expect("inside of the world");
            chunk.set_block(pos, "Rock_Stone").expect("nothing is malformed");
        }
        storage.write(at, &chunk.encode()).expect("memory does not fail");
    }
    storage
});

struct Files<'a>(&'a str);

impl SelectContext for Files<'_> {
    fn read_file(&self, _path: &str) -> Result<String, String> {
        Ok(self.0.to_owned())
    }

    fn positions_of(&self, _landmark: &Landmark) -> Result<Vec<(f64, f64)>, String> {
        Ok(vec![(0.5, -3.0), (-1e9, f64::from(i32::MAX))])
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (query, file) = text.split_once('\0').unwrap_or((text, ""));
    let selection = match Selection::parse(query, &Files(file)) {
        Ok(selection) => selection,
        Err(error) => {
            assert!(error.at() <= query.len());
            return drop(error.to_string());
        }
    };
    let all = CHUNKS.into_iter().collect();
    let options = ScanOptions::new();
    let mut found = 0;
    let selected = select(&*STORAGE, &selection, &options, &mut |_| found += 1, &NoProgress);
    assert!(selected.iter().all(|at| CHUNKS.contains(&at)));
    for at in CHUNKS {
        let (region, position) =
            (selection.test_region(at.region()), selection.test_position(at, Some(&all)));
        assert!(region == Truth::Unknown || region == position, "{query}");
        assert!(position == Truth::Unknown || selected.contains(at) == (position == Truth::Yes));
        assert!(position != Truth::Unknown || !selection.is_by_position(), "{query}");
    }
    assert_eq!(found, 0, "all chunks can be read");
});
