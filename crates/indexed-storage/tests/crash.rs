//! Stops at every single write and sync of a workload, with and without torn writes, under both
//! durabilities, and checks what is promised: see the head of the crate's documentation.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use hyworld_indexed_storage::{
    BlobWrite, Durability, Error, FaultPlan, FaultyFile, Geometry, IndexedStorageFile, MemoryFile,
    OpenOptions, SealTag, Slot,
};
use hyworld_testkit::{Random, sample};

const SLOTS: u32 = 8;

/// What a slot holds; `None` for nothing.
type Value = Option<Vec<u8>>;
type World = BTreeMap<u32, Value>;

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<(u32, Vec<u8>)>),
    Remove(u32),
    Sync,
}

impl Step {
    /// The slots that it changes, with what they hold afterwards.
    fn changes(&self) -> Vec<(u32, Value)> {
        match self {
            Self::Write(blobs) => {
                blobs.iter().map(|(slot, content)| (*slot, Some(content.clone()))).collect()
            }
            Self::Remove(slot) => vec![(*slot, None)],
            Self::Sync => vec![],
        }
    }
}

fn content(random: &mut Random) -> Vec<u8> {
    let len = random.below(1400) as usize;
    if random.coin() { random.bytes(len) } else { sample(random.number(), len * 3) }
}

fn workload(seed: u64, len: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut step = || match random.below(10) {
        0 => Step::Sync,
        1 | 2 => Step::Remove(random.below(SLOTS)),
        3 => {
            let blobs = (0..3).map(|_| (random.below(SLOTS), content(&mut random)));
            Step::Write(blobs.collect())
        }
        _ => Step::Write(vec![(random.below(SLOTS), content(&mut random))]),
    };
    (0..len).map(|_| step()).collect()
}

/// How a workload is run.
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
        // Small enough that forced syncs happen.
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
                .map(|(slot, content)| BlobWrite { slot: Slot::new(*slot), content, seal })
                .collect();
            match &*writes {
                [one] if !mode.sealed => file.write(one.slot, one.content),
                _ => file.write_batch(&writes),
            }
        }
        Step::Remove(slot) => file.remove(Slot::new(*slot)).map(|_| ()),
        Step::Sync => file.sync(),
    }
}

/// What a slot may hold after a crash.
#[derive(Clone, Debug)]
struct Allowed {
    /// What it held at the last sync, and everything that was written to it since.
    values: Vec<Value>,
    /// Which of `values` was the last to be acknowledged.
    acknowledged: usize,
}

impl Allowed {
    fn only(value: &Value) -> Self {
        Self { values: vec![value.clone()], acknowledged: 0 }
    }

    /// A sync made the last acknowledged value durable.
    fn synced(&mut self) {
        self.values.drain(..self.acknowledged);
        self.acknowledged = 0;
    }
}

/// A run up to the crash, or to the end.
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
            // What was acknowledged before this step is durable now.
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

/// How exact a slot must be.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Promise {
    /// The acknowledged value, or the one that was being written.
    OldOrNew,
    /// Also any other since the last sync, or damage; damage leaves something to salvage.
    OldOrNewOrDamaged,
    /// As before, but a torn write may go unnoticed: without a checksum nothing can notice it.
    TornUnnoticed,
}

/// Checks one image; returns how many slots were damaged and how many torn unnoticed.
fn check(image: Vec<u8>, run: &Run, promise: Promise, name: &str) -> (u32, u32) {
    let file = reopen(image).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (mut damaged, mut torn) = (0, 0);
    for (slot, allowed) in &run.allowed {
        let found = file.read(Slot::new(*slot));
        let since_sync = allowed.values.len() > 1;
        match found {
            Ok(value) => {
                let is_allowed = match promise {
                    Promise::OldOrNew => allowed
                        .values
                        .iter()
                        .skip(allowed.acknowledged)
                        .any(|allowed| *allowed == value),
                    _ => allowed.values.contains(&value),
                };
                if !is_allowed && since_sync && promise == Promise::TornUnnoticed {
                    torn += 1;
                    continue;
                }
                assert!(is_allowed, "{name}: slot {slot} holds {:?} bytes", value.map(|v| v.len()));
            }
            Err(Error::Damaged { damage, .. }) => {
                assert_ne!(promise, Promise::OldOrNew, "{name}: slot {slot}: {damage}");
                assert!(since_sync, "{name}: slot {slot} was synced, but {damage}");
                damaged += 1;
                check_salvage(&file, allowed, name);
            }
            Err(error) => panic!("{name}: slot {slot}: {error}"),
        }
    }
    (damaged, torn)
}

