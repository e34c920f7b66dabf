//! `undo BUNDLE`: restores the bytes that a verb replaced.

use std::path::Path;

use hyworld::{ChangeOptions, Undo, UndoOptions};
use hyworld_maintenance::{FileState, Findings, UndoReport};
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
        finished: bool,
        applied: bool,
        files: u64,
        chunks: u64,
        unchanged: u64,
        damaged: u64,
        conflicts: u64,
        bundle: Option<String>,
    },
}

pub(super) fn run(args: &UndoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let (at, linked) = (args.at.clone(), args.linked.clone());
    let options = UndoOptions { at, linked, trust_bundle: args.trust_bundle };
    let undo = Undo::plan(&args.bundle, &options)?;
    show(args, &undo, console)?;
    let done = Done::new(&undo);
    let question = format!("restore {} in {}?", text::count(done.changes, "file"), done.root);
    let is_wanted = done.changes > 0 && !args.dry_run && console.confirm(&question, args.yes)?;
    let conflicts = undo.plan.count(FileState::Changed) as u64;
    let (verb, damage) = (undo.bundle().header().verb.clone(), undo.bundle().findings());
    let mut report = UndoReport { findings: damage.clone(), ..UndoReport::default() };
    if is_wanted {
        let bar = ChunkProgress::new(console, "restoring", None);
        report = undo.apply(&ChangeOptions::new(), &bar)?;
    }
    let damaged = damage.total();
    let applied = report.findings.total().saturating_sub(damaged);
    let conflicts = if is_wanted { applied } else { conflicts };
    if args.json {
        json::line(console, &done.summary(&verb, is_wanted, damaged, conflicts, &report))?;
    } else {
        done.print(args, is_wanted, &report, console)?;
    }
    console.flush_data()?;
    complain(&report.findings);
    let is_done = is_wanted || done.changes == 0 || args.dry_run;
    let is_clean = is_done && conflicts == 0 && report.findings.total() == 0;
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

fn complain(findings: &Findings) {
    for finding in findings.kept() {
        exit::complain(&exit::problem(finding.to_string()));
    }
}

/// What is printed at the end.
struct Done {
    root: String,
    is_whole: bool,
    is_finished: bool,
    /// Files and chunks that can be restored, at least in part.
    changes: u64,
}

impl Done {
    fn new(undo: &Undo) -> Self {
        let states = [FileState::New, FileState::ChangedRegion, FileState::Incomplete];
        let changes: usize = states.into_iter().map(|state| undo.plan.count(state)).sum();
        let summary = undo.bundle().summary();
        Self {
            root: undo.location(),
            is_whole: summary.is_whole,
            is_finished: summary.is_finished,
            changes: changes as u64,
        }
    }

    fn summary<'a>(
        &self,
        verb: &'a str,
        applied: bool,
        damaged: u64,
        conflicts: u64,
        report: &UndoReport,
    ) -> Line<'a> {
        Line::Summary {
            verb,
            root: self.root.clone(),
            complete: self.is_whole,
            finished: self.is_finished,
            applied,
            files: report.files,
            chunks: report.chunks,
            unchanged: report.unchanged,
            damaged,
            conflicts,
            bundle: report.bundle.as_ref().map(|path| path.display().to_string()),
        }
    }

    fn print(
        &self,
        args: &UndoArgs,
        is_applied: bool,
        report: &UndoReport,
        console: &mut Console,
    ) -> anyhow::Result<()> {
        if is_applied {
            console.report(format_args!(
                "{} and {} restored",
                text::count(report.files, "file"),
                text::count(report.chunks, "chunk"),
            ))?;
            return advise(report.bundle.as_deref(), console);
        }
        let words = match self.changes {
            0 if self.is_whole => "nothing to restore: every file has its old bytes already",
            0 => "nothing to restore: every file that the bundle records has its old bytes already",
            _ if args.dry_run => "nothing changed",
            _ => "nothing changed; --yes restores the files",
        };
        Ok(console.report(format_args!("{words}"))?)
    }
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
    let (verb, root, time) = (&header.verb, undo.location(), text::time(header.time_ms));
    let summary = undo.bundle().summary();
    let note = match (summary.is_whole, summary.is_finished) {
        (true, true) => "",
        (true, false) => "; it failed",
        (false, _) => "; the bundle is damaged or incomplete",
    };
    console.report(format_args!("{verb} of {root} at {time}{note}"))?;
    for item in undo.plan.items.iter().take(SHOWN) {
        let chunk = item.chunk.map(|at| format!(", chunk {},{}", at.x, at.z)).unwrap_or_default();
        let words = match item.state {
            FileState::New if item.bytes.is_none() && item.chunk.is_none() => "remove it again",
            FileState::New => "restore it",
            FileState::Old => "has its old bytes already: nothing to do",
            FileState::ChangedRegion => "was changed since: restore only its unchanged slots",
            FileState::Changed => "was changed since: leave it as it is",
            FileState::Incomplete => "is damaged in the bundle: restore only its intact slots",
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
        FileState::Incomplete => "incomplete",
    }
}

/// Prints where the undo bundle of a verb is, and how to use it.
pub(super) fn advise(bundle: Option<&Path>, console: &mut Console) -> anyhow::Result<()> {
    if let Some(bundle) = bundle {
        let at = hyworld::location_to_name(bundle).map(|at| {
            let here = std::env::current_dir().ok();
            let short = here.and_then(|here| Some(at.strip_prefix(here).ok()?.to_owned()));
            let short = short.filter(|short| !short.as_os_str().is_empty());
            format!(" --at {}", hyworld::files::shell_word(&short.unwrap_or(at)))
        });
        let (bundle, at) = (hyworld::files::shell_word(bundle), at.unwrap_or_default());
        let words = "what was replaced is kept; to undo: hyworld undo";
        console.report(format_args!("{words} {bundle}{at}"))?;
    }
    Ok(())
}
