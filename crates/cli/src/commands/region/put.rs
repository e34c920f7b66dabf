//! `put FILE SLOT CONTENT`.

use std::io;

use hyworld::SealTags;
use hyworld_indexed_storage::limits::BLOB_BYTES_MAX;
use hyworld_indexed_storage::{
    BlobIndex, Durability, EncodedBlob, Error, HeaderProblem, IndexedStorageFile, SegmentIndex,
};
use serde::Serialize;

use super::place::{Places, SlotKeys};
use crate::args::region::PutArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, text};
use crate::streams;

pub(super) fn run(args: &PutArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let path = &args.file;
    let content = streams::read(&args.content)?;
    let existing = existing(args)?;
    let geometry = existing.as_ref().map_or(args.geometry, IndexedStorageFile::geometry);
    let places = Places::new(path, geometry);
    let slot = places.resolve(path, args.slot)?;
    let blob = encode(args, &content, existing.as_ref(), places, slot)?;
    let mut done = Done {
        slot,
        segment: None,
        sealed: blob.seal()?.is_some(),
        replaced: existing.as_ref().is_some_and(|file| file.contains(slot).unwrap_or(false)),
        created: existing.is_none(),
    };
    drop(existing);
    if !args.dry_run {
        let _permit = super::permit(path, args.force)?;
        let durability = if args.each_write { Durability::EachWrite } else { Durability::Relaxed };
        let options = super::for_writing().durability(durability).geometry(geometry);
        let file = options.create(done.created).open(path)?;
        file.write_encoded(&[(slot, &blob)])?;
        done.segment = file.stat(slot)?.map(|stat| stat.segment);
        file.close()?;
    }
    report(args, console, &places, &blob, &done)?;
    Ok(Exit::Clean)
}

/// What was done, for the report.
struct Done {
    slot: BlobIndex,
    segment: Option<SegmentIndex>,
    sealed: bool,
    replaced: bool,
    created: bool,
}

/// The file as it is, `None` if it is missing or has no bytes yet.
fn existing(args: &PutArgs) -> anyhow::Result<Option<IndexedStorageFile>> {
    let error = match super::look_at(&args.file) {
        Ok(file) => return Ok(Some(file)),
        Err(error) => error,
    };
    match error.downcast_ref() {
        Some(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Some(Error::Header { problem, .. }) if *problem == HeaderProblem::Empty => Ok(None),
        _ => Err(error),
    }
}

/// Compresses the content before anything is opened for writing.
fn encode(
    args: &PutArgs,
    content: &[u8],
    file: Option<&IndexedStorageFile>,
    places: Places,
    slot: BlobIndex,
) -> anyhow::Result<EncodedBlob> {
    if args.raw {
        return encoded(args, content, &places, slot);
    }
    if !args.seal {
        return Ok(EncodedBlob::compress(content, args.level)?);
    }
    let current = match file.map(|file| file.seal(slot)) {
        Some(Ok(seal)) => seal,
        // A blob that is damaged is replaced like any other.
        Some(Err(Error::Damaged { .. })) | None => None,
        Some(Err(error)) => return Err(error.into()),
    };
    let tag = SealTags::new(&args.file, places.slots(), file)?.next(slot, current.as_ref())?;
    Ok(EncodedBlob::compress_sealed(content, args.level, slot, &tag)?)
}

/// Takes frames that are compressed already. They must be what a read would accept.
fn encoded(
    args: &PutArgs,
    frames: &[u8],
    places: &Places,
    slot: BlobIndex,
) -> anyhow::Result<EncodedBlob> {
    let name = streams::source_name(&args.content);
    let blob = EncodedBlob::from_sized_frames(frames).map_err(|error| {
        exit::problem(format!("{name}: {error}; put its content without --raw"))
    })?;
    let raw_bytes = blob.header().raw_bytes;
    if raw_bytes > BLOB_BYTES_MAX {
        let (bytes, max) = (text::count(raw_bytes, "byte"), text::thousands(BLOB_BYTES_MAX));
        let message = format!("{name}: content of {bytes}; no blob may have more than {max}");
        return Err(exit::problem(message));
    }
    blob.decompress().map_err(|error| exit::problem(format!("{name}: {error}")))?;
    match blob.seal()? {
        Some(seal) if seal.slot != slot => Err(exit::problem(format!(
            "{name}: its seal is for {}; decompress it and put it without --raw",
            places.name(seal.slot)
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
}

fn report(
    args: &PutArgs,
    console: &mut Console,
    places: &Places,
    blob: &EncodedBlob,
    done: &Done,
) -> anyhow::Result<()> {
    let header = blob.header();
    let segment = done.segment.map(SegmentIndex::get);
    if args.json {
        let report = Report {
            slot: places.keys(Some(done.slot)),
            segment,
            raw: header.raw_bytes,
            compressed: header.compressed_bytes,
            sealed: done.sealed,
            replaced: done.replaced,
            created: done.created,
            dry_run: args.dry_run,
        };
        return json::line(console, &report);
    }
    if done.created {
        let verb = if args.dry_run { "would be made" } else { "made" };
        console.report(format_args!("{} {verb}", args.file.display()))?;
    }
    let name = places.name(done.slot);
    let raw = text::count(header.raw_bytes, "byte");
    let compressed = text::thousands(header.compressed_bytes);
    let place = match segment {
        Some(segment) => format!("stored as {compressed} at segment {segment}"),
        None => format!("would be stored as {compressed}"),
    };
    let sealed = if done.sealed { ", sealed" } else { "" };
    let old = if done.replaced { "; the slot was in use" } else { "" };
    console.report(format_args!("{name}: {raw} {place}{sealed}{old}"))?;
    Ok(())
}
