//! `seal FILE`, with and without `--remove`.

use hyworld_indexed_storage::{
    BlobIndex, Damage, EncodedBlob, IndexedStorageFile, Seal, SlotDamage, Verified,
};
use serde_json::json;

use super::finding::{damage_json, write_damage};
use super::place::Places;
use super::seal_tags::SealTags;
use crate::args::region::SealArgs;
use crate::commands::parallel;
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
    let tags = SealTags::new(&args.file, places, Some(&file))?;
    let slots = file.occupied();
    let message = if args.remove { "unsealing" } else { "sealing" };
    let bar = progress::bar(console, message, slots.len());
    let outcomes = parallel::map(console.jobs(), &slots, |&slot| {
        let outcome = rewrite(args, &file, &tags, slot);
        bar.inc(1);
        outcome
    });
    bar.finish_and_clear();
    let mut done = Done { before, ..Done::default() };
    for (slot, outcome) in slots.into_iter().zip(outcomes) {
        done.add(slot, outcome?);
    }
    file.sync()?;
    done.after = (!args.dry_run).then_some(file.file_bytes()?);
    report(args, console, &places, &done)?;
    let is_clean = done.damaged.is_empty();
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

/// What became of one slot.
#[derive(Clone, Copy)]
enum Outcome {
    Rewritten,
    Unchanged,
    Damaged(Damage),
}

/// Rewrites a blob if it is whole. One that is not must not get a seal that vouches for it.
fn rewrite(
    args: &SealArgs,
    file: &IndexedStorageFile,
    tags: &SealTags,
    slot: BlobIndex,
) -> anyhow::Result<Outcome> {
    let seal: Option<Seal> = match file.verify(slot)? {
        Verified::Whole { seal } => seal,
        Verified::Damaged(damage) => return Ok(Outcome::Damaged(damage)),
        _ => return Ok(Outcome::Unchanged),
    };
    if seal.is_some() != args.remove {
        return Ok(Outcome::Unchanged);
    }
    if args.dry_run {
        return Ok(Outcome::Rewritten);
    }
    let Some(content) = file.read(slot)? else {
        return Ok(Outcome::Unchanged);
    };
    let blob = if args.remove {
        EncodedBlob::compress(&content, args.level)?
    } else {
        let tag = tags.next(slot, seal.as_ref())?;
        EncodedBlob::compress_sealed(&content, args.level, slot, &tag)?
    };
    file.write_encoded(&[(slot, &blob)])?;
    Ok(Outcome::Rewritten)
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
    fn add(&mut self, slot: BlobIndex, outcome: Outcome) {
        match outcome {
            Outcome::Rewritten => self.rewritten = self.rewritten.saturating_add(1),
            Outcome::Unchanged => self.unchanged = self.unchanged.saturating_add(1),
            Outcome::Damaged(damage) => self.damaged.push(SlotDamage { slot, damage }),
        }
    }
}

fn report(
    args: &SealArgs,
    console: &mut Console,
    places: &Places,
    done: &Done,
) -> anyhow::Result<()> {
    if args.json {
        let action = if args.remove { "remove" } else { "seal" };
        let object = json!({
            "action": action, "rewritten": done.rewritten, "unchanged": done.unchanged,
            "damaged": damage_json(places, &done.damaged), "before": done.before,
            "after": done.after, "dry_run": args.dry_run,
        });
        return Ok(json::line(console, &object)?);
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
