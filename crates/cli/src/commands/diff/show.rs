//! Differences as text: one line for each chunk, then details, then sums.

use std::io::Write;

use hyworld::FileDiff;
use hyworld_maintenance::{CellsDiff, Change, ChunkDiff, DiffReport, HolderDiff};

use crate::args::change::DiffArgs;
use crate::output::{Console, text};

/// How many chunks are listed without `--details`.
const LISTED: u64 = 50;

/// How many entries of one kind are printed for a chunk.
const SHOWN: usize = 20;

pub(super) fn chunk(
    console: &mut Console,
    diff: &ChunkDiff,
    args: &DiffArgs,
    number: u64,
) -> anyhow::Result<()> {
    let is_listed = args.details || args.blocks;
    if number > LISTED && !is_listed {
        return Ok(());
    }
    let name = format!("chunk {},{}", diff.x, diff.z);
    writeln!(console, " {name:<16} | {}", parts(diff).join(", "))?;
    if args.details {
        details(console, diff)?;
    }
    for (kind, cells) in [("block", &diff.blocks), ("fluid", &diff.fluids)] {
        for cell in &cells.cells {
            let (from, to) = (text::printable(&cell.from), text::printable(&cell.to));
            writeln!(console, "     {kind} {} {} {}  {from} -> {to}", cell.x, cell.y, cell.z)?;
        }
    }
    Ok(())
}

/// Returns what differs, in words.
fn parts(diff: &ChunkDiff) -> Vec<String> {
    match diff.change {
        Change::Added => return vec!["added".to_owned()],
        Change::Removed => return vec!["removed".to_owned()],
        Change::Changed => {}
    }
    let many = |count: u64, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{} {several}", text::thousands(count))),
    };
    let items = diff.items.iter().map(|item| item.count.unsigned_abs());
    let parts = [
        many(diff.blocks.count, "block", "blocks"),
        many(diff.fluids.count, "fluid", "fluids"),
        many(diff.entities.len() as u64, "entity", "entities"),
        many(diff.block_entities.len() as u64, "block entity", "block entities"),
        many(items.fold(0, u64::saturating_add), "item", "items"),
        many(diff.environments, "environment column", "environment columns"),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() && diff.heights > 0 {
        parts.push(text::count(diff.heights, "height"));
    }
    if parts.is_empty() {
        parts.push(diff.others.join(", "));
    }
    if parts.iter().all(String::is_empty) {
        parts = vec!["contents differ".to_owned()];
    }
    parts
}

fn details(console: &mut Console, diff: &ChunkDiff) -> anyhow::Result<()> {
    cells(console, "blocks", &diff.blocks)?;
    cells(console, "fluids", &diff.fluids)?;
    holders(console, "entity", &diff.entities)?;
    holders(console, "block entity", &diff.block_entities)?;
    for item in diff.items.iter().take(SHOWN) {
        let (id, holder) = (text::printable(&item.id), text::printable(&item.holder));
        writeln!(console, "     {:+} {id} in {holder}{}", item.count, at(item.x, item.y, item.z))?;
    }
    if diff.heights > 0 {
        writeln!(console, "     {} of columns", text::count(diff.heights, "height"))?;
    }
    if !diff.others.is_empty() {
        writeln!(console, "     other: {}", text::printable(&diff.others.join(", ")))?;
    }
    Ok(())
}

fn cells(console: &mut Console, kind: &str, cells: &CellsDiff) -> anyhow::Result<()> {
    let (Some([x, y, z]), Some([x2, y2, z2])) = (cells.min, cells.max) else { return Ok(()) };
    writeln!(console, "     {kind} from {x} {y} {z} to {x2} {y2} {z2}")?;
    for pair in cells.replaced.iter().take(SHOWN) {
        let (from, to) = (text::printable(&pair.from), text::printable(&pair.to));
        writeln!(console, "     {:>8}  {from} -> {to}", text::thousands(pair.count))?;
    }
    if let more @ 1.. = cells.replaced.len().saturating_sub(SHOWN) {
        writeln!(console, "     {more} more kinds")?;
    }
    Ok(())
}

fn holders(console: &mut Console, kind: &str, holders: &[HolderDiff]) -> anyhow::Result<()> {
    for holder in holders.iter().take(SHOWN) {
        let id = text::printable(&holder.id);
        let change = change(holder.change);
        writeln!(console, "     {kind} {id} {change}{}", at(holder.x, holder.y, holder.z))?;
    }
    if let more @ 1.. = holders.len().saturating_sub(SHOWN) {
        writeln!(console, "     {more} more")?;
    }
    Ok(())
}

fn at(x: Option<i64>, y: Option<i64>, z: Option<i64>) -> String {
    match (x, y, z) {
        (Some(x), Some(y), Some(z)) => format!(" at {x} {y} {z}"),
        _ => String::new(),
    }
}

fn change(change: Change) -> &'static str {
    match change {
        Change::Added => "added",
        Change::Removed => "removed",
        Change::Changed => "changed",
    }
}

pub(super) fn summary(
    console: &mut Console,
    report: &DiffReport,
    files: &[FileDiff],
    shown: u64,
    args: &DiffArgs,
) -> anyhow::Result<()> {
    if let more @ 1.. = shown.saturating_sub(LISTED)
        && !args.details
        && !args.blocks
    {
        writeln!(console, " {more} more chunks; use --details or --json")?;
    }
    for file in files {
        let what = if file.keys.is_empty() {
            change(file.change).to_owned()
        } else {
            file.keys.join(", ")
        };
        writeln!(console, " {:<16} | {}", text::printable(&file.file), text::printable(&what))?;
    }
    if report.is_equal() && files.is_empty() {
        writeln!(console, "equal: {}", text::count(report.same, "chunk"))?;
        return Ok(());
    }
    writeln!(
        console,
        "{} changed, {} added, {} removed, {} equal",
        text::count(report.changed, "chunk"),
        text::thousands(report.added),
        text::thousands(report.removed),
        text::thousands(report.same)
    )?;
    writeln!(
        console,
        "{}, {}, {} put in, {} taken out",
        text::count(report.blocks, "changed block"),
        text::count(report.fluids, "changed fluid"),
        text::count(report.items_in, "item"),
        text::count(report.items_out, "item")
    )?;
    Ok(())
}
