//! `undelete PATH`: lists orphaned chunks, and restores chosen ones.

use std::path::Path;

use hyworld::{StoredState, Undelete, UndeleteOptions, UndeleteReport, open_for_check};
use hyworld_maintenance::{Orphan, ScanOptions};
use serde::Serialize;

use super::changing;
use crate::args::health::UndeleteArgs;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// How many orphans are printed; `--json` prints all.
const SHOWN: usize = 100;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Orphan {
        file: String,
        segment: u32,
        raw: u32,
        compressed: u64,
        x: Option<i32>,
        z: Option<i32>,
        confidence: &'static str,
        evidence: Option<String>,
        stored: &'static str,
        restore: bool,
        doubtful: bool,
        blocks: Option<u64>,
        height_min: Option<i16>,
        height_max: Option<i16>,
        entities: Option<usize>,
        block_entities: Option<usize>,
        game_time: Option<&'a str>,
        message: Option<&'a str>,
    },
    Summary {
        files: usize,
        orphans: usize,
        chosen: usize,
        applied: bool,
        restored: u64,
        bundle: Option<String>,
    },
}

pub(super) fn run(args: &UndeleteArgs, console: &mut Console) -> anyhow::Result<Exit> {
    super::each_world(&args.path, |path, world| one(args, path, world, console))
}

fn options(args: &UndeleteArgs) -> UndeleteOptions {
    UndeleteOptions {
        all: args.all,
        chunks: args.chosen.chunks.clone(),
        area: args.chosen.area,
        segment: args.segment,
        replace: args.replace,
        confidence: Some(args.confidence.into()),
    }
}

fn one(
    args: &UndeleteArgs,
    path: &Path,
    world: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let scan = ScanOptions::new().jobs(console.jobs());
    let bar = ChunkProgress::new(console, "searching", None);
    let options = options(args);
    let is_restoring = options.is_restoring();
    let opened = open_for_check(path)?;
    let mut change = None;
    if is_restoring {
        change = changing::begin(&opened, "undelete", &args.apply, world, console)?;
    }
    let found = opened.plan_undelete(&options, &scan, &bar)?;
    drop(bar);
    if let Some(world) = world.filter(|_| !args.json) {
        console.report(format_args!("world {world}"))?;
    }
    show(args, &found, console)?;
    let chosen = found.chosen.len();
    let question =
        format!("restore {} in {}?", text::count(chosen as u64, "chunk"), found.location());
    let is_wanted =
        chosen > 0 && !args.apply.dry_run && console.confirm(&question, args.apply.yes)?;
    let (files, orphans) = (found.report.files, found.report.orphans.len());
    let failed = complain(&found, console)?;
    let (mut done, mut bundle) = (UndeleteReport::default(), None);
    if is_wanted {
        let bar = ChunkProgress::new(console, "restoring", None);
        let (restored, changed) = changing::apply(change, &found, &bar)?;
        (done, bundle) = (restored, changed.bundle);
    }
    if args.json {
        let (applied, restored) = (is_wanted, done.restored);
        let bundle = bundle.map(|path| path.display().to_string());
        json::line(console, &Line::Summary { files, orphans, chosen, applied, restored, bundle })?;
    } else {
        summary(args, is_restoring, is_wanted, chosen, &done, console)?;
        super::undo::advise(bundle.as_deref(), console)?;
    }
    let is_clean = !failed;
    let is_done = !is_restoring || is_wanted || args.apply.dry_run;
    Ok(if is_clean && is_done { Exit::Clean } else { Exit::Problems })
}

fn summary(
    args: &UndeleteArgs,
    is_restoring: bool,
    is_wanted: bool,
    chosen: usize,
    done: &UndeleteReport,
    console: &mut Console,
) -> anyhow::Result<()> {
    if is_wanted {
        let chunks = text::count(done.restored, "chunk");
        return Ok(console.report(format_args!("{chunks} restored"))?);
    }
    let words = match (is_restoring, chosen) {
        (false, _) => "restore all missing chunks with --all, or one with --chunk X,Z",
        (true, 0) => {
            "nothing to restore: no orphan of the chosen chunks has this confidence (--confidence \
             medium uses less certain ones), or the chunks are stored (--replace replaces them)"
        }
        (true, _) if args.apply.dry_run => "nothing changed",
        (true, _) => "nothing changed; --yes restores the chunks",
    };
    Ok(console.report(format_args!("{words}"))?)
}

