//! `convert SRC DST`: copies the chunks of one storage to another, and proves it.

use std::time::{Duration, Instant};

use hyworld::{ConvertTarget, Location};
use hyworld_maintenance::{ConvertOptions, ConvertReport, Failure, Stage, convert};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use serde_json::{Value, json};

use super::compare;
use crate::args::convert::ConvertArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, progress, text};

/// How many failures are printed.
const SHOWN_FAILURES: usize = 20;

pub(super) fn run(args: &ConvertArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let source = Location::source(&args.source)?;
    let target = Location::target(&args.target)?;
    if args.verify_only {
        return compare::run(args, console, &source, &target);
    }
    let opened = source.open()?;
    let chunks = source.count(&*opened);
    let job = Job { args, source: &*opened, chunks, start: Instant::now() };
    if args.dry_run {
        return job.dry_run(console, &target);
    }
    job.run(console, &target)
}

/// A conversion whose source is open.
struct Job<'a> {
    args: &'a ConvertArgs,
    source: &'a dyn ChunkStorage,
    chunks: Option<u64>,
    start: Instant,
}

impl Job<'_> {
    /// Reads everything, so that what cannot be read is known before anything is written.
    fn dry_run(&self, console: &mut Console, target: &Location) -> anyhow::Result<Exit> {
        if let Some(folder) = target.folder() {
            console.detail(format_args!("{} would be made", folder.display()))?;
        }
        let report = self.copy(console, &MemoryStorage::new());
        self.finish(console, &report, false)
    }

    /// Copies everything, and gives the target its name if all of it is there.
    fn run(&self, console: &mut Console, location: &Location) -> anyhow::Result<Exit> {
        let target = ConvertTarget::begin(location, &self.source.place(), self.args.level)?;
        let unfinished = target.unfinished_folder().map(|folder| folder.display().to_string());
        if let Some(name) = unfinished.as_ref().filter(|_| target.is_resumed()) {
            console.say(format_args!("{name}: continuing what was begun before"))?;
        }
        let report = self.copy(console, target.storage());
        if self.may_finish(&report) {
            target.finish()?;
            return self.finish(console, &report, true);
        }
        drop(target);
        let exit = self.finish(console, &report, false)?;
        if let Some(name) = unfinished {
            console.say(format_args!(
                "{name}: kept as it is, and not given its name; run the same command again to go \
                 on, or with --skip-unreadable to do without what cannot be read"
            ))?;
        }
        Ok(exit)
    }

    fn copy(&self, console: &Console, target: &dyn ChunkStorage) -> ConvertReport {
        let options = ConvertOptions::new().jobs(console.jobs()).recompress(self.args.recompress);
        let options = options.dry_run(self.args.dry_run);
        let bar = progress::chunks(console, "copying", self.chunks);
        let report = convert(self.source, target, &options, &|chunks| bar.inc(chunks));
        bar.finish_and_clear();
        report
    }

    /// Whether what was copied may stand for the source.
    fn may_finish(&self, report: &ConvertReport) -> bool {
        let is_read = |failure: &Failure| matches!(failure.stage, Stage::List | Stage::Read);
        let only_unreadable = report.failures.iter().all(is_read);
        report.is_complete() || (self.args.skip_unreadable && only_unreadable)
    }

    /// Says what came of it. `is_finished` if the target has its name now.
    fn finish(
        &self,
        console: &mut Console,
        report: &ConvertReport,
        is_finished: bool,
    ) -> anyhow::Result<Exit> {
        let time = self.start.elapsed();
        if self.args.json {
            json::line(console, &self.object(report, is_finished, time))?;
        } else {
            console.report(format_args!("{}", self.summary(report, time)))?;
        }
        for failure in report.failures.iter().take(SHOWN_FAILURES) {
            exit::complain(&exit::problem(describe(failure)));
        }
        let more = report.failed.saturating_sub(SHOWN_FAILURES as u64);
        if more > 0 {
            console.say(format_args!("and {}", text::count(more, "more failure")))?;
        }
        Ok(if report.is_complete() { Exit::Clean } else { Exit::Problems })
    }

    fn summary(&self, report: &ConvertReport, time: Duration) -> String {
        let (chunks, raw) = (text::count(report.chunks, "chunk"), text::size(report.raw_bytes));
        let (took, from) = (text::duration(time), self.source.place());
        let failed = text::count(report.failed, "failure");
        if self.args.dry_run {
            return format!("{from}: {chunks}, {raw} read in {took}, {failed}; nothing written");
        }
        let how = if report.verbatim { "as they were" } else { "compressed anew" };
        let copied = text::thousands(report.copied);
        let verified = text::thousands(report.verified);
        format!(
            "{from} -> {}: {chunks}, {raw}; {copied} copied {how}, {} there already, {verified} \
             verified by hash, {failed}, in {took}",
            self.args.target.display(),
            text::thousands(report.already),
        )
    }

    fn object(&self, report: &ConvertReport, is_finished: bool, time: Duration) -> Value {
        let failures = report.failures.iter().map(|failure| {
            json!({
                "stage": failure.stage.to_string(),
                "x": failure.chunk.map(|at| at.x), "z": failure.chunk.map(|at| at.z),
                "message": failure.message,
            })
        });
        json!({
            "source": self.source.place(), "target": self.args.target.display().to_string(),
            "chunks": report.chunks, "raw": report.raw_bytes,
            "copied": report.copied, "already": report.already, "verified": report.verified,
            "verbatim": report.verbatim, "failed": report.failed,
            "failures": failures.collect::<Vec<_>>(),
            "finished": is_finished, "dry_run": self.args.dry_run,
            "ms": u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

fn describe(failure: &Failure) -> String {
    let Failure { stage, chunk, message } = failure;
    match chunk {
        Some(at) if !message.starts_with("chunk ") => {
            format!("chunk {},{}: cannot {stage}: {message}", at.x, at.z)
        }
        _ => format!("cannot {stage}: {message}"),
    }
}
