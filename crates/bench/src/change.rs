//! Benchmark of changes with an undo bundle, compared with the same writes without one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hyworld::{Change, ChangeOptions, World};
use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{Durability, EncodedBlob, IndexedStorageFile, OpenOptions, Slot};
use serde::Serialize;

use crate::scratch::Scratch;
use crate::timing::{Micros, fastest, timed};

/// The least length of the region file in which one chunk is changed.
const LARGE_BYTES: u64 = 30_000_000;

/// The number of chunks that are changed at once.
const MANY_CHUNKS: usize = 1000;

/// The times of the fastest round.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChangeReport {
    pub path: String,
    /// The length of the region file in which one chunk is changed.
    pub file: u64,
    /// Writing one blob with the container alone, synced.
    pub container_us: Micros,
    /// One chunk without an undo bundle.
    pub one_plain_us: Micros,
    /// One chunk with an undo bundle.
    pub one_us: Micros,
    /// `one_us` divided by `one_plain_us`.
    pub one_ratio: f64,
    /// The number of documents that are written together.
    pub many: usize,
    /// These chunks without an undo bundle.
    pub many_plain_us: Micros,
    /// These chunks with an undo bundle.
    pub many_us: Micros,
    /// `many_us` divided by `many_plain_us`.
    pub many_ratio: f64,
}

/// Measures changes in copies of the chunks of a world.
///
/// # Errors
/// Returns an error if the world has no region files, or if a copy cannot be written.
pub fn measure(path: &Path, world: &World, rounds: u32) -> Result<ChangeReport> {
    let files = world.location().region_files()?;
    let chunks: Vec<ChunkPos> = world.storage().positions().flatten().collect();
    ensure!(!chunks.is_empty(), "{}: no chunks in region files", path.display());
    let scratch = Scratch::create(None)?;
    let large = large_file(&scratch.0.join("large"), &files)?;
    let file = fs::metadata(&large)?.len();
    let blob = EncodedBlob::compress(&first_document(world, &chunks)?, 3)?;
    let [container_us, one_plain_us, one_us] = fastest(rounds, |_| {
        let folder = large.parent().context("a folder")?;
        Ok([
            timed(|| with_container(&large, &blob))?,
            put(folder, false, |change| Ok(change.put_blob(ChunkPos::new(3, 5), &blob)?))?,
            put(folder, true, |change| Ok(change.put_blob(ChunkPos::new(3, 5), &blob)?))?,
        ])
    })?;
    let step = chunks.len().div_ceil(MANY_CHUNKS);
    let mut some = Vec::new();
    for at in chunks.into_iter().step_by(step) {
        some.push((at, world.storage().read(at)?.unwrap_or_default()));
    }
    let [many_plain_us, many_us] = fastest(rounds, |round| {
        let mut times = [Duration::ZERO; 2];
        for (number, time) in times.iter_mut().enumerate() {
            let folder = scratch.0.join(format!("many-{round}-{number}"));
            copy(&files, &folder)?;
            *time = put(&folder, number == 1, |change| {
                some.iter().try_for_each(|(at, document)| Ok(change.put(*at, document)?))
            })?;
            fs::remove_dir_all(&folder)?;
        }
        Ok(times)
    })?;
    Ok(ChangeReport {
        path: path.display().to_string(),
        file,
        container_us,
        one_plain_us,
        one_us,
        one_ratio: one_us.ratio_to(one_plain_us),
        many: some.len(),
        many_plain_us,
        many_us,
        many_ratio: many_us.ratio_to(many_plain_us),
    })
}

fn first_document(world: &World, chunks: &[ChunkPos]) -> Result<Vec<u8>> {
    let first = chunks.first().context("no chunk")?;
    world.storage().read(*first)?.context("the chunk was removed")
}

/// Builds a region file of at least 30 MB from the chunks of others.
fn large_file(folder: &Path, files: &[(hyworld_coords::RegionPos, PathBuf)]) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join("0.0.region.bin");
    let target = IndexedStorageFile::create(&path)?;
    let mut slots = (0..1024).map(Slot::new).cycle();
    while target.file_bytes()? < LARGE_BYTES {
        for (_, file) in files {
            let source = IndexedStorageFile::open_read_only(file)?;
            for slot in source.occupied() {
                let (Ok(Some(blob)), Some(to)) = (source.read_encoded(slot), slots.next()) else {
                    continue;
                };
                target.write_encoded(&[(to, &blob)])?;
            }
        }
        // Replaced blobs are reused as free space, so the file stops growing when all slots are
        // used; larger documents are needed then.
        if target.occupied().len() >= 1024 {
            grow(&target)?;
        }
    }
    target.close()?;
    Ok(path)
}

/// Writes documents that cannot be compressed.
fn grow(target: &IndexedStorageFile) -> Result<()> {
    let mut number = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        number.to_le_bytes()
    };
    for slot in (0..1024).map(Slot::new) {
        let document: Vec<u8> = (0..4096).flat_map(|_| next()).collect();
        target.write(slot, &document)?;
    }
    Ok(())
}

/// Writes a blob as `region put` did before there were changes.
fn with_container(path: &Path, blob: &EncodedBlob) -> Result<()> {
    let options = OpenOptions::new().write(true).durability(Durability::EachWrite);
    let file = options.open(path)?;
    file.write_encoded(&[(Slot::new(77), blob)])?;
    Ok(file.close()?)
}

/// Writes chunks in one change. The bundle is removed afterwards.
fn put(
    folder: &Path,
    has_undo: bool,
    write: impl FnOnce(&mut Change) -> Result<()>,
) -> Result<Duration> {
    let world = hyworld::open(folder)?;
    let options = ChangeOptions::new();
    let options = if has_undo { options } else { options.without_undo() };
    let mut bundle = None;
    let time = timed(|| {
        let mut change = world.change_with("bench", &options)?;
        write(&mut change)?;
        bundle = change.commit()?.bundle;
        Ok(())
    })?;
    bundle.map_or(Ok(()), fs::remove_file)?;
    Ok(time)
}

fn copy(files: &[(hyworld_coords::RegionPos, PathBuf)], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (region, path) in files {
        fs::copy(path, folder.join(region.file_name()))?;
    }
    Ok(())
}
