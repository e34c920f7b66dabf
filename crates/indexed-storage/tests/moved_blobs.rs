//! Reads a blob while another program moves it away and back, at exact points of the read and at
//! full speed. All blobs have the same length, so that only the index distinguishes them.

#![cfg(unix)]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hyworld_indexed_storage::{
    EncodedBlob, Error, Geometry, IndexedStorageFile, MemoryFile, OpenOptions, RawFile, Slot,
};
use hyworld_testkit::Random;

const MINE: u32 = 0;
const OTHER: u32 = 1;
const SLOTS: u32 = 4;
const SEGMENT_BYTES: u32 = 4096;
const TABLE_END: u64 = 32 + 4 * SLOTS as u64;

/// The number of reads beside a writer at full speed. `HYWORLD_READS` sets another one.
const READS: u32 = 300_000;

/// Builds a document from the slot, the version, and bytes that cannot be compressed.
fn document(slot: u32, version: u32) -> Vec<u8> {
    let noise = Random::new(u64::from(slot) << 32 | u64::from(version)).bytes(200);
    [&slot.to_be_bytes(), &version.to_be_bytes(), &*noise].concat()
}

fn blob(slot: u32, version: u32) -> EncodedBlob {
    EncodedBlob::compress(&document(slot, version), 3).unwrap()
}

/// Where segment `segment` begins, and where the index entry of slot `slot` is.
fn segment_offset(segment: u32) -> u64 {
    TABLE_END + u64::from(segment - 1) * u64::from(SEGMENT_BYTES)
}

fn entry_offset(slot: u32) -> u64 {
    32 + 4 * u64::from(slot)
}

/// Saves a blob into a segment as the game does: the blob first, then the index entry.
fn save(file: &dyn RawFile, slot: u32, segment: u32) {
    file.write_at(blob(slot, 0).stored(), segment_offset(segment)).unwrap();
    file.write_at(&segment.to_be_bytes(), entry_offset(slot)).unwrap();
}

/// What happens in the file before its next reads: one list of saves per read, then a pause.
type Script = Vec<(Vec<(u32, u32)>, Duration)>;

/// A file that another program changes just before the reader's next reads.
#[derive(Debug)]
struct ScriptedFile {
    file: MemoryFile,
    script: Mutex<Script>,
}

impl RawFile for ScriptedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if let Some((saves, pause)) = self.script.lock().unwrap().pop() {
            for (slot, segment) in saves {
                save(&self.file, slot, segment);
            }
            thread::sleep(pause);
        }
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

/// A file in which the two slots have the segments 1 and 2, and a reader that knows this.
fn scripted() -> (Arc<ScriptedFile>, IndexedStorageFile) {
    let geometry = Geometry::new(SLOTS, SEGMENT_BYTES).unwrap();
    let raw = Arc::new(ScriptedFile { file: MemoryFile::default(), script: Mutex::default() });
    let options = OpenOptions::new().write(true).create(true).geometry(geometry);
    options.open_raw(Box::new(Arc::clone(&raw)), "new").unwrap().close().unwrap();
    assert_eq!(blob(MINE, 0).header(), blob(OTHER, 0).header());
    save(&raw.file, MINE, 1);
    save(&raw.file, OTHER, 2);
    let reader = OpenOptions::new().open_raw(Box::new(Arc::clone(&raw)), "read").unwrap();
    assert_eq!(reader.read(Slot::new(MINE)).unwrap().unwrap(), document(MINE, 0));
    (raw, reader)
}

/// Runs the saves, one list before each read of the file, and reads the first slot.
fn read_during(steps: &[&[(u32, u32)]], pause: Duration) -> Result<Option<Vec<u8>>, Error> {
    let (raw, reader) = scripted();
    let steps = steps.iter().rev().map(|saves| (saves.to_vec(), pause));
    *raw.script.lock().unwrap() = steps.collect();
    let found = reader.read(Slot::new(MINE));
    assert!(raw.script.lock().unwrap().is_empty(), "the reader read too few times");
    found
}

