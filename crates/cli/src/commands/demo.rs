//! `hyworld demo [DIR]`: creates, changes, closes, reopens and checks a world, and runs the main
//! verbs on it.
//!
//! The commands shown are the commands that run, through the same code as from a shell. Every
//! statement is checked before it is printed; if one does not hold, the exit code is 3.

mod tour;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use hyworld_bench::Millis;
use hyworld_bench::demo::{
    Camp, Documents, Fingerprints, Session, ensure, positions, segment_of, wreck,
};
use hyworld_chunk_store::RequestFlags;
use hyworld_indexed_storage::{IndexedStorageFile, Slot};

use crate::args::DemoArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, text};
use tour::{COPY, DAMAGED, DemoReport, MAP, Tour, WORLD};

/// The seed of the world.
const SEED: &str = "2026";

/// A slot near the middle, whose chunk is removed and recovered.
const REMOVED: Slot = Slot::new(16 * 32 + 16);
/// The slot whose index entry is overwritten.
const LOST: Slot = Slot::new(12 * 32 + 20);
/// The slot in whose blob one bit is flipped.
const FLIPPED: Slot = Slot::new(19 * 32 + 14);

pub(super) fn run(args: &DemoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let folder = match &args.dir {
        Some(dir) => empty_folder(dir)?,
        None => new_folder()?,
    };
    let mut silent = console.silent();
    let shown = if args.json { &mut silent } else { &mut *console };
    let mut tour = Tour::new(shown, folder);
    tour.title("Create a universe with a world")?;
    let words = ["world", "create", "{folder}/universe", "sample", "--generator", "sample"];
    tour.command(&[&words[..], &["--seed", SEED]].concat(), Exit::Clean)?;
    let (made, before, camp) = generate_and_edit(&mut tour)?;
    reopen(&mut tour, &before, &camp)?;
    look_around(&mut tour, &camp)?;
    convert(&mut tour)?;
    let documents = remove_and_recover(&mut tour)?;
    damage_a_copy(&mut tour, &documents)?;
    rebuild(&mut tour, &documents)?;
    draw(&mut tour)?;
    let json = tour.finish(made)?;
    if args.json {
        crate::output::json::line(console, &json)?;
    }
    Ok(Exit::Clean)
}

/// Creates or checks the folder that the user named. Existing files are never replaced.
fn empty_folder(dir: &Path) -> anyhow::Result<PathBuf> {
    let name = dir.display();
    match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        Ok(false) => {
            let message = format!("{name}: the folder is not empty; choose an empty or a new one");
            return Err(exit::usage(message));
        }
        Ok(true) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).with_context(|| format!("{name}: cannot create the folder"))?;
        }
        Err(error) => return Err(error).with_context(|| format!("{name}: cannot read the folder")),
    }
    Ok(dir.to_owned())
}

/// Creates a new folder in the system's temporary folder.
fn new_folder() -> anyhow::Result<PathBuf> {
    let parent = std::env::temp_dir();
    for number in 1_u32.. {
        let folder = match number {
            1 => parent.join("hyworld-demo"),
            _ => parent.join(format!("hyworld-demo-{number}")),
        };
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                let name = folder.display();
                made.with_context(|| format!("{name}: cannot create the folder"))?;
                return Ok(folder);
            }
        }
    }
    Err(exit::failure("no free name for a new folder"))
}

/// Generates the world's chunks and builds a hut, through the chunk store.
fn generate_and_edit(tour: &mut Tour<'_>) -> anyhow::Result<(DemoReport, Fingerprints, Camp)> {
    let positions = positions();
    let count = text::count(positions.len() as u64, "chunk");
    tour.title(&format!("Generate {count} through the chunk store, build a hut, and save"))?;
    let session = Session::open(&tour.path(WORLD), tour.jobs())?;
    let bar = tour.bar("generating", positions.len());
    let started = Instant::now();
    let chunks = session.load(&positions, RequestFlags::NONE, || bar.inc(1))?;
    let generated_in = started.elapsed();
    bar.finish_and_clear();
    tour.line(&format!("{count} generated in {}", text::duration(generated_in)))?;
    let camp = Camp::plan(&session)?;
    camp.build(&session)?;
    let (blocks, parts) = (camp.len(), text::count(camp.chunk_count() as u64, "chunk"));
    tour.line(&format!("{blocks} blocks set in {parts}; a chest with a shovel, a sheep"))?;
    let before = session.fingerprints(&chunks)?;
    let started = Instant::now();
    let report = session.save()?;
    let saved_in = started.elapsed();
    ensure(report.saved == positions.len() as u64, "every chunk is saved")?;
    let raw_bytes = before.values().map(|found| found.raw_bytes as u64).sum();
    let (size, took) = (text::size(raw_bytes), text::duration(saved_in));
    let speed = text::speed(raw_bytes, saved_in);
    tour.line(&format!("{count} saved, {size}, in {took}, {speed}"))?;
    let left = session.end()?.saved;
    ensure(left == 0, "no chunk is left unsaved")?;
    tour.line("store shut down: no unsaved chunks")?;
    let mut made = DemoReport::default();
    (made.blobs, made.edited_blocks, made.raw) = (positions.len(), blocks, raw_bytes);
    (made.generate_ms, made.save_ms) = (Millis(generated_in), Millis(saved_in));
    Ok((made, before, camp))
}

