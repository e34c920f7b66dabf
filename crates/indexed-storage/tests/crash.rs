//! Stops at every write and sync of a workload, with and without torn writes, under both
//! durabilities, and checks the guarantees in the crate documentation.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use hyworld_indexed_storage::{
    BlobWrite, Durability, Error, FaultPlan, FaultyFile, Geometry, IndexedStorageFile, MemoryFile,
    OpenOptions, SealTag, Slot,
};
use hyworld_testkit::{Random, sample};

const SLOTS: u32 = 8;

/// The document of a slot; `None` if the slot is empty.
type Value = Option<Vec<u8>>;
type World = BTreeMap<u32, Value>;

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<(u32, Vec<u8>)>),
    Remove(u32),
    Sync,
}

impl Step {
    /// Returns the slots that it changes, with their new documents.
    fn changes(&self) -> Vec<(u32, Value)> {
        match self {
            Self::Write(blobs) => {
                blobs.iter().map(|(slot, document)| (*slot, Some(document.clone()))).collect()
            }
            Self::Remove(slot) => vec![(*slot, None)],
            Self::Sync => vec![],
        }
    }
}

fn document(random: &mut Random) -> Vec<u8> {
    let len = random.below(1400) as usize;
    if random.coin() { random.bytes(len) } else { sample(random.number(), len * 3) }
}

fn workload(seed: u64, len: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut step = || match random.below(10) {
        0 => Step::Sync,
        1 | 2 => Step::Remove(random.below(SLOTS)),
        3 => {
            let blobs = (0..3).map(|_| (random.below(SLOTS), document(&mut random)));
            Step::Write(blobs.collect())
        }
        _ => Step::Write(vec![(random.below(SLOTS), document(&mut random))]),
    };
    (0..len).map(|_| step()).collect()
}

/// The options of a workload.
#[derive(Clone, Copy, Debug)]
struct Mode {
    durability: Durability,
    sealed: bool,
}

fn open(disk: &Arc<FaultyFile>, mode: Mode) -> Result<IndexedStorageFile, Error> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .geometry(Geometry::new(SLOTS, 256).unwrap())
        .durability(mode.durability)
        // Small enough to force syncs.
        .released_bytes_max(4096)
        .open_raw(Box::new(Arc::clone(disk)), "disk")
}

fn apply(file: &IndexedStorageFile, step: &Step, mode: Mode) -> Result<(), Error> {
    let tag = SealTag::new(*b"crash").unwrap();
    match step {
        Step::Write(blobs) => {
            let seal = mode.sealed.then_some(&tag);
            let writes: Vec<_> = blobs
                .iter()
                .map(|(slot, document)| BlobWrite { slot: Slot::new(*slot), document, seal })
                .collect();
            match &*writes {
                [one] if !mode.sealed => file.write(one.slot, one.document),
                _ => file.write_batch(&writes),
            }
        }
        Step::Remove(slot) => file.remove(Slot::new(*slot)).map(|_| ()),
        Step::Sync => file.sync(),
    }
}

/// The documents that a slot may hold after a crash.
#[derive(Clone, Debug)]
struct Allowed {
    /// The document at the last sync and all documents written since.
    values: Vec<Value>,
    /// Index in `values` of the last acknowledged document.
    acknowledged: usize,
}

impl Allowed {
    fn only(value: &Value) -> Self {
        Self { values: vec![value.clone()], acknowledged: 0 }
    }

    /// Records that a sync made the last acknowledged document durable.
    fn synced(&mut self) {
        self.values.drain(..self.acknowledged);
        self.acknowledged = 0;
    }
}

/// A run of a workload up to the crash, or to the end.
struct Run {
    disk: Arc<FaultyFile>,
    allowed: BTreeMap<u32, Allowed>,
    stopped: bool,
}

fn run(disk: FaultyFile, steps: &[Step], mode: Mode, before: &World) -> Run {
    let disk = Arc::new(disk);
    let mut allowed: BTreeMap<_, _> =
        before.iter().map(|(slot, value)| (*slot, Allowed::only(value))).collect();
    let Ok(file) = open(&disk, mode) else {
        return Run { disk, allowed, stopped: true };
    };
    for step in steps {
        let syncs = disk.syncs();
        let outcome = apply(&file, step, mode);
        let synced = disk.syncs() > syncs;
        if synced && outcome.is_ok() {
            // Everything acknowledged before this step is now durable.
            allowed.values_mut().for_each(Allowed::synced);
        }
        for (slot, value) in step.changes() {
            allowed.get_mut(&slot).unwrap().values.push(value);
        }
        if outcome.is_ok() {
            for slot in allowed.values_mut() {
                slot.acknowledged = slot.values.len() - 1;
            }
            if mode.durability == Durability::EachWrite || matches!(step, Step::Sync) {
                allowed.values_mut().for_each(Allowed::synced);
            }
        }
        if outcome.is_err() {
            return Run { disk, allowed, stopped: true };
        }
    }
    Run { disk, allowed, stopped: false }
}

