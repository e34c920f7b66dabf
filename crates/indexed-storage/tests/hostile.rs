//! Damaged and crafted files: nothing panics, hangs or uses much memory, and intact blobs are read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_indexed_storage::{
    Damage, Error, Geometry, IndexedStorageFile, MemoryFile, OpenOptions, SealTag, Slot,
};
use hyworld_testkit::{Random, V0Writer, fixture, sample};

const SMALL: u32 = 1 << 16;

fn open(bytes: Vec<u8>) -> Result<IndexedStorageFile, Error> {
    let memory = Box::new(MemoryFile::new(bytes));
    OpenOptions::new().blob_bytes_max(SMALL).open_raw(memory, "hostile")
}

/// Calls every read operation on a file. Returns the number of readable slots.
fn exercise(bytes: Vec<u8>) -> Option<usize> {
    let file = open(bytes).ok()?;
    let mut served = 0;
    for slot in file.occupied() {
        served += usize::from(file.read(slot).is_ok());
        let _verified = file.verify(slot).unwrap();
        let _seal = file.seal(slot);
    }
    file.usage().unwrap();
    for blob in file.salvage().unwrap().blobs {
        file.salvage_at(blob.segment).unwrap();
    }
    file.plan_rebuild().unwrap();
    Some(served)
}

/// Builds a small version 1 file with plain and sealed blobs, a gap and an orphaned blob.
fn small_v1() -> Vec<u8> {
    let memory = std::sync::Arc::new(MemoryFile::default());
    let options = OpenOptions::new().write(true).create(true);
    let options = options.geometry(Geometry::new(6, 64).unwrap());
    let file = options.open_raw(Box::new(std::sync::Arc::clone(&memory)), "small").unwrap();
    let tag = SealTag::new(*b"id").unwrap();
    for (slot, len) in [(0, 100), (1, 10), (2, 700), (4, 0)] {
        file.write(Slot::new(slot), &sample(slot.into(), len)).unwrap();
    }
    file.write_sealed(Slot::new(5), &sample(5, 90), &tag).unwrap();
    file.remove(Slot::new(1)).unwrap();
    file.sync().unwrap();
    drop(file);
    memory.to_vec()
}

fn small_v0() -> Vec<u8> {
    let mut writer = V0Writer::new(4, 48);
    for (slot, len) in [(0, 10), (1, 300), (3, 60)] {
        writer.append(slot, &sample(slot.into(), len));
    }
    writer.bytes
}

#[test]
fn every_truncation_is_handled() {
    for (whole, tables_end) in [(small_v1(), 32 + 24), (small_v0(), 32 + 32)] {
        let all = exercise(whole.clone()).unwrap();
        for len in 0..whole.len() {
            let served = exercise(whole[..len].to_vec());
            let is_table_cut = len < tables_end && whole[..len].iter().skip(32).any(|b| *b != 0);
            assert_eq!(served.is_none(), len < 32 || is_table_cut, "{len} bytes");
            assert!(served.unwrap_or(0) <= all);
        }
    }
}

#[test]
fn every_flipped_bit_is_handled() {
    for whole in [small_v1(), small_v0()] {
        for position in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[position] ^= 1 << bit;
                exercise(bytes);
            }
        }
    }
}

/// Sets each byte of the tables to every value, and each byte of the header to every fifth value.
#[test]
fn every_value_of_every_index_byte_is_handled() {
    for (whole, end) in [(small_v1(), 32 + 24), (small_v0(), 32 + 32)] {
        for position in 20..end {
            for value in (0..=255).step_by(if position < 32 { 5 } else { 1 }) {
                let mut bytes = whole.clone();
                bytes[position] = value;
                exercise(bytes);
            }
        }
    }
}

#[test]
fn random_bytes_after_a_valid_header_are_handled() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut bytes = small_v1()[..24].to_vec();
        bytes[23] = u8::from(random.coin());
        bytes.extend((1 + random.below(40)).to_be_bytes());
        bytes.extend((1 + random.below(200)).to_be_bytes());
        // Small numbers, so that some index entries point to existing segments.
        bytes.extend((0..600).flat_map(|_| (random.below(12)).to_be_bytes()));
        exercise(bytes);
    }
}

/// The header is valid, and every slot claims the maximum length.
#[test]
fn claims_of_two_gigabytes_do_not_allocate() {
    let mut bytes = fixture("original/v1/empty.region.bin");
    for slot in 0..1024_u32 {
        let at = 32 + 4 * slot as usize;
        bytes[at..at + 4].copy_from_slice(&1_u32.to_be_bytes());
    }
    bytes.extend(i32::MAX.to_be_bytes());
    bytes.extend(40_u32.to_be_bytes());
    bytes.extend([0x28, 0xB5, 0x2F, 0xFD]);
    bytes.resize(bytes.len() + 100, 0);
    let memory = Box::new(MemoryFile::new(bytes));
    let file = OpenOptions::new().open_raw(memory, "claims").unwrap();
    assert_eq!(file.occupied().len(), 1024);
    for slot in file.occupied() {
        let error = file.read(slot).unwrap_err();
        assert!(matches!(error, Error::Damaged { damage: Damage::LengthLimit { .. }, .. }));
    }
}

#[test]
fn version_0_chain_cycles_are_detected() {
    let mut writer = V0Writer::new(4, 48);
    for slot in 0..3 {
        writer.append(slot, &Random::new(slot.into()).bytes(150));
    }
    // The second segment of slot 1 links back to its first, and slot 2 links into the same cycle.
    writer.set_link(6, 5);
    writer.set_link(9, 5);
    let file = open(writer.bytes).unwrap();
    assert!(file.read(Slot::new(0)).is_ok());
    let classes: Vec<_> = file.damage().iter().map(|found| found.damage.class()).collect();
    assert_eq!(classes[0], "chain-cycle");
    assert!(file.read(Slot::new(1)).is_err() && file.read(Slot::new(2)).is_err());
}

/// Many slots claim one long chain. It must not be walked again for each of them.
#[test]
fn version_0_chains_shared_by_all_slots_are_fast_to_open() {
    let mut writer = V0Writer::new(1 << 16, 12);
    writer.append(0, &Random::new(1).bytes(40_000));
    for slot in 1..1 << 16 {
        writer.set_index(slot, 1);
    }
    let started = std::time::Instant::now();
    let file = open(writer.bytes).unwrap();
    assert!(file.read(Slot::new(0)).is_ok());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// Salvage must not search all segments of a sparse file with two billion tiny segments.
#[test]
fn salvage_of_a_huge_sparse_file_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse.region.bin");
    let options = OpenOptions::new().write(true).create(true);
    let file = options.geometry(Geometry::new(4, 1).unwrap()).open(&path).unwrap();
    file.write(Slot::new(2), b"content").unwrap();
    drop(file);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 34).unwrap();
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    assert_eq!(file.read(Slot::new(2)).unwrap().unwrap(), b"content");
    let report = file.salvage().unwrap();
    assert!(!report.complete);
}