/// Opens the world again and compares it with the chunks that were in memory.
fn reopen(tour: &mut Tour<'_>, before: &Fingerprints, camp: &Camp) -> anyhow::Result<()> {
    tour.title("Open the world again and compare it with the chunks that were in memory")?;
    let session = Session::open(&tour.path(WORLD), tour.jobs())?;
    let positions: Vec<_> = before.keys().copied().collect();
    let bar = tour.bar("loading", positions.len());
    let started = Instant::now();
    let chunks = session.load(&positions, RequestFlags::NO_GENERATE, || bar.inc(1))?;
    let took = text::duration(started.elapsed());
    bar.finish_and_clear();
    let after = session.fingerprints(&chunks)?;
    ensure(after == *before, "every chunk is the same as in memory")?;
    let count = text::count(after.len() as u64, "chunk");
    tour.line(&format!("{count} loaded in {took}, none generated: all fingerprints match"))?;
    let found = camp.count(&session)?;
    ensure(found == camp.len(), "all blocks that were set are present")?;
    tour.line(&format!("all {found} blocks that were set are present"))?;
    ensure(session.end()?.saved == 0, "reading leaves nothing to save")?;
    tour.command(&["verify", WORLD], Exit::Clean)
}

fn look_around(tour: &mut Tour<'_>, camp: &Camp) -> anyhow::Result<()> {
    tour.title("Inspect the save, a chunk and a block")?;
    tour.command(&["info", "{folder}"], Exit::Clean)?;
    tour.command(&["chunk", "{folder}", "--chunk", "16,16"], Exit::Clean)?;
    let chest = camp.chest();
    let [x, y, z] = [chest.x, chest.y, chest.z].map(|coordinate| coordinate.to_string());
    tour.command(&["block", "{folder}", &x, &y, &z], Exit::Clean)
}

fn convert(tour: &mut Tour<'_>) -> anyhow::Result<()> {
    tour.title("Copy the chunks, recompressed, and compare")?;
    let target = "{folder}/converted";
    tour.command(&["convert", WORLD, target, "--recompress", "--level", "9"], Exit::Clean)?;
    tour.command(&["convert", WORLD, target, "--verify-only"], Exit::Clean)
}

fn remove_and_recover(tour: &mut Tour<'_>) -> anyhow::Result<Documents> {
    tour.title("Remove a chunk from a copy of the region file, and recover it")?;
    let file = tour.path(WORLD).join("chunks/0.0.region.bin");
    let documents = Documents::of(&file)?;
    let copy = wreck::copy(&file, &tour.path("{folder}/copy"))?;
    tour.command(&["region", "info", COPY], Exit::Clean)?;
    tour.command(&["region", "rm", COPY, "16,16"], Exit::Clean)?;
    let is_there = IndexedStorageFile::open_read_only(&copy)?.contains(REMOVED)?;
    ensure(!is_there, "the removed chunk is missing")?;
    tour.line("Removed and old versions stay in the file until their space is reused:")?;
    tour.command(&["region", "salvage", COPY], Exit::Clean)?;
    let segment = segment_of(&copy, documents.document(REMOVED)?)?.to_string();
    let words = ["region", "salvage", COPY, "--segment", &segment, "--restore", "16,16"];
    tour.command(&words, Exit::Clean)?;
    let equal = documents.count_equal(&copy)?;
    ensure(equal == documents.len(), "all chunks are present again")?;
    tour.line(&format!("all {equal} chunks are present again, each identical to before"))?;
    Ok(documents)
}

fn damage_a_copy(tour: &mut Tour<'_>, documents: &Documents) -> anyhow::Result<()> {
    tour.title("Seal the blobs, then damage a copy: one index entry, and one bit of one blob")?;
    tour.command(&["region", "seal", COPY], Exit::Clean)?;
    let equal = documents.count_equal(&tour.path(COPY))?;
    ensure(equal == documents.len(), "sealing changes no document")?;
    let copy = wreck::copy(&tour.path(COPY), &tour.path("{folder}/damaged"))?;
    wreck::overwrite_entry(&copy, LOST)?;
    let byte = wreck::flip_bit(&copy, FLIPPED)?;
    tour.line(&format!(
        "slot {LOST}: index entry overwritten; slot {FLIPPED}: lowest bit of byte {byte} flipped"
    ))?;
    tour.command(&["region", "verify", DAMAGED], Exit::Problems)?;
    let damaged = wreck::damaged_slots(&copy)?;
    ensure(damaged == [LOST, FLIPPED], "exactly the two damaged slots are reported")?;
    let equal = documents.count_equal(&copy)?;
    ensure(equal == documents.len() - 2, "the others are unchanged")?;
    tour.line(&format!("only these two; the other {equal} chunks are identical to before"))
}

fn rebuild(tour: &mut Tour<'_>, documents: &Documents) -> anyhow::Result<()> {
    tour.title("Restore the lost index entry from the seals")?;
    let words = ["region", "verify", DAMAGED, "--rebuild-index", "--yes"];
    tour.command(&words, Exit::Problems)?;
    let copy = tour.path(DAMAGED);
    let damaged = wreck::damaged_slots(&copy)?;
    ensure(damaged == [FLIPPED], "only the flipped bit is still reported")?;
    let equal = documents.count_equal(&copy)?;
    ensure(equal == documents.len() - 1, "the lost chunk is restored")?;
    tour.line(&format!(
        "slot {LOST} is restored and identical to before; slot {FLIPPED} is still damaged"
    ))
}

fn draw(tour: &mut Tour<'_>) -> anyhow::Result<()> {
    tour.title("Draw a map of the world")?;
    tour.command(&["map", WORLD, "-o", MAP, "--scale", "2"], Exit::Clean)?;
    ensure(tour.path(MAP).is_file(), "the picture is written")
}
