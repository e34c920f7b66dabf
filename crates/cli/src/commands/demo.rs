//! `hyworld demo [DIR]`: a tour of the verbs on a file that is made for it.
//!
//! The commands that are shown are the commands that run, through the same code as from a shell.
//! What the tour claims it checks first, and a claim that does not hold ends it with exit code 3.

mod sample;
mod terrain;
mod tour;
mod wreck;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile, SegmentIndex};

use crate::args::DemoArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, text};
use sample::Sample;
use tour::{Tour, ensure};

/// A slot near the middle, whose chunk is removed and rescued.
const REMOVED: BlobIndex = BlobIndex::new(16 * 32 + 16);
/// The slot whose index entry is overwritten.
const LOST: BlobIndex = BlobIndex::new(12 * 32 + 20);
/// The slot in whose blob one bit is flipped.
const FLIPPED: BlobIndex = BlobIndex::new(19 * 32 + 14);
/// How many chunks are saved a second time.
const EDITS: usize = 5;

pub(super) fn run(args: &DemoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let folder = match &args.dir {
        Some(dir) => empty_folder(dir)?,
        None => new_folder()?,
    };
    let mut silent = console.silent();
    let shown = if args.json { &mut silent } else { &mut *console };
    let mut tour = Tour::new(shown, folder);
    let mut world = Sample::new()?;
    write(&mut tour, &world)?;
    look_inside(&mut tour)?;
    edit_and_remove(&mut tour, &mut world)?;
    rescue(&mut tour, &world)?;
    seal(&mut tour, &world)?;
    let copy = damage_a_copy(&mut tour, &world)?;
    rebuild(&mut tour, &world, &copy)?;
    compact(&mut tour, &world)?;
    let json = tour.finish(world.len())?;
    if args.json {
        crate::output::json::line(console, &json)?;
    }
    Ok(Exit::Clean)
}

/// The folder that the caller named. Nothing in it is ever replaced.
fn empty_folder(dir: &Path) -> anyhow::Result<PathBuf> {
    let name = dir.display();
    match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        Ok(false) => {
            let message = format!("{name}: the folder is not empty; name one that is or a new one");
            return Err(exit::usage(message));
        }
        Ok(true) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).with_context(|| format!("{name}: cannot make the folder"))?;
        }
        Err(error) => return Err(error).with_context(|| format!("{name}: cannot read the folder")),
    }
    Ok(dir.to_owned())
}

/// A folder under the system's folder for temporary files that did not exist before.
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
                made.with_context(|| format!("{name}: cannot make the folder"))?;
                return Ok(folder);
            }
        }
    }
    Err(exit::failure("every name for a new folder is taken"))
}

fn write(tour: &mut Tour<'_>, world: &Sample) -> anyhow::Result<()> {
    let chunks = text::count(world.len() as u64, "chunk");
    tour.title(&format!("Make a region file and write {chunks} of made-up terrain"))?;
    let started = Instant::now();
    let file = IndexedStorageFile::create(tour.file())?;
    for (slot, content) in world.chunks() {
        file.write(slot, content)?;
    }
    file.close()?;
    let written = started.elapsed();
    let bytes = world.bytes();
    let size = text::size(bytes);
    tour.line(&format!(
        "{size} of content compressed and written in {}, {}",
        text::duration(written),
        text::speed(bytes, written)
    ))?;
    let started = Instant::now();
    let equal = world.count_equal(tour.file())?;
    let read = started.elapsed();
    ensure(equal == world.len(), "every chunk reads back as it was written")?;
    tour.line(&format!(
        "read back in {}, {}: every byte is the same",
        text::duration(read),
        text::speed(bytes, read)
    ))?;
    tour.command(&["region", "info", tour::FILE], Exit::Clean)
}

fn look_inside(tour: &mut Tour<'_>) -> anyhow::Result<()> {
    tour.title("Look into a chunk, and at one block of it")?;
    tour.command(&["chunk", tour::FILE, "--chunk", "16,16"], Exit::Clean)?;
    let chest = terrain::chest();
    let [x, y, z] = [chest.x, chest.y, chest.z].map(|coordinate| coordinate.to_string());
    tour.command(&["block", tour::FILE, &x, &y, &z], Exit::Clean)
}

fn edit_and_remove(tour: &mut Tour<'_>, world: &mut Sample) -> anyhow::Result<()> {
    tour.title(&format!("Save {EDITS} chunks again, remove one, check all"))?;
    let edited = world.edit(EDITS, &[REMOVED, LOST, FLIPPED])?;
    let started = Instant::now();
    let file = IndexedStorageFile::open(tour.file())?;
    for slot in edited {
        file.write(slot, world.content(slot)?)?;
    }
    file.close()?;
    let took = text::duration(started.elapsed());
    tour.line(&format!("{EDITS} chunks with new content written in {took}"))?;
    tour.command(&["region", "rm", tour::FILE, "16,16"], Exit::Clean)?;
    let file = IndexedStorageFile::open_read_only(tour.file())?;
    ensure(!file.contains(REMOVED)?, "the removed chunk is gone")?;
    drop(file);
    tour.command(&["region", "verify", tour::FILE], Exit::Clean)
}

