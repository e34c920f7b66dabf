//! `get FILE SLOT`.

use std::path::Path;

use anyhow::Context;
use hyworld_indexed_storage::{EncodedBlob, IndexedStorageFile, Slot};
use serde::Serialize;

use super::slot_names::{SlotKeys, SlotNames};
use crate::args::region::GetArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, text};
use crate::streams;

pub(super) fn run(args: &GetArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let path = &args.source.file;
    let file = super::open(&args.source)?;
    let names = SlotNames::of(&file);
    let slot = names.resolve(path, args.slot)?;
    let Some(blob) = file.read_encoded(slot).map_err(streams::salvageable)? else {
        let name = names.name(slot);
        return Err(exit::problem(format!("{}: {name} is empty", path.display())));
    };
    let bytes = bytes(args, &file, slot, &blob)?;
    match args.output.as_deref() {
        None => streams::write_to_stdout(console, &bytes, false)?,
        Some(output) if streams::is_stream(output) && args.json => {
            return Err(exit::usage("--json needs -o FILE"));
        }
        Some(output) if streams::is_stream(output) => {
            streams::write_to_stdout(console, &bytes, true)?;
        }
        Some(output) => {
            streams::write_to_file(output, &bytes)?;
            confirm(args, console, &names, slot, &blob, output, bytes.len())?;
        }
    }
    Ok(Exit::Clean)
}

fn bytes(
    args: &GetArgs,
    file: &IndexedStorageFile,
    slot: Slot,
    blob: &EncodedBlob,
) -> anyhow::Result<Vec<u8>> {
    if args.raw {
        return Ok(blob.frames().to_vec());
    }
    let document = file.read(slot).map_err(streams::salvageable)?;
    document.context("the slot was emptied while it was read")
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    slot: SlotKeys,
    raw: u32,
    compressed: u32,
    written: usize,
    output: String,
}

fn confirm(
    args: &GetArgs,
    console: &mut Console,
    names: &SlotNames,
    slot: Slot,
    blob: &EncodedBlob,
    output: &Path,
    written: usize,
) -> anyhow::Result<()> {
    let output = output.display().to_string();
    if args.json {
        let (header, slot) = (blob.header(), names.keys(Some(slot)));
        let (raw, compressed) = (header.raw_bytes, header.compressed_bytes);
        return json::line(console, &Report { slot, raw, compressed, written, output });
    }
    let (name, bytes) = (names.name(slot), text::count(written as u64, "byte"));
    console.say(format_args!("{name}: {bytes} written to {output}"))?;
    Ok(())
}
