//! `stress PATH`: puts the chunk store of a world under load.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyworld_bench::stress::{self, StressOptions, StressReport};

use crate::args::running::StressArgs;
use crate::exit::{self, Exit};
use crate::interrupt;
use crate::output::table::Table;
use crate::output::{Console, json, progress, text, unsaved};

pub(super) fn run(args: &StressArgs, console: &mut Console) -> anyhow::Result<Exit> {
    if args.edits_per_second > 0.0 {
        let name = args.path.display();
        let question = format!("{name}: this changes blocks of many chunks permanently; continue?");
        if !console.confirm(&question, args.yes)? {
            return Err(exit::usage(format!(
                "{name}: not started, because it changes blocks permanently: add --yes, or \
                 --edits-per-second 0 to change none"
            )));
        }
    }
    let options = StressOptions {
        time: Duration::from_secs_f64(args.seconds),
        viewers: args.viewers,
        radius: args.radius,
        edits_per_second: args.edits_per_second,
        speed: args.speed,
        seed: args.seed,
        area: args.area,
    };
    let is_interrupted = interrupt::catch()?;
    let bar = progress::seconds(console, "loading the store", args.seconds);
    let report = stress::run(
        &args.path,
        args.log.as_deref(),
        &options,
        || is_interrupted.load(Ordering::SeqCst),
        |time| bar.set_position(time.as_secs()),
    )?;
    bar.finish_and_clear();
    if args.json {
        json::line(console, &report)?;
    } else {
        write(console, &report)?;
    }
    console.flush_data()?;
    for finding in &report.findings {
        exit::complain(&exit::problem(finding.as_str()));
    }
    unsaved::complain(&report.flushed);
    let has_failed = report.failed_saves > 0 || unsaved::has_failed(&report.flushed);
    Ok(if has_failed { Exit::Failure } else { exit::clean_if(report.is_clean()) })
}

fn write(console: &mut Console, report: &StressReport) -> anyhow::Result<()> {
    let number = |count: u64| text::thousands(count);
    let made = report
        .generator
        .map_or("nothing is generated".to_owned(), |generator| format!("{generator} generates"));
    let durable = if report.each_write { "each write synced" } else { "relaxed" };
    let time = report.ms.0;
    let (name, shown) = (&report.world, text::duration(time));
    let viewers = text::count(report.viewers, "viewer");
    writeln!(console, "{name}: {shown}, {viewers}, {durable}, {made}")?;
    let mut table = Table::new("|>chunks|>per second|>p50 at most|>p99 at most|>longest|>failed");
    for (name, count, times, failed) in [
        ("loaded", report.loaded, Some(report.load), Some(report.failed_loads)),
        ("generated", report.generated, Some(report.generate), None),
        ("edited", report.edits, None, Some(report.uneditable)),
        ("saved", report.saved, Some(report.save), Some(report.failed_saves)),
        ("unloaded", report.unloaded, None, None),
    ] {
        let times = times.map(|times| [times.p50_us, times.p99_us, times.max_us]);
        let times = times.map(|times| times.map(|time| text::duration(time.0)));
        let [p50, p99, max] = times.unwrap_or_default();
        let failed = failed.map_or_else(String::new, number);
        let rate = per_second(count, time);
        table.row([name.to_owned(), number(count), rate, p50, p99, max, failed]);
    }
    table.write(console, "  ")?;
    writeln!(
        console,
        "  {} steps; {} of {} edits confirmed as stored; {} chunks differ from what was stored",
        number(report.steps),
        number(report.acknowledged),
        number(report.edits),
        number(report.mismatched),
    )?;
    let most = number(report.in_memory_max);
    let memory = report.resident_max.map(text::size);
    let memory = memory.map_or_else(String::new, |memory| format!(", memory at most {memory}"));
    writeln!(console, "  at most {most} chunks in memory{memory}")?;
    Ok(())
}

/// Formats a rate per second as a whole number.
pub(super) fn per_second(count: u64, time: Duration) -> String {
    let millis = time.as_millis().max(1);
    let rate = u128::from(count).saturating_mul(1000) / millis;
    text::thousands(u64::try_from(rate).unwrap_or(u64::MAX))
}
