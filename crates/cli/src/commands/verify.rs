//! `verify PATH`: checks that every chunk can be read and decoded completely.

mod manifest;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyworld::{Location, check_files, open_for_check};
use hyworld_chunk::EntityLayout;
use hyworld_maintenance::{Class, Finding, ScanOptions, Severity, VerifyReport};
use serde::Serialize;

use crate::args::storage::VerifyArgs;
use crate::exit::Exit;
use crate::output::json::MaybeChunk;
use crate::output::{Console, advice, json, progress, text};
use manifest::Chosen;

/// How many findings of one class are printed. `--json` prints all of them.
fn shown_of(class: Class) -> u64 {
    match class {
        // Every chunk of a newer game has the same finding.
        Class::Newer => 1,
        // Healthy worlds have many of these.
        Class::OrphanFiller | Class::StaleLight => 3,
        _ => 20,
    }
}

pub(super) fn run(args: &VerifyArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let mut files = check_files(&args.path);
    super::each_world(&args.path, |path, world| {
        // Findings about the whole universe are reported with its first world.
        let is_of_world = |finding: &mut Finding| {
            finding.world.is_none() || world.is_none() || finding.world.as_deref() == world
        };
        let files: Vec<_> = files.extract_if(.., is_of_world).collect();
        verify_one(args, path, world, files, console)
    })
}

fn verify_one(
    args: &VerifyArgs,
    path: &Path,
    world: Option<&str>,
    files: Vec<Finding>,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let manifest = Chosen::new(args, world)?;
    let opened = open_for_check(path)?;
    let (location, storage) = (opened.location(), opened.storage());
    let bar = progress::chunks(console, "checking", location.count(storage));
    let stop = Arc::new(AtomicBool::new(false));
    let options = ScanOptions::new().jobs(console.jobs()).cancel(Arc::clone(&stop));
    let mut shown: BTreeMap<Class, u64> = BTreeMap::new();
    let mut printed = Ok(());
    let mut tell = |finding: &Finding| {
        let count = shown.entry(finding.class).or_default();
        *count = count.saturating_add(1);
        if printed.is_ok() && args.json {
            printed = print_json(console, finding, location);
        } else if printed.is_ok() && *count <= shown_of(finding.class) {
            printed = print(console, finding, location);
        }
        // Stop the scan if stdout is closed.
        stop.store(printed.is_err(), Ordering::Relaxed);
    };
    files.iter().for_each(&mut tell);
    let advance = |chunks| bar.inc(chunks);
    let (mut report, new) = opened.verify_manifest(manifest.usage(), &options, &mut tell, &advance);
    let lacking = opened.compare_with_sources(&args.from)?;
    lacking.iter().for_each(&mut tell);
    for finding in files.into_iter().chain(lacking) {
        report.findings.add(finding);
    }
    bar.finish_and_clear();
    printed?;
    for (class, count) in shown {
        let more = count.saturating_sub(shown_of(class));
        if more > 0 && !args.json {
            let more = text::count(more, "more finding");
            writeln!(console, "{class}: {more}, not shown; --json has them all")?;
        }
    }
    summary(args, world, console, &storage.location(), &report)?;
    manifest.write(new, console)?;
    Ok(if report.is_clean() { Exit::Clean } else { Exit::Problems })
}

/// Returns the region file with the chunk of a finding.
fn region_file(finding: &Finding, location: &Location) -> Option<PathBuf> {
    location.region_file_of(finding.chunk?).filter(|path| path.is_file())
}

fn level(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn print(console: &mut Console, finding: &Finding, location: &Location) -> anyhow::Result<()> {
    let chunk = finding.chunk.map_or_else(String::new, |at| format!("chunk {},{}: ", at.x, at.z));
    let message = text::printable(&finding.message);
    writeln!(console, "{} ({}): {chunk}{message}", level(finding), finding.class)?;
    let advice = advice::words(finding, region_file(finding, location).as_deref());
    writeln!(console, "{}", text::wrap(&advice, "  ", text::WIDTH))?;
    Ok(())
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Finding {
        class: &'static str,
        level: &'static str,
        #[serde(flatten)]
        chunk: MaybeChunk,
        message: &'a str,
        advice: String,
        /// `None` for findings about a whole world, or about a storage without files.
        file: Option<String>,
        /// The slot of a region file.
        slot: Option<u32>,
        /// The byte offset in the file.
        offset: Option<u64>,
    },
    Summary {
        chunks: u64,
        raw: u64,
        errors: u64,
        warnings: u64,
        notes: u64,
        classes: BTreeMap<&'static str, u64>,
        entities_kept_in_chunks: BTreeMap<EntityLayout, u64>,
        /// Only if there are several worlds.
        #[serde(skip_serializing_if = "Option::is_none")]
        world: Option<&'a str>,
    },
}

fn print_json(console: &mut Console, finding: &Finding, location: &Location) -> anyhow::Result<()> {
    let line = Line::Finding {
        class: finding.class.name(),
        level: level(finding),
        chunk: finding.chunk.into(),
        file: finding.file.as_ref().map(|file| file.display().to_string()),
        slot: finding.slot.map(hyworld_indexed_storage::Slot::get),
        offset: finding.offset,
        message: &finding.message,
        advice: advice::words(finding, region_file(finding, location).as_deref()),
    };
    json::line(console, &line)
}

/// Returns the numbers of errors, warnings and notes.
fn counts(report: &VerifyReport) -> [u64; 3] {
    let levels = [Severity::Error, Severity::Warning, Severity::Note];
    levels.map(|severity| report.findings.count(severity))
}

fn summary_json(
    world: Option<&str>,
    console: &mut Console,
    report: &VerifyReport,
) -> anyhow::Result<()> {
    let [errors, warnings, notes] = counts(report);
    let mut classes: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (class, count) in report.findings.by_class() {
        // A damaged slot and a manifest can both have the class `changed`.
        let sum = classes.entry(class.name()).or_default();
        *sum = sum.saturating_add(*count);
    }
    let line = Line::Summary {
        chunks: report.chunks,
        raw: report.raw_bytes,
        errors,
        warnings,
        notes,
        classes,
        entities_kept_in_chunks: report.layouts.clone(),
        world,
    };
    json::line(console, &line)
}

fn summary(
    args: &VerifyArgs,
    world: Option<&str>,
    console: &mut Console,
    location: &str,
    report: &VerifyReport,
) -> anyhow::Result<()> {
    if args.json {
        return summary_json(world, console, report);
    }
    let [errors, warnings, notes] = counts(report);
    let chunks = text::count(report.chunks, "chunk");
    let verdict = match (errors, warnings, notes) {
        (0, 0, 0) => "all readable, no findings".to_owned(),
        (_, _, 0) => {
            format!("{}, {}", text::count(errors, "error"), text::count(warnings, "warning"))
        }
        _ => format!(
            "{}, {}, {}",
            text::count(errors, "error"),
            text::count(warnings, "warning"),
            text::count(notes, "note")
        ),
    };
    console.report(format_args!(
        "{location}: {chunks}, {}: {verdict}",
        text::size(report.raw_bytes)
    ))?;
    let kinds = report.findings.by_class().iter();
    let kinds: Vec<_> = kinds.map(|(class, count)| format!("{class} {count}")).collect();
    if !kinds.is_empty() {
        console.report(format_args!("by class: {}", kinds.join(", ")))?;
    }
    for (layout, chunks) in &report.layouts {
        let chunks = text::count(*chunks, "chunk");
        console.report(format_args!("entities stored {layout}: {chunks}"))?;
    }
    Ok(())
}
