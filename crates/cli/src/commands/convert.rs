//! `convert SRC DST`: copies the chunks of one storage to another, and proves it.

use std::time::{Duration, Instant};

use hyworld::Location;
use hyworld_maintenance::{
    Class, ConvertOptions, ConvertReport, Finding, Progress, ScanOptions, SourceIdentity, convert,
};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use indicatif::ProgressBar;
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
    let (chunks, identity) = (source.count(&*opened), source.identity());
    let job = Job { args, source: &*opened, identity, chunks, start: Instant::now() };
    if args.dry_run {
        return job.dry_run(console, &target);
    }
    job.run(console, &target)
}

/// A conversion whose source is open.
struct Job<'a> {
    args: &'a ConvertArgs,
    source: &'a dyn ChunkStorage,
    identity: SourceIdentity,
    chunks: Option<u64>,
    start: Instant,
}

/// The progress of a copy, and then of its verification.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn advance(&self, chunks: u64) {
        self.0.inc(chunks);
    }

    fn advance_verified(&self, chunks: u64) {
        if self.0.message() != "verifying" {
            self.0.set_position(0);
            self.0.set_message("verifying");
        }
        self.0.inc(chunks);
    }
}

impl Job<'_> {
    /// Reads everything, so that what cannot be read is known before anything is written.
    fn dry_run(&self, console: &mut Console, target: &Location) -> anyhow::Result<Exit> {
        if let Some(folder) = target.folder() {
            console.detail(format_args!("{} would be made", folder.display()))?;
        }
        let bar = self.bar(console);
        let report = convert(self.source, &MemoryStorage::new(), &self.options(console), &bar);
        bar.0.finish_and_clear();
        self.finish(console, &report, false)
    }

    /// Copies everything. The target gets its name when all of it is there.
    fn run(&self, console: &mut Console, target: &Location) -> anyhow::Result<Exit> {
        let (options, bar) = (self.options(console), self.bar(console));
        let (identity, level) = (&self.identity, self.args.level);
        let copy = hyworld::convert(self.source, identity, target, level, &options, &bar)?;
        bar.0.finish_and_clear();
        if copy.is_resumed {
            console.say(format_args!("{}: continued an earlier copy", target.name()))?;
        }
        let exit = self.finish(console, &copy.report, copy.report.may_finish)?;
        if let Some(unfinished) = copy.unfinished {
            let advice = advice(&copy.report);
            console.say(format_args!("{}: kept unfinished; {advice}", unfinished.display()))?;
        }
        Ok(exit)
    }

    fn options(&self, console: &Console) -> ConvertOptions {
        let scan = ScanOptions::new().jobs(console.jobs());
        let options = ConvertOptions::new().scan(scan).recompress(self.args.recompress);
        options.dry_run(self.args.dry_run).skip_unreadable(self.args.skip_unreadable)
    }

    fn bar(&self, console: &Console) -> Bar {
        Bar(progress::chunks(console, "copying", self.chunks))
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
        for finding in report.findings.kept().iter().take(SHOWN_FAILURES) {
            exit::complain(&exit::problem(describe(finding)));
        }
        let more = report.findings.total().saturating_sub(SHOWN_FAILURES as u64);
        if more > 0 {
            console.say(format_args!("and {}", text::count(more, "more failure")))?;
        }
        Ok(if report.is_complete() { Exit::Clean } else { Exit::Problems })
    }

    fn summary(&self, report: &ConvertReport, time: Duration) -> String {
        let (chunks, raw) = (text::count(report.chunks, "chunk"), text::size(report.raw_bytes));
        let (took, from) = (text::duration(time), self.source.location());
        let failed = text::count(report.findings.total(), "failure");
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
        let failures = report.findings.kept().iter().map(|finding| {
            json!({
                "stage": stage(finding),
                "x": finding.chunk.map(|at| at.x), "z": finding.chunk.map(|at| at.z),
                "message": finding.message,
            })
        });
        json!({
            "source": self.source.location(), "target": self.args.target.display().to_string(),
            "chunks": report.chunks, "raw": report.raw_bytes,
            "copied": report.copied, "already": report.already, "verified": report.verified,
            "verbatim": report.verbatim, "failed": report.findings.total(),
            "failures": failures.collect::<Vec<_>>(),
            "finished": is_finished, "dry_run": self.args.dry_run,
            "ms": u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// The step of the copy that failed.
fn stage(finding: &Finding) -> &'static str {
    match finding.class {
        Class::Storage => "list",
        Class::Unreadable => "read",
        Class::OnlyInTarget => "compare",
        other => other.name(),
    }
}

fn describe(finding: &Finding) -> String {
    let (stage, message) = (stage(finding), &finding.message);
    match finding.chunk {
        Some(at) if finding.class == Class::OnlyInTarget => {
            format!("chunk {},{}: {message}", at.x, at.z)
        }
        Some(at) if !message.starts_with("chunk ") => {
            format!("chunk {},{}: cannot {stage}: {message}", at.x, at.z)
        }
        _ => format!("cannot {stage}: {message}"),
    }
}

/// What to do with a copy that did not get its name.
fn advice(report: &ConvertReport) -> &'static str {
    if report.findings.by_class().contains_key(&Class::OnlyInTarget) {
        return "it has chunks that the source does not have: remove it, and run the same command \
                again";
    }
    "run the same command again to go on, or with --skip-unreadable to do without what cannot be \
     read"
}
