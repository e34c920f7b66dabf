//! Compares random operations, with reopening, to a map and to the blobs that salvage must find.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use hyworld_indexed_storage::{
    BlobWrite, Durability, EncodedBlob, Geometry, IndexedStorageFile, MemoryFile, OpenOptions,
    SealTag, SegmentRun, Slot,
};
use hyworld_testkit::{Random, sample};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
enum Operation {
    Write { slot: u32, len: u32, noise: bool, seal: bool },
    Batch { slots: Vec<u32>, len: u32 },
    Verbatim { from: u32, to: u32 },
    Remove { slot: u32 },
    Sync,
    Reopen,
    Salvage,
}

fn operation(slots: u32) -> impl Strategy<Value = Operation> {
    let slot = move || 0..slots;
    prop_oneof![
        6 => (slot(), 0..3000_u32, any::<bool>(), any::<bool>())
            .prop_map(|(slot, len, noise, seal)| Operation::Write { slot, len, noise, seal }),
        1 => (prop::collection::vec(slot(), 0..5), 0..900_u32)
            .prop_map(|(slots, len)| Operation::Batch { slots, len }),
        1 => (slot(), slot()).prop_map(|(from, to)| Operation::Verbatim { from, to }),
        3 => slot().prop_map(|slot| Operation::Remove { slot }),
        1 => Just(Operation::Sync),
        1 => Just(Operation::Reopen),
        1 => Just(Operation::Salvage),
    ]
}

/// An orphaned blob whose segments were not overwritten.
#[derive(Debug)]
struct Orphan {
    run: SegmentRun,
    document: Vec<u8>,
}

struct Model {
    file: IndexedStorageFile,
    memory: Arc<MemoryFile>,
    durability: Durability,
    live: BTreeMap<u32, Vec<u8>>,
    orphans: Vec<Orphan>,
    history: Vec<Vec<u8>>,
}

impl Model {
    fn new(geometry: Geometry, durability: Durability) -> Self {
        let memory = Arc::new(MemoryFile::default());
        let options = OpenOptions::new().write(true).create(true).geometry(geometry);
        let options = options.durability(durability).released_bytes_max(8192);
        let file = options.open_raw(Box::new(Arc::clone(&memory)), "memory").unwrap();
        let (live, orphans, history) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { file, memory, durability, live, orphans, history }
    }

    fn run_of(&self, slot: u32) -> Option<SegmentRun> {
        let stat = self.file.stat(Slot::new(slot)).unwrap()?;
        SegmentRun::new(stat.segment, stat.segment_count)
    }

    /// Records the blobs of slots that are about to be replaced.
    fn add_orphans(&mut self, slots: &[u32]) {
        for &slot in slots {
            if let (Some(run), Some(document)) = (self.run_of(slot), self.live.get(&slot)) {
                self.orphans.push(Orphan { run, document: document.clone() });
            }
        }
    }

    /// Forgets orphans whose segments were overwritten.
    fn forget_overwritten(&mut self, slots: &[u32]) {
        for &slot in slots {
            let Some(run) = self.run_of(slot) else {
                continue;
            };
            self.orphans.retain(|orphan| {
                orphan.run.end() <= run.start.get() || run.end() <= orphan.run.start.get()
            });
        }
    }

    fn apply(&mut self, number: u64, operation: &Operation) {
        match operation {
            Operation::Write { slot, len, noise, seal } => {
                let len = *len as usize;
                let document =
                    if *noise { Random::new(number).bytes(len) } else { sample(number, len) };
                self.add_orphans(&[*slot]);
                let index = Slot::new(*slot);
                if *seal {
                    let tag = SealTag::new(*b"model").unwrap().save_counter(number);
                    self.file.write_sealed(index, &document, &tag).unwrap();
                } else {
                    self.file.write(index, &document).unwrap();
                }
                self.wrote(&[*slot], document);
            }
            Operation::Batch { slots, len } => {
                let mut slots = slots.clone();
                slots.sort_unstable();
                slots.dedup();
                let document = sample(number, *len as usize);
                self.add_orphans(&slots);
                let write = |slot: &u32| BlobWrite {
                    slot: Slot::new(*slot),
                    document: &document,
                    seal: None,
                };
                self.file.write_batch(&slots.iter().map(write).collect::<Vec<_>>()).unwrap();
                self.wrote(&slots, document);
            }
            Operation::Verbatim { from, to } => self.copy(*from, *to),
            Operation::Remove { slot } => {
                self.add_orphans(&[*slot]);
                let removed = self.file.remove(Slot::new(*slot)).unwrap();
                assert_eq!(removed, self.live.remove(slot).is_some());
            }
            Operation::Sync => self.file.sync().unwrap(),
            Operation::Reopen => self.reopen(),
            Operation::Salvage => self.check_salvage(),
        }
    }

