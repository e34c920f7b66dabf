//! `pregen PATH --radius N`: generates chunks in advance.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hyworld::RunningWorld;
use hyworld_bench::Millis;
use hyworld_chunk_store::{ChunkStore, FillFailure, FillReport, FlushReport, Metrics};
use hyworld_coords::{ChunkPos, ChunkRect};
use serde::Serialize;

use super::stress;
use crate::args::running::PregenArgs;
use crate::exit::{self, Exit};
use crate::interrupt;
use crate::output::json::Position;
use crate::output::{Console, json, progress, text, unsaved};

pub(super) fn run(args: &PregenArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let world = RunningWorld::open(&args.path, |options| {
        // Saves even if the settings of the world turn saving off.
        options.is_saving_chunks = true;
        options.save_new_chunks = true;
        options.is_unloading_chunks = true;
        options.keep_loaded_region = None;
        options.pregenerate_region = None;
        // No viewer needs these chunks, so they are unloaded as soon as possible.
        options.memory_gauge = Some(Arc::new(|| 1.0));
    })?;
    if world.generator().is_none() {
        let name = world.path().display();
        return Err(exit::problem(format!(
            "{name}: this world has no hyworld generator, so new chunks would not match the \
             stored ones: let the game generate them, or create a world with hyworld world create \
             UNIVERSE NAME --generator sample"
        )));
    }
    let area = ChunkRect::around(args.center, args.radius);
    let there = stored_in(world.store(), area)?;
    let start = Instant::now();
    let missing = area.in_file_order().filter(|at| !there.contains(at));
    let filled = if args.dry_run {
        FillReport::default()
    } else {
        fill(console, &world, area, there.len(), missing)?
    };
    let store = world.store().clone();
    let flushed = world.shut_down();
    let (metrics, time) = (store.metrics(), start.elapsed());
    let is_clean = filled.failed == 0 && !filled.is_stopped && flushed.is_complete();
    let mut report = Report::new(args, &filled, &flushed, &metrics, time);
    report.chunks = u64::try_from(area.count()).unwrap_or(u64::MAX);
    report.already = there.len() as u64;
    report.finished = is_clean && !args.dry_run;
    if args.json {
        json::line(console, &report)?;
    } else {
        console.report(format_args!("{}", report.summary(area)))?;
    }
    console.flush_data()?;
    for failure in &filled.failures {
        let ChunkPos { x, z } = failure.at;
        let why = message(failure);
        exit::complain(&exit::problem(format!("chunk {x},{z}: not generated: {why}")));
    }
    unsaved::complain(&flushed);
    if filled.is_stopped {
        console.say(format_args!("interrupted; run the same command again to continue"))?;
    }
    Ok(if unsaved::has_failed(&flushed) { Exit::Failure } else { exit::clean_if(is_clean) })
}

/// Returns the stored chunks of an area. A region that cannot be listed is an error, because it
/// may contain chunks.
fn stored_in(store: &ChunkStore, area: ChunkRect) -> anyhow::Result<HashSet<ChunkPos>> {
    let mut there = HashSet::new();
    for at in store.storage().positions() {
        let at = at?;
        if area.contains(at) {
            there.insert(at);
        }
    }
    Ok(there)
}

fn fill(
    console: &Console,
    world: &RunningWorld,
    area: ChunkRect,
    already: usize,
    missing: impl Iterator<Item = ChunkPos>,
) -> anyhow::Result<FillReport> {
    let is_interrupted = interrupt::catch()?;
    let wanted = u64::try_from(area.count()).unwrap_or(u64::MAX).saturating_sub(already as u64);
    let bar = progress::chunks(console, "generating", Some(wanted));
    let report = world.store().fill(missing, |report| {
        bar.set_position(report.done.saturating_add(report.failed));
        !is_interrupted.load(Ordering::SeqCst)
    });
    bar.finish_and_clear();
    Ok(report)
}

#[derive(Debug, Default, Serialize)]
struct Report {
    world: String,
    chunks: u64,
    already: u64,
    generated: u64,
    loaded: u64,
    saved: u64,
    failed: u64,
    findings: Vec<NotGenerated>,
    in_memory_max: u64,
    ms: Millis,
    chunks_per_second: f64,
    finished: bool,
    dry_run: bool,
}

impl Report {
    fn new(
        args: &PregenArgs,
        filled: &FillReport,
        flushed: &FlushReport,
        metrics: &Metrics,
        time: Duration,
    ) -> Self {
        let findings = filled.failures.iter();
        let findings = findings
            .map(|failure| NotGenerated { at: failure.at.into(), message: message(failure) });
        let unsaved = flushed.unsaved.iter().map(|chunk| NotGenerated {
            at: chunk.at.into(),
            message: unsaved::reason(&chunk.reason),
        });
        #[expect(clippy::cast_precision_loss, reason = "a rate for display")]
        let rate = metrics.generated as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE);
        Self {
            world: args.path.display().to_string(),
            generated: metrics.generated,
            loaded: metrics.loaded,
            saved: metrics.saved,
            failed: filled.failed.saturating_add(flushed.unsaved.len() as u64),
            findings: findings.chain(unsaved).collect(),
            in_memory_max: filled.in_memory_max,
            ms: Millis(time),
            chunks_per_second: rate,
            dry_run: args.dry_run,
            ..Self::default()
        }
    }

    fn summary(&self, area: ChunkRect) -> String {
        let (name, chunks) = (&self.world, text::count(self.chunks, "chunk"));
        let already = text::thousands(self.already);
        if self.dry_run {
            let missing = text::thousands(self.chunks.saturating_sub(self.already));
            return format!(
                "{name}: {chunks}, {area}: {already} already there, {missing} would be generated; \
                 nothing written"
            );
        }
        format!(
            "{name}: {chunks}, {area}: {already} already there, {} generated, {} saved, {} failed, \
             in {} ({} chunks/s, at most {} in memory)",
            text::thousands(self.generated),
            text::thousands(self.saved),
            text::thousands(self.failed),
            text::duration(self.ms.0),
            stress::per_second(self.generated, self.ms.0),
            text::thousands(self.in_memory_max),
        )
    }
}

#[derive(Debug, Serialize)]
struct NotGenerated {
    #[serde(flatten)]
    at: Position,
    message: String,
}

fn message(failure: &FillFailure) -> String {
    let error = failure.error.as_ref();
    error.map_or_else(|| "the generator returned no chunk".to_owned(), ToString::to_string)
}
