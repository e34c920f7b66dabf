//! `seal FILE`, with and without `--remove`.

use hyworld::{SealOptions, SealReport, seal_region};
use serde::Serialize;

use super::finding::{DamageObject, write_damage};
use super::slot_names::SlotNames;
use crate::args::region::SealArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &SealArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::open_before_change(&args.file)?;
    let (names, slots) = (SlotNames::of(&file), file.occupied().len());
    drop(file);
    let SealArgs { remove, level, dry_run, force, .. } = *args;
    let options = SealOptions { remove, level, dry_run };
    let how = super::change_options(&args.undo, Some(force), console);
    let message = if args.remove { "unsealing" } else { "sealing" };
    let bar = progress::bar(console, message, slots);
    let done = seal_region(&args.file, options, &how, &|slots| bar.inc(slots));
    bar.finish_and_clear();
    let done = done.map_err(super::or_force)?;
    report(args, console, &names, &done)?;
    Ok(if done.findings.is_empty() { Exit::Clean } else { Exit::Problems })
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    action: &'static str,
    rewritten: usize,
    unchanged: usize,
    damaged: Vec<DamageObject<'a>>,
    before: u64,
    after: Option<u64>,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}

fn report(
    args: &SealArgs,
    console: &mut Console,
    names: &SlotNames,
    done: &SealReport,
) -> anyhow::Result<()> {
    if args.json {
        let report = Report {
            action: if args.remove { "remove" } else { "seal" },
            rewritten: done.rewritten,
            unchanged: done.unchanged,
            damaged: DamageObject::all(names, &done.findings),
            before: done.before,
            after: done.after,
            bundle: done.bundle.as_ref().map(|path| path.display().to_string()),
            dry_run: args.dry_run,
        };
        return json::line(console, &report);
    }
    let name = args.file.display();
    let blobs = text::count(done.rewritten as u64, "blob");
    let verb = match (args.remove, args.dry_run) {
        (false, false) => "sealed",
        (false, true) => "would be sealed",
        (true, false) => "unsealed",
        (true, true) => "would be unsealed",
    };
    let state = if args.remove { "unsealed" } else { "sealed" };
    let rest = text::thousands(done.unchanged as u64);
    console.report(format_args!("{name}: {blobs} {verb}, {rest} already {state}"))?;
    if let Some(after) = done.after {
        let (before, after) = (text::thousands(done.before), text::thousands(after));
        console
            .report(format_args!("{after} bytes, was {before}; `compact` frees unused space"))?;
    }
    if !done.findings.is_empty() && !console.is_quiet() {
        let slots = text::count(done.findings.len() as u64, "damaged slot");
        console.report(format_args!("{slots} not changed:"))?;
        write_damage(console, names, &done.findings)?;
    }
    crate::commands::undo::advise(done.bundle.as_deref(), console)
}
