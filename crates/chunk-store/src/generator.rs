//! Generators: they create the chunks that are not stored.

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

/// Answers whether some viewer still wants a chunk.
pub type StillNeeded = Arc<dyn Fn() -> bool + Send + Sync>;

/// Which chunk to make.
#[derive(Clone)]
pub struct GenerateRequest {
    /// Where it belongs.
    pub at: ChunkPos,
    /// The low 32 bits of the world's seed, as the game passes it on.
    pub seed: i32,
    /// Where it is given, the generator may ask it now and then, and give up with `Ok(None)`.
    pub still_needed: Option<StillNeeded>,
}

impl GenerateRequest {
    /// Whether it would be in vain to go on.
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
    /// Generates a chunk; the same request always gives the same chunk. Returns `None` if it gave
    /// up because no viewer wants the chunk any more.
    ///
    /// # Errors
    /// The chunk cannot be generated.
    fn generate(&self, request: &GenerateRequest) -> Result<Option<Chunk>, BoxedError>;

    /// Is called when the store is shut down: requests under way should end soon.
    fn shut_down(&self) {}
}