fn reopen(image: Vec<u8>) -> Result<IndexedStorageFile, Error> {
    let memory = Box::new(MemoryFile::new(image));
    let options = OpenOptions::new().write(true).create(true);
    options.geometry(Geometry::new(SLOTS, 256).unwrap()).open_raw(memory, "image")
}

/// The guarantee that a slot must meet.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Guarantee {
    /// The acknowledged document, or the one being written.
    OldOrNew,
    /// Also any other document since the last sync, or damage with something left to salvage.
    OldOrNewOrDamaged,
    /// As before, but a torn write may be undetected, because the blob has no checksum.
    TornUndetected,
}

/// Checks one image. Returns the number of damaged slots and of undetected torn writes.
fn check(image: Vec<u8>, run: &Run, guarantee: Guarantee, name: &str) -> (u32, u32) {
    let file = reopen(image).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (mut damaged, mut torn) = (0, 0);
    for (slot, allowed) in &run.allowed {
        let found = file.read(Slot::new(*slot));
        let since_sync = allowed.values.len() > 1;
        match found {
            Ok(value) => {
                let is_allowed = match guarantee {
                    Guarantee::OldOrNew => allowed
                        .values
                        .iter()
                        .skip(allowed.acknowledged)
                        .any(|allowed| *allowed == value),
                    _ => allowed.values.contains(&value),
                };
                if !is_allowed && since_sync && guarantee == Guarantee::TornUndetected {
                    torn += 1;
                    continue;
                }
                assert!(is_allowed, "{name}: slot {slot} holds {:?} bytes", value.map(|v| v.len()));
            }
            Err(Error::Damaged { damage, .. }) => {
                assert_ne!(guarantee, Guarantee::OldOrNew, "{name}: slot {slot}: {damage}");
                assert!(since_sync, "{name}: slot {slot} was synced, but {damage}");
                damaged += 1;
                check_salvage(&file, allowed, name);
            }
            Err(error) => panic!("{name}: slot {slot}: {error}"),
        }
    }
    (damaged, torn)
}

/// Checks that some document from before or since the last sync can be salvaged.
fn check_salvage(file: &IndexedStorageFile, allowed: &Allowed, name: &str) {
    // After a durable removal nothing needs to be salvageable.
    if allowed.values.contains(&None) {
        return;
    }
    let found = file.salvage().unwrap().blobs;
    let salvaged = found.iter().any(|blob| {
        let document = file.salvage_at(blob.segment).unwrap().decompress().unwrap();
        allowed.values.contains(&Some(document))
    });
    assert!(salvaged, "{name}: no document of a damaged slot can be salvaged");
}

/// Builds a file with gaps and orphaned blobs, as the game leaves it.
fn game_world(seed: u64) -> (Vec<u8>, World) {
    let mode = Mode { durability: Durability::EachWrite, sealed: false };
    let empty: World = (0..SLOTS).map(|slot| (slot, None)).collect();
    let disk = FaultyFile::new(Vec::new(), FaultPlan::default());
    let done = run(disk, &workload(seed, 30), mode, &empty);
    assert!(!done.stopped);
    let world =
        done.allowed.iter().map(|(slot, allowed)| (*slot, allowed.values.first().unwrap().clone()));
    (done.disk.after_kill(), world.collect())
}

#[derive(Default, Debug)]
struct Tally {
    crash_points: u64,
    images: u64,
    damaged: u32,
    torn_undetected: u32,
}

