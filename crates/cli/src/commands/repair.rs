//! `repair PATH`: plans a remedy for each damaged chunk and file, shows the plan, and applies it.

mod show;

pub(super) use show::{evidence_words, same_world};

use std::path::Path;

use hyworld::{Change, Repair, RepairOptions, RepairOutcome, open_for_check};
use hyworld_maintenance::ScanOptions;

use super::changing;
use crate::args::health::RepairArgs;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::{Console, text};

pub(super) fn run(args: &RepairArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let mut exit = super::each_world(&args.path, |path, world| one(args, path, world, console))?;
    if let Some(plan) = Repair::plan_universe(&args.path, &options(args))?
        && !(plan.is_empty() && plan.plan.left.is_empty())
    {
        let how = changing::options(&args.apply, None, console);
        let how = how.bundle(args.apply.bundle_of_universe());
        let change = (!args.apply.dry_run).then(|| plan.begin(&how)).transpose()?;
        exit = exit.max(finish(args, &plan, change, None, console)?);
    }
    Ok(exit)
}

fn options(args: &RepairArgs) -> RepairOptions {
    RepairOptions {
        from: args.from.clone(),
        without_backups: args.no_backups,
        trust_source: args.trust_source,
        confidence: Some(args.confidence.into()),
        only: args.only.clone(),
        warnings: args.warnings,
        chunks: args.chosen.chunks.clone(),
        area: args.chosen.area,
    }
}

fn one(
    args: &RepairArgs,
    path: &Path,
    world: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let opened = open_for_check(path)?;
    let change = changing::begin(&opened, "repair", &args.apply, world, console)?;
    let scan = ScanOptions::new().jobs(console.jobs());
    let bar = ChunkProgress::new(console, "checking", None);
    let plan = opened.plan_repair(&options(args), &scan, &bar)?;
    drop(bar);
    finish(args, &plan, change, world, console)
}

/// Shows a plan, asks, and applies it.
fn finish(
    args: &RepairArgs,
    plan: &Repair,
    change: Option<Change>,
    world: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    show::plan(args, plan, world, console)?;
    let left = plan.plan.left.len() as u64;
    let name = plan.location();
    if plan.is_empty() {
        show::summary(args, None, left, console)?;
        if !args.json {
            let words = if left == 0 { "to repair" } else { "that can be repaired" };
            console.report(format_args!("{name}: nothing {words}"))?;
        }
        return Ok(if left == 0 { Exit::Clean } else { Exit::Problems });
    }
    let changes = plan.plan.chunks.len() + plan.plan.regions.len() + plan.files.len();
    let question = format!("apply {} to {name}?", text::count(changes as u64, "change"));
    if args.apply.dry_run || !console.confirm(&question, args.apply.yes)? {
        show::summary(args, None, left, console)?;
        if !args.json {
            let advice = if args.apply.dry_run { "" } else { "; --yes applies the plan" };
            console.report(format_args!("nothing changed{advice}"))?;
        }
        return Ok(Exit::Problems);
    }
    let bar = ChunkProgress::new(console, "repairing", None);
    let (done, report) = changing::apply(change, plan, &bar)?;
    drop(bar);
    show::summary(args, Some((&done, report.bundle.as_deref())), left, console)?;
    complain(&done, console)?;
    let is_clean = left == 0 && done.chunks.findings.total() == 0;
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

fn complain(done: &RepairOutcome, console: &mut Console) -> anyhow::Result<()> {
    console.flush_data()?;
    for finding in done.chunks.findings.kept() {
        exit::complain(&exit::problem(finding.to_string()));
    }
    Ok(())
}
