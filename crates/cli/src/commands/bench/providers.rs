//! `bench providers PATH`: measures every provider with the same chunks; with `--scale N`, the cost
//! per chunk at the beginning and at the end of a large copy.

use std::io::Write;
use std::time::Duration;

use hyworld_bench::providers::{self, ProvidersReport, Targets};
use hyworld_bench::scale::{self, DOCUMENT_BYTES, ScaleReport};
use hyworld_maintenance::ScanOptions;

use super::factor;
use crate::args::bench::ProvidersArgs;
use crate::output::table::Table;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &ProvidersArgs, console: &mut Console) -> anyhow::Result<()> {
    let targets = Targets { scratch: args.output.scratch.clone(), s3: args.s3.clone() };
    if let Some(chunks) = args.scale {
        let scan = ScanOptions::new().jobs(console.jobs());
        let report = scale::measure(chunks, &scan, &targets, |name| {
            let bar = progress::chunks(console, name, None);
            move |chunks| bar.inc(chunks)
        })?;
        return if args.output.json {
            json::line(console, &report)
        } else {
            write_scale(console, &report)
        };
    }
    let spinner = progress::spinner(console, "measuring");
    let report = providers::measure(args.path(), args.chunks, args.rounds, &targets)?;
    spinner.finish_and_clear();
    if args.output.json { json::line(console, &report) } else { write(console, &report) }
}

fn write(console: &mut Console, report: &ProvidersReport) -> anyhow::Result<()> {
    let (chunks, raw) = (text::count(report.chunks as u64, "chunk"), text::size(report.raw));
    writeln!(console, "{}: {chunks}, {raw}", report.path)?;
    let mut table = Table::new(
        "1 thread|>writes/s|>time to region files|>reads/s|>time to region files|>on disk",
    );
    for one in &report.providers {
        table.row([
            one.provider.to_owned(),
            per_second(report.chunks, one.write_us.0),
            factor(one.write_ratio),
            per_second(report.chunks, one.read_us.0),
            factor(one.read_ratio),
            one.stored.map_or_else(|| "-".to_owned(), text::size),
        ]);
    }
    table.write(console, "  ")?;
    let convert = &report.convert;
    writeln!(
        console,
        "  convert, region files to region files: {} unchanged, {} recompressed ({} times)",
        text::duration(convert.verbatim_us.0),
        text::duration(convert.recompressed_us.0),
        factor(convert.ratio),
    )?;
    Ok(())
}

fn per_second(chunks: usize, time: Duration) -> String {
    #[expect(clippy::cast_precision_loss, reason = "rounded for display")]
    let rate = chunks as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE);
    format!("{rate:.0}")
}

fn write_scale(console: &mut Console, report: &ScaleReport) -> anyhow::Result<()> {
    let chunks = text::count(report.chunks, "synthetic chunk");
    writeln!(console, "{chunks} of {DOCUMENT_BYTES} bytes; processor time per chunk")?;
    let mut table = Table::new("|>first tenth|>last tenth|>ratio|>peak memory");
    for one in &report.providers {
        for (step, tenths) in [("copy", one.copy), ("verify", one.verify)] {
            table.row([
                format!("{}, {step}", one.provider),
                format!("{} us", tenths.first_tenth_us),
                format!("{} us", tenths.last_tenth_us),
                factor(tenths.ratio),
                one.peak_memory.map_or_else(|| "-".to_owned(), text::size),
            ]);
        }
    }
    Ok(table.write(console, "  ")?)
}
