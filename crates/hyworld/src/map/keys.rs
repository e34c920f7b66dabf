//! Keys of tiles: hashes of everything that a tile is painted from.

use std::collections::HashMap;

use hyworld_coords::ChunkPos;
use hyworld_maintenance::{ScanOptions, ShortHash, scan_hashes};
use hyworld_map::{TileGrid, TilePos};
use hyworld_providers::ChunkStorage;

use super::input::MapInput;

/// The hashes of chunks: as stored, and in the other world if one is compared.
pub(super) type Hashes = HashMap<ChunkPos, (Option<u128>, Option<u128>)>;

/// Hashes chunks without decoding them.
pub(super) fn hash_chunks(
    input: MapInput<'_>,
    positions: &[ChunkPos],
    options: &ScanOptions,
) -> Hashes {
    let mut hashes: Hashes = HashMap::with_capacity(positions.len());
    hash_storage(input.storage, positions, options, |at, hash| {
        hashes.entry(at).or_default().0 = hash;
    });
    if let Some(against) = input.against {
        hash_storage(against, positions, options, |at, hash| {
            hashes.entry(at).or_default().1 = hash;
        });
    }
    hashes
}

fn hash_storage(
    storage: &dyn ChunkStorage,
    positions: &[ChunkPos],
    options: &ScanOptions,
    mut add: impl FnMut(ChunkPos, Option<u128>),
) {
    let listed = Box::new(positions.iter().copied().map(Ok));
    // The scan is cancelled only by the caller, who then paints nothing.
    let _completion = scan_hashes(storage, listed, options, |at, hash| {
        add(at, hash.map(ShortHash::to_number));
    });
}

/// Returns the key of a tile. `is_drawn` tells which of the chunks are drawn.
pub(super) fn tile_key(
    grid: TileGrid,
    tile: TilePos,
    hashes: &Hashes,
    is_drawn: impl Fn(ChunkPos) -> bool,
) -> u128 {
    let mut bytes = Vec::new();
    for at in grid.chunks_around(tile).in_rows() {
        let Some((here, there)) = hashes.get(&at) else { continue };
        bytes.extend(at.x.to_le_bytes());
        bytes.extend(at.z.to_le_bytes());
        bytes.push(u8::from(is_drawn(at)));
        for hash in [here, there] {
            bytes.push(u8::from(hash.is_some()));
            bytes.extend(hash.unwrap_or(0).to_le_bytes());
        }
    }
    ShortHash::of(&bytes).to_number()
}

/// Returns the hash of some numbers.
pub(super) fn combined(numbers: impl IntoIterator<Item = u128>) -> u128 {
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u128::to_le_bytes).collect();
    ShortHash::of(&bytes).to_number()
}
