//! `fingerprint PATH`: what every chunk holds, as digests.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use hyworld_chunk::Fingerprint;
use hyworld_coords::RegionPos;
use hyworld_indexed_storage::IndexedStorageFile;
use serde_json::{Value, json};

use super::chunk_files::{self, StoredChunk};
use super::parallel;
use crate::args::fingerprint::FingerprintArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, progress, text};

/// Chunks whose fingerprints are held before they are printed.
const BATCH_CHUNKS: usize = 256;

pub(super) fn run(args: &FingerprintArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let rows = chunk_files::find(&args.path)?;
    let mut exit = Exit::Clean;
    let mut chunks = 0_u64;
    if !args.json {
        writeln!(console, "{}", title())?;
    }
    for regions in rows.values() {
        let files = open(regions, &mut exit);
        let sorted = chunk_files::sorted(&files);
        let bar = progress::bar(console, "fingerprints", sorted.len());
        for batch in sorted.chunks(BATCH_CHUNKS) {
            let taken = parallel::map(console.jobs(), batch, |chunk| {
                let taken = take(chunk);
                bar.inc(1);
                taken
            });
            for (chunk, taken) in batch.iter().zip(taken) {
                match taken {
                    Ok(found) => print(args, console, chunk, &found)?,
                    Err(error) => exit = complain(&error),
                }
                chunks = chunks.saturating_add(1);
            }
        }
        bar.finish_and_clear();
    }
    console.say(format_args!("{}", text::count(chunks, "chunk")))?;
    Ok(exit)
}

fn complain(error: &anyhow::Error) -> Exit {
    exit::complain(error);
    Exit::Problems
}

/// Opens the files of a row. One that cannot be opened is reported and does not hide the others.
fn open(regions: &[(RegionPos, PathBuf)], exit: &mut Exit) -> Vec<(RegionPos, IndexedStorageFile)> {
    let mut files = Vec::new();
    for (region, path) in regions {
        match IndexedStorageFile::open_read_only(path) {
            Ok(file) => files.push((*region, file)),
            Err(error) => *exit = complain(&error.into()),
        }
    }
    files
}

fn take(chunk: &StoredChunk<'_>) -> anyhow::Result<Fingerprint> {
    let document = chunk.file.read(chunk.slot)?.unwrap_or_default();
    let place =
        || format!("chunk {},{} in {}", chunk.at.x, chunk.at.z, chunk.file.path().display());
    Fingerprint::of(document).with_context(place)
}

fn print(
    args: &FingerprintArgs,
    console: &mut Console,
    chunk: &StoredChunk<'_>,
    found: &Fingerprint,
) -> anyhow::Result<()> {
    if args.json {
        json::line(console, &object(chunk, found))?;
    } else {
        writeln!(console, "{}", line(chunk, found))?;
    }
    Ok(())
}

/// The keys and their order are those of the tools that compare worlds.
fn object(chunk: &StoredChunk<'_>, found: &Fingerprint) -> Value {
    let cells = &found.cells;
    json!({
        "x": chunk.at.x, "z": chunk.at.z, "sha256": text::hex(&found.sha256),
        "raw": found.raw_bytes, "entities": found.entities,
        "block_components": found.block_components, "height_sum": found.height_sum,
        "cells": {
            "blocks": cells.blocks.to_string(), "filler": cells.filler.to_string(),
            "rotation": cells.rotation.to_string(), "fluids": cells.fluids.to_string(),
            "levels": cells.levels.to_string(), "light_local": cells.light_local.to_string(),
            "light_global": cells.light_global.to_string(), "height": cells.height.to_string(),
            "tint": cells.tint.to_string(),
        },
    })
}

// The widths are fixed, so that a world of any size is printed as it is read.
fn title() -> String {
    let words = ["x", "z", "raw", "entities", "block e.", "blocks", "fluids", "document"];
    row(words.map(str::to_owned))
}

fn line(chunk: &StoredChunk<'_>, found: &Fingerprint) -> String {
    let document = text::hex(&found.sha256);
    row([
        chunk.at.x.to_string(),
        chunk.at.z.to_string(),
        text::thousands(found.raw_bytes as u64),
        found.entities.to_string(),
        found.block_components.to_string(),
        found.cells.blocks.to_string(),
        found.cells.fluids.to_string(),
        document.get(..16).unwrap_or_default().to_owned(),
    ])
}

fn row([x, z, raw, entities, with_entity, blocks, fluids, document]: [String; 8]) -> String {
    let numbers = format!("{x:>6} {z:>6} {raw:>9} {entities:>8} {with_entity:>8}");
    format!("{numbers}  {blocks:16}  {fluids:16}  {document}")
}
