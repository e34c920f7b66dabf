//! [`World`]: the chunks at a location, and what can be done with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyworld_chunk::{Anchor, Block, Chunk};
use hyworld_chunk_store::StoreOptions;
use hyworld_coords::{BlockBox, BlockPos, CHUNK_SIDE_BLOCKS, ChunkBlock, ChunkBox, ChunkPos};
use hyworld_maintenance::{
    Contents, Finding, NoProgress, ScanOptions, VerifyReport, count_contents, verify,
};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};

use crate::chunks::{Chunks, read};
use crate::containers::{FoundContainer, containers};
use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::running::RunningWorld;

/// Opens the chunks at a location for reading: a save or universe with one world, a world, an
/// instance template, a folder of region files, a region file, `rocksdb:PATH`,
/// `s3://BUCKET/PREFIX`, or a backup zip.
///
/// # Errors
/// There is no such location, no world or several of them, or its storage cannot be opened.
pub fn open(location: impl AsRef<Path>) -> Result<World> {
    let location = Location::source(location.as_ref())?;
    let storage = location.open()?.into();
    Ok(World { location, storage })
}

/// A world, open for reading. What changes it ([`edit`](Self::edit), [`run`](Self::run)) asks for
/// permission first: see [`WritePermit`](hyworld_world::WritePermit).
///
/// This is the world as its chunks; [`WorldFolder`](hyworld_world::WorldFolder) is its folder with
/// configuration and resources.
#[derive(Clone, Debug)]
pub struct World {
    location: Location,
    storage: Arc<dyn ChunkStorage>,
}

/// What an edit did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EditReport {
    /// Chunks that were looked at.
    pub chunks: u64,
    /// Chunks that were changed and written.
    pub changed: u64,
}

impl World {
    /// Where its chunks are.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The folder of the world; `None` if the chunks belong to no world.
    pub fn folder(&self) -> Option<PathBuf> {
        self.location.world_folder()
    }

    /// Its chunks as stored, for reading.
    pub fn storage(&self) -> &dyn ChunkStorage {
        &*self.storage
    }

    /// Reads a chunk; `None` if it is not stored.
    ///
    /// # Errors
    /// The chunk is damaged or cannot be read.
    pub fn chunk(&self, at: ChunkPos) -> Result<Option<Chunk>> {
        read(self.storage(), at)
    }

    /// Reads a block; `None` if its chunk is not stored, or the position is above or below the
    /// world.
    ///
    /// # Errors
    /// The chunk is damaged or cannot be read.
    pub fn block(&self, at: BlockPos) -> Result<Option<Block>> {
        let Some(in_chunk) = at.in_chunk() else { return Ok(None) };
        let Some(chunk) = self.chunk(at.chunk())? else { return Ok(None) };
        Ok(Some(chunk.block(in_chunk)?.to_block()))
    }

    /// Returns all cells of a multi-block object from its anchor, those in neighbouring chunks too,
    /// the anchor first. Empty if there is no such block, or its chunk is not stored.
    ///
    /// # Errors
    /// A chunk is damaged or cannot be read.
    pub fn cells_of(&self, anchor: BlockPos) -> Result<Vec<BlockPos>> {
        let (home, Some(local)) = (anchor.chunk(), anchor.in_chunk()) else {
            return Ok(Vec::new());
        };
        let Some(chunk) = self.chunk(home)? else { return Ok(Vec::new()) };
        let block = chunk.block(local)?.key().clone();
        let in_world = |at: ChunkPos, cells: Vec<ChunkBlock>| {
            cells.into_iter().filter_map(move |cell| at.block(cell))
        };
        let mut found: Vec<_> = in_world(home, chunk.cells_of(local)?).collect();
        for (dx, dz) in neighbours(local) {
            let (x, z) = (home.x.checked_add(dx), home.z.checked_add(dz));
            let Some(at) = x.zip(z).map(|(x, z)| ChunkPos::new(x, z)) else { continue };
            let Some(chunk) = self.chunk(at)? else { continue };
            let from_there = Anchor {
                x: i32::from(local.x()) - dx * CHUNK_SIDE_BLOCKS,
                y: local.y().into(),
                z: i32::from(local.z()) - dz * CHUNK_SIDE_BLOCKS,
            };
            found.extend(in_world(at, chunk.cells_pointing_to(from_there, &block)?));
        }
        Ok(found)
    }

