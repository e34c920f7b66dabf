//! `snapshot WORLD TARGET`: copies a world or save while a server runs.

use std::time::Instant;

use hyworld::Snapshot;
use hyworld_bench::Millis;
use hyworld_maintenance::{Finding, ScanOptions, SnapshotOptions};
use serde::Serialize;

use crate::args::snapshot::SnapshotArgs;
use crate::exit::{self, Exit};
use crate::output::json::MaybeChunk;
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

/// How many findings are printed.
const SHOWN: usize = 20;

#[derive(Debug, Serialize)]
struct Report<'a> {
    source: String,
    target: String,
    chunks: u64,
    region_files: u64,
    other_files: u64,
    bytes: u64,
    passes: u32,
    recopied: u64,
    settled: bool,
    verified: u64,
    failed: u64,
    findings: Vec<Failure<'a>>,
    finished: bool,
    ms: Millis,
}

#[derive(Debug, Serialize)]
struct Failure<'a> {
    class: &'static str,
    file: Option<String>,
    #[serde(flatten)]
    chunk: MaybeChunk,
    message: &'a str,
}

pub(super) fn run(args: &SnapshotArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let scan = ScanOptions::new().jobs(console.jobs());
    let options = SnapshotOptions::new().scan(scan).passes_max(args.passes);
    let bar = ChunkProgress::new(console, "copying", None);
    let done = hyworld::snapshot(&args.source, &args.target, args.skip_unreadable, &options, &bar)?;
    drop(bar);
    if args.json {
        json::line(console, &object(args, &done, start))?;
    } else {
        console.report(format_args!("{}", summary(args, &done, start)))?;
    }
    complain(console, &done)?;
    let is_clean = done.report.is_complete() && done.unfinished.is_none();
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

fn object<'a>(args: &SnapshotArgs, done: &'a Snapshot, start: Instant) -> Report<'a> {
    let report = &done.report;
    Report {
        source: args.source.display().to_string(),
        target: args.target.display().to_string(),
        chunks: report.chunks,
        region_files: report.region_files,
        other_files: report.other_files,
        bytes: report.bytes,
        passes: report.passes,
        recopied: report.recopied,
        settled: report.is_settled,
        verified: report.verified,
        failed: report.findings.total(),
        findings: report.findings.kept().iter().map(failure).collect(),
        finished: done.unfinished.is_none(),
        ms: Millis(start.elapsed()),
    }
}

fn failure(finding: &Finding) -> Failure<'_> {
    Failure {
        class: finding.class.name(),
        file: finding.file.as_ref().map(|file| file.display().to_string()),
        chunk: finding.chunk.into(),
        message: &finding.message,
    }
}

fn summary(args: &SnapshotArgs, done: &Snapshot, start: Instant) -> String {
    let report = &done.report;
    let (from, to) = (args.source.display(), args.target.display());
    let chunks = text::count(report.chunks, "chunk");
    let files = text::count(report.other_files, "other file");
    let (size, took) = (text::size(report.bytes), text::duration(start.elapsed()));
    let passes = match report.passes {
        1 => "1 pass".to_owned(),
        passes => format!("{passes} passes"),
    };
    let recopied = text::thousands(report.recopied);
    let settled = if report.is_settled {
        "settled: the state of a single moment"
    } else {
        "not settled: the world changed during every pass"
    };
    format!(
        "{from} -> {to}: {chunks}, {files}, {size}; {passes}, {recopied} copied again, {settled}; \
         {} verified, in {took}",
        text::count(report.verified, "chunk"),
    )
}

fn complain(console: &mut Console, done: &Snapshot) -> anyhow::Result<()> {
    let findings = &done.report.findings;
    for finding in findings.kept().iter().take(SHOWN) {
        exit::complain(&exit::problem(finding.to_string()));
    }
    let more = findings.total().saturating_sub(SHOWN as u64);
    if more > 0 {
        console.say(format_args!("and {}", text::count(more, "more finding")))?;
    }
    if let Some(unfinished) = &done.unfinished {
        console.say(format_args!(
            "{}: kept unfinished; run the same command again, with --skip-unreadable to leave out \
             what cannot be read",
            unfinished.display()
        ))?;
    }
    Ok(())
}
