//! Generators of chunks that are not stored.

mod blocks;
mod flat;
mod noise;
mod terrain;

use std::fmt;
use std::sync::Arc;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;

use crate::error::BoxedError;

pub use flat::FlatGenerator;
pub use terrain::SampleTerrain;

/// Returns whether a requested chunk is still needed.
pub type StillNeeded = Arc<dyn Fn() -> bool + Send + Sync>;

/// A request to generate a chunk.
#[derive(Clone)]
pub struct GenerateRequest {
    /// The position of the chunk.
    pub at: ChunkPos,
    /// The low 32 bits of the world's seed, as the game passes them.
    pub seed: i32,
    /// If set, the generator may call it during long work, and return `Ok(None)` once it returns
    /// false.
    pub still_needed: Option<StillNeeded>,
}

impl GenerateRequest {
    /// Returns whether the chunk is no longer needed.
    pub fn is_abandoned(&self) -> bool {
        self.still_needed.as_ref().is_some_and(|is_needed| !is_needed())
    }
}

impl fmt::Debug for GenerateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GenerateRequest({} with seed {})", self.at, self.seed)
    }
}

/// Generates chunks, on the store's workers.
pub trait ChunkGenerator: Send + Sync + fmt::Debug {
    /// Generates a chunk; the same request always returns the same chunk. Returns `None` if it
    /// stopped because the chunk is no longer needed.
    ///
    /// # Errors
    /// Returns an error if the chunk cannot be generated.
    fn generate(&self, request: &GenerateRequest) -> Result<Option<Chunk>, BoxedError>;

    /// Called when the store shuts down: requests in progress should end soon.
    fn shut_down(&self) {}
}