    /// Its chunks, to iterate over or to work on in parallel.
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks::new(self.storage())
    }

    /// Its containers: chests, benches, what creatures carry. Of both generations of the format.
    pub fn containers(&self) -> impl Iterator<Item = Result<FoundContainer>> {
        self.chunks().into_iter().flat_map(|chunk| {
            let found = chunk.and_then(|(at, chunk)| containers(at, &chunk));
            match found {
                Ok(found) => found.into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }
        })
    }

    /// Changes the chunks that an area touches; `change` gets each of them with the part of the
    /// area that is in it. Chunks that it leaves as they are are not written. What was changed is
    /// durable when this returns, also with an error.
    ///
    /// # Errors
    /// Another program uses the world, or a chunk could not be read, changed or written. Chunks
    /// before that one are changed.
    pub fn edit(
        &mut self,
        area: BlockBox,
        change: impl FnMut(&mut Chunk, ChunkBox) -> Result<()>,
    ) -> Result<EditReport> {
        let _guard = self.location.guard()?;
        let storage = self.location.open_for_writing(&RegionFilesOptions::new())?;
        let edited = edit_chunks(&*storage, area, change);
        storage.sync()?;
        drop(storage);
        // What was open for reading does not see what was written.
        self.storage = self.location.open()?.into();
        edited
    }

    /// Runs the world: a store of its chunks with the settings of its configuration, which
    /// `change` may change. No other program of hyworld can write it meanwhile. To read what was
    /// saved, open the world again.
    ///
    /// # Errors
    /// The chunks belong to no world, or as for [`RunningWorld::open`].
    pub fn run(&self, change: impl FnOnce(&mut StoreOptions)) -> Result<RunningWorld> {
        let no_world = || {
            let text = format!("{}: these chunks belong to no world", self.location.name());
            Error::new(ErrorKind::NotAWorld, text)
        };
        RunningWorld::open(self.folder().ok_or_else(no_world)?, change)
    }

    /// Reads and decodes every chunk in full; `found` gets what is wrong.
    pub fn verify(&self, mut found: impl FnMut(&Finding)) -> VerifyReport {
        verify(self.storage(), &ScanOptions::new(), &mut found, &NoProgress)
    }

    /// Counts chunks, entities and block entities; `found` gets what cannot be read.
    pub fn totals(&self, mut found: impl FnMut(&Finding)) -> Contents {
        count_contents(self.storage(), &ScanOptions::new(), &mut found, &NoProgress)
    }
}

/// Returns the neighbouring chunks that cells of an object can be in: fillers reach 16 blocks down
/// and 15 up along each axis.
fn neighbours(anchor: ChunkBlock) -> Vec<(i32, i32)> {
    let reach = |at: u8| {
        let at = i32::from(at);
        (at - 16).div_euclid(CHUNK_SIDE_BLOCKS)..=(at + 15).div_euclid(CHUNK_SIDE_BLOCKS)
    };
    let all = reach(anchor.x()).flat_map(|dx| reach(anchor.z()).map(move |dz| (dx, dz)));
    all.filter(|offset| *offset != (0, 0)).collect()
}

fn edit_chunks(
    storage: &dyn ChunkStorage,
    area: BlockBox,
    mut change: impl FnMut(&mut Chunk, ChunkBox) -> Result<()>,
) -> Result<EditReport> {
    let (mut report, mut document) = (EditReport::default(), Vec::new());
    for found in Chunks::new(storage).area(area) {
        let (at, mut chunk) = found?;
        let Some(part) = area.in_chunk(at) else { continue };
        report.chunks = report.chunks.saturating_add(1);
        change(&mut chunk, part)?;
        if chunk.is_changed() {
            chunk.encode_into(&mut document);
            storage.write(at, &document)?;
            report.changed = report.changed.saturating_add(1);
        }
    }
    Ok(report)
}