fn rescue(tour: &mut Tour<'_>, world: &Sample) -> anyhow::Result<()> {
    tour.title("Rescue the removed chunk")?;
    tour.line("Old versions stay in the file until their space is used again:")?;
    tour.command(&["region", "salvage", tour::FILE], Exit::Clean)?;
    let segment = segment_of(tour.file(), world.content(REMOVED)?)?.to_string();
    let rescued = ["region", "salvage", tour::FILE, "--segment", &segment];
    let to_file = ["-o", "{folder}/rescued.bin"];
    tour.command(&[rescued.as_slice(), &to_file].concat(), Exit::Clean)?;
    let rescued_file = tour.folder().join("rescued.bin");
    let bytes = fs::read(&rescued_file).context("rescued.bin: cannot read")?;
    ensure(bytes == world.content(REMOVED)?, "the rescued chunk is what was removed")?;
    let count = text::thousands(bytes.len() as u64);
    tour.line(&format!("rescued.bin has {count} bytes, each as it was before the removal"))?;
    let to_slot = ["--restore", "16,16"];
    tour.command(&[rescued.as_slice(), &to_slot].concat(), Exit::Clean)?;
    let equal = world.count_equal(tour.file())?;
    ensure(equal == world.len(), "all chunks are there again")
}

/// Where the blob with this content is, among those that no slot refers to.
fn segment_of(path: &Path, content: &[u8]) -> anyhow::Result<SegmentIndex> {
    let file = IndexedStorageFile::open_read_only(path)?;
    for blob in file.salvage()?.blobs {
        if file.salvage_at(blob.segment)?.decompress()? == content {
            return Ok(blob.segment);
        }
    }
    Err(exit::failure("the removed chunk was not found in the file"))
}

fn seal(tour: &mut Tour<'_>, world: &Sample) -> anyhow::Result<()> {
    tour.title("Seal the blobs, in a form that the game reads as usual")?;
    tour.command(&["region", "seal", tour::FILE], Exit::Clean)?;
    tour.command(&["region", "verify", tour::FILE], Exit::Clean)?;
    let equal = world.count_equal(tour.file())?;
    ensure(equal == world.len(), "sealing changes no content")
}

fn damage_a_copy(tour: &mut Tour<'_>, world: &Sample) -> anyhow::Result<PathBuf> {
    tour.title("Damage a copy on purpose: one index entry, and one bit of one blob")?;
    let copy = wreck::copy(tour.file(), &tour.folder().join("damaged"))?;
    wreck::overwrite_entry(&copy, LOST)?;
    let byte = wreck::flip_bit(&copy, FLIPPED)?;
    tour.line(&format!(
        "slot {LOST}: index entry overwritten; slot {FLIPPED}: lowest bit of byte {byte} flipped"
    ))?;
    tour.command(&["region", "verify", "{folder}/damaged/0.0.region.bin"], Exit::Problems)?;
    let damaged = wreck::damaged_slots(&copy)?;
    ensure(damaged == [LOST, FLIPPED], "exactly the two damaged slots are found")?;
    let equal = world.count_equal(&copy)?;
    ensure(equal == world.len() - 2, "the others read as before")?;
    tour.line(&format!("exactly these two; the other {equal} chunks read, every byte the same"))?;
    Ok(copy)
}

fn rebuild(tour: &mut Tour<'_>, world: &Sample, copy: &Path) -> anyhow::Result<()> {
    tour.title("Put the lost index entry back from the seals")?;
    let verb = ["region", "verify", "{folder}/damaged/0.0.region.bin"];
    let rebuild = [verb.as_slice(), &["--rebuild-index", "--yes"]].concat();
    tour.command(&rebuild, Exit::Problems)?;
    let damaged = wreck::damaged_slots(copy)?;
    ensure(damaged == [FLIPPED], "only the flipped bit is left")?;
    let equal = world.count_equal(copy)?;
    ensure(equal == world.len() - 1, "the lost chunk is back")?;
    tour.line(&format!(
        "slot {LOST} is back, every byte the same; slot {FLIPPED} stays known as damaged"
    ))
}

fn compact(tour: &mut Tour<'_>, world: &Sample) -> anyhow::Result<()> {
    tour.title("Give unused space back")?;
    tour.command(&["region", "compact", tour::FILE], Exit::Clean)?;
    tour.command(&["region", "info", tour::FILE], Exit::Clean)?;
    let equal = world.count_equal(tour.file())?;
    ensure(equal == world.len(), "compacting changes no content")
}
