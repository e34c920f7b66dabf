//! [`StoredChunk`]: the stored document of one chunk.

use std::path::{Path, PathBuf};

use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkPos, ChunkRect, RegionPos};
use hyworld_files::shell_word;
use hyworld_indexed_storage::{Error as RegionError, IndexedStorageFile, Slot};
use hyworld_maintenance::RegionSlots;
use hyworld_providers::{ChunkSize, ChunkStorage};

use crate::error::{Error, ErrorKind, Result};
use crate::location::{Location, no_chunks_found};

/// How many nearby chunks the error for a missing chunk lists.
const NEAR_CHUNKS: usize = 3;

/// The stored document of a chunk and its location.
#[derive(Clone, Debug)]
pub struct StoredChunk {
    /// The position of the chunk.
    pub at: ChunkPos,
    /// The region file, or the name of the storage.
    pub path: PathBuf,
    /// The size of the document, and its stored size if known.
    pub size: ChunkSize,
    /// The BSON document.
    pub document: Vec<u8>,
}

impl StoredChunk {
    /// Reads the document of a chunk from the storage at `path`. The error for a missing chunk in
    /// region files lists the nearest chunks.
    ///
    /// # Errors
    /// Returns an error if the chunk is not stored or cannot be read.
    pub fn find(path: &Path, at: ChunkPos) -> Result<Self> {
        let location = Location::source(path)?;
        match location {
            Location::Region { .. } | Location::Regions(_) => {
                Self::in_region_files(path, &location, at)
            }
            other => Self::in_storage(&*other.open()?, at),
        }
    }

    fn in_storage(storage: &dyn ChunkStorage, at: ChunkPos) -> Result<Self> {
        let location = storage.location();
        let missing = || missing(format!("{location}: chunk {},{} is not stored", at.x, at.z));
        let document = storage.read(at)?.ok_or_else(missing)?;
        let size = storage.size(at)?.ok_or_else(missing)?;
        Ok(Self { at, path: location.into(), size, document })
    }

    fn in_region_files(path: &Path, location: &Location, at: ChunkPos) -> Result<Self> {
        let files = location.region_files()?;
        if files.is_empty() {
            return Err(no_files(path, location));
        }
        let region = at.region();
        let Some((_, file)) = files.iter().find(|(found, _)| *found == region) else {
            return Err(no_region(path, &files, at));
        };
        let slot = Slot::new(at.slot().index().into());
        let file = IndexedStorageFile::open_read_only(file)?;
        let Some(stat) = file.stat(slot).map_err(with_salvage_advice)? else {
            return Err(no_chunk(&file, at));
        };
        let document = file.read(slot).map_err(with_salvage_advice)?;
        let emptied = || missing("the slot was emptied while it was read".to_owned());
        let (document, path) = (document.ok_or_else(emptied)?, file.path().to_owned());
        let size =
            ChunkSize { raw: stat.raw_bytes.into(), stored: Some(stat.compressed_bytes.into()) };
        Ok(Self { at, path, size, document })
    }

    /// Decodes the document. Components are decoded on first use.
    ///
    /// # Errors
    /// Returns an error if the document is empty or damaged.
    pub fn chunk(&self) -> Result<Chunk> {
        if self.document.is_empty() {
            let reason = "not stored: its blob is empty, which means no chunk";
            return Err(missing(format!("{}: {reason}", self.name())));
        }
        Chunk::decode(self.document.clone()).map_err(|error| Error::from(error).about(self.name()))
    }

    /// Returns the file, position and slot of the chunk, for messages.
    pub fn name(&self) -> String {
        let (ChunkPos { x, z }, slot) = (self.at, self.at.slot().index());
        format!("{}: chunk {x},{z} (slot {slot})", self.path.display())
    }
}

fn missing(text: String) -> Error {
    Error::new(ErrorKind::MissingChunk, text)
}

