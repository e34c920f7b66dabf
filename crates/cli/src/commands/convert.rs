//! `convert SRC DST`: copies the chunks of one storage to another and verifies the copy.

mod compare;

use std::time::{Duration, Instant, SystemTime};

use hyworld::Location;
use hyworld_bench::Millis;
use hyworld_maintenance::{
    Class, ConvertOptions, ConvertReport, Finding, ScanOptions, SourceIdentity, convert,
};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use hyworld_world::find_writer;
use serde::Serialize;

use crate::args::convert::ConvertArgs;
use crate::exit::{self, Exit};
use crate::output::json::MaybeChunk;
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

/// How many findings are printed.
const SHOWN_FINDINGS: usize = 20;

pub(super) fn run(args: &ConvertArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let source = Location::source(&args.source)?;
    if args.verify_only {
        return compare::run(args, console, &source, &Location::target(&args.target)?);
    }
    let target = Location::target_of_copy(&args.target, &source, &args.source)?;
    warn_of_writer(console, &source)?;
    let opened = source.open()?;
    let (chunks, identity) = (source.count(&*opened), source.identity());
    let job = Job { args, source: &*opened, identity, chunks, start: Instant::now() };
    if args.dry_run {
        return job.dry_run(console, &target);
    }
    job.run(console, &target)
}

/// Warns if another process writes the source while it is copied.
fn warn_of_writer(console: &mut Console, source: &Location) -> anyhow::Result<()> {
    let Some(world) = source.world_folder() else { return Ok(()) };
    if let Some(writer) = find_writer(&world, SystemTime::now())? {
        console.say(format_args!(
            "warning: {}: {writer}; chunks that change during the copy are copied in their old or \
             new state",
            world.display()
        ))?;
    }
    Ok(())
}

/// A conversion whose source was opened.
struct Job<'a> {
    args: &'a ConvertArgs,
    source: &'a dyn ChunkStorage,
    identity: SourceIdentity,
    chunks: Option<u64>,
    start: Instant,
}

impl Job<'_> {
    /// Reads all chunks without writing, to find unreadable ones.
    fn dry_run(&self, console: &mut Console, target: &Location) -> anyhow::Result<Exit> {
        if let Some(folder) = target.folder() {
            console.detail(format_args!("{} would be created", folder.display()))?;
        }
        let bar = self.bar(console);
        let report = convert(self.source, &MemoryStorage::new(), &self.options(console), &bar);
        drop(bar);
        self.finish(console, &report, false)
    }

    /// Copies all chunks. The target gets its final name when the copy is complete.
    fn run(&self, console: &mut Console, target: &Location) -> anyhow::Result<Exit> {
        let (options, bar) = (self.options(console), self.bar(console));
        let (identity, level) = (&self.identity, self.args.level);
        let copy = hyworld::convert(self.source, identity, target, level, &options, &bar)?;
        drop(bar);
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

    fn bar(&self, console: &Console) -> ChunkProgress {
        ChunkProgress::new(console, "copying", self.chunks)
    }

    /// Prints the report. `is_finished` tells whether the target has its final name.
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
        complain(console, report)?;
        Ok(exit_of(report))
    }

    fn summary(&self, report: &ConvertReport, time: Duration) -> String {
        let (chunks, raw) = (text::count(report.chunks, "chunk"), text::size(report.raw_bytes));
        let (took, from) = (text::duration(time), self.source.location());
        let failed = text::count(report.findings.total(), "finding");
        if self.args.dry_run {
            return format!("{from}: {chunks}, {raw} read in {took}, {failed}; nothing written");
        }
        let how = if report.verbatim { "unchanged" } else { "recompressed" };
        let copied = text::thousands(report.copied);
        let verified = text::thousands(report.verified);
        format!(
            "{from} -> {}: {chunks}, {raw}; {copied} copied {how}, {} already there, {verified} \
             verified by hash, {failed}, in {took}",
            self.args.target.display(),
            text::thousands(report.already),
        )
    }

    fn object<'a>(&self, report: &'a ConvertReport, finished: bool, time: Duration) -> Report<'a> {
        Report {
            source: self.source.location(),
            target: self.args.target.display().to_string(),
            chunks: report.chunks,
            raw: report.raw_bytes,
            copied: report.copied,
            already: report.already,
            verified: report.verified,
            verbatim: report.verbatim,
            failed: report.findings.total(),
            findings: findings(report),
            finished,
            dry_run: self.args.dry_run,
            ms: Millis(time),
        }
    }
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    source: String,
    target: String,
    chunks: u64,
    raw: u64,
    copied: u64,
    already: u64,
    verified: u64,
    verbatim: bool,
    failed: u64,
    findings: Vec<CopyFinding<'a>>,
    finished: bool,
    dry_run: bool,
    ms: Millis,
}

#[derive(Debug, Serialize)]
pub(super) struct CopyFinding<'a> {
    stage: &'static str,
    #[serde(flatten)]
    chunk: MaybeChunk,
    message: &'a str,
}

/// Converts the findings of a copy for JSON.
pub(super) fn findings(report: &ConvertReport) -> Vec<CopyFinding<'_>> {
    let findings = report.findings.kept().iter().map(|finding| CopyFinding {
        stage: stage(finding),
        chunk: finding.chunk.into(),
        message: &finding.message,
    });
    findings.collect()
}

/// Prints the first findings and the number of the others.
pub(super) fn complain(console: &mut Console, report: &ConvertReport) -> anyhow::Result<()> {
    for finding in report.findings.kept().iter().take(SHOWN_FINDINGS) {
        exit::complain(&exit::problem(describe(finding)));
    }
    let more = report.findings.total().saturating_sub(SHOWN_FINDINGS as u64);
    if more > 0 {
        console.say(format_args!("and {}", text::count(more, "more finding")))?;
    }
    Ok(())
}

/// Returns the step of the copy in which a finding was made.
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

/// Returns the exit code for a copy: a target that cannot be written is not a fault of the data.
pub(super) fn exit_of(report: &ConvertReport) -> Exit {
    match () {
        () if report.is_complete() => Exit::Clean,
        () if report.has_failed_writes() => Exit::Failure,
        () => Exit::Problems,
    }
}

/// What to do if the target cannot be written.
pub(super) const WRITE_ADVICE: &str =
    "make room and check permissions, then run the same command again to continue";

/// Returns advice for an unfinished copy.
fn advice(report: &ConvertReport) -> &'static str {
    if report.has_failed_writes() {
        return WRITE_ADVICE;
    }
    if report.findings.by_class().contains_key(&Class::OnlyInTarget) {
        return "it has chunks that the source does not have: remove it, and run the same command \
                again";
    }
    "run the same command again to continue, or with --skip-unreadable to leave out what cannot be \
     read"
}
