//! The chunks that the target of a migration already has: whose they are, and what replacing them
//! would lose.

use std::collections::HashSet;
use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, Result};

use crate::seam::{SameWorld, agreement, common_positions};
use crate::undo::{Changes, UndoError};

/// How many chunks of the target are compared with their neighbours in the world.
const SAMPLES: usize = 64;

/// Documents that are recorded together.
const BATCH_CHUNKS: usize = 64;

/// What a storage has that a migration is going to replace.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TargetContents {
    /// Path or URL of the storage.
    pub location: String,
    /// Chunks that are equal to those of the world.
    pub equal: u64,
    /// Chunks that differ from those of the world.
    pub different: Vec<ChunkPos>,
    /// Chunks that the world does not have.
    pub only_there: Vec<ChunkPos>,
    /// Whether the storage belongs to the world.
    pub owner: SameWorld,
}

impl TargetContents {
    /// Compares all chunks of a storage with those of a world.
    pub(super) fn of(
        target: &dyn ChunkStorage,
        source: &dyn ChunkStorage,
        world: &Path,
    ) -> Result<Self> {
        let location = target.location();
        let stored: HashSet<ChunkPos> = source.positions().collect::<Result<_>>()?;
        let (mut equal, mut different, mut only_there) = (0_u64, Vec::new(), Vec::new());
        for at in target.positions() {
            let at = at?;
            if !stored.contains(&at) {
                only_there.push(at);
            } else if matches!((target.read(at), source.read(at)), (Ok(a), Ok(b)) if a == b) {
                equal = equal.saturating_add(1);
            } else {
                different.push(at);
            }
        }
        let is_inside = is_inside(&location, world);
        let owner = match () {
            () if is_inside => SameWorld::Same,
            // A storage with nothing but chunks of this world has nothing to lose.
            () if equal > 0 && different.is_empty() && only_there.is_empty() => SameWorld::Same,
            () => {
                let positions = common_positions(target, source, SAMPLES);
                agreement(target, source, &positions).verdict()
            }
        };
        Ok(Self { location, equal, different, only_there, owner })
    }

    /// Returns the number of chunks that are replaced or removed.
    pub fn lost(&self) -> u64 {
        (self.different.len() as u64).saturating_add(self.only_there.len() as u64)
    }

    /// Returns the name of the storage in the bundle. A world that was switched uses it as its own.
    fn name_in_bundle(&self) -> &str {
        if self.location.starts_with("s3://") { &self.location } else { "." }
    }

    /// Removes what differs from the world, and records it in an undo bundle.
    pub(super) fn clear(
        &self,
        target: &dyn ChunkStorage,
        changes: &mut Changes,
    ) -> std::result::Result<(), UndoError> {
        let lost: Vec<ChunkPos> = self.different.iter().chain(&self.only_there).copied().collect();
        for batch in lost.chunks(BATCH_CHUNKS) {
            let removed: Vec<_> = batch.iter().map(|at| (*at, None)).collect();
            changes.write_chunks(target, self.name_in_bundle(), &removed)?;
        }
        Ok(())
    }
}

/// Returns whether a storage is in the folder of a world.
fn is_inside(location: &str, world: &Path) -> bool {
    let path = location.strip_prefix("rocksdb:").unwrap_or(location);
    let real = |path: &Path| path.canonicalize().ok();
    real(Path::new(path)).zip(real(world)).is_some_and(|(path, world)| path.starts_with(world))
}
