//! `trim WORLD`: removes chunks that players have not touched.

mod show;

use std::io;
use std::path::Path;

use anyhow::Context;
use hyworld::files::read_regular_text;
use hyworld::{Location, Trim, TrimOptions, TrimReport};
use hyworld_maintenance::{ChunkSet, Finding, ScanOptions, claimed_chunks};
use serde::Serialize;

use super::{changing, select};
use crate::args::change::TrimArgs;
use crate::args::select::SelectionArg;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

/// The maximum size of a file with claims.
const CLAIMS_BYTES_MAX: u64 = 32 << 20;

/// How many chunks that cannot be read are described.
const SHOWN: u64 = 20;

#[derive(Debug, Serialize)]
struct Report {
    world: String,
    chunks: u64,
    removed: u64,
    bytes: u64,
    files: u64,
    kept: Kept,
    pointing: Vec<Pointing>,
    applied: bool,
    bundle: Option<String>,
}

/// Why chunks are kept, without the ring around them.
#[derive(Debug, Serialize)]
struct Kept {
    touched: u64,
    spawn: u64,
    players: u64,
    claims: u64,
    chosen: u64,
    unreadable: u64,
}

#[derive(Debug, Serialize)]
struct Pointing {
    kind: &'static str,
    name: String,
    x: f64,
    z: f64,
}

pub(super) fn run(args: &TrimArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let world = hyworld::open(&args.path)?;
    let change = changing::begin(&world, "trim", &args.apply, None, console)?;
    let options = options(args, world.location(), console)?;
    let scan = ScanOptions::new().jobs(console.jobs());
    let bar = ChunkProgress::new(console, "looking for changes", None);
    let mut problems = 0_u64;
    let mut found = |finding: &Finding| {
        problems = problems.saturating_add(1);
        if problems <= SHOWN {
            let at = finding.chunk.map(|at| format!("chunk {},{} is kept: ", at.x, at.z));
            exit::complain(&exit::problem(format!(
                "{}{}",
                at.unwrap_or_default(),
                finding.message
            )));
        }
    };
    let plan = world.plan_trim(&options, &scan, &mut found, &bar)?;
    drop(bar);
    if let Some(file) = &args.picture {
        show::picture(&plan, file)?;
    }
    if !args.json {
        show::plan(console, &plan, args.ring)?;
    }
    let question =
        format!("remove {} from {}?", text::count(plan.removed.len(), "chunk"), plan.location());
    let can_apply = !plan.removed.is_empty() && !args.apply.dry_run;
    let is_wanted = can_apply && console.confirm(&question, args.apply.yes)?;
    let mut report = report(&plan);
    let is_empty = plan.removed.is_empty();
    let (mut done, mut bundle) = (TrimReport::default(), None);
    if is_wanted {
        let bar = ChunkProgress::new(console, "removing", Some(plan.removed.len()));
        let (removed, changed) = changing::apply(change, &plan, &bar)?;
        (done, bundle) = (removed, changed.bundle);
    }
    report.applied = is_wanted;
    report.bundle = bundle.as_ref().map(|path| path.display().to_string());
    if args.json {
        json::line(console, &report)?;
    } else {
        finish(console, args, is_wanted, is_empty, &done)?;
        super::undo::advise(bundle.as_deref(), console)?;
    }
    let is_done = is_wanted || is_empty || args.apply.dry_run;
    Ok(if is_done && problems == 0 { Exit::Clean } else { Exit::Problems })
}

fn options(args: &TrimArgs, location: &Location, console: &Console) -> anyhow::Result<TrimOptions> {
    let selection = select::chosen(&args.selection, location)?;
    let keep = match &args.keep {
        None => ChunkSet::new(),
        Some(query) => {
            let keep = SelectionArg { select: Some(query.clone()), query_file: None };
            let Some(selection) = select::chosen(&keep, location)? else {
                return Err(exit::usage("--keep: a selection is missing"));
            };
            let (chunks, exit) = select::chunks(&selection, &*location.open()?, console);
            if exit != Exit::Clean {
                return Err(exit::problem("--keep: not all chunks can be tested"));
            }
            chunks
        }
    };
    let claims = match (&args.protect_json, &args.x, &args.z) {
        (Some(file), Some(x), Some(z)) => claims(file, x, z, args.unit)?,
        _ => ChunkSet::new(),
    };
    Ok(TrimOptions {
        selection,
        keep,
        claims,
        ring: args.ring,
        include_touched: args.include_touched,
    })
}

fn claims(file: &Path, x: &str, z: &str, unit: u32) -> anyhow::Result<ChunkSet> {
    let failed = || format!("{}: cannot read", file.display());
    let text = match read_regular_text(file, CLAIMS_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(exit::usage(format!("{}: larger than 32 MiB", file.display())));
        }
        read => read.with_context(failed)?,
    };
    claimed_chunks(&text, x, z, unit)
        .map_err(|reason| exit::usage(format!("{}: {reason}", file.display())))
}

fn report(plan: &Trim) -> Report {
    let kept = &plan.kept;
    Report {
        world: plan.location(),
        chunks: plan.stored.len(),
        removed: plan.removed.len(),
        bytes: plan.bytes,
        files: plan.files.len() as u64,
        kept: Kept {
            touched: kept.touched.len(),
            spawn: kept.spawn.len(),
            players: kept.players.len(),
            claims: kept.claims.len(),
            chosen: kept.chosen.len(),
            unreadable: kept.unreadable.len(),
        },
        pointing: plan
            .pointing
            .iter()
            .map(|(kind, at)| Pointing { kind, name: at.name.clone(), x: at.x, z: at.z })
            .collect(),
        applied: false,
        bundle: None,
    }
}

fn finish(
    console: &mut Console,
    args: &TrimArgs,
    is_applied: bool,
    is_empty: bool,
    done: &TrimReport,
) -> anyhow::Result<()> {
    if !is_applied {
        let words = match (is_empty, args.apply.dry_run) {
            (true, _) => "nothing to remove",
            (false, true) => "nothing changed",
            (false, false) => "nothing changed; --yes removes the chunks",
        };
        return Ok(console.report(format_args!("{words}"))?);
    }
    let chunks = text::count(done.removed, "chunk");
    let files = text::count(done.files, "region file");
    console.report(format_args!("{chunks} and {files} removed"))?;
    console
        .report(format_args!("`hyworld compact` frees their space in the other region files"))?;
    Ok(())
}
