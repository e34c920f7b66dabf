//! `compact FILE`.

use std::path::Path;

use hyworld::compact_region;
use hyworld_indexed_storage::{CompactOptions, CompactReport, Error, plan_compact};
use serde::Serialize;

use super::finding::{DamageObject, of_damage, write_damage};
use super::slot_names::SlotNames;
use crate::args::region::CompactArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &CompactArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::open_before_change(&args.file)?;
    let names = SlotNames::of(&file);
    let CompactArgs { drop_damaged, drop_orphans, .. } = *args;
    let options = CompactOptions { drop_damaged, drop_orphans };
    let (done, bundle) = if args.dry_run {
        let expected =
            plan_compact(&file, options).map_err(|error| super::advised(error.into()))?;
        if !expected.dropped.is_empty() && !args.drop_damaged {
            let (path, damaged) = (args.file.clone(), expected.dropped.len());
            return Err(super::advised(Error::WouldDropDamaged { path, damaged }.into()));
        }
        (expected, None)
    } else {
        drop(file);
        let spinner = progress::spinner(console, "compacting");
        let how = super::change_options(&args.undo, None, console);
        let done = compact_region(&args.file, options, &how);
        spinner.finish_and_clear();
        let (done, changed) = done.map_err(super::advised)?;
        (done, changed.bundle)
    };
    report(args, console, &names, &done, bundle.as_deref())?;
    Ok(Exit::Clean)
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    before: u64,
    after: u64,
    blobs: u32,
    dropped: Vec<DamageObject<'a>>,
    orphans: u32,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}

fn report(
    args: &CompactArgs,
    console: &mut Console,
    names: &SlotNames,
    done: &CompactReport,
    bundle: Option<&Path>,
) -> anyhow::Result<()> {
    let (before, after) = (done.bytes_before, done.bytes_after);
    let findings = of_damage(&args.file, names, &done.dropped);
    if args.json {
        let dropped = DamageObject::all(names, &findings);
        let (blobs, orphans, dry_run) = (done.blobs, done.orphans, args.dry_run);
        let bundle = bundle.map(|path| path.display().to_string());
        let report = Report { before, after, blobs, dropped, orphans, dry_run, bundle };
        return json::line(console, &report);
    }
    let name = args.file.display();
    let saved = text::percent(before.saturating_sub(after), before);
    let (before, after) = (text::thousands(before), text::thousands(after));
    let verb = if args.dry_run { "would be" } else { "is now" };
    let blobs = text::count(done.blobs, "blob");
    console.report(format_args!(
        "{name} {verb} {after} bytes, was {before} ({saved} less), with {blobs}"
    ))?;
    if done.orphans > 0 {
        let orphans = text::count(done.orphans, "orphaned blob");
        console.report(format_args!(
            "{orphans} {} kept, because slots are damaged; \
             --drop-orphans drops them",
            if done.orphans == 1 { "is" } else { "are" }
        ))?;
    }
    if !done.dropped.is_empty() && !console.is_quiet() {
        let slots = text::count(done.dropped.len() as u64, "damaged slot");
        let verb = if args.dry_run { "would be" } else { "were" };
        console.report(format_args!("{slots} {verb} dropped:"))?;
        write_damage(console, names, &findings)?;
    }
    crate::commands::undo::advise(bundle, console)
}
