//! Made-up terrain: the same in every run, no data of the game.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use hyworld_indexed_storage::{BlobIndex, Geometry, IndexedStorageFile};

/// Blocks along each side of a chunk, and how many layers of them a document has.
const SIDE: i32 = 32;
const LAYERS: i32 = 64;

/// Chunks this far from the middle of the region are explored: about 400.
const RADIUS: i32 = 11;

/// Distance of the points between which the ground is a plane.
const GRID: i32 = 16;

/// The chunks of one region by slot.
#[derive(Debug)]
pub(super) struct Sample {
    chunks: BTreeMap<BlobIndex, Vec<u8>>,
}

impl Sample {
    pub(super) fn new() -> Self {
        let explored = |slot: &BlobIndex| {
            let (x, z) = local(*slot);
            let (x, z) = (2 * x - SIDE + 1, 2 * z - SIDE + 1);
            x * x + z * z <= 4 * RADIUS * RADIUS
        };
        let slots = Geometry::REGION.slots().filter(explored);
        let chunks = slots.map(|slot| (slot, document(slot, 1))).collect();
        Self { chunks }
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
    pub(super) fn edit(&mut self, count: usize, keep: &[BlobIndex]) -> Vec<BlobIndex> {
        let edited = self.chunks.iter_mut();
        let edited = edited.filter(|(slot, _)| !keep.contains(slot)).take(count);
        edited
            .map(|(slot, content)| {
                *content = document(*slot, 2);
                *slot
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

/// A document: a line of text, then one byte for each block, layer by layer. Hills of stone under
/// earth and grass, water up to a level, some ore.
fn document(slot: BlobIndex, revision: u32) -> Vec<u8> {
    let (chunk_x, chunk_z) = local(slot);
    let mut bytes = format!("made-up chunk {chunk_x},{chunk_z} revision {revision}\n").into_bytes();
    let columns: Vec<(i32, i32, i32)> = (0..SIDE * SIDE)
        .map(|column| {
            let (x, z) = (chunk_x * SIDE + column % SIDE, chunk_z * SIDE + column / SIDE);
            (x, z, ground(x, z))
        })
        .collect();
    for y in 0..LAYERS {
        let layer = columns.iter();
        bytes.extend(layer.map(|&(x, z, ground)| block(x, y, z, ground, revision)));
    }
    bytes
}

fn block(x: i32, y: i32, z: i32, ground: i32, revision: u32) -> u8 {
    match y {
        _ if y < ground - 3 && hash(x, y * 131 + z, revision).is_multiple_of(29) => b'O',
        _ if y < ground - 3 => b'S',
        _ if y < ground => b'E',
        _ if y == ground => b'G',
        _ if y < 24 => b'W',
        _ => b' ',
    }
}

/// The height of the ground: planes between points of random height.
fn ground(x: i32, z: i32) -> i32 {
    let (grid_x, grid_z) = (x.div_euclid(GRID), z.div_euclid(GRID));
    let (in_x, in_z) = (x.rem_euclid(GRID), z.rem_euclid(GRID));
    let height = |x, z| i32::from(hash(x, z, 0).to_le_bytes().map(|byte| byte % 48)[0]);
    let along_x = |z| height(grid_x, z) * (GRID - in_x) + height(grid_x + 1, z) * in_x;
    let sum = along_x(grid_z) * (GRID - in_z) + along_x(grid_z + 1) * in_z;
    sum / (GRID * GRID) + 8
}

/// Three numbers stirred into one.
fn hash(a: i32, b: i32, c: u32) -> u32 {
    let mut h = a.cast_unsigned().wrapping_mul(0x9E37_79B1);
    h = (h ^ b.cast_unsigned()).wrapping_mul(0x85EB_CA77);
    h = (h ^ (h >> 15) ^ c).wrapping_mul(0xC2B2_AE3D);
    h ^ (h >> 13)
}
