//! `stress` edits and saves a world and is killed repeatedly. No acknowledged save may be lost, and
//! no chunk may contain parts of two states.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use hyworld_bench::stress::mark::{self, MarkState};
use hyworld_chunk::Chunk;
use hyworld_chunk_store::{ChunkGenerator, GenerateRequest, SampleTerrain};
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{Finding, NoProgress, ScanOptions, verify};
use hyworld_providers::{Access, ChunkStorageExt};
use hyworld_testkit::Random;
use hyworld_world::WorldFolder;

use crate::generated;
use crate::run::Sandbox;

const KILLS: u32 = 100;

/// The logged edits of a chunk.
#[derive(Clone, Copy, Default, Debug)]
struct Edits {
    /// The last edit that was started.
    begun: u64,
    /// The last edit whose save was acknowledged.
    acknowledged: u64,
}

#[derive(Default, Debug)]
struct Totals {
    kills: u32,
    chunks_checked: u64,
    edits_checked: u64,
    /// Chunks with an edit that was stored but not yet acknowledged when the process was killed.
    ahead: u64,
    /// Documents of the generator, as far as they were needed.
    generated: BTreeMap<ChunkPos, Chunk>,
}

fn read_log(sandbox: &Sandbox) -> (BTreeMap<ChunkPos, Edits>, u64) {
    let log = if sandbox.path("log").exists() { sandbox.bytes("log") } else { Vec::new() };
    let log = String::from_utf8(log).unwrap();
    assert!(log.is_empty() || log.ends_with('\n'), "the log ends with a complete line");
    let (mut chunks, mut saves) = (BTreeMap::<ChunkPos, Edits>::new(), 0);
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let at = ChunkPos::new(words[1].parse().unwrap(), words[2].parse().unwrap());
        let edits = chunks.entry(at).or_default();
        let number = words[3].parse().unwrap();
        match words[0] {
            "edit" => edits.begun = number,
            "saved" => (edits.acknowledged, saves) = (number, saves + 1),
            _ => unreachable!("{line}"),
        }
    }
    (chunks, saves)
}

fn log_bytes(sandbox: &Sandbox) -> u64 {
    std::fs::metadata(sandbox.path("log")).map_or(0, |log| log.len())
}

fn wait_for_edits(sandbox: &Sandbox, log_bytes_before: u64) {
    let start = Instant::now();
    while log_bytes(sandbox) == log_bytes_before && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `stress` for a short time and kills it.
fn run_and_kill(sandbox: &Sandbox, random: &mut Random) {
    let seed = random.number().to_string();
    let load = ["--viewers", "2", "--radius", "1", "--area", "2", "--edits-per-second", "1000"];
    let rest = ["--speed", "50", "--seconds", "60", "--log", "log", "--seed", &seed, "--yes"];
    let log_bytes = log_bytes(sandbox);
    let mut command = sandbox.command(&[&["stress", "world"], &load[..], &rest].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // Most runs are timed from their first edit, so that a busy machine does not matter; the others
    // are killed while the world is opened and the first chunks are generated.
    if random.below(4) > 0 {
        wait_for_edits(sandbox, log_bytes);
    }
    std::thread::sleep(Duration::from_millis(50 + u64::from(random.below(251))));
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code().is_none() && err.is_empty(), "it ended by itself: {err}");
}

/// Checks that every chunk can be decoded and has exactly one written state.
fn check(sandbox: &Sandbox, totals: &mut Totals) {
    let (chunks, _) = read_log(sandbox);
    // Opened for writing, like the next process does.
    let world = WorldFolder::open(&sandbox.path("world"), Access::ReadWrite).unwrap();
    let mut findings = Vec::new();
    let mut add = |finding: &Finding| findings.push(finding.clone());
    let report = verify(world.storage(), &ScanOptions::new(), &mut add, &NoProgress);
    assert!(report.is_clean(), "{findings:?}");
    let stored = world.storage().all_positions().unwrap();
    for at in &stored {
        let document = world.storage().read(*at).unwrap().unwrap();
        let chunk = Chunk::decode(document).unwrap();
        let found = mark::read(&chunk, *at);
        let Edits { begun, acknowledged } = chunks.get(at).copied().unwrap_or_default();
        let number = match found {
            MarkState::Complete(number) => number,
            MarkState::Missing => 0,
            MarkState::Mixed => unreachable!("{at}: parts of different edits"),
        };
        assert!(number >= acknowledged, "{at}: holds {number}, lost {acknowledged}");
        assert!(number <= begun, "{at}: holds {number}, but only {begun} was begun");
        if number == 0 {
            let request = GenerateRequest { at: *at, seed: 77, still_needed: None };
            let generate = || SampleTerrain.generate(&request).unwrap().unwrap();
            assert!(chunk == *totals.generated.entry(*at).or_insert_with(generate), "{at}");
        }
        totals.ahead += u64::from(number > acknowledged);
        totals.edits_checked += u64::from(number > 0);
    }
    let lost = chunks.iter().find(|(at, edits)| edits.acknowledged > 0 && !stored.contains(at));
    assert!(lost.is_none(), "{lost:?} is missing");
    totals.chunks_checked += stored.len() as u64;
}

fn kill_repeatedly(syncs_each_write: bool, seed: u64) {
    let sandbox = generated::world("Sample", syncs_each_write);
    let (mut random, mut totals) = (Random::new(seed), Totals::default());
    for _ in 0..KILLS {
        run_and_kill(&sandbox, &mut random);
        totals.kills += 1;
        check(&sandbox, &mut totals);
    }
    let (chunks, saves) = read_log(&sandbox);
    let message = format!(
        "FlushOnWrite {syncs_each_write}: {} kills, {saves} acknowledged saves of {} chunks; {} \
         chunks checked, {} of them edited, {} with an edit that was stored but not acknowledged\n",
        totals.kills,
        chunks.len(),
        totals.chunks_checked,
        totals.edits_checked,
        totals.ahead,
    );
    std::io::stderr().write_all(message.as_bytes()).unwrap();
    assert!(saves > u64::from(KILLS) && chunks.len() > 10, "the test did too little");
}

#[test]
fn kills_with_synced_writes_lose_nothing() {
    kill_repeatedly(true, 1);
}

#[test]
fn kills_with_relaxed_durability_lose_nothing() {
    kill_repeatedly(false, 2);
}
