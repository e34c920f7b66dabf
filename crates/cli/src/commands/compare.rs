//! `convert SRC DST --verify-only`: whether two storages hold the same chunks.

use std::io::Write;
use std::sync::mpsc;

use hyworld::Location;
use hyworld_maintenance::{CompareReport, Difference, compare};
use serde_json::json;

use crate::args::convert::ConvertArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

/// How many differences are printed for people; `--json` counts them.
const SHOWN_MAX: u64 = 50;

/// How many differences may wait to be printed.
const WAITING_MAX: usize = 1024;

pub(super) fn run(
    args: &ConvertArgs,
    console: &mut Console,
    source: &Location,
    target: &Location,
) -> anyhow::Result<Exit> {
    let (first, second) = (source.open()?, target.open()?);
    let bar = progress::chunks(console, "comparing", source.count(&*first));
    let (sender, differences) = mpsc::sync_channel(WAITING_MAX);
    let (jobs, advance) = (console.jobs(), |chunks| bar.inc(chunks));
    let (first, second) = (&*first, &*second);
    let report = std::thread::scope(|scope| {
        let work = scope.spawn(move || {
            // Nobody listens any more if stdout is closed; then there is nothing to tell.
            let mut tell = |found: &Difference| sender.send(found.clone()).unwrap_or_default();
            compare(first, second, jobs, &mut tell, &advance)
        });
        let printed = print_all(args, console, differences);
        let report = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        printed.map(|()| report)
    })?;
    bar.finish_and_clear();
    summary(args, console, report, &first.place(), &second.place())?;
    Ok(if report.different == 0 { Exit::Clean } else { Exit::Problems })
}

fn print_all(
    args: &ConvertArgs,
    console: &mut Console,
    differences: mpsc::Receiver<Difference>,
) -> std::io::Result<()> {
    let mut count = 0_u64;
    for difference in differences {
        count = count.saturating_add(1);
        if count <= SHOWN_MAX && !args.json {
            writeln!(console, "{}", text::printable(&describe(&difference)))?;
        }
    }
    Ok(())
}

fn describe(difference: &Difference) -> String {
    match difference {
        Difference::OnlyFirst(at) => format!("chunk {},{}: only in the source", at.x, at.z),
        Difference::OnlySecond(at) => format!("chunk {},{}: only in the target", at.x, at.z),
        Difference::Content(at) => format!("chunk {},{}: other content", at.x, at.z),
        Difference::Unknown { message, .. } => format!("not comparable: {message}"),
    }
}

fn summary(
    args: &ConvertArgs,
    console: &mut Console,
    report: CompareReport,
    first: &str,
    second: &str,
) -> std::io::Result<()> {
    let CompareReport { same, different } = report;
    if args.json {
        let object = json!({
            "source": first, "target": second, "same": same, "different": different,
        });
        return json::line(console, &object);
    }
    let (same, different) = (text::count(same, "chunk"), text::count(different, "difference"));
    console.report(format_args!("{first} and {second}: {same} the same, {different}"))
}
