//! `undo BUNDLE`: restores the bytes that a verb replaced.

use std::path::Path;

use hyworld::Undo;
use hyworld_maintenance::{FileState, UndoReport};
use serde::Serialize;

use crate::args::health::UndoArgs;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

/// How many files of a plan are printed; `--json` prints all.
const SHOWN: usize = 40;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Item {
        name: &'a str,
        x: Option<i32>,
        z: Option<i32>,
        state: &'static str,
    },
    Summary {
        verb: &'a str,
        root: String,
        complete: bool,
        applied: bool,
        files: u64,
        chunks: u64,
        unchanged: u64,
        conflicts: u64,
        bundle: Option<String>,
    },
}

pub(super) fn run(args: &UndoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let undo = Undo::plan(&args.bundle, args.at.as_deref(), args.dry_run)?;
    show(args, &undo, console)?;
    let header = undo.bundle().header().clone();
    let is_complete = undo.bundle().summary().is_complete;
    let root = undo.root().display().to_string();
    let changes = undo.plan.count(FileState::New) + undo.plan.count(FileState::ChangedRegion);
    let question = format!("restore {} in {root}?", text::count(changes as u64, "file"));
    let is_wanted = changes > 0 && !args.dry_run && console.confirm(&question, args.yes)?;
    let conflicts = undo.plan.count(FileState::Changed) as u64;
    let mut report = UndoReport::default();
    if is_wanted {
        let bar = ChunkProgress::new(console, "restoring", None);
        report = undo.apply(&bar)?;
    }
    let conflicts = if is_wanted { report.findings.total() } else { conflicts };
    let bundle = report.bundle.as_ref().map(|path| path.display().to_string());
    if args.json {
        let line = Line::Summary {
            verb: &header.verb,
            root,
            complete: is_complete,
            applied: is_wanted,
            files: report.files,
            chunks: report.chunks,
            unchanged: report.unchanged,
            conflicts,
            bundle,
        };
        json::line(console, &line)?;
    } else if is_wanted {
        console.report(format_args!(
            "{} and {} restored",
            text::count(report.files, "file"),
            text::count(report.chunks, "chunk"),
        ))?;
        advise(report.bundle.as_deref(), console)?;
    } else if changes == 0 {
        console.report(format_args!("nothing to restore: every file has its old bytes already"))?;
    } else {
        let advice = if args.dry_run { "" } else { "; --yes restores the files" };
        console.report(format_args!("nothing changed{advice}"))?;
    }
    console.flush_data()?;
    for finding in report.findings.kept() {
        exit::complain(&exit::problem(finding.to_string()));
    }
    let is_done = conflicts == 0 && (is_wanted || changes == 0 || args.dry_run);
    Ok(if is_done { Exit::Clean } else { Exit::Problems })
}

fn show(args: &UndoArgs, undo: &Undo, console: &mut Console) -> anyhow::Result<()> {
    if args.json {
        for item in &undo.plan.items {
            let (x, z) = (item.chunk.map(|at| at.x), item.chunk.map(|at| at.z));
            let (name, state) = (item.name.as_str(), state_name(item.state));
            json::line(console, &Line::Item { name, x, z, state })?;
        }
        return Ok(());
    }
    let header = undo.bundle().header();
    let (verb, root, time) = (&header.verb, undo.root().display(), text::time(header.time_ms));
    let is_complete = undo.bundle().summary().is_complete;
    let note = if is_complete { "" } else { "; it was interrupted" };
    console.report(format_args!("{verb} of {root} at {time}{note}"))?;
    for item in undo.plan.items.iter().take(SHOWN) {
        let chunk = item.chunk.map(|at| format!(", chunk {},{}", at.x, at.z)).unwrap_or_default();
        let words = match item.state {
            FileState::New if item.bytes.is_none() && item.chunk.is_none() => "remove it again",
            FileState::New => "restore it",
            FileState::Old => "has its old bytes already: nothing to do",
            FileState::ChangedRegion => "was changed since: restore only its unchanged slots",
            FileState::Changed => "was changed since: leave it as it is",
        };
        console.report(format_args!("  {}{chunk}: {words}", item.name))?;
    }
    if let more @ 1.. = undo.plan.items.len().saturating_sub(SHOWN) {
        console.report(format_args!("  and {more} more; --json has them all"))?;
    }
    Ok(())
}

fn state_name(state: FileState) -> &'static str {
    match state {
        FileState::New => "new",
        FileState::Old => "old",
        FileState::ChangedRegion => "changed-region",
        FileState::Changed => "changed",
    }
}

/// Prints where the undo bundle of a verb is, and how to use it.
pub(super) fn advise(bundle: Option<&Path>, console: &mut Console) -> anyhow::Result<()> {
    if let Some(bundle) = bundle {
        let bundle = hyworld::files::shell_word(bundle);
        console
            .report(format_args!("what was replaced is kept; to undo: hyworld undo {bundle}"))?;
    }
    Ok(())
}
