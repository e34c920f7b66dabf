//! Load on a store, made so that what was stored can be checked afterwards.
//!
//! Viewers walk through a world, and chunks near them are edited. Every edit of a chunk writes a
//! number, one more than the last, into its blocks ([`mark`]). A chunk is edited again only after
//! its save was acknowledged, and a [`Journal`] writes down both: the journal says for each chunk
//! which numbers it may hold, however the program ended.

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

/// How long the world's thread waits between two ticks, as in the game about.
const TICK: Duration = Duration::from_millis(20);

/// How long it waits for something to do.
const PAUSE: Duration = Duration::from_millis(1);

/// So many edits are made up for after a pause, and so long it may take: more would only be
/// another pause.
const EDITS_IN_A_ROW_MAX: u32 = 64;
const EDITS_TIME_MAX: Duration = Duration::from_millis(5);

/// Where viewers may walk.
#[derive(Clone, Debug)]
enum Ground {
    /// Anywhere in here; what is not there is generated.
    Generated(ChunkRect),
    /// Where there are chunks; nothing is generated.
    Stored(Vec<ChunkPos>),
}

/// How much load there is.
#[derive(Clone, Debug)]
pub struct StressOptions {
    /// How long, unless it is stopped before.
    pub time: Duration,
    /// How many viewers walk.
    pub viewers: u32,
    /// How far they see, in chunks.
    pub radius: u32,
    /// How many edits are made each second, if there are so many chunks to edit.
    pub edits_per_second: f64,
    /// How many seconds pass in the world in each second: how often is saved, how soon unloaded,
    /// how fast viewers walk.
    pub speed: f64,
    /// Chooses the ways of the viewers and the chunks to edit.
    pub seed: u64,
    /// How far from chunk 0,0 viewers walk where chunks are generated, in chunks.
    pub area: u32,
}

impl Ground {
    /// Within `radius` of chunk 0,0 where the world has a generator, else where it has chunks.
    fn of(world: &RunningWorld, radius: u32) -> Result<Self> {
        if world.generator().is_some() {
            return Ok(Self::Generated(ChunkRect::around(ChunkPos::new(0, 0), radius)));
        }
        let stored = world.store().storage().all_positions()?;
        if stored.is_empty() {
            let name = world.path().display();
            let text =
                format!("{name}: there are no chunks, and no generator of ours made this world");
            return Err(Error::new(ErrorKind::NotAWorld, text).into());
        }
        Ok(Self::Stored(stored))
    }
}

/// Runs the world at `path`, loads its store until the time is over or `is_stopped` says so, and
/// saves everything. Edits and acknowledged saves are appended to the file `log`.
///
/// # Errors
/// The world cannot be run, there is nothing to walk on, or the log cannot be written.
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
    report.each_write = world.is_each_write();
    let store = world.store().clone();
    report.flushed = world.shut_down();
    report.unsaved = report.flushed.unsaved.len();
    // With what was saved at the end.
    report.count(&store.metrics(), &journal);
    if let Some(error) = journal.take_log_error() {
        let name = log.unwrap_or(Path::new("the log")).display().to_string();
        return Err(error).context(format!("{name}: cannot write"));
    }
    Ok(report)
}

/// Loads a store. This thread is the world's meanwhile. The store is not shut down. The journal
/// must be among its listeners.
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
    /// Where there are chunks, if nothing is generated.
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
                // An island of one chunk.
                walker.jump(at);
            }
            walker.look(self.store, self.options.radius, self.stored.is_none());
            self.report.steps = self.report.steps.saturating_add(1);
        }
    }

    /// Makes as many edits as are due by now.
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
