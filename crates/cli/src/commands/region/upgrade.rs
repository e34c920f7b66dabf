//! `upgrade FILE`.

use std::path::Path;

use hyworld::upgrade_region;
use hyworld_indexed_storage::{FormatVersion, OpenOptions, UpgradeReport, plan_upgrade};
use serde::Serialize;

use super::finding::{DamageObject, of_damage, write_damage};
use super::slot_names::SlotNames;
use crate::args::region::UpgradeArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &UpgradeArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = OpenOptions::new().open(&args.file)?;
    let names = SlotNames::of(&file);
    let spinner = progress::spinner(console, "upgrading");
    let done = if args.dry_run {
        // The undo bundle would have the old file.
        let plan = plan_upgrade(&file).map(|plan| UpgradeReport { old: None, ..plan });
        plan.map(|plan| (plan, None)).map_err(anyhow::Error::from)
    } else {
        drop(file);
        let how = super::change_options(&args.undo, None, console);
        let done = upgrade_region(&args.file, &how);
        done.map(|(done, changed)| (done, changed.bundle)).map_err(anyhow::Error::from)
    };
    spinner.finish_and_clear();
    let (done, bundle) = done?;
    report(args, console, &names, &done, bundle.as_deref())?;
    let is_clean = done.damaged.is_empty() && done.old.is_none();
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    from: i32,
    copied: u32,
    damaged: Vec<DamageObject<'a>>,
    old: Option<String>,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}

fn report(
    args: &UpgradeArgs,
    console: &mut Console,
    names: &SlotNames,
    done: &UpgradeReport,
    bundle: Option<&Path>,
) -> anyhow::Result<()> {
    let findings = of_damage(&args.file, names, &done.damaged);
    let old = done.old.as_ref().map(|old| old.display().to_string());
    if args.json {
        let report = Report {
            from: done.from.number(),
            copied: done.copied,
            damaged: DamageObject::all(names, &findings),
            old,
            bundle: bundle.map(|path| path.display().to_string()),
            dry_run: args.dry_run,
        };
        return json::line(console, &report);
    }
    let name = args.file.display();
    let blobs = text::count(done.copied, "blob");
    match (done.from, done.copied, args.dry_run) {
        (FormatVersion::V0, _, false) => {
            console.report(format_args!("{name}: now version 1, {blobs} copied"))?;
        }
        (FormatVersion::V0, _, true) => {
            console.report(format_args!("{name}: would become version 1, {blobs} copied"))?;
        }
        (FormatVersion::V1, 0, _) => {
            console.report(format_args!("{name}: already version 1, nothing to do"))?;
        }
        (FormatVersion::V1, _, _) => {
            console.report(format_args!("{name}: {blobs} copied from the old file"))?;
        }
    }
    if !done.damaged.is_empty() && !console.is_quiet() {
        let slots = text::count(done.damaged.len() as u64, "damaged slot");
        console.report(format_args!("{slots}, copied unchanged where possible:"))?;
        write_damage(console, names, &findings)?;
    }
    if let Some(old) = old {
        let verb = if args.dry_run { "would be" } else { "was" };
        console.report(format_args!("the old file {verb} kept as {old}"))?;
    }
    crate::commands::undo::advise(bundle, console)
}
