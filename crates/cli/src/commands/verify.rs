//! `verify PATH`: every chunk of any storage reads and decodes in full.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::mpsc;

use hyworld::Location;
use hyworld_maintenance::{Class, Finding, Level, VerifyReport, verify};
use serde_json::json;

use crate::args::storage::VerifyArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

/// How many findings of one class are printed for people, who want to know that there are more
/// rather than read them all. `--json` has all of them.
const SHOWN_OF_CLASS: u64 = 20;

/// How many findings may wait to be printed.
const WAITING_MAX: usize = 1024;

pub(super) fn run(args: &VerifyArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let location = Location::source(&args.path)?;
    let storage = location.open()?;
    let bar = progress::chunks(console, "checking", location.count(&*storage));
    let (sender, findings) = mpsc::sync_channel(WAITING_MAX);
    let (storage, jobs, advance) = (&*storage, console.jobs(), |chunks| bar.inc(chunks));
    let report = std::thread::scope(|scope| {
        let work = scope.spawn(move || {
            // Nobody listens any more if stdout is closed; then there is nothing to tell.
            let mut tell = |finding: &Finding| sender.send(finding.clone()).unwrap_or_default();
            verify(storage, jobs, &mut tell, &advance)
        });
        let printed = print_all(args, console, findings);
        let report = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        printed.map(|()| report)
    })?;
    bar.finish_and_clear();
    summary(args, console, &storage.place(), &report)?;
    Ok(if report.is_clean() { Exit::Clean } else { Exit::Problems })
}

fn print_all(
    args: &VerifyArgs,
    console: &mut Console,
    findings: mpsc::Receiver<Finding>,
) -> std::io::Result<()> {
    let mut shown: BTreeMap<Class, u64> = BTreeMap::new();
    for finding in findings {
        let count = shown.entry(finding.class).or_default();
        *count = count.saturating_add(1);
        if args.json {
            print_json(console, &finding)?;
        } else if *count <= SHOWN_OF_CLASS {
            print(console, &finding)?;
        }
    }
    for (class, count) in shown.iter().filter(|(_, count)| **count > SHOWN_OF_CLASS) {
        let more = text::count(count.saturating_sub(SHOWN_OF_CLASS), "more finding");
        if !args.json {
            writeln!(console, "{class}: {more}, not shown; --json has them all")?;
        }
    }
    Ok(())
}

fn level(finding: &Finding) -> &'static str {
    match finding.class.level() {
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

fn print(console: &mut Console, finding: &Finding) -> std::io::Result<()> {
    let place = finding.chunk.map_or_else(String::new, |at| format!("chunk {},{}: ", at.x, at.z));
    let message = text::printable(&finding.message);
    writeln!(console, "{} ({}): {place}{message}", level(finding), finding.class)?;
    writeln!(console, "  {}", finding.class.advice())
}

fn print_json(console: &mut Console, finding: &Finding) -> std::io::Result<()> {
    let object = json!({
        "type": "finding", "class": finding.class.name(), "level": level(finding),
        "x": finding.chunk.map(|at| at.x), "z": finding.chunk.map(|at| at.z),
        "message": finding.message, "advice": finding.class.advice(),
    });
    json::line(console, &object)
}

fn summary(
    args: &VerifyArgs,
    console: &mut Console,
    place: &str,
    report: &VerifyReport,
) -> std::io::Result<()> {
    let (errors, warnings) = (report.count(Level::Error), report.count(Level::Warning));
    if args.json {
        let classes: serde_json::Map<_, _> = report
            .findings
            .iter()
            .map(|(class, count)| (class.name().to_owned(), (*count).into()))
            .collect();
        let object = json!({
            "type": "summary", "chunks": report.chunks, "raw": report.raw_bytes,
            "errors": errors, "warnings": warnings, "classes": classes,
        });
        return json::line(console, &object);
    }
    let chunks = text::count(report.chunks, "chunk");
    let verdict = match (errors, warnings) {
        (0, 0) => "all read and decode in full".to_owned(),
        _ => format!("{}, {}", text::count(errors, "error"), text::count(warnings, "warning")),
    };
    console.report(format_args!("{place}: {chunks}, {}: {verdict}", text::size(report.raw_bytes)))
}
