//! `fingerprint PATH`: prints digests of every chunk.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyworld::Location;
use hyworld_chunk::Fingerprint;
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{Finding, ScanOptions, Scanned, scan_positions};
use hyworld_providers::ChunkStorage;
use serde::Serialize;

use crate::args::fingerprint::FingerprintArgs;
use crate::exit::{self, Exit};
use crate::output::json::Position;
use crate::output::unread::Unread;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &FingerprintArgs, console: &mut Console) -> anyhow::Result<Exit> {
    super::each_world(&args.path, |path, world| fingerprint(args, path, world, console))
}

fn fingerprint(
    args: &FingerprintArgs,
    path: &Path,
    world: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let storage = Location::source(path)?.open()?;
    let within = format!("in {}", storage.location());
    let mut unread = Unread::new(format!("{within} has no digests"));
    let positions = sorted(&*storage, &mut unread);
    if !args.json {
        world.map_or(Ok(()), |world| writeln!(console, "world {world}"))?;
        writeln!(console, "{}", title())?;
    }
    let count = positions.len() as u64;
    let bar = progress::chunks(console, "fingerprints", Some(count));
    let stop = Arc::new(AtomicBool::new(false));
    let options = ScanOptions::new().jobs(console.jobs()).ordered(true).cancel(Arc::clone(&stop));
    let mut printed = Ok(());
    let listed = Box::new(positions.into_iter().map(Ok));
    let _ended = scan_positions(&*storage, listed, &options, digests, |step| {
        bar.inc(1);
        match step {
            Scanned::Chunk(at, Ok(found)) if printed.is_ok() => {
                printed = print(args, world, console, at, &found);
                stop.store(printed.is_err(), Ordering::Relaxed);
            }
            Scanned::Chunk(_, Ok(_)) => {}
            Scanned::Chunk(_, Err(finding)) => unread.add(&finding),
            Scanned::Unlisted(error) => unread.add(&Finding::of_storage(&error)),
        }
    });
    bar.finish_and_clear();
    printed?;
    let are = ["has", "have"].map(|verb| format!("{within} {verb} no digests"));
    let is_clean = !unread.finish(are.each_ref().map(String::as_str));
    console.say(format_args!("{}", text::count(count, "chunk")))?;
    Ok(exit::clean_if(is_clean))
}

/// Computes the digests of a document, or describes why there are none.
fn digests(
    at: ChunkPos,
    document: hyworld_providers::Result<Option<Vec<u8>>>,
) -> Result<Fingerprint, Box<Finding>> {
    let document = document.map_err(|error| Finding::of_chunk(at, &error))?;
    let digests = Fingerprint::of(document.unwrap_or_default());
    digests.map_err(|error| Box::new(Finding::of_component(at, &error)))
}

/// Returns the positions of all chunks, sorted by z, then by x; eight bytes each. Reports regions
/// that cannot be listed, and lists the others.
fn sorted(storage: &dyn ChunkStorage, unread: &mut Unread) -> Vec<ChunkPos> {
    let mut positions = Vec::new();
    for at in storage.positions() {
        match at {
            Ok(at) => positions.push(at),
            Err(error) => unread.add(&Finding::of_storage(&error)),
        }
    }
    positions.sort_unstable_by_key(|at| (at.z, at.x));
    positions
}

fn print(
    args: &FingerprintArgs,
    world: Option<&str>,
    console: &mut Console,
    at: ChunkPos,
    found: &Fingerprint,
) -> anyhow::Result<()> {
    if args.json {
        json::line(console, &Line { at: at.into(), found, world })?;
    } else {
        writeln!(console, "{}", line(at, found))?;
    }
    Ok(())
}

/// Other tools depend on these keys and their order.
#[derive(Debug, Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    at: Position,
    #[serde(flatten)]
    found: &'a Fingerprint,
    /// Only if there are several worlds.
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<&'a str>,
}

// Fixed widths, so that lines can be printed while the world is read.
fn title() -> String {
    let words = ["x", "z", "raw", "entities", "block e.", "blocks", "fluids", "document"];
    row(words.map(str::to_owned))
}

fn line(at: ChunkPos, found: &Fingerprint) -> String {
    let document = text::hex(&found.sha256);
    row([
        at.x.to_string(),
        at.z.to_string(),
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
