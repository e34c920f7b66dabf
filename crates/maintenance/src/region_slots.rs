//! [`RegionSlots`]: which chunk a slot of a region file holds.

use std::path::Path;

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{Geometry, IndexedStorageFile, Slot};

/// Which chunks the slots of a region file hold, as far as its name and geometry tell.
#[derive(Clone, Copy, Debug)]
pub struct RegionSlots {
    region: Option<RegionPos>,
    is_square: bool,
}

impl RegionSlots {
    /// For the file at `path`, which need not exist.
    pub fn new(path: &Path, geometry: Geometry) -> Self {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_square = geometry.blob_count() == Geometry::REGION.blob_count();
        let region = name.and_then(RegionPos::from_file_name).filter(|_| is_square);
        Self { region, is_square }
    }

    /// For an open file.
    pub fn of(file: &IndexedStorageFile) -> Self {
        Self::new(file.path(), file.geometry())
    }

    /// The region that the file stores, if its name says so.
    pub fn region(&self) -> Option<RegionPos> {
        self.region
    }

    /// Local x and z of a slot. Only files of 1,024 slots are squares of 32 x 32.
    pub fn local(&self, slot: Slot) -> Option<RegionSlot> {
        let index = u16::try_from(slot.get()).ok().filter(|_| self.is_square)?;
        RegionSlot::from_index(index)
    }

    /// The chunk of the world that a slot holds.
    pub fn chunk(&self, slot: Slot) -> Option<ChunkPos> {
        self.region?.chunk(self.local(slot)?)
    }
}
