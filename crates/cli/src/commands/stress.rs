//! `stress PATH`: load on the store of a world.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use hyworld::RunningWorld;
use hyworld_chunk_store::stress::{
    self, Ground, Journal, JournalCounts, StressOptions, StressReport,
};
use hyworld_chunk_store::{FlushReport, Times};
use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_providers::ChunkStorageExt;
use hyworld_world::BuiltInGenerator;
use serde_json::{Value, json};

use super::interrupt;
use crate::args::running::StressArgs;
use crate::exit::{self, Exit};
use crate::output::table::{Align, Table};
use crate::output::{Console, json, progress, text, unsaved};

pub(super) fn run(args: &StressArgs, console: &mut Console) -> anyhow::Result<Exit> {
    if args.edits_per_second > 0.0 {
        let name = args.path.display();
        let question = format!("{name}: blocks of many chunks will be changed for good; go on?");
        if !console.confirm(&question, args.yes)? {
            return Err(exit::usage(format!(
                "{name}: nothing was done; blocks would be changed for good: say --yes, or \
                 --edits-per-second 0 to change none"
            )));
        }
    }
    let journal = Arc::new(Journal::new(args.log.as_deref().map(open_log).transpose()?));
    let listener = Arc::clone(&journal);
    let world = RunningWorld::open(&args.path, |options| options.listeners.push(listener))?;
    let options = options(args, &world)?;
    let is_interrupted = interrupt::catch()?;
    let bar = progress::seconds(console, "loading the store", args.seconds);
    let report = stress::run(
        world.store(),
        &journal,
        &options,
        || is_interrupted.load(Ordering::SeqCst),
        |time| bar.set_position(time.as_secs()),
    );
    bar.finish_and_clear();
    let result = Ended::new(args, world, &journal, report);
    if let Some(error) = journal.take_log_error() {
        let name = args.log.as_deref().unwrap_or(Path::new("the log")).display().to_string();
        return Err(error).context(format!("{name}: cannot write"));
    }
    result.tell(console)
}

fn open_log(path: &Path) -> anyhow::Result<Box<dyn Write + Send>> {
    let file = File::options().append(true).create(true).open(path);
    Ok(Box::new(file.with_context(|| format!("{}: cannot open", path.display()))?))
}

fn options(args: &StressArgs, world: &RunningWorld) -> anyhow::Result<StressOptions> {
    let ground = if world.generator().is_some() {
        Ground::Generated(ChunkRect::around(ChunkPos::new(0, 0), args.area))
    } else {
        let stored = world.store().storage().all_positions()?;
        if stored.is_empty() {
            let name = world.path().display();
            return Err(exit::problem(format!(
                "{name}: there are no chunks, and no generator of ours made this world"
            )));
        }
        Ground::Stored(stored)
    };
    Ok(StressOptions {
        time: Duration::from_secs_f64(args.seconds),
        viewers: args.viewers,
        radius: args.radius,
        edits_per_second: args.edits_per_second,
        speed: args.speed,
        seed: args.seed,
        ground,
    })
}

/// A run that is over, and everything saved.
struct Ended<'a> {
    args: &'a StressArgs,
    generator: Option<&'static str>,
    is_each_write: bool,
    /// Until the store was shut down.
    report: StressReport,
    flushed: FlushReport,
    counts: JournalCounts,
    problems: Vec<String>,
}

impl<'a> Ended<'a> {
    fn new(
        args: &'a StressArgs,
        world: RunningWorld,
        journal: &Journal,
        mut report: StressReport,
    ) -> Self {
        let generator = world.generator().map(BuiltInGenerator::name);
        let is_each_write = world.is_each_write();
        let store = world.store().clone();
        let flushed = world.shut_down();
        // With what was saved at the end.
        report.metrics = store.metrics();
        let (counts, problems) = (journal.counts(), journal.problems());
        Self { args, generator, is_each_write, report, flushed, counts, problems }
    }

    fn tell(&self, console: &mut Console) -> anyhow::Result<Exit> {
        if self.args.json {
            json::line(console, &self.object())?;
        } else {
            self.write(console)?;
        }
        console.flush_data()?;
        for problem in &self.problems {
            exit::complain(&exit::problem(problem.as_str()));
        }
        unsaved::complain(&self.flushed);
        let metrics = &self.report.metrics;
        let failed = [metrics.failed_loads, metrics.failed_saves, metrics.failed_syncs];
        let mut bad = failed.into_iter().chain([self.counts.wrong, self.counts.refused]);
        let is_clean = bad.all(|count| count == 0) && self.flushed.is_complete();
        Ok(if is_clean { Exit::Clean } else { Exit::Problems })
    }

