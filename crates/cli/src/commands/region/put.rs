//! `put FILE SLOT DOCUMENT`: writes a blob.

use hyworld::{PutOptions, PutReport, open_region_if_present, put_blob, seal_document};
use hyworld_indexed_storage::limits::BLOB_BYTES_MAX;
use hyworld_indexed_storage::{EncodedBlob, IndexedStorageFile, SegmentIndex, Slot};
use serde::Serialize;

use super::slot_names::{SlotKeys, SlotNames};
use crate::args::region::PutArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, text};
use crate::streams;

pub(super) fn run(args: &PutArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let path = &args.file;
    let document = streams::read(&args.document)?;
    let existing = open_region_if_present(path).map_err(super::advised)?;
    let geometry = existing.as_ref().map_or(args.geometry, IndexedStorageFile::geometry);
    let names = SlotNames::new(path, geometry);
    let slot = names.resolve(path, args.slot)?;
    let blob = encode(args, &document, existing.as_ref(), names, slot)?;
    let how = super::change_options(&args.undo, Some(args.force), console);
    let options = PutOptions { geometry, dry_run: args.dry_run };
    let done = put_blob(path, existing, slot, &blob, options, &how).map_err(super::or_force)?;
    report(args, console, &names, slot, &blob, &done)?;
    Ok(Exit::Clean)
}

/// Compresses the document before the file is opened for writing.
fn encode(
    args: &PutArgs,
    document: &[u8],
    file: Option<&IndexedStorageFile>,
    names: SlotNames,
    slot: Slot,
) -> anyhow::Result<EncodedBlob> {
    if args.raw {
        return encoded(args, document, &names, slot);
    }
    if !args.seal {
        return Ok(EncodedBlob::compress(document, args.level)?);
    }
    Ok(seal_document(&args.file, file, names.slots(), slot, document, args.level)?)
}

/// Checks that already compressed input is what a read would accept.
fn encoded(
    args: &PutArgs,
    frames: &[u8],
    names: &SlotNames,
    slot: Slot,
) -> anyhow::Result<EncodedBlob> {
    let name = streams::source_name(&args.document);
    let blob = EncodedBlob::from_sized_frames(frames).map_err(|error| {
        exit::problem(format!("{name}: {error}; put the document without --raw"))
    })?;
    let raw_bytes = blob.header().raw_bytes;
    if raw_bytes > BLOB_BYTES_MAX {
        let (bytes, max) = (text::count(raw_bytes, "byte"), text::thousands(BLOB_BYTES_MAX));
        let message = format!("{name}: document of {bytes}; the maximum is {max}");
        return Err(exit::problem(message));
    }
    blob.decompress().map_err(|error| exit::problem(format!("{name}: {error}")))?;
    match blob.seal()? {
        Some(seal) if seal.slot != slot => Err(exit::problem(format!(
            "{name}: sealed for {}; decompress it and put it without --raw",
            names.name(seal.slot)
        ))),
        _ => Ok(blob),
    }
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the JSON")]
struct Report {
    #[serde(flatten)]
    slot: SlotKeys,
    segment: Option<u32>,
    raw: u32,
    compressed: u32,
    sealed: bool,
    replaced: bool,
    created: bool,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}

fn report(
    args: &PutArgs,
    console: &mut Console,
    names: &SlotNames,
    slot: Slot,
    blob: &EncodedBlob,
    done: &PutReport,
) -> anyhow::Result<()> {
    let (header, is_sealed) = (blob.header(), blob.seal()?.is_some());
    let segment = done.segment.map(SegmentIndex::get);
    if args.json {
        let report = Report {
            slot: names.keys(Some(slot)),
            segment,
            raw: header.raw_bytes,
            compressed: header.compressed_bytes,
            sealed: is_sealed,
            replaced: done.replaced,
            created: done.created,
            bundle: done.bundle.as_ref().map(|path| path.display().to_string()),
            dry_run: args.dry_run,
        };
        return json::line(console, &report);
    }
    if done.created {
        let verb = if args.dry_run { "would be created" } else { "created" };
        console.report(format_args!("{} {verb}", args.file.display()))?;
    }
    let name = names.name(slot);
    let raw = text::count(header.raw_bytes, "byte");
    let compressed = text::thousands(header.compressed_bytes);
    let stored = match segment {
        Some(segment) => format!("stored as {compressed} at segment {segment}"),
        None => format!("would be stored as {compressed}"),
    };
    let sealed = if is_sealed { ", sealed" } else { "" };
    let old = if done.replaced { "; the old blob was replaced" } else { "" };
    console.report(format_args!("{name}: {raw} {stored}{sealed}{old}"))?;
    crate::commands::undo::advise(done.bundle.as_deref(), console)
}
