//! The material of `hyworld demo`: a small world that is generated, built in, damaged and compared.

#![expect(clippy::missing_errors_doc, reason = "all fail for the same reason: a file or a chunk")]

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

/// Chunks along each side of a region.
const SIDE: i32 = 32;
/// Chunks this far from the middle of the region are generated: about 100.
const RADIUS: i32 = 6;

/// The chunks that are generated: a disc in the middle of region 0,0.
pub fn positions() -> Vec<ChunkPos> {
    let all = (0..SIDE).flat_map(|z| (0..SIDE).map(move |x| ChunkPos::new(x, z)));
    let near = |at: &ChunkPos| {
        let (x, z) = (2 * at.x - SIDE + 1, 2 * at.z - SIDE + 1);
        x * x + z * z <= 4 * RADIUS * RADIUS
    };
    all.filter(near).collect()
}

/// Finds the blob with this content among those that no slot refers to.
pub fn segment_of(path: &Path, content: &[u8]) -> Result<SegmentIndex> {
    let file = IndexedStorageFile::open_read_only(path)?;
    for blob in file.salvage()?.blobs {
        if file.salvage_at(blob.segment)?.decompress()? == content {
            return Ok(blob.segment);
        }
    }
    bail!("the removed chunk was not found in the file")
}

/// Fails if a claim of the demo does not hold.
pub fn ensure(holds: bool, claim: &str) -> Result<()> {
    anyhow::ensure!(holds, "the demo found that this is not so: {claim}");
    Ok(())
}