    fn write(&self, console: &mut Console) -> anyhow::Result<()> {
        let Self { report, counts, .. } = self;
        let metrics = &report.metrics;
        let number = |count: u64| text::thousands(count);
        let made = self.generator.map_or("nothing is generated".to_owned(), |generator| {
            format!("{generator} generates")
        });
        let durable = if self.is_each_write { "each write synced" } else { "relaxed" };
        let (name, time) = (self.args.path.display(), text::duration(report.time));
        let viewers = text::count(self.args.viewers, "viewer");
        writeln!(console, "{name}: {time}, {viewers}, {durable}, {made}")?;
        let mut table = Table::new(&[
            ("", Align::Left),
            ("chunks", Align::Right),
            ("a second", Align::Right),
            ("p50 at most", Align::Right),
            ("p99 at most", Align::Right),
            ("longest", Align::Right),
            ("failed", Align::Right),
        ]);
        let failed_loads = Some(metrics.failed_loads);
        for (name, count, times, failed) in [
            ("loaded", metrics.loaded, Some(metrics.load_times), failed_loads),
            ("generated", metrics.generated, Some(metrics.generate_times), None),
            ("edited", counts.edits, None, Some(counts.refused)),
            ("saved", metrics.saved, Some(metrics.save_times), Some(metrics.failed_saves)),
            ("unloaded", metrics.unloaded, None, None),
        ] {
            let times = |time: fn(&Times) -> Duration| {
                times.map_or_else(String::new, |times| text::duration(time(&times)))
            };
            table.row([
                name.to_owned(),
                number(count),
                per_second(count, report.time),
                times(|times| times.p50),
                times(|times| times.p99),
                times(|times| times.max),
                failed.map_or_else(String::new, number),
            ]);
        }
        table.write(console, "  ")?;
        self.write_rest(console)
    }

    fn write_rest(&self, console: &mut Console) -> anyhow::Result<()> {
        let Self { report, counts, .. } = self;
        let number = |count: u64| text::thousands(count);
        writeln!(
            console,
            "  {} steps; {} of {} edits acknowledged as stored; {} chunks not as they must be",
            number(report.steps),
            number(counts.acknowledged),
            number(counts.edits),
            number(counts.wrong),
        )?;
        let most = number(report.in_memory_max);
        let memory = report.resident_bytes_max.map(text::size);
        let memory = memory.map_or_else(String::new, |memory| format!(", memory at most {memory}"));
        writeln!(console, "  at most {most} chunks in memory{memory}")?;
        Ok(())
    }

    fn object(&self) -> Value {
        let Self { report, counts, .. } = self;
        let metrics = &report.metrics;
        let mut object = json!({
            "world": self.args.path.display().to_string(),
            "generator": self.generator, "each_write": self.is_each_write,
            "ms": u64::try_from(report.time.as_millis()).unwrap_or(u64::MAX),
            "viewers": self.args.viewers, "steps": report.steps, "edits": counts.edits,
            "acknowledged": counts.acknowledged, "refused": counts.refused,
            "wrong": counts.wrong, "loaded": metrics.loaded, "generated": metrics.generated,
            "saved": metrics.saved, "unloaded": metrics.unloaded,
            "failed_loads": metrics.failed_loads, "failed_saves": metrics.failed_saves,
            "failed_syncs": metrics.failed_syncs,
            "unsaved": self.flushed.unsaved.len(), "in_memory_max": report.in_memory_max,
            "resident_max": report.resident_bytes_max,
        });
        let times = [
            ("load", metrics.load_times),
            ("generate", metrics.generate_times),
            ("save", metrics.save_times),
        ];
        if let Some(object) = object.as_object_mut() {
            object.extend(times.map(|(key, times)| (key.to_owned(), times_object(&times))));
            object.insert("problems".to_owned(), self.problems.clone().into());
        }
        object
    }
}

fn times_object(times: &Times) -> Value {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    json!({
        "count": times.count, "mean_us": micros(times.mean), "p50_us": micros(times.p50),
        "p99_us": micros(times.p99), "max_us": micros(times.max),
    })
}

/// How many there are in each second, in whole numbers.
pub(super) fn per_second(count: u64, time: Duration) -> String {
    let millis = time.as_millis().max(1);
    let rate = u128::from(count).saturating_mul(1000) / millis;
    text::thousands(u64::try_from(rate).unwrap_or(u64::MAX))
}
