//! [`World`]: the chunks at a location.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyworld_chunk::{Anchor, Block, Chunk};
use hyworld_chunk_store::StoreOptions;
use hyworld_coords::{BlockBox, BlockPos, CHUNK_SIDE_BLOCKS, ChunkBlock, ChunkBox, ChunkPos};
use hyworld_maintenance::{
    Contents, Finding, NoProgress, ScanOptions, VerifyReport, count_contents,
};
use hyworld_providers::ChunkStorage;

use crate::change::EditReport;
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
/// Returns an error if the location does not exist or has no world or several worlds, or if its
/// storage cannot be opened.
pub fn open(location: impl AsRef<Path>) -> Result<World> {
    World::at(Location::source(location.as_ref())?)
}

/// A world, open for reading. Everything that changes it goes through a
/// [`change`](Self::change); [`run`](Self::run) holds the same permit.
///
/// A `World` gives access to chunks; use [`WorldFolder`](hyworld_world::WorldFolder) for its
/// configuration and resources.
#[derive(Clone, Debug)]
pub struct World {
    location: Location,
    storage: Arc<dyn ChunkStorage>,
}

impl World {
    pub(crate) fn at(location: Location) -> Result<Self> {
        let storage = location.open()?.into();
        Ok(Self { location, storage })
    }

    /// Returns the location of the chunks.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the folder of the world; `None` if the chunks do not belong to a world.
    pub fn folder(&self) -> Option<PathBuf> {
        self.location.world_folder()
    }

    /// Returns the storage of the chunks, open for reading.
    pub fn storage(&self) -> &dyn ChunkStorage {
        &*self.storage
    }

    /// Reads a chunk. Returns `None` if it is not stored.
    ///
    /// # Errors
    /// Returns an error if the chunk is damaged or cannot be read.
    pub fn chunk(&self, at: ChunkPos) -> Result<Option<Chunk>> {
        read(self.storage(), at)
    }

    /// Reads a block. Returns `None` if its chunk is not stored, or if the position is above or
    /// below the world.
    ///
    /// # Errors
    /// Returns an error if the chunk is damaged or cannot be read.
    pub fn block(&self, at: BlockPos) -> Result<Option<Block>> {
        let Some(in_chunk) = at.in_chunk() else { return Ok(None) };
        let Some(chunk) = self.chunk(at.chunk())? else { return Ok(None) };
        Ok(Some(chunk.block(in_chunk)?.to_block()))
    }

    /// Returns all cells of a multi-block object, including those in neighbouring chunks, with the
    /// anchor first. Empty if there is no block at `anchor` or its chunk is not stored.
    ///
    /// # Errors
    /// Returns an error if a chunk is damaged or cannot be read.
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

    /// Returns the chunks, to iterate over or to process in parallel.
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks::new(self.storage())
    }

    /// Iterates over all containers: chests, benches and inventories of creatures, in the old and
    /// the new format.
    pub fn containers(&self) -> impl Iterator<Item = Result<FoundContainer>> {
        self.chunks().into_iter().flat_map(|chunk| {
            let found = chunk.and_then(|(at, chunk)| containers(at, &chunk));
            match found {
                Ok(found) => found.into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }
        })
    }

    /// Calls `edit` with each stored chunk that `area` touches and the part of the area inside it,
    /// on all processors. The short form of a [`change`](Self::change) with its undo bundle.
    ///
    /// # Errors
    /// Returns an error if another program uses the world, or if a chunk cannot be read, changed or
    /// written. The error names the bundle that undoes what was written before.
    pub fn edit(
        &mut self,
        area: BlockBox,
        edit: impl Fn(&mut Chunk, ChunkBox) -> Result<()> + Sync,
    ) -> Result<EditReport> {
        let mut change = self.change("edit")?;
        let mut report = change.edit(area, edit)?;
        report.bundle = change.commit()?.bundle;
        self.reload()?;
        Ok(report)
    }

    /// Opens the storage again, to see what a change of this or another program wrote.
    ///
    /// # Errors
    /// Returns an error if the storage cannot be opened.
    pub fn reload(&mut self) -> Result<()> {
        self.storage = self.location.open()?.into();
        Ok(())
    }

    /// Runs the world: opens a store of its chunks with the settings of its configuration, which
    /// `change` may modify. An exclusive lock keeps other hyworld processes from writing the world
    /// meanwhile. This `World` does not see later saves; open the world again to read them.
    ///
    /// # Errors
    /// Returns an error if the chunks do not belong to a world, or if [`RunningWorld::open`] fails.
    pub fn run(&self, change: impl FnOnce(&mut StoreOptions)) -> Result<RunningWorld> {
        let no_world = || {
            let text = format!("{}: these chunks do not belong to a world", self.location.name());
            Error::new(ErrorKind::NotAWorld, text)
        };
        RunningWorld::open(self.folder().ok_or_else(no_world)?, change)
    }

    /// Calls [`verify_with`](Self::verify_with) with the default options.
    pub fn verify(&self, mut found: impl FnMut(&Finding)) -> VerifyReport {
        self.verify_with(&ScanOptions::new(), &mut found, &NoProgress)
    }

    /// Counts chunks, entities and block entities; `found` is called for each chunk that cannot be
    /// read.
    pub fn totals(&self, mut found: impl FnMut(&Finding)) -> Contents {
        count_contents(self.storage(), &ScanOptions::new(), &mut found, &NoProgress)
    }
}

/// Returns the offsets of neighbouring chunks that can contain cells of the object. Cells are at
/// most 16 blocks below and 15 above the anchor along each axis.
fn neighbours(anchor: ChunkBlock) -> Vec<(i32, i32)> {
    let reach = |at: u8| {
        let at = i32::from(at);
        (at - 16).div_euclid(CHUNK_SIDE_BLOCKS)..=(at + 15).div_euclid(CHUNK_SIDE_BLOCKS)
    };
    let all = reach(anchor.x()).flat_map(|dx| reach(anchor.z()).map(move |dz| (dx, dz)));
    all.filter(|offset| *offset != (0, 0)).collect()
}
