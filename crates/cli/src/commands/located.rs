//! One chunk, found in a region file, a world or a save; and what to say where it is not.

use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkPos, ChunkRect, RegionPos};
use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile};
use hyworld_providers::{ChunkSize, ChunkStorage};

use super::chunk_files::{self, Rows};
use super::content;
use super::location::Location;
use crate::exit;
use crate::output::text;

/// How many chunks are named that are near one which is not there.
const NEAR_CHUNKS: usize = 3;

/// A chunk's document and where it was found.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) at: ChunkPos,
    pub(super) path: PathBuf,
    pub(super) size: ChunkSize,
    pub(super) document: Vec<u8>,
}

impl Located {
    /// Reads the document of a chunk from the storage that `path` means.
    pub(super) fn find(path: &Path, at: ChunkPos) -> anyhow::Result<Self> {
        match Location::of_source(path)? {
            Location::Region { .. } | Location::Regions(_) => Self::in_region_files(path, at),
            other => Self::in_storage(&*other.open_source()?, at),
        }
    }

    fn in_storage(storage: &dyn ChunkStorage, at: ChunkPos) -> anyhow::Result<Self> {
        let place = storage.place();
        let missing = || exit::problem(format!("{place}: chunk {},{} is not there", at.x, at.z));
        let document = storage.read(at)?.ok_or_else(missing)?;
        let size = storage.size(at)?.ok_or_else(missing)?;
        Ok(Self { at, path: place.into(), size, document })
    }

    fn in_region_files(path: &Path, at: ChunkPos) -> anyhow::Result<Self> {
        let rows = chunk_files::find(path)?;
        let region = at.region();
        let regions = rows.get(&region.z).into_iter().flatten();
        let Some((_, file)) = regions.into_iter().find(|(found, _)| *found == region) else {
            return Err(no_region(path, &rows, at));
        };
        let slot = BlobIndex::new(at.slot().index().into());
        let file = IndexedStorageFile::open_read_only(file)?;
        let Some(stat) = file.stat(slot).map_err(content::salvageable)? else {
            return Err(no_chunk(&file, region, at));
        };
        let document = file.read(slot).map_err(content::salvageable)?;
        let document = document.context("the slot was emptied while it was read")?;
        let path = file.path().to_owned();
        let size =
            ChunkSize { raw: stat.raw_bytes.into(), stored: Some(stat.compressed_bytes.into()) };
        Ok(Self { at, path, size, document })
    }

    /// Decodes the document as far as finding its components.
    pub(super) fn chunk(&self) -> anyhow::Result<Chunk> {
        if self.document.is_empty() {
            let problem = "its blob has no bytes, which means that there is no chunk";
            return Err(exit::problem(format!("{}: {problem}", self.name())));
        }
        Chunk::decode(self.document.clone()).with_context(|| self.name())
    }

    /// What errors call it.
    pub(super) fn name(&self) -> String {
        let (ChunkPos { x, z }, slot) = (self.at, self.at.slot().index());
        format!("{}: chunk {x},{z} (slot {slot})", self.path.display())
    }
}

/// The error for a chunk in a region that has no file.
fn no_region(path: &Path, rows: &Rows, at: ChunkPos) -> anyhow::Error {
    let (name, region) = (path.display(), at.region());
    let wanted = region.file_name();
    let ChunkPos { x, z } = at;
    let found = rows.values().flatten();
    let distance = |other: &RegionPos| distance((other.x, other.z), (region.x, region.z));
    let Some((nearest, nearest_path)) = found.min_by_key(|(other, _)| distance(other)) else {
        return exit::problem(format!("{name}: chunk {x},{z} is not there: no file {wanted}"));
    };
    let extent = nearest.chunks().map(extent).unwrap_or_default();
    if path == nearest_path {
        return exit::usage(format!(
            "{name}: chunk {x},{z} is not in this file, which is for chunks {extent}; it belongs \
             in {wanted}"
        ));
    }
    let nearest = nearest.file_name();
    exit::problem(format!(
        "{name}: chunk {x},{z} is not there: no file {wanted}; the nearest, {nearest}, is for \
         chunks {extent}"
    ))
}

/// The error for a chunk whose slot is empty.
fn no_chunk(file: &IndexedStorageFile, region: RegionPos, at: ChunkPos) -> anyhow::Error {
    let (name, ChunkPos { x, z }, slot) = (file.path().display(), at, at.slot());
    let place = format!("slot {} (x {}, z {})", slot.index(), slot.x(), slot.z());
    let problem = format!("{name}: chunk {x},{z} is not there: {place} is empty");
    let mut chunks: Vec<ChunkPos> =
        file.occupied().into_iter().filter_map(|slot| chunk_files::chunk(region, slot)).collect();
    chunks.sort_by_key(|chunk| distance((chunk.x, chunk.z), (x, z)));
    let Some(all) = bounds(&chunks) else {
        return exit::problem(format!("{problem}, as all of them are"));
    };
    let near = chunks.iter().take(NEAR_CHUNKS).map(|near| format!("{},{}", near.x, near.z));
    let near = near.collect::<Vec<_>>().join(" and ");
    let count = text::count(chunks.len() as u64, "chunk");
    exit::problem(format!(
        "{problem}; near it are {near}, and the file has {count} within {}",
        extent(all)
    ))
}

/// The smallest rectangle with all of the chunks.
fn bounds(chunks: &[ChunkPos]) -> Option<ChunkRect> {
    let (xs, zs) = (chunks.iter().map(|chunk| chunk.x), chunks.iter().map(|chunk| chunk.z));
    let min = ChunkPos::new(xs.clone().min()?, zs.clone().min()?);
    Some(ChunkRect::new(min, ChunkPos::new(xs.max()?, zs.max()?)))
}

fn extent(chunks: ChunkRect) -> String {
    let (min, max) = (chunks.min(), chunks.max());
    format!("x {} to {}, z {} to {}", min.x, max.x, min.z, max.z)
}

/// The square of the distance, for comparing.
fn distance((x, z): (i32, i32), (other_x, other_z): (i32, i32)) -> u128 {
    let square = |a: i32, b: i32| u128::from(a.abs_diff(b)).pow(2);
    square(x, other_x) + square(z, other_z)
}
