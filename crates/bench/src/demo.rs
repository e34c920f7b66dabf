//! The operations of `hyworld demo` on a small world: generating, building, damaging and comparing.

#![expect(
    clippy::missing_errors_doc,
    reason = "all return an error if a file or a chunk cannot be read or written"
)]

mod camp;
mod documents;
mod session;
pub mod wreck;

use std::path::Path;

use anyhow::{Result, bail};
use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{IndexedStorageFile, SegmentIndex};

pub use camp::Camp;
pub use documents::Documents;
pub use session::{Fingerprints, Session};

/// The number of chunks along each side of a region.
const SIDE: i32 = 32;
/// The radius of the generated disc, which has about 100 chunks.
const RADIUS: i32 = 6;

/// Returns the chunks to generate: a disc in the middle of region 0,0.
pub fn positions() -> Vec<ChunkPos> {
    let all = (0..SIDE).flat_map(|z| (0..SIDE).map(move |x| ChunkPos::new(x, z)));
    let near = |at: &ChunkPos| {
        let (x, z) = (2 * at.x - SIDE + 1, 2 * at.z - SIDE + 1);
        x * x + z * z <= 4 * RADIUS * RADIUS
    };
    all.filter(near).collect()
}

/// Finds the orphaned blob of a document.
pub fn segment_of(path: &Path, document: &[u8]) -> Result<SegmentIndex> {
    let file = IndexedStorageFile::open_read_only(path)?;
    for blob in file.salvage()?.blobs {
        if file.salvage_at(blob.segment)?.decompress()? == document {
            return Ok(blob.segment);
        }
    }
    bail!("the removed chunk was not found in the file")
}

/// Returns an error if a claim of the demo is false.
pub fn ensure(holds: bool, claim: &str) -> Result<()> {
    anyhow::ensure!(holds, "demo check failed: {claim}");
    Ok(())
}
