//! The chunks of the tour: the same in every run, no data of the game.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{BlobIndex, Geometry, IndexedStorageFile};

use super::terrain;

/// Chunks along each side of a region.
const SIDE: i32 = 32;

/// Chunks this far from the middle of the region are explored: about 400.
const RADIUS: i32 = 11;

/// The chunks of one region by slot.
#[derive(Debug)]
pub(super) struct Sample {
    chunks: BTreeMap<BlobIndex, Vec<u8>>,
}

impl Sample {
    pub(super) fn new() -> anyhow::Result<Self> {
        let explored = |slot: &BlobIndex| {
            let (x, z) = local(*slot);
            let (x, z) = (2 * x - SIDE + 1, 2 * z - SIDE + 1);
            x * x + z * z <= 4 * RADIUS * RADIUS
        };
        let slots = Geometry::REGION.slots().filter(explored);
        let chunks = slots.map(|slot| Ok((slot, document(slot, 1)?)));
        Ok(Self { chunks: chunks.collect::<anyhow::Result<_>>()? })
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Length of all documents together.
    pub(super) fn bytes(&self) -> u64 {
        self.chunks.values().map(|content| content.len() as u64).sum()
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = (BlobIndex, &[u8])> {
        let chunks = self.chunks.iter();
        chunks.map(|(slot, content)| (*slot, content.as_slice()))
    }

    pub(super) fn content(&self, slot: BlobIndex) -> anyhow::Result<&[u8]> {
        let content = self.chunks.get(&slot).map(Vec::as_slice);
        content.context("the sample has no such chunk")
    }

    /// Gives the first `count` chunks other than `keep` another content; returns their slots.
    pub(super) fn edit(
        &mut self,
        count: usize,
        keep: &[BlobIndex],
    ) -> anyhow::Result<Vec<BlobIndex>> {
        let edited = self.chunks.iter_mut();
        let edited = edited.filter(|(slot, _)| !keep.contains(slot)).take(count);
        edited
            .map(|(slot, content)| {
                *content = document(*slot, 2)?;
                Ok(*slot)
            })
            .collect()
    }

    /// How many chunks a file holds exactly as they should be. Damaged ones count as different.
    pub(super) fn count_equal(&self, path: &Path) -> anyhow::Result<usize> {
        let file = IndexedStorageFile::open_read_only(path)?;
        let mut found = Vec::new();
        let equal = self.chunks.iter().filter(|(slot, content)| {
            matches!(file.read_into(**slot, &mut found), Ok(true)) && found == **content
        });
        Ok(equal.count())
    }
}

fn local(slot: BlobIndex) -> (i32, i32) {
    let number = i32::try_from(slot.get()).unwrap_or(0);
    (number % SIDE, number / SIDE)
}

/// The chunk of a slot. Every revision has other ore.
fn document(slot: BlobIndex, revision: u32) -> anyhow::Result<Vec<u8>> {
    let (x, z) = local(slot);
    terrain::document(ChunkPos::new(x, z), revision)
}
