//! [`Api`]: answers about the world, as JSON.

use hyworld_coords::{BlockPos, ChunkPos};

/// The reason why a request for JSON fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ApiError {
    /// There is nothing at the position.
    NotFound(String),
    /// The chunk cannot be read.
    Failed(String),
}

/// Answers requests with JSON. Methods are called from several threads and may block.
pub trait Api: Send + Sync + 'static {
    /// Describes the world.
    ///
    /// # Errors
    /// Returns an error if the world cannot be read.
    fn info(&self) -> Result<Vec<u8>, ApiError>;

    /// Describes a chunk.
    ///
    /// # Errors
    /// Returns an error if the chunk is missing or cannot be read.
    fn chunk(&self, at: ChunkPos) -> Result<Vec<u8>, ApiError>;

    /// Describes a block.
    ///
    /// # Errors
    /// Returns an error if its chunk is missing or cannot be read.
    fn block(&self, at: BlockPos) -> Result<Vec<u8>, ApiError>;
}

/// An API that rejects all requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoApi;

impl Api for NoApi {
    fn info(&self) -> Result<Vec<u8>, ApiError> {
        Err(ApiError::NotFound("this server has no API".to_owned()))
    }

    fn chunk(&self, _at: ChunkPos) -> Result<Vec<u8>, ApiError> {
        self.info()
    }

    fn block(&self, _at: BlockPos) -> Result<Vec<u8>, ApiError> {
        self.info()
    }
}