    /// Copies a blob verbatim. A sealed blob is recompressed, because its seal contains its slot.
    fn copy(&mut self, from: u32, to: u32) {
        let Some(blob) = self.file.read_encoded(Slot::new(from)).unwrap() else {
            return;
        };
        let document = blob.decompress().unwrap();
        let blob = match blob.seal().unwrap() {
            Some(_) => EncodedBlob::compress(&document, 1).unwrap(),
            None => blob,
        };
        self.add_orphans(&[to]);
        self.file.write_encoded(&[(Slot::new(to), &blob)]).unwrap();
        self.wrote(&[to], document);
    }

    fn wrote(&mut self, slots: &[u32], document: Vec<u8>) {
        self.forget_overwritten(slots);
        for &slot in slots {
            self.live.insert(slot, document.clone());
        }
        self.history.push(document);
    }

    fn reopen(&mut self) {
        let options = OpenOptions::new().write(true).durability(self.durability);
        let options = options.released_bytes_max(8192);
        self.file = options.open_raw(Box::new(Arc::clone(&self.memory)), "memory").unwrap();
        self.check_live();
    }

    fn check_live(&self) {
        let occupied: Vec<u32> = self.file.occupied().iter().map(|slot| slot.get()).collect();
        assert_eq!(occupied, self.live.keys().copied().collect::<Vec<_>>());
        assert_eq!(self.file.damage(), []);
        for (slot, document) in &self.live {
            assert_eq!(self.file.read(Slot::new(*slot)).unwrap().as_ref(), Some(document));
        }
        let usage = self.file.usage().unwrap();
        let sum =
            usage.overhead_bytes + usage.live_bytes + usage.slack_bytes + usage.orphaned_bytes;
        assert_eq!(sum, usage.file_bytes, "{usage:?}");
    }

    fn check_salvage(&self) {
        let report = self.file.salvage().unwrap();
        assert!(report.complete);
        for orphan in &self.orphans {
            let found = report.blobs.iter().find(|blob| blob.segment == orphan.run.start);
            let blob = found.unwrap_or_else(|| panic!("{:?} is not found", orphan.run));
            // If a blob uses only the first bytes of its last segment, the start of an earlier blob
            // can remain there.
            let segment_bytes = u64::from(self.file.geometry().segment_bytes());
            let tail = blob.header.stored_bytes() % segment_bytes;
            let can_be_doubtful = (1..12).contains(&tail) || segment_bytes < 12;
            assert!(can_be_doubtful || !blob.doubtful, "{:?}", orphan.run);
            let document = self.file.salvage_at(blob.segment).unwrap().decompress().unwrap();
            assert!(document == orphan.document, "{:?}: the documents differ", orphan.run);
        }
        for blob in report.blobs.iter().filter(|blob| !blob.doubtful) {
            let document = self.file.salvage_at(blob.segment).unwrap().decompress().unwrap();
            assert!(self.history.contains(&document), "{blob:?} was never written");
        }
    }
}

fn check(geometry: (u32, u32), durability: Durability, operations: &[Operation]) {
    let geometry = Geometry::new(geometry.0, geometry.1).unwrap();
    let mut model = Model::new(geometry, durability);
    for (number, operation) in (0..).zip(operations) {
        model.apply(number, operation);
    }
    model.check_live();
    model.check_salvage();
    model.reopen();
    model.check_salvage();
}

proptest! {
    // A fixed seed, so that a change is not blamed for an older bug. CONTRIBUTING.md describes how
    // to search with new seeds.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2026),
        ..ProptestConfig::with_cases(96)
    })]

    #[test]
    fn each_write(operations in prop::collection::vec(operation(12), 1..120)) {
        check((12, 256), Durability::EachWrite, &operations);
    }

    #[test]
    fn relaxed(operations in prop::collection::vec(operation(12), 1..120)) {
        check((12, 256), Durability::Relaxed, &operations);
    }

    #[test]
    fn tiny_segments(operations in prop::collection::vec(operation(3), 1..60)) {
        check((3, 1), Durability::Relaxed, &operations);
    }

    #[test]
    fn region_geometry(operations in prop::collection::vec(operation(1024), 1..120)) {
        check((1024, 4096), Durability::Relaxed, &operations);
    }
}
