//! `verify FILE --rebuild-index` and `--rebuild-header`: plan, show, apply.

use hyworld::ChangeReport;

use hyworld_indexed_storage::{
    Geometry, IndexedStorageFile, RebuildChange, RebuildPlan, SegmentIndex,
};
use serde::Serialize;

use super::slot_names::{SlotKeys, SlotNames};
use crate::args::region::VerifyArgs;
use crate::exit::Exit;
use crate::output::table::Table;
use crate::output::{Console, json, progress, text};

pub(super) fn run(
    args: &VerifyArgs,
    console: &mut Console,
    file: IndexedStorageFile,
) -> anyhow::Result<Exit> {
    let names = SlotNames::of(&file);
    let spinner = progress::spinner(console, "looking for sealed blobs");
    let plan = file.plan_rebuild();
    spinner.finish_and_clear();
    let mut plan = plan?;
    drop(file);
    show(args, console, &names, &plan)?;
    let found = plan.changes.len();
    let done = if args.dry_run { None } else { apply(args, console, &mut plan)? };
    let (is_applied, bundle) = (done.is_some(), done.and_then(|done| done.bundle));
    let applied = if is_applied { plan.changes.len() } else { 0 };
    if args.json {
        let bundle = bundle.map(|path| path.display().to_string());
        json::line(console, &Line::Rebuild { changes: found, applied: is_applied, bundle })?;
    } else if is_applied {
        console.report(format_args!("index table changed"))?;
        crate::commands::undo::advise(bundle.as_deref(), console)?;
    } else if !plan.changes.is_empty() && !args.dry_run && !args.yes {
        console.report(format_args!("nothing changed; --yes applies the plan"))?;
    }
    Ok(if applied < found { Exit::Problems } else { Exit::Clean })
}

/// Asks about damaged and lost entries, and separately about chunks that may have been removed on
/// purpose.
fn apply(
    args: &VerifyArgs,
    console: &mut Console,
    plan: &mut RebuildPlan,
) -> anyhow::Result<Option<ChangeReport>> {
    let is_removed = |change: &&RebuildChange| change.is_removed;
    let removed = plan.changes.iter().filter(is_removed).count();
    let others = plan.changes.len().saturating_sub(removed);
    let changes = text::count(others as u64, "change");
    let question = format!("apply {changes} to the index table?");
    if others > 0 && !console.confirm(&question, args.yes)? {
        return Ok(None);
    }
    let chunks = text::count(removed as u64, "removed chunk");
    let is_asked = args.removed || !args.yes;
    let question = format!("restore {chunks}?");
    if removed > 0 && !(is_asked && console.confirm(&question, args.removed)?) {
        plan.leave_removed();
        console.report(format_args!("{chunks} not restored; --removed restores them"))?;
    }
    if plan.changes.is_empty() {
        return Ok(None);
    }
    let how = super::change_options(&args.undo, Some(args.force), console);
    let rebuilt = hyworld::rebuild_index(&args.source.file, plan, &how);
    Ok(Some(rebuilt.map_err(super::or_force)?))
}

/// Rewrites the header, after the blobs were checked with the assumed geometry.
pub(super) fn header(
    args: &VerifyArgs,
    console: &mut Console,
    geometry: Geometry,
) -> anyhow::Result<Exit> {
    let name = args.source.file.display();
    let question = format!("write the header of {name} for {geometry}?");
    let is_wanted = !args.dry_run && console.confirm(&question, args.yes)?;
    let mut bundle = None;
    if is_wanted {
        let how = super::change_options(&args.undo, Some(args.force), console);
        let written = hyworld::rebuild_header(&args.source.file, geometry, &how);
        bundle = written.map_err(super::or_force)?.bundle;
    }
    if args.json {
        let bundle = bundle.map(|path| path.display().to_string());
        json::line(console, &Line::Header { applied: is_wanted, bundle })?;
    } else if is_wanted {
        console.report(format_args!("header written"))?;
        crate::commands::undo::advise(bundle.as_deref(), console)?;
    } else if !args.dry_run {
        console.report(format_args!("nothing changed; --yes writes the header"))?;
    }
    Ok(if is_wanted { Exit::Clean } else { Exit::Problems })
}

fn show(
    args: &VerifyArgs,
    console: &mut Console,
    names: &SlotNames,
    plan: &RebuildPlan,
) -> anyhow::Result<()> {
    if args.json {
        for change in &plan.changes {
            json::line(console, &line(names, change))?;
        }
        return Ok(());
    }
    if plan.changes.is_empty() {
        console.report(format_args!("no sealed blob found for an empty or damaged slot"))?;
        return Ok(());
    }
    let mut table = Table::new(">slot|>x|>z|>segment|>saves|now|identity");
    for change in &plan.changes {
        table.row(cells(names, change));
    }
    table.write(console, "")?;
    let removed = plan.changes.iter().filter(|change| change.is_removed).count();
    if removed > 0 {
        let chunks = text::count(removed as u64, "chunk");
        console.report(format_args!(
            "{chunks} sealed and then removed by the game or a user, or their entries were lost"
        ))?;
    }
    Ok(())
}

fn cells(names: &SlotNames, change: &RebuildChange) -> Vec<String> {
    let dash = || "-".to_owned();
    let seal = change.seal.as_ref();
    let mut cells = names.cells(Some(change.slot)).to_vec();
    cells.extend([
        change.segment.map_or_else(|| "empty".to_owned(), |segment| segment.to_string()),
        seal.map_or_else(dash, |seal| seal.save_counter.to_string()),
        match change {
            RebuildChange { is_removed: true, .. } => "removed",
            RebuildChange { was_empty: true, .. } => "empty",
            _ => "damaged",
        }
        .to_owned(),
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
        was_empty: bool,
        removed: bool,
        save_counter: Option<u64>,
        time_ms: Option<i64>,
        identity: Option<String>,
    },
    Rebuild {
        changes: usize,
        applied: bool,
        bundle: Option<String>,
    },
    Header {
        applied: bool,
        bundle: Option<String>,
    },
}

fn line(names: &SlotNames, change: &RebuildChange) -> Line {
    let seal = change.seal.as_ref();
    Line::Change {
        slot: names.keys(Some(change.slot)),
        segment: change.segment.map(SegmentIndex::get),
        was_empty: change.was_empty,
        removed: change.is_removed,
        save_counter: seal.map(|seal| seal.save_counter),
        time_ms: seal.map(|seal| seal.time_ms),
        identity: seal.map(|seal| identity(&seal.identity)),
    }
}