/// Adds advice to the error of a damaged blob.
fn with_salvage_advice(error: RegionError) -> Error {
    match error {
        RegionError::Damaged { ref path, .. } => {
            let command = format!("hyworld region salvage {}", shell_word(path));
            let text = format!("{error}; `{command}` may find an older copy");
            Error::new(ErrorKind::Damaged, text)
        }
        other => other.into(),
    }
}

/// The error for a world or a folder without region files.
fn no_files(path: &Path, location: &Location) -> Error {
    match location.folder().and_then(Path::parent).filter(|world| *world != path) {
        Some(world) => {
            let text = format!("{}: this world has no region files", world.display());
            Error::new(ErrorKind::NotAWorld, text)
        }
        None => no_chunks_found(path),
    }
}

/// The error for a chunk in a region that has no file.
fn no_region(path: &Path, files: &[(RegionPos, PathBuf)], at: ChunkPos) -> Error {
    let (name, region) = (path.display(), at.region());
    let wanted = region.file_name();
    let ChunkPos { x, z } = at;
    let distance = |other: &RegionPos| distance((other.x, other.z), (region.x, region.z));
    let nearest = files.iter().min_by_key(|(other, _)| (distance(other), other.z, other.x));
    let Some((nearest, nearest_path)) = nearest else { return no_chunks_found(path) };
    let extent = nearest.chunks().map(extent).unwrap_or_default();
    if path == nearest_path {
        let reason = format!("chunk {x},{z} is not in this file, which covers chunks {extent}");
        let text = format!("{name}: {reason}; it belongs in {wanted}");
        return Error::new(ErrorKind::BadLocation, text);
    }
    let nearest = nearest.file_name();
    missing(format!(
        "{name}: chunk {x},{z} is not stored: no file {wanted}; the nearest file, {nearest}, \
         covers chunks {extent}"
    ))
}

/// The error for a chunk whose slot is empty.
fn no_chunk(file: &IndexedStorageFile, at: ChunkPos) -> Error {
    let (name, ChunkPos { x, z }, slot) = (file.path().display(), at, at.slot());
    let slot = format!("slot {} (x {}, z {})", slot.index(), slot.x(), slot.z());
    let text = format!("{name}: chunk {x},{z} is not stored: {slot} is empty");
    let (slots, stored) = (RegionSlots::of(file), file.occupied().into_iter());
    let mut chunks: Vec<ChunkPos> = stored.filter_map(|slot| slots.chunk(slot)).collect();
    chunks.sort_by_key(|chunk| distance((chunk.x, chunk.z), (x, z)));
    let Some(all) = bounds(&chunks) else {
        return missing(format!("{text}, like all slots of the file"));
    };
    let near = chunks.iter().take(NEAR_CHUNKS).map(|near| format!("{},{}", near.x, near.z));
    let near = near.collect::<Vec<_>>().join(" and ");
    let plural = if chunks.len() == 1 { "" } else { "s" };
    missing(format!(
        "{text}; nearest: {near}; the file has {} chunk{plural} within {}",
        chunks.len(),
        extent(all)
    ))
}

/// Returns the smallest rectangle that contains all chunks.
fn bounds(chunks: &[ChunkPos]) -> Option<ChunkRect> {
    let (xs, zs) = (chunks.iter().map(|chunk| chunk.x), chunks.iter().map(|chunk| chunk.z));
    let min = ChunkPos::new(xs.clone().min()?, zs.clone().min()?);
    Some(ChunkRect::new(min, ChunkPos::new(xs.max()?, zs.max()?)))
}

fn extent(chunks: ChunkRect) -> String {
    let (min, max) = (chunks.min(), chunks.max());
    format!("x {} to {}, z {} to {}", min.x, max.x, min.z, max.z)
}

/// Returns the square of the distance.
fn distance((x, z): (i32, i32), (other_x, other_z): (i32, i32)) -> u128 {
    let square = |a: i32, b: i32| u128::from(a.abs_diff(b)).pow(2);
    square(x, other_x) + square(z, other_z)
}
