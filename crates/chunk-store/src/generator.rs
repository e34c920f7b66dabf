//! Who makes chunks that are not stored.

mod blocks;
mod flat;
mod noise;
mod terrain;

use std::fmt;
use std::future::{self, Future};
use std::pin::Pin;
use std::sync::Arc;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;

use crate::error::BoxedError;

pub use flat::FlatGenerator;
pub use terrain::SampleTerrain;

/// A chunk that was made, and for where: the document of a chunk does not say.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// Where it belongs.
    pub at: ChunkPos,
    /// The chunk.
    pub chunk: Chunk,
}

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

/// A chunk, sooner or later; `None` if the generator gave up because nobody wants it any more.
pub type GeneratedFuture =
    Pin<Box<dyn Future<Output = Result<Option<Generated>, BoxedError>> + Send>>;

/// Makes chunks.
///
/// The future is polled by the store's workers, so it may compute for as long as it takes. A
/// generator that computes and never waits is easier to write as a [`BlockingGenerator`].
pub trait ChunkGenerator: Send + Sync + fmt::Debug {
    /// Makes a chunk. The same request always gives the same chunk.
    fn generate(self: Arc<Self>, request: GenerateRequest) -> GeneratedFuture;

    /// The store is being shut down: what waits should end soon.
    fn shut_down(&self) {}
}

/// A generator that computes and never waits.
pub trait BlockingGenerator: Send + Sync + fmt::Debug {
    /// Makes a chunk. The same request always gives the same chunk.
    ///
    /// # Errors
    /// It cannot be made.
    fn generate(&self, request: &GenerateRequest) -> Result<Option<Chunk>, BoxedError>;
}

impl<G: BlockingGenerator + 'static> ChunkGenerator for G {
    fn generate(self: Arc<Self>, request: GenerateRequest) -> GeneratedFuture {
        // Computed when it is polled, not when it is asked for: that is on a worker.
        let mut work = Some((self, request));
        Box::pin(future::poll_fn(move |_| {
            let made = work.take().map_or(Ok(None), |(generator, request)| {
                let chunk = BlockingGenerator::generate(&*generator, &request)?;
                Ok(chunk.map(|chunk| Generated { at: request.at, chunk }))
            });
            std::task::Poll::Ready(made)
        }))
    }
}
