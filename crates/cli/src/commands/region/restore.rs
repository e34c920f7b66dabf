//! `salvage FILE --segment N --restore SLOT`.

use hyworld_indexed_storage::{EncodedBlob, SegmentIndex, Slot};
use serde::Serialize;

use super::salvage::blob_at;
use super::slot_names::{SlotKeys, SlotNames};
use crate::args::SlotArg;
use crate::args::region::SalvageArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, text};

pub(super) fn run(
    args: &SalvageArgs,
    segment: SegmentIndex,
    slot: SlotArg,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let path = &args.source.file;
    let file = super::open_before_change(path)?;
    let names = SlotNames::of(&file);
    let slot = names.resolve(path, slot)?;
    let blob = checked(blob_at(&file, segment)?, &names, segment, slot)?;
    let in_use = file.contains(slot)?;
    drop(file);
    let name = names.name(slot);
    let question = format!("{name} is in use; replace its blob?");
    let go = !args.dry_run && (!in_use || console.confirm(&question, args.yes)?);
    if !args.dry_run && !go {
        let message = format!("{}: {name} is in use; --yes replaces its blob", path.display());
        return Err(exit::problem(message));
    }
    let mut bundle = None;
    if go {
        let how = super::change_options(&args.undo, Some(args.force), console);
        let restored = hyworld::restore_blob(path, slot, segment, &how);
        bundle = restored.map_err(super::or_force)?.bundle;
    }
    let header = blob.header();
    if args.json {
        let report = Report {
            segment: segment.get(),
            slot: names.keys(Some(slot)),
            raw: header.raw_bytes,
            compressed: header.compressed_bytes,
            replaced: in_use,
            restored: go,
            bundle: bundle.map(|path| path.display().to_string()),
            dry_run: args.dry_run,
        };
        json::line(console, &report)?;
        return Ok(Exit::Clean);
    }
    let bytes = text::count(header.raw_bytes, "byte");
    let verb = if go { "restored" } else { "would be restored" };
    let old = if in_use { "; the old blob was replaced" } else { "" };
    console.report(format_args!("{name}: {bytes} from segment {segment} {verb}{old}"))?;
    crate::commands::undo::advise(bundle.as_deref(), console)?;
    Ok(Exit::Clean)
}

#[derive(Debug, Serialize)]
struct Report {
    segment: u32,
    #[serde(flatten)]
    slot: SlotKeys,
    raw: u32,
    compressed: u32,
    replaced: bool,
    restored: bool,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}

/// Checks that a sealed blob is restored to its own slot; in any other it would count as damaged.
fn checked(
    blob: EncodedBlob,
    names: &SlotNames,
    segment: SegmentIndex,
    slot: Slot,
) -> anyhow::Result<EncodedBlob> {
    match blob.seal()? {
        Some(seal) if seal.slot != slot => Err(exit::problem(format!(
            "the blob at segment {segment} is sealed for {}; extract it with -o and `put` it",
            names.name(seal.slot)
        ))),
        _ => Ok(blob),
    }
}