const AWAY: &[(u32, u32)] = &[(MINE, 3), (OTHER, 1)];
const BACK: &[(u32, u32)] = &[(OTHER, 2), (MINE, 1)];

#[test]
fn a_blob_that_moved_before_the_read_and_back_during_it_is_not_confused() {
    let found = read_during(&[AWAY, BACK], Duration::ZERO);
    assert_eq!(found.unwrap().unwrap(), document(MINE, 0));
}

#[test]
fn a_blob_that_moved_away_and_back_during_a_slow_read_is_not_confused() {
    for pause in [1, 100] {
        let found = read_during(&[&[], AWAY, BACK], Duration::from_millis(pause));
        assert_eq!(found.unwrap().unwrap(), document(MINE, 0), "pause of {pause} ms");
    }
}

#[test]
fn a_blob_that_always_moves_is_an_error_and_not_another_document() {
    let moves = [&[] as &[_], AWAY, BACK];
    let steps: Vec<_> = moves.iter().cycle().take(200).copied().collect();
    let (raw, reader) = scripted();
    let pause = Duration::from_millis(1);
    *raw.script.lock().unwrap() = steps.iter().map(|saves| (saves.to_vec(), pause)).collect();
    let found = reader.read(Slot::new(MINE));
    assert!(found.is_err() || found.unwrap().unwrap() == document(MINE, 0));
}

/// Saves the slots in turn at full speed, each into the lowest free segment, until `is_over`.
fn save_at_full_speed(file: &File, is_over: &AtomicBool) -> u32 {
    let mut segments: Vec<u32> = (1..=SLOTS).collect();
    let mut free = BTreeSet::from([SLOTS + 1]);
    let mut saves = 0;
    while !is_over.load(Ordering::SeqCst) {
        let slot = saves % SLOTS;
        let segment = free.pop_first().unwrap();
        let blob = blob(slot, saves);
        file.write_all_at(blob.stored(), segment_offset(segment)).unwrap();
        file.write_all_at(&segment.to_be_bytes(), entry_offset(slot)).unwrap();
        free.insert(std::mem::replace(&mut segments[slot as usize], segment));
        saves += 1;
    }
    saves
}

/// Counts the reads that returned another slot's document, and those that returned an error.
fn count_wrong(reader: &IndexedStorageFile, reads: u32) -> (u32, u32) {
    let (mut wrong, mut failed, mut buffer) = (0, 0, Vec::new());
    for number in 0..reads {
        let slot = number % SLOTS;
        match reader.read_into(Slot::new(slot), &mut buffer) {
            Ok(true) if buffer[..4] == slot.to_be_bytes() => {}
            Ok(_) => wrong += 1,
            Err(_) => failed += 1,
        }
    }
    (wrong, failed)
}

#[test]
fn a_writer_at_full_speed_never_causes_a_wrong_document() {
    let reads = std::env::var("HYWORLD_READS").map_or(READS, |reads| reads.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.0.region.bin");
    let geometry = Geometry::new(SLOTS, SEGMENT_BYTES).unwrap();
    let options = OpenOptions::new().write(true).create(true).geometry(geometry);
    let created = options.open(&path).unwrap();
    for slot in 0..SLOTS {
        created.write_encoded(&[(Slot::new(slot), &blob(slot, 0))]).unwrap();
    }
    created.close().unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    let reader = IndexedStorageFile::open_read_only(&path).unwrap();
    let is_over = AtomicBool::new(false);
    let (saves, (wrong, failed)) = thread::scope(|scope| {
        let writer = scope.spawn(|| save_at_full_speed(&file, &is_over));
        let counts = count_wrong(&reader, reads);
        is_over.store(true, Ordering::SeqCst);
        (writer.join().unwrap(), counts)
    });
    println!("{reads} reads, {saves} saves: {wrong} wrong, {failed} failed");
    assert_eq!(wrong, 0, "of {reads} reads beside {saves} saves");
    assert!(saves > SLOTS, "too few saves during the test: {saves}");
}
