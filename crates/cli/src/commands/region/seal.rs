//! `seal FILE`, with and without `--remove`.

use hyworld::{SealOptions, SealOutcome, SealTags, seal_slot};
use hyworld_indexed_storage::{BlobIndex, SlotDamage};
use hyworld_maintenance::{ScanOptions, scan_slots};
use serde::Serialize;

use super::finding::{DamageObject, write_damage};
use super::place::Places;
use crate::args::region::SealArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &SealArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::look_at(&args.file)?;
    let places = Places::of(&file);
    let (file, _permit) = if args.dry_run {
        (file, None)
    } else {
        drop(file);
        let permit = super::permit(&args.file, args.force)?;
        (super::for_writing().open(&args.file)?, Some(permit))
    };
    let before = file.file_bytes()?;
    let tags = SealTags::new(&args.file, places.slots(), Some(&file))?;
    let SealArgs { remove, level, dry_run, .. } = *args;
    let seal = SealOptions { remove, level, dry_run };
    let message = if args.remove { "unsealing" } else { "sealing" };
    let bar = progress::bar(console, message, file.occupied().len());
    let mut done = Done { before, ..Done::default() };
    let mut failure = None;
    let options = ScanOptions::new().jobs(console.jobs());
    let rewrite = |slot| seal_slot(&file, &tags, slot, seal);
    let _complete = scan_slots(&file, &options, rewrite, |slot, outcome| {
        match outcome {
            Ok(outcome) => done.add(slot, outcome),
            Err(error) => failure = failure.take().or(Some(error)),
        }
        bar.inc(1);
    });
    bar.finish_and_clear();
    failure.map_or(Ok(()), Err)?;
    file.sync()?;
    done.after = (!args.dry_run).then_some(file.file_bytes()?);
    report(args, console, &places, &done)?;
    let is_clean = done.damaged.is_empty();
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

/// What became of all slots.
#[derive(Default)]
struct Done {
    rewritten: usize,
    unchanged: usize,
    damaged: Vec<SlotDamage>,
    before: u64,
    after: Option<u64>,
}

impl Done {
    fn add(&mut self, slot: BlobIndex, outcome: SealOutcome) {
        match outcome {
            SealOutcome::Rewritten => self.rewritten = self.rewritten.saturating_add(1),
            SealOutcome::Unchanged => self.unchanged = self.unchanged.saturating_add(1),
            SealOutcome::Damaged(damage) => self.damaged.push(SlotDamage { slot, damage }),
        }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    action: &'static str,
    rewritten: usize,
    unchanged: usize,
    damaged: Vec<DamageObject>,
    before: u64,
    after: Option<u64>,
    dry_run: bool,
}

fn report(
    args: &SealArgs,
    console: &mut Console,
    places: &Places,
    done: &Done,
) -> anyhow::Result<()> {
    if args.json {
        let report = Report {
            action: if args.remove { "remove" } else { "seal" },
            rewritten: done.rewritten,
            unchanged: done.unchanged,
            damaged: DamageObject::all(places, &done.damaged),
            before: done.before,
            after: done.after,
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
    let state = if args.remove { "without seal" } else { "sealed" };
    let rest = text::thousands(done.unchanged as u64);
    console.report(format_args!("{name}: {blobs} {verb}, {rest} {state} already"))?;
    if let Some(after) = done.after {
        let (before, after) = (text::thousands(done.before), text::thousands(after));
        console.report(format_args!(
            "{after} bytes, was {before}; `compact` gives unused space back"
        ))?;
    }
    if !done.damaged.is_empty() && !console.is_quiet() {
        let slots = text::count(done.damaged.len() as u64, "damaged slot");
        console.report(format_args!("{slots} left alone:"))?;
        write_damage(console, places, &done.damaged)?;
    }
    Ok(())
}