/// Reports files that could not be searched.
fn complain(found: &Undelete, console: &mut Console) -> anyhow::Result<bool> {
    console.flush_data()?;
    for (_, error) in &found.report.failed {
        exit::complain(&exit::problem(error.clone()));
    }
    for path in &found.report.incomplete {
        let text = format!("{}: too large to search completely", path.display());
        exit::complain(&exit::problem(text));
    }
    Ok(!found.report.failed.is_empty() || !found.report.incomplete.is_empty())
}

fn stored_words(state: StoredState) -> &'static str {
    match state {
        StoredState::Unknown => "unknown",
        StoredState::Missing => "missing",
        StoredState::Damaged => "damaged",
        StoredState::Other => "other version",
        StoredState::Same => "same",
    }
}

fn show(args: &UndeleteArgs, found: &Undelete, console: &mut Console) -> anyhow::Result<()> {
    let orphans = found.report.orphans.iter().zip(&found.stored).enumerate();
    if args.json {
        for (index, (orphan, state)) in orphans {
            json::line(console, &line(orphan, *state, found.chosen.contains(&index)))?;
        }
        return Ok(());
    }
    let mut table =
        Table::new("restore|>x|>z|confidence|stored now|>blocks|heights|>entities|file|>segment");
    // Sealing leaves a copy of every chunk, which would hide the others.
    let (same, others): (Vec<_>, Vec<_>) =
        orphans.partition(|(_, (_, state))| **state == StoredState::Same);
    for (index, (orphan, state)) in others.iter().take(SHOWN) {
        table.row(row(orphan, **state, found.chosen.contains(index)));
    }
    if !table.is_empty() {
        table.write(console, "")?;
    }
    if let more @ 1.. = others.len().saturating_sub(SHOWN) {
        console.report(format_args!("and {more} more; --json has them all"))?;
    }
    if !same.is_empty() {
        let versions = text::count(same.len() as u64, "equal version");
        console.report(format_args!("and {versions} of stored chunks; --json has them"))?;
    }
    let count = found.report.orphans.len();
    let files = text::count(found.report.files as u64, "region file");
    let orphans = text::count(count as u64, "orphaned chunk");
    Ok(console.report(format_args!("{}: {orphans} in {files}", found.location()))?)
}

fn row(orphan: &Orphan, state: StoredState, is_chosen: bool) -> [String; 10] {
    let at = orphan.position.as_ref().and_then(|position| position.chunk);
    let number = |number: Option<i32>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let summary = orphan.summary.as_ref();
    let of = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let name = orphan.file.file_name().map(|name| name.to_string_lossy().into_owned());
    [
        if is_chosen { "yes" } else { "" }.to_owned(),
        number(at.map(|at| at.x)),
        number(at.map(|at| at.z)),
        orphan.confidence().name().to_owned(),
        stored_words(state).to_owned(),
        of(summary.map(|found| text::thousands(found.blocks))),
        of(summary.map(|found| format!("{} to {}", found.height_min, found.height_max))),
        of(summary.map(|found| (found.entities + found.block_entities).to_string())),
        name.unwrap_or_default(),
        orphan.segment.get().to_string(),
    ]
}

fn line(orphan: &Orphan, state: StoredState, restore: bool) -> Line<'_> {
    let at = orphan.position.as_ref().and_then(|position| position.chunk);
    let summary = orphan.summary.as_ref();
    Line::Orphan {
        file: orphan.file.display().to_string(),
        segment: orphan.segment.get(),
        raw: orphan.raw_bytes,
        compressed: orphan.stored_bytes,
        x: at.map(|at| at.x),
        z: at.map(|at| at.z),
        confidence: orphan.confidence().name(),
        evidence: orphan.position.as_ref().map(super::repair::evidence_words),
        stored: stored_words(state),
        restore,
        doubtful: orphan.is_doubtful,
        blocks: summary.map(|found| found.blocks),
        height_min: summary.map(|found| found.height_min),
        height_max: summary.map(|found| found.height_max),
        entities: summary.map(|found| found.entities),
        block_entities: summary.map(|found| found.block_entities),
        game_time: summary.and_then(|found| found.game_time.as_deref()),
        message: orphan.reason.as_deref(),
    }
}