fn crash_everywhere(seed: u64, mode: Mode, tally: &mut Tally) {
    let (image, world) = game_world(seed);
    let steps = workload(seed ^ 0xABCD, 24);
    let clean = run(FaultyFile::new(image.clone(), FaultPlan::default()), &steps, mode, &world);
    assert!(!clean.stopped);
    for stop_at in 0..clean.disk.operations() {
        for tear in [false, true] {
            let plan = FaultPlan { stop_at: Some(stop_at), tear, seed, ..FaultPlan::default() };
            let run = run(FaultyFile::new(image.clone(), plan), &steps, mode, &world);
            assert!(run.stopped, "the workload has only {stop_at} operations");
            tally.crash_points += 1;
            let name = format!("seed {seed} {mode:?} stopped at {stop_at}, tear {tear}");
            check(run.disk.after_kill(), &run, Guarantee::OldOrNew, &name);
            tally.images += 1;
            for power in 0..4 {
                let guarantee = match (mode.durability, mode.sealed) {
                    (Durability::EachWrite, _) => Guarantee::OldOrNew,
                    (Durability::Relaxed, false) if tear => Guarantee::TornUndetected,
                    (Durability::Relaxed, _) => Guarantee::OldOrNewOrDamaged,
                };
                let image = run.disk.after_power_cut(seed ^ power, tear);
                let name = format!("{name}, power cut {power}");
                let (damaged, torn) = check(image, &run, guarantee, &name);
                tally.damaged += damaged;
                tally.torn_undetected += torn;
                tally.images += 1;
            }
        }
    }
}

fn crash_test(durability: Durability) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..16 {
        for sealed in [false, true] {
            crash_everywhere(seed, Mode { durability, sealed }, &mut tally);
        }
    }
    tally
}

#[test]
fn every_crash_under_each_write_leaves_old_or_new() {
    let tally = crash_test(Durability::EachWrite);
    println!("each write: {tally:?}, no guarantee violated");
    assert!(tally.crash_points > 1000, "{tally:?}");
    assert_eq!((tally.damaged, tally.torn_undetected), (0, 0));
}

#[test]
fn every_crash_under_relaxed_keeps_what_was_synced() {
    let tally = crash_test(Durability::Relaxed);
    println!("relaxed: {tally:?}, no guarantee violated");
    assert!(tally.crash_points > 1000, "{tally:?}");
    // Without any damage the test would not exercise power cuts.
    assert!(tally.damaged > 100, "{tally:?}");
}

/// One process is killed before it syncs, the next one writes, then the power fails. Blobs that the
/// first process moved must not be overwritten before its index is durable.
#[test]
fn a_kill_followed_by_a_power_cut_leaves_old_or_new() {
    let (mut points, mut checked) = (0, 0);
    for seed in 0..4 {
        let (image, world) = game_world(seed);
        let relaxed = Mode { durability: Durability::Relaxed, sealed: false };
        let first = run(
            FaultyFile::new(image, FaultPlan::default()),
            &workload(seed ^ 0x77, 6),
            relaxed,
            &world,
        );
        let killed: World = first
            .allowed
            .iter()
            .map(|(slot, allowed)| (*slot, allowed.values.last().unwrap().clone()))
            .collect();
        let steps = workload(seed ^ 0x99, 8);
        let each = Mode { durability: Durability::EachWrite, sealed: false };
        let clean = run(first.disk.next_process(FaultPlan::default()), &steps, each, &killed);
        for stop_at in 0..clean.disk.operations() {
            let plan = FaultPlan { stop_at: Some(stop_at), seed, ..FaultPlan::default() };
            let mut second = run(first.disk.next_process(plan), &steps, each, &killed);
            points += 1;
            if second.disk.syncs() == 0 {
                // Nothing is durable yet, so the changes of the first process may still be lost.
                for (slot, allowed) in &mut second.allowed {
                    let mut values = first.allowed[slot].values.clone();
                    allowed.acknowledged += values.len();
                    values.append(&mut allowed.values);
                    allowed.values = values;
                }
            }
            let guarantee = match second.disk.syncs() {
                0 => Guarantee::OldOrNewOrDamaged,
                _ => Guarantee::OldOrNew,
            };
            for power in 0..6 {
                let image = second.disk.after_power_cut(power, false);
                check(image, &second, guarantee, &format!("seed {seed} stop {stop_at} {power}"));
                checked += 1;
            }
        }
    }
    println!("{points} crash points, {checked} images, no guarantee violated");
    assert!(points > 60);
}

