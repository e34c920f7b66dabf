//! A stress test of a chunk store whose saves can be checked afterwards.
//!
//! Viewers walk through a world, and chunks near them are edited. Every edit of a chunk increments
//! a number in its blocks ([`mark`]). A chunk is edited again only after its save was acknowledged.
//! A [`Journal`] logs both, so it shows for each chunk which numbers it may have, even if the
//! process was killed.

mod journal;
pub mod mark;
mod random;
mod report;
mod walker;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hyworld::{Error, ErrorKind, RunningWorld};
use hyworld_chunk_store::ChunkStore;
use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_providers::ChunkStorageExt;
use hyworld_world::BuiltInGenerator;

use crate::process::resident_bytes;
use crate::timing::Millis;
use random::Random;
use walker::Walker;

pub use journal::{Journal, JournalCounts};
pub use report::{StageTimes, StressReport};

/// The time between two ticks, about the same as in the game.
const TICK: Duration = Duration::from_millis(20);

/// The maximum wait for work between two checks.
const PAUSE: Duration = Duration::from_millis(1);

/// The maximum number of overdue edits after a pause, and the maximum time for them: more would
/// cause another pause.
const EDITS_IN_A_ROW_MAX: u32 = 64;
const EDITS_TIME_MAX: Duration = Duration::from_millis(5);

/// The area in which viewers walk.
#[derive(Clone, Debug)]
enum Ground {
    /// A rectangle in which missing chunks are generated.
    Generated(ChunkRect),
    /// The stored chunks; nothing is generated.
    Stored(Vec<ChunkPos>),
}

/// The options of a stress test.
#[derive(Clone, Debug)]
pub struct StressOptions {
    /// The duration, unless the test is stopped before.
    pub time: Duration,
    /// The number of viewers.
    pub viewers: u32,
    /// The view radius in chunks.
    pub radius: u32,
    /// The number of edits per second, if enough chunks can be edited.
    pub edits_per_second: f64,
    /// The speed of time in the world: it scales the intervals of saving and unloading, and how
    /// fast viewers walk.
    pub speed: f64,
    /// The seed for the paths of the viewers and the chunks to edit.
    pub seed: u64,
    /// How far from chunk 0,0 viewers walk if chunks are generated, in chunks.
    pub area: u32,
}

impl Ground {
    /// Returns the area within `radius` of chunk 0,0 if the world has a generator, otherwise its
    /// stored chunks.
    fn of(world: &RunningWorld, radius: u32) -> Result<Self> {
        if world.generator().is_some() {
            return Ok(Self::Generated(ChunkRect::around(ChunkPos::new(0, 0), radius)));
        }
        let stored = world.store().storage().all_positions()?;
        if stored.is_empty() {
            let name = world.path().display();
            let text = format!("{name}: the world has no chunks and no built-in generator");
            return Err(Error::new(ErrorKind::NotAWorld, text).into());
        }
        Ok(Self::Stored(stored))
    }
}

/// Runs the stress test on the world at `path` until the time is over or `is_stopped` returns true,
/// and saves everything. Edits and acknowledged saves are appended to the file `log`.
///
/// # Errors
/// Returns an error if the world cannot be run, if it has no chunks and no generator, or if the log
/// cannot be written.
pub fn run(
    path: &Path,
    log: Option<&Path>,
    options: &StressOptions,
    is_stopped: impl Fn() -> bool,
    progress: impl FnMut(Duration),
) -> Result<StressReport> {
    let journal = Arc::new(Journal::new(log.map(journal::open_log).transpose()?));
    let listener = Arc::clone(&journal);
    let world = RunningWorld::open(path, |options| options.listeners.push(listener))?;
    let ground = Ground::of(&world, options.area)?;
    let mut report = load(world.store(), &journal, options, &ground, is_stopped, progress);
    report.world = path.display().to_string();
    report.generator = world.generator().map(BuiltInGenerator::name);
    report.each_write = world.syncs_each_write();
    let store = world.store().clone();
    report.flushed = world.shut_down();
    report.unsaved = report.flushed.unsaved.len();
    // Includes the saves of the shutdown.
    report.count(&store.metrics(), &journal);
    if let Some(error) = journal.take_log_error() {
        let name = log.unwrap_or(Path::new("the log")).display().to_string();
        return Err(error).context(format!("{name}: cannot write"));
    }
    Ok(report)
}

