//! How long work says how far it has got.

/// Is told how work goes on, from any thread.
pub trait Progress: Sync {
    /// So many more chunks are done.
    fn advance(&self, chunks: u64);
}

/// Tells nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn advance(&self, _chunks: u64) {}
}

impl<F: Fn(u64) + Sync> Progress for F {
    fn advance(&self, chunks: u64) {
        self(chunks);
    }
}
