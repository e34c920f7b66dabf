//! Single-threaded test cases.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::EncodedBlob;

use super::StorageFixture;
use crate::storage::ChunkStorageExt;

/// Larger than any real chunk, so that every storage splits it into several segments or parts.
const LARGE_BYTES: usize = 5_000_000;

fn noise(seed: u32, bytes: usize) -> Vec<u8> {
    let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state & 0xff) as u8
    })
    .take(bytes)
    .collect()
}

fn document(at: ChunkPos) -> Vec<u8> {
    format!("the chunk at {at} ").repeat(20).into_bytes()
}

pub(super) fn missing(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    let at = ChunkPos::new(3, -7);
    assert!(!storage.location().is_empty());
    assert_eq!(storage.read(at).unwrap(), None);
    assert_eq!(storage.size(at).unwrap(), None);
    assert!(!storage.remove(at).unwrap());
    assert_eq!(storage.all_positions().unwrap(), []);
    assert_eq!(storage.read_all(&[at, at]).unwrap(), [None, None]);
    let mut document = b"unchanged".to_vec();
    assert!(!storage.read_into(at, &mut document).unwrap());
    assert_eq!(document, b"unchanged");
    storage.sync().unwrap();
}

pub(super) fn write_read_remove(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    let (at, other) = (ChunkPos::new(-1, 40), ChunkPos::new(-1, 41));
    storage.write(at, b"first").unwrap();
    storage.write(other, b"other").unwrap();
    assert_eq!(storage.read(at).unwrap().unwrap(), b"first");
    storage.write(at, b"the second one is longer").unwrap();
    assert_eq!(storage.read(at).unwrap().unwrap(), b"the second one is longer");
    assert_eq!(storage.size(at).unwrap().unwrap().raw, 24);
    assert!(storage.contains(at).unwrap());
    storage.write(at, b"3rd").unwrap();
    assert_eq!(storage.read(at).unwrap().unwrap(), b"3rd");
    let mut document = b"longer than the third one".to_vec();
    assert!(storage.read_into(at, &mut document).unwrap());
    assert_eq!(document, b"3rd");
    assert!(storage.remove(at).unwrap());
    assert!(!storage.remove(at).unwrap());
    assert_eq!(storage.read(at).unwrap(), None);
    assert_eq!(storage.all_positions().unwrap(), [other]);
    assert_eq!(storage.read(other).unwrap().unwrap(), b"other");
}

pub(super) fn sizes(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    for (x, bytes) in (0..).zip([0, 1, 4084, 4096, 65_536, LARGE_BYTES]) {
        let (at, document) = (ChunkPos::new(x, 0), noise(x.unsigned_abs(), bytes));
        storage.write(at, &document).unwrap();
        assert_eq!(storage.size(at).unwrap().unwrap().raw, bytes as u64);
        assert!(storage.read(at).unwrap().unwrap() == document, "{bytes} bytes");
    }
    assert_eq!(storage.all_positions().unwrap().len(), 6);
}

pub(super) fn extremes(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    let ends = [i32::MIN, i32::MIN + 1, -33, -32, -1, 0, 31, 32, i32::MAX - 1, i32::MAX];
    let all = ends.iter().flat_map(|x| ends.iter().map(|z| ChunkPos::new(*x, *z)));
    let mut all: Vec<_> = all.collect();
    for at in &all {
        storage.write(*at, &document(*at)).unwrap();
    }
    for at in &all {
        assert_eq!(storage.read(*at).unwrap().unwrap(), document(*at), "{at}");
    }
    all.sort_unstable();
    assert_eq!(storage.all_positions().unwrap(), all);
}