/// Runs the load on this thread, which becomes the world's thread. The store is not shut down. The
/// journal must be one of its listeners.
fn load(
    store: &ChunkStore,
    journal: &Journal,
    options: &StressOptions,
    ground: &Ground,
    is_stopped: impl Fn() -> bool,
    mut progress: impl FnMut(Duration),
) -> StressReport {
    let mut load = Load::new(store, journal, options, ground);
    let mut last_tick = load.start;
    while load.start.elapsed() < options.time && !is_stopped() && !journal.is_broken() {
        store.step_until_idle();
        let passed = last_tick.elapsed();
        if passed >= TICK {
            last_tick = Instant::now();
            store.tick(passed.mul_f64(options.speed));
            load.measure();
            progress(load.start.elapsed());
        }
        load.walk();
        load.edit();
        store.wait_for_work(PAUSE);
    }
    load.finish()
}

struct Load<'a> {
    store: &'a ChunkStore,
    journal: &'a Journal,
    options: &'a StressOptions,
    ground: &'a Ground,
    /// The stored chunks, if nothing is generated.
    stored: Option<HashSet<ChunkPos>>,
    random: Random,
    walkers: Vec<Walker>,
    start: Instant,
    edits_tried: f64,
    report: StressReport,
}

impl<'a> Load<'a> {
    fn new(
        store: &'a ChunkStore,
        journal: &'a Journal,
        options: &'a StressOptions,
        ground: &'a Ground,
    ) -> Self {
        let mut random = Random::new(options.seed);
        let starts = (0..options.viewers).filter_map(|_| match ground {
            Ground::Generated(area) => Some(random.in_rect(*area)),
            Ground::Stored(positions) => random.one_of(positions),
        });
        let walkers = starts.map(|at| Walker::new(store, at, options.radius)).collect();
        let stored = match ground {
            Ground::Generated(_) => None,
            Ground::Stored(positions) => Some(positions.iter().copied().collect()),
        };
        Self {
            store,
            journal,
            options,
            ground,
            stored,
            random,
            walkers,
            start: Instant::now(),
            edits_tried: 0.0,
            report: StressReport { viewers: options.viewers, ..StressReport::default() },
        }
    }

    fn walk(&mut self) {
        let step_time = walker::STEP_TIME.div_f64(self.options.speed);
        for walker in &mut self.walkers {
            if !walker.is_ready(step_time) {
                continue;
            }
            let is_ground = |at: ChunkPos| match (self.ground, &self.stored) {
                (Ground::Generated(area), _) => area.contains(at),
                (Ground::Stored(_), stored) => stored.as_ref().is_some_and(|all| all.contains(&at)),
            };
            if !walker.step(&mut self.random, is_ground)
                && let Ground::Stored(positions) = self.ground
                && let Some(at) = self.random.one_of(positions)
            {
                // The viewer is on an isolated chunk.
                walker.jump(at);
            }
            walker.request_view(self.store, self.options.radius, self.stored.is_none());
            self.report.steps = self.report.steps.saturating_add(1);
        }
    }

    /// Performs the edits that are due.
    fn edit(&mut self) {
        let due = self.start.elapsed().as_secs_f64() * self.options.edits_per_second;
        self.edits_tried = self.edits_tried.max(due - f64::from(EDITS_IN_A_ROW_MAX));
        let start = Instant::now();
        while self.edits_tried + 1.0 <= due && start.elapsed() < EDITS_TIME_MAX {
            self.edits_tried += 1.0;
            let Some(at) = self.near_a_viewer() else { return };
            if let Some(chunk) = self.store.loaded(at) {
                self.journal.edit(&chunk);
            }
        }
    }

    fn near_a_viewer(&mut self) -> Option<ChunkPos> {
        let walker = self.random.below(self.walkers.len());
        let center = self.walkers.get(walker)?.at();
        Some(self.random.in_rect(ChunkRect::around(center, self.options.radius)))
    }

    fn measure(&mut self) {
        let in_memory = self.store.metrics().in_memory;
        self.report.in_memory_max = self.report.in_memory_max.max(in_memory);
        self.report.resident_max = self.report.resident_max.max(resident_bytes());
    }

    fn finish(mut self) -> StressReport {
        self.measure();
        for walker in &self.walkers {
            walker.leave(self.store);
        }
        self.report.ms = Millis(self.start.elapsed());
        self.report
    }
}

#[cfg(test)]
mod tests;
