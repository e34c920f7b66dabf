//! `bench change PATH`: compares changes with and without an undo bundle.

use std::io::Write;

use hyworld_bench::change::{ChangeReport, measure};

use super::factor;
use crate::args::bench::ChangeArgs;
use crate::output::table::Table;
use crate::output::{Console, json, text};

pub(super) fn run(args: &ChangeArgs, console: &mut Console) -> anyhow::Result<()> {
    let world = hyworld::open(&args.path)?;
    let report = measure(&args.path, &world, args.rounds)?;
    if args.json { json::line(console, &report) } else { write(console, &report) }
}

fn write(console: &mut Console, report: &ChangeReport) -> anyhow::Result<()> {
    writeln!(console, "{}", report.path)?;
    let many = text::count(report.many as u64, "chunk");
    let mut table = Table::new("change|>time|>ratio");
    let file = format!("one chunk of a region file of {}", text::size(report.file));
    for (name, time, ratio) in [
        (file.as_str(), None, None),
        ("  the container alone", Some(report.container_us), None),
        ("  without an undo bundle", Some(report.one_plain_us), Some(1.0)),
        ("  with an undo bundle", Some(report.one_us), Some(report.one_ratio)),
        (many.as_str(), None, None),
        ("  without an undo bundle", Some(report.many_plain_us), Some(1.0)),
        ("  with an undo bundle", Some(report.many_us), Some(report.many_ratio)),
    ] {
        let time = time.map_or_else(String::new, |time| text::duration(time.0));
        table.row([name.to_owned(), time, ratio.map_or_else(String::new, factor)]);
    }
    Ok(table.write(console, "  ")?)
}