/// Of a damaged slot some value of before, or since, the last sync can be salvaged.
fn check_salvage(file: &IndexedStorageFile, allowed: &Allowed, name: &str) {
    // A removal that a forced sync made durable leaves nothing that must be there.
    if allowed.values.contains(&None) {
        return;
    }
    let found = file.salvage().unwrap().blobs;
    let salvaged = found.iter().any(|blob| {
        let content = file.salvage_at(blob.segment).unwrap().decompress().unwrap();
        allowed.values.contains(&Some(content))
    });
    assert!(salvaged, "{name}: nothing of a damaged slot is left");
}

/// A world with gaps and left-overs of removed blobs, as the game leaves it.
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
    torn_unnoticed: u32,
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
            assert!(run.stopped, "the workload has {stop_at} operations only");
            tally.crash_points += 1;
            let name = format!("seed {seed} {mode:?} stopped at {stop_at}, tear {tear}");
            check(run.disk.after_kill(), &run, Promise::OldOrNew, &name);
            tally.images += 1;
            for power in 0..4 {
                let promise = match (mode.durability, mode.sealed) {
                    (Durability::EachWrite, _) => Promise::OldOrNew,
                    (Durability::Relaxed, false) if tear => Promise::TornUnnoticed,
                    (Durability::Relaxed, _) => Promise::OldOrNewOrDamaged,
                };
                let image = run.disk.after_power_cut(seed ^ power, tear);
                let name = format!("{name}, power cut {power}");
                let (damaged, torn) = check(image, &run, promise, &name);
                tally.damaged += damaged;
                tally.torn_unnoticed += torn;
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
    println!("each write: {tally:?}, no promise broken");
    assert!(tally.crash_points > 1000, "{tally:?}");
    assert_eq!((tally.damaged, tally.torn_unnoticed), (0, 0));
}

#[test]
fn every_crash_under_relaxed_keeps_what_was_synced() {
    let tally = crash_test(Durability::Relaxed);
    println!("relaxed: {tally:?}, no promise broken");
    assert!(tally.crash_points > 1000, "{tally:?}");
    // The test would be worth little if power cuts never did any harm.
    assert!(tally.damaged > 100, "{tally:?}");
}

/// A process is killed before it synced; the next one writes; then the power goes. What the
/// first had moved must not be overwritten before its index is durable.
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
                // Nothing is durable yet, so the first process's slots are still open.
                for (slot, allowed) in &mut second.allowed {
                    let mut values = first.allowed[slot].values.clone();
                    allowed.acknowledged += values.len();
                    values.append(&mut allowed.values);
                    allowed.values = values;
                }
            }
            let promise = match second.disk.syncs() {
                0 => Promise::OldOrNewOrDamaged,
                _ => Promise::OldOrNew,
            };
            for power in 0..6 {
                let image = second.disk.after_power_cut(power, false);
                check(image, &second, promise, &format!("seed {seed} stop {stop_at} {power}"));
                checked += 1;
            }
        }
    }
    println!("{points} crash points, {checked} images, no promise broken");
    assert!(points > 60);
}

/// After any crash the file can be written again, and everything then reads.
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
                let contents: Vec<_> = (0..SLOTS).map(|_| content(&mut random)).collect();
                for (slot, content) in (0..).zip(&contents) {
                    file.write(Slot::new(slot), content).unwrap();
                }
                file.sync().unwrap();
                for (slot, content) in (0..).zip(&contents) {
                    let found = file.read(Slot::new(slot)).unwrap();
                    assert_eq!(found.as_ref(), Some(content), "{stop_at} {round} {slot}");
                }
            }
        }
    }
}

/// A write that fails for want of space changes nothing and can be repeated; a failed flip or
/// sync makes the file refuse further writes, and what was acknowledged stays readable.
#[test]
fn a_single_failure_is_reported_and_harms_nothing() {
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

/// The segments of a write that failed are free again: repeating it does not grow the file.
#[test]
fn a_failed_write_gives_its_segments_back() {
    // Creation is a write and a sync; the next operation is the payload.
    let plan = FaultPlan { fail_at: Some(2), ..FaultPlan::default() };
    let disk = Arc::new(FaultyFile::new(Vec::new(), plan));
    let mode = Mode { durability: Durability::Relaxed, sealed: false };
    let file = open(&disk, mode).unwrap();
    assert!(file.write(Slot::new(0), b"one").is_err());
    file.write(Slot::new(0), b"one").unwrap();
    assert_eq!(file.stat(Slot::new(0)).unwrap().unwrap().segment.get(), 1);
}

/// Rewriting under relaxed durability without ever calling `sync` must not grow the file without
/// bound.
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

/// A crash while a file is being made leaves something that the next creation completes.
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
