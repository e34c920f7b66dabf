//! [`RegionSlots`]: the chunk positions of the slots of a region file.

use std::path::Path;

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{Geometry, IndexedStorageFile, Slot};

/// Maps slots of a region file to chunk positions, from the file's name and geometry.
#[derive(Clone, Copy, Debug)]
pub struct RegionSlots {
    region: Option<RegionPos>,
    is_square: bool,
}

impl RegionSlots {
    /// Creates the mapping for the file at `path`, which need not exist.
    pub fn new(path: &Path, geometry: Geometry) -> Self {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_square = geometry.blob_count() == Geometry::REGION.blob_count();
        let region = name.and_then(RegionPos::from_file_name).filter(|_| is_square);
        Self { region, is_square }
    }

    /// Creates the mapping for an open file.
    pub fn of(file: &IndexedStorageFile) -> Self {
        Self::new(file.path(), file.geometry())
    }

    /// Returns the region of the file; `None` if it does not have the name of a region file.
    pub fn region(&self) -> Option<RegionPos> {
        self.region
    }

    /// Returns the local x and z of a slot; `None` unless the file has 1,024 slots (32 x 32).
    pub fn local(&self, slot: Slot) -> Option<RegionSlot> {
        let index = u16::try_from(slot.get()).ok().filter(|_| self.is_square)?;
        RegionSlot::from_index(index)
    }

    /// Returns the position of the slot's chunk; `None` if the region is unknown.
    pub fn chunk(&self, slot: Slot) -> Option<ChunkPos> {
        self.region?.chunk(self.local(slot)?)
    }
}