/// After any crash the file can be written again, and all new documents can be read.
#[test]
fn a_crashed_file_can_be_used_again() {
    for durability in [Durability::EachWrite, Durability::Relaxed] {
        let (image, world) = game_world(1);
        let mode = Mode { durability, sealed: false };
        let steps = workload(5, 16);
        for stop_at in (0..60).step_by(3) {
            let plan = FaultPlan { stop_at: Some(stop_at), tear: true, ..FaultPlan::default() };
            let crashed = run(FaultyFile::new(image.clone(), plan), &steps, mode, &world);
            let file = reopen(crashed.disk.after_power_cut(stop_at, true)).unwrap();
            let mut random = Random::new(stop_at);
            for round in 0..3 {
                let documents: Vec<_> = (0..SLOTS).map(|_| document(&mut random)).collect();
                for (slot, document) in (0..).zip(&documents) {
                    file.write(Slot::new(slot), document).unwrap();
                }
                file.sync().unwrap();
                for (slot, document) in (0..).zip(&documents) {
                    let found = file.read(Slot::new(slot)).unwrap();
                    assert_eq!(found.as_ref(), Some(document), "{stop_at} {round} {slot}");
                }
            }
        }
    }
}

/// A write that fails for lack of space changes nothing and can be repeated. After a failed index
/// write or sync the file rejects further writes, and acknowledged documents stay readable.
#[test]
fn a_single_failure_is_reported_and_loses_nothing() {
    for durability in [Durability::EachWrite, Durability::Relaxed] {
        let (image, world) = game_world(2);
        let steps = workload(9, 16);
        let mode = Mode { durability, sealed: false };
        let clean = run(FaultyFile::new(image.clone(), FaultPlan::default()), &steps, mode, &world);
        let (mut repeated, mut latched) = (0, 0);
        for fail_at in 0..clean.disk.operations() {
            let plan = FaultPlan { fail_at: Some(fail_at), ..FaultPlan::default() };
            let disk = Arc::new(FaultyFile::new(image.clone(), plan));
            let Ok(file) = open(&disk, mode) else {
                continue;
            };
            for step in &steps {
                if apply(&file, step, mode).is_err() {
                    match apply(&file, step, mode) {
                        Ok(()) => repeated += 1,
                        Err(Error::Latched { .. }) => {
                            latched += 1;
                            break;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            let reopened = reopen(disk.after_kill()).unwrap();
            assert_eq!(reopened.damage(), []);
            for slot in reopened.occupied() {
                assert!(reopened.read(slot).is_ok(), "failed at {fail_at}");
            }
        }
        assert!(repeated > 0 && latched > 0, "{repeated} {latched}");
    }
}

/// The segments of a failed write are freed: repeating it does not grow the file.
#[test]
fn a_failed_write_frees_its_segments() {
    // Creating the file is a write and a sync; the next operation is the payload.
    let plan = FaultPlan { fail_at: Some(2), ..FaultPlan::default() };
    let disk = Arc::new(FaultyFile::new(Vec::new(), plan));
    let mode = Mode { durability: Durability::Relaxed, sealed: false };
    let file = open(&disk, mode).unwrap();
    assert!(file.write(Slot::new(0), b"one").is_err());
    file.write(Slot::new(0), b"one").unwrap();
    assert_eq!(file.stat(Slot::new(0)).unwrap().unwrap().segment.get(), 1);
}

/// Rewriting under relaxed durability without calling `sync` must not grow the file without bound.
#[test]
fn released_space_is_reused_after_forced_syncs() {
    let disk = Arc::new(FaultyFile::new(Vec::new(), FaultPlan::default()));
    let mode = Mode { durability: Durability::Relaxed, sealed: false };
    let file = open(&disk, mode).unwrap();
    let mut random = Random::new(4);
    for _ in 0..400 {
        file.write(Slot::new(0), &random.bytes(1000)).unwrap();
    }
    let segments = 1008_usize.div_ceil(256) * 256;
    assert!(file.file_bytes().unwrap() < 64 + 4096 + 3 * segments as u64);
    assert!(disk.syncs() > 10);
}

/// If creating a file is interrupted by a crash, the next creation completes it.
#[test]
fn an_interrupted_creation_is_completed() {
    let mode = Mode { durability: Durability::Relaxed, sealed: false };
    for stop_at in 0..2 {
        for seed in 0..20 {
            let plan = FaultPlan { stop_at: Some(stop_at), tear: true, seed, fail_at: None };
            let disk = Arc::new(FaultyFile::new(Vec::new(), plan));
            assert!(open(&disk, mode).is_err());
            for image in [disk.after_kill(), disk.after_power_cut(seed, true)] {
                let next = Arc::new(FaultyFile::new(image, FaultPlan::default()));
                let file = open(&next, mode).unwrap();
                file.write(Slot::new(3), b"works").unwrap();
                assert_eq!(file.read(Slot::new(3)).unwrap().unwrap(), b"works");
            }
        }
    }
}
