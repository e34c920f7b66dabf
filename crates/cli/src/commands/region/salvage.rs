//! `salvage FILE`: lists and extracts orphaned blobs. `restore.rs` restores them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_indexed_storage::{
    EncodedBlob, Error, IndexedStorageFile, SalvageReport, SalvagedBlob, SegmentIndex,
};
use serde::Serialize;

use super::restore;
use super::slot_names::{SlotKeys, SlotNames};
use crate::args::region::SalvageArgs;
use crate::exit::{self, Exit};
use crate::output::table::Table;
use crate::output::{Console, advice, json, progress, text};
use crate::streams;

pub(super) fn run(args: &SalvageArgs, console: &mut Console) -> anyhow::Result<Exit> {
    match (args.segment, args.restore, args.output.as_deref()) {
        (Some(segment), Some(slot), _) => restore::run(args, segment, slot, console),
        (Some(segment), None, Some(output)) => extract(args, segment, output, console),
        (_, _, folder) => list(args, folder, console),
    }
}

/// Reads the blob at a segment; the error for a missing blob names the command that lists them.
pub(super) fn blob_at(
    file: &IndexedStorageFile,
    segment: SegmentIndex,
) -> anyhow::Result<EncodedBlob> {
    file.salvage_at(segment).map_err(|error| match error {
        Error::NothingToSalvage { ref path, .. } => {
            let list = advice::region("salvage", path, "");
            exit::advise(&error, &format!("{list} lists the blobs of the file"))
        }
        other => other.into(),
    })
}

fn extract(
    args: &SalvageArgs,
    segment: SegmentIndex,
    output: &Path,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    if streams::is_stream(output) && args.json {
        return Err(exit::usage("--json needs -o FILE"));
    }
    let blob = blob_at(&super::open(&args.source)?, segment)?;
    let bytes = blob.decompress()?;
    if streams::is_stream(output) {
        streams::write_to_stdout(console, &bytes, true)?;
        return Ok(Exit::Clean);
    }
    streams::write_to_file(output, &bytes)?;
    let (header, output) = (blob.header(), output.display().to_string());
    if args.json {
        let (raw, compressed) = (header.raw_bytes, header.compressed_bytes);
        let report = Extracted { segment: segment.get(), raw, compressed, output };
        json::line(console, &report)?;
    } else {
        let bytes = text::count(header.raw_bytes, "byte");
        console.say(format_args!("segment {segment}: {bytes} written to {output}"))?;
    }
    Ok(Exit::Clean)
}

/// Lists orphaned blobs, and writes each into `folder` if given.
fn list(args: &SalvageArgs, folder: Option<&Path>, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::open(&args.source)?;
    let names = SlotNames::of(&file);
    let spinner = progress::spinner(console, "searching for blobs");
    let report = file.salvage();
    spinner.finish_and_clear();
    let report = report?;
    if let Some(folder) = folder {
        let name = folder.display();
        fs::create_dir_all(folder).with_context(|| format!("{name}: cannot create the folder"))?;
    }
    let titles = ">segment|>count|>position|>raw|>compressed|>slot|>x|>z|remarks";
    let mut table = Table::new(titles);
    let mut exit = Exit::Clean;
    for blob in &report.blobs {
        let output = folder.map(|folder| folder.join(file_name(blob)));
        if let Some(output) = &output
            && let Err(error) = write_new(&file, blob, output)
        {
            exit::complain(&error);
            exit = Exit::Failure;
            continue;
        }
        if args.json {
            json::line(console, &line(&names, blob, output))?;
        } else {
            table.row(cells(&names, blob));
        }
    }
    if !table.is_empty() {
        table.write(console, "")?;
    }
    summary(args, console, &report)?;
    Ok(exit)
}

/// Writes a blob to a new file. Never replaces a file, because that may be the only copy of
/// another blob.
fn write_new(file: &IndexedStorageFile, blob: &SalvagedBlob, output: &Path) -> anyhow::Result<()> {
    let document = file.salvage_at(blob.segment)?.decompress()?;
    File::create_new(output)
        .and_then(|mut file| file.write_all(&document))
        .with_context(|| format!("{}: cannot write", output.display()))
}

fn file_name(blob: &SalvagedBlob) -> String {
    match blob.slot {
        Some(slot) => format!("segment-{}.slot-{slot}.bin", blob.segment),
        None => format!("segment-{}.bin", blob.segment),
    }
}

fn cells(names: &SlotNames, blob: &SalvagedBlob) -> Vec<String> {
    let sealed = blob.seal.as_ref().map(|seal| {
        let identity = text::printable(&String::from_utf8_lossy(&seal.identity));
        format!("sealed: {identity}, save {}", seal.save_counter)
    });
    let doubtful = blob.doubtful.then(|| "doubtful: partly overwritten".to_owned());
    let remarks: Vec<String> = sealed.into_iter().chain(doubtful).collect();
    let mut cells = vec![
        blob.segment.to_string(),
        blob.segment_count.to_string(),
        text::thousands(blob.offset),
        text::thousands(blob.header.raw_bytes),
        text::thousands(blob.header.compressed_bytes),
    ];
    cells.extend(names.cells(blob.slot));
    cells.push(remarks.join(", "));
    cells
}

#[derive(Debug, Serialize)]
struct Line {
    segment: u32,
    segments: u32,
    offset: u64,
    raw: u32,
    compressed: u32,
    #[serde(flatten)]
    slot: SlotKeys,
    sealed: bool,
    doubtful: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

fn line(names: &SlotNames, blob: &SalvagedBlob, output: Option<PathBuf>) -> Line {
    Line {
        segment: blob.segment.get(),
        segments: blob.segment_count,
        offset: blob.offset,
        raw: blob.header.raw_bytes,
        compressed: blob.header.compressed_bytes,
        slot: names.keys(blob.slot),
        sealed: blob.seal.is_some(),
        doubtful: blob.doubtful,
        output: output.map(|output| output.display().to_string()),
    }
}

#[derive(Debug, Serialize)]
struct Extracted {
    segment: u32,
    raw: u32,
    compressed: u32,
    output: String,
}

fn summary(
    args: &SalvageArgs,
    console: &mut Console,
    report: &SalvageReport,
) -> anyhow::Result<()> {
    let name = args.source.file.display();
    let blobs = text::count(report.blobs.len() as u64, "orphaned blob");
    console.say(format_args!("{name}: {blobs}"))?;
    match &args.output {
        _ if report.blobs.is_empty() => {}
        Some(folder) => console.say(format_args!("written into {}", folder.display()))?,
        None => console
            .say(format_args!("extract one with --segment N -o FILE, all with --all -o DIR"))?,
    }
    if !report.complete {
        let note = "the file is too large to search completely";
        console.say(format_args!("{name}: {note}; there may be more"))?;
    }
    Ok(())
}
