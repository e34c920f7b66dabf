//! `verify FILE --rebuild-index`: plan, show, apply.

use hyworld_indexed_storage::{IndexedStorageFile, RebuildChange, RebuildPlan, SegmentIndex};
use serde::Serialize;

use super::place::{Places, SlotKeys};
use crate::args::region::VerifyArgs;
use crate::exit::Exit;
use crate::output::table::Table;
use crate::output::{Console, json, progress, text};

pub(super) fn run(
    args: &VerifyArgs,
    console: &mut Console,
    file: IndexedStorageFile,
) -> anyhow::Result<Exit> {
    let places = Places::of(&file);
    let spinner = progress::spinner(console, "looking for sealed blobs");
    let plan = file.plan_rebuild();
    spinner.finish_and_clear();
    let plan = plan?;
    drop(file);
    show(args, console, &places, &plan)?;
    let count = plan.changes.len();
    let changes = text::count(count as u64, "change");
    let question = format!("make {changes} to the index table?");
    let apply = count > 0 && !args.dry_run && console.confirm(&question, args.yes)?;
    let mut backup = None;
    if apply {
        let rebuilt = hyworld::rebuild_index(&args.source.file, &plan, args.force.check());
        backup = Some(rebuilt.map_err(super::or_force)?);
    }
    let backup = backup.map(|path| path.display().to_string());
    if args.json {
        json::line(console, &Line::Rebuild { changes: count, applied: backup.is_some(), backup })?;
    } else if let Some(backup) = backup {
        console.report(format_args!("index table changed; what it was before is in {backup}"))?;
    } else if count > 0 && !args.dry_run {
        console.report(format_args!("nothing was changed; --yes applies the plan"))?;
    }
    let undone = count > 0 && !apply;
    Ok(if undone { Exit::Problems } else { Exit::Clean })
}

fn show(
    args: &VerifyArgs,
    console: &mut Console,
    places: &Places,
    plan: &RebuildPlan,
) -> anyhow::Result<()> {
    if args.json {
        for change in &plan.changes {
            json::line(console, &line(places, change))?;
        }
        return Ok(());
    }
    if plan.changes.is_empty() {
        console
            .report(format_args!("no sealed blob was found for a slot that is empty or damaged"))?;
        return Ok(());
    }
    let mut table = Table::new(">slot|>x|>z|>segment|>saves|now|identity");
    for change in &plan.changes {
        table.row(cells(places, change));
    }
    table.write(console, "")?;
    let absent = plan.changes.iter().filter(|change| change.was_absent);
    let absent = absent.count();
    if absent > 0 {
        let slots = text::count(absent as u64, "slot");
        console.report(format_args!(
            "{slots} marked empty: entries that were lost, or chunks removed on purpose"
        ))?;
    }
    Ok(())
}

fn cells(places: &Places, change: &RebuildChange) -> Vec<String> {
    let dash = || "-".to_owned();
    let seal = change.seal.as_ref();
    let mut cells = places.cells(Some(change.slot)).to_vec();
    cells.extend([
        change.segment.map_or_else(|| "empty".to_owned(), |segment| segment.to_string()),
        seal.map_or_else(dash, |seal| seal.save_counter.to_string()),
        if change.was_absent { "empty" } else { "damaged" }.to_owned(),
        seal.map_or_else(dash, |seal| identity(&seal.identity)),
    ]);
    cells
}

fn identity(bytes: &[u8]) -> String {
    text::printable(&String::from_utf8_lossy(bytes))
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Change {
        #[serde(flatten)]
        slot: SlotKeys,
        segment: Option<u32>,
        was_absent: bool,
        save_counter: Option<u64>,
        time_ms: Option<i64>,
        identity: Option<String>,
    },
    Rebuild {
        changes: usize,
        applied: bool,
        backup: Option<String>,
    },
}

fn line(places: &Places, change: &RebuildChange) -> Line {
    let seal = change.seal.as_ref();
    Line::Change {
        slot: places.keys(Some(change.slot)),
        segment: change.segment.map(SegmentIndex::get),
        was_absent: change.was_absent,
        save_counter: seal.map(|seal| seal.save_counter),
        time_ms: seal.map(|seal| seal.time_ms),
        identity: seal.map(|seal| identity(&seal.identity)),
    }
}
