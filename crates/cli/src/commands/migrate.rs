//! `migrate WORLD --to TYPE`: moves the chunks of a world to another provider.

use std::path::Path;
use std::time::{Duration, Instant};

use hyworld_bench::Millis;
use hyworld_maintenance::{MigrateOptions, MigrationReport, ScanOptions};
use serde::Serialize;

use super::convert;
use crate::args::migrate::MigrateArgs;
use crate::exit::Exit;
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

#[derive(Debug, Serialize)]
struct Report<'a> {
    world: String,
    from: &'a str,
    to: &'a str,
    source: &'a str,
    target: &'a str,
    chunks: u64,
    raw: u64,
    copied: u64,
    already: u64,
    removed: u64,
    verified: u64,
    failed: u64,
    findings: Vec<convert::CopyFinding<'a>>,
    resumed: bool,
    switched: bool,
    dry_run: bool,
    ms: Millis,
}

pub(super) fn run(args: &MigrateArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let world = hyworld::find_world(&args.world)?;
    let options = MigrateOptions::new()
        .registry(hyworld::registry())
        .scan(ScanOptions::new().jobs(console.jobs()))
        .replace(args.replace)
        .skip_unreadable(args.skip_unreadable)
        .dry_run(args.dry_run);
    let start = Instant::now();
    let bar = ChunkProgress::new(console, "copying", None);
    let report = options.run(&world, &args.target(), &bar)?;
    drop(bar);
    write(args, console, &world, &report, start.elapsed())?;
    convert::complain(console, &report.copy)?;
    if !report.is_switched && !args.dry_run {
        console.say(format_args!(
            "{}: still uses {}; run the same command again to continue{}",
            world.display(),
            report.from,
            advice(args)
        ))?;
    }
    let is_clean = report.copy.findings.total() == 0 && (report.is_switched || args.dry_run);
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

fn advice(args: &MigrateArgs) -> &'static str {
    if args.skip_unreadable {
        return "";
    }
    ", or add --skip-unreadable to leave out unreadable chunks"
}

fn write(
    args: &MigrateArgs,
    console: &mut Console,
    world: &Path,
    report: &MigrationReport,
    time: Duration,
) -> anyhow::Result<()> {
    let copy = &report.copy;
    if args.json {
        return json::line(
            console,
            &Report {
                world: world.display().to_string(),
                from: &report.from,
                to: &args.to,
                source: &report.source,
                target: &report.target,
                chunks: copy.chunks,
                raw: copy.raw_bytes,
                copied: copy.copied,
                already: copy.already,
                removed: copy.removed,
                verified: copy.verified,
                failed: copy.findings.total(),
                findings: convert::findings(copy),
                resumed: report.is_resumed,
                switched: report.is_switched,
                dry_run: args.dry_run,
                ms: Millis(time),
            },
        );
    }
    for line in lines(args, world, report, time) {
        console.report(format_args!("{line}"))?;
    }
    Ok(())
}

/// Formats the report, one sentence per line.
fn lines(
    args: &MigrateArgs,
    world: &Path,
    report: &MigrationReport,
    time: Duration,
) -> Vec<String> {
    let (world, copy, took) = (world.display(), &report.copy, text::duration(time));
    let (from, to, source, target) = (&report.from, &args.to, &report.source, &report.target);
    let (chunks, raw) = (text::count(copy.chunks, "chunk"), text::size(copy.raw_bytes));
    let failed = text::count(copy.findings.total(), "finding");
    if args.dry_run {
        let read = format!("{source} ({from}): {chunks}, {raw} read in {took}, {failed}");
        return vec![read, format!("would be moved to {target} ({to}); nothing written")];
    }
    let mut lines = Vec::new();
    if report.is_resumed {
        lines.push(format!("{world}: continued an earlier migration"));
    }
    if source != target {
        lines.push(format!("{source} -> {target}: {chunks}, {raw}"));
        lines.push(format!(
            "{} copied, {} already there, {} removed, {} verified by hash, {failed}, in {took}",
            text::thousands(copy.copied),
            text::thousands(copy.already),
            text::thousands(copy.removed),
            text::thousands(copy.verified),
        ));
    }
    if report.is_switched {
        let was = if from == to { String::new() } else { format!(", was {from}") };
        lines.push(format!("{world}: now uses {to}{was}"));
        if source != target {
            lines.push(format!("{source}: kept; remove it when it is no longer needed"));
        }
    }
    lines
}