pub(super) fn many(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    let positions = (0..fixture.chunk_count()).map(|n| ChunkPos::new(n % 70 - 35, n / 70 - 10));
    let mut positions: Vec<_> = positions.collect();
    for group in positions.chunks(100) {
        let documents: Vec<_> = group.iter().map(|at| document(*at)).collect();
        let chunks: Vec<_> = group.iter().copied().zip(documents.iter().map(|d| &**d)).collect();
        storage.write_all(&chunks).unwrap();
    }
    positions.sort_unstable();
    assert_eq!(storage.all_positions().unwrap(), positions);
    let (removed, kept): (Vec<_>, Vec<_>) = positions.iter().partition(|at| (at.x + at.z) % 3 == 0);
    for at in &removed {
        assert!(storage.remove(*at).unwrap(), "{at}");
    }
    assert_eq!(storage.all_positions().unwrap(), kept);
    for at in kept.iter().step_by(7) {
        assert_eq!(storage.read(*at).unwrap().unwrap(), document(*at));
    }
}

pub(super) fn regions(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    let all = [(0, 0), (31, 31), (32, 0), (-1, 0), (-40, -40)].map(|(x, z)| ChunkPos::new(x, z));
    for at in all {
        storage.write(at, &document(at)).unwrap();
    }
    for wanted in all.map(ChunkPos::region) {
        let is_wanted = |region| region == wanted;
        let listed = storage.positions_in(&is_wanted).collect::<Result<Vec<_>, _>>();
        let mut listed = listed.unwrap();
        listed.sort_unstable();
        let mut expected: Vec<_> = all.into_iter().filter(|at| at.region() == wanted).collect();
        expected.sort_unstable();
        assert_eq!(listed, expected);
    }
    assert_eq!(storage.positions_in(&|_| false).count(), 0);
}

pub(super) fn batches(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    assert!(storage.write_many(&[]).is_empty() && storage.read_many(&[]).is_empty());
    let (a, b, far) = (ChunkPos::new(5, 5), ChunkPos::new(6, 5), ChunkPos::new(-900, 4000));
    let chunks: [(_, &[u8]); 4] = [(a, b"old"), (far, b"far"), (b, b"b"), (a, b"new")];
    let results = storage.write_many(&chunks);
    assert_eq!(results.len(), 4);
    assert!(results.iter().all(Result::is_ok));
    let missing = ChunkPos::new(7, 5);
    let read = storage.read_all(&[far, missing, a, b, a]).unwrap();
    let some = |bytes: &[u8]| Some(bytes.to_vec());
    assert_eq!(read, [some(b"far"), None, some(b"new"), some(b"b"), some(b"new")]);
}

pub(super) fn frames(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    let Some(frames) = storage.frames() else { return };
    let (at, copy) = (ChunkPos::new(0, 1), ChunkPos::new(50, 1));
    let read = |at| frames.read_frames(&[at]).remove(0).unwrap();
    assert_eq!(read(at), None);
    storage.write(at, &document(at)).unwrap();
    let frame = read(at).unwrap();
    assert_eq!(frame.decompress().unwrap(), document(at));
    let other = EncodedBlob::compress(b"another one", 9).unwrap();
    let results = frames.write_frames(&[(copy, &other), (copy, &frame), (at, &other)]);
    assert!(results.len() == 3 && results.iter().all(Result::is_ok));
    assert_eq!(storage.read(copy).unwrap().unwrap(), document(at));
    assert_eq!(storage.read(at).unwrap().unwrap(), b"another one");
    let several = frames.read_frames(&[copy, ChunkPos::new(9, 9), at]);
    let several: Vec<_> = several.into_iter().map(Result::unwrap).collect();
    assert_eq!(several, [Some(frame), None, Some(other)]);
}

pub(super) fn reopen(fixture: &dyn StorageFixture) {
    if !fixture.is_durable() {
        return;
    }
    let positions: Vec<_> = (0..40).map(|n| ChunkPos::new(n * 9 - 100, n)).collect();
    let storage = fixture.open();
    for at in &positions {
        storage.write(*at, &document(*at)).unwrap();
    }
    storage.sync().unwrap();
    assert!(storage.remove(ChunkPos::new(-100, 0)).unwrap());
    storage.sync().unwrap();
    drop(storage);
    let storage = fixture.open();
    for at in positions.iter().skip(1) {
        assert_eq!(storage.read(*at).unwrap().unwrap(), document(*at), "{at}");
    }
    let mut kept: Vec<_> = positions.into_iter().skip(1).collect();
    kept.sort_unstable();
    assert_eq!(storage.all_positions().unwrap(), kept);
}
