//! `migrate WORLD --to TYPE`: moves the chunks of a world to another provider.

use std::path::Path;
use std::time::{Duration, Instant};

use hyworld_bench::Millis;
use hyworld_maintenance::{MigrateOptions, MigrationReport, SameWorld, ScanOptions};
use serde::Serialize;

use super::convert;
use crate::args::migrate::MigrateArgs;
use crate::exit::{self, Exit};
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
    bundle: Option<String>,
    ms: Millis,
}

pub(super) fn run(args: &MigrateArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let world = hyworld::find_world(&args.world)?;
    let options = MigrateOptions::new()
        .registry(hyworld::registry())
        .scan(ScanOptions::new().jobs(console.jobs()))
        .replace(args.replace)
        .trust_target(args.trust_target)
        .bundle(args.bundle.clone())
        .skip_unreadable(args.skip_unreadable)
        .dry_run(args.dry_run);
    if args.replace && !args.dry_run && !may_replace(args, &world, &options, console)? {
        return Ok(Exit::Problems);
    }
    let start = Instant::now();
    let bar = ChunkProgress::new(console, "copying", None);
    let report = options.run(&world, &args.target(), &bar)?;
    drop(bar);
    write(args, console, &world, &report, start.elapsed())?;
    if let Some(bundle) = report.bundle.as_ref().filter(|_| !args.json) {
        super::undo::advise(Some(bundle), console)?;
    }
    convert::complain(console, &report.copy)?;
    if !report.is_switched && !args.dry_run {
        console.say(format_args!(
            "{}: still uses {}; {}",
            world.display(),
            report.from,
            advice(args, &report)
        ))?;
    }
    let is_clean = report.copy.findings.total() == 0 && (report.is_switched || args.dry_run);
    let has_failed = report.copy.has_failed_writes();
    Ok(if has_failed { Exit::Failure } else { exit::clean_if(is_clean) })
}

/// Says which chunks of the target would be lost, and asks.
fn may_replace(
    args: &MigrateArgs,
    world: &Path,
    options: &MigrateOptions,
    console: &mut Console,
) -> anyhow::Result<bool> {
    let found = options.inspect(world, &args.target())?;
    let Some(found) = found.filter(|found| found.lost() > 0) else { return Ok(true) };
    if found.owner == SameWorld::Other {
        // Migrating refuses it with its reason.
        return Ok(true);
    }
    console.say(format_args!(
        "{}: {} differ from those of the world, {} are only there; they are replaced or removed, \
         and kept in the undo bundle",
        found.location,
        text::count(found.different.len() as u64, "chunk"),
        text::thousands(found.only_there.len() as u64),
    ))?;
    let is_wanted = console.confirm(&format!("replace them in {}?", found.location), args.yes)?;
    if !is_wanted {
        console.say(format_args!("nothing changed; --yes replaces them"))?;
    }
    Ok(is_wanted)
}

fn advice(args: &MigrateArgs, report: &MigrationReport) -> &'static str {
    match () {
        () if report.copy.has_failed_writes() => convert::WRITE_ADVICE,
        () if args.skip_unreadable => "run the same command again to continue",
        () => {
            "run the same command again to continue, or add --skip-unreadable to leave out \
             unreadable chunks"
        }
    }
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
                bundle: report.bundle.as_ref().map(|path| path.display().to_string()),
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
