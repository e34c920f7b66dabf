//! `convert SRC DST --verify-only`: compares the chunks of two storages.

use std::io::Write;

use hyworld::Location;
use hyworld_maintenance::{Class, CompareReport, Finding, ScanOptions, compare};
use serde::Serialize;

use crate::args::convert::ConvertArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

/// How many differing chunks are printed; `--json` only counts them.
const SHOWN_MAX: u64 = 50;

pub(super) fn run(
    args: &ConvertArgs,
    console: &mut Console,
    source: &Location,
    target: &Location,
) -> anyhow::Result<Exit> {
    let (first, second) = (source.open()?, target.open()?);
    let bar = progress::chunks(console, "comparing", source.count(&*first));
    let options = ScanOptions::new().jobs(console.jobs());
    let mut count = 0_u64;
    let mut printed = Ok(());
    let mut tell = |found: &Finding| {
        count = count.saturating_add(1);
        if count <= SHOWN_MAX && !args.json && printed.is_ok() {
            printed = writeln!(console, "{}", text::printable(&describe(found)));
        }
    };
    let report = compare(&*first, &*second, &options, &mut tell, &|chunks| bar.inc(chunks));
    bar.finish_and_clear();
    printed?;
    summary(args, console, &report, &first.location(), &second.location())?;
    Ok(if report.findings.total() == 0 { Exit::Clean } else { Exit::Problems })
}

fn describe(found: &Finding) -> String {
    let message = &found.message;
    match (found.class, found.chunk) {
        (Class::Different | Class::OnlyInSource | Class::OnlyInTarget, Some(at)) => {
            format!("chunk {},{}: {message}", at.x, at.z)
        }
        _ => format!("not comparable: {message}"),
    }
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    source: &'a str,
    target: &'a str,
    same: u64,
    different: u64,
}

fn summary(
    args: &ConvertArgs,
    console: &mut Console,
    report: &CompareReport,
    first: &str,
    second: &str,
) -> anyhow::Result<()> {
    let (same, different) = (report.same, report.findings.total());
    if args.json {
        return json::line(console, &Report { source: first, target: second, same, different });
    }
    let (same, different) = (text::count(same, "chunk"), text::count(different, "difference"));
    console.report(format_args!("{first} and {second}: {same} equal, {different}"))?;
    Ok(())
}
