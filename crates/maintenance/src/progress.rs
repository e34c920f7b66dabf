//! Progress reporting for long operations.

/// Receives the progress of an operation, on the thread that called it.
pub trait Progress: Sync {
    /// Called when `chunks` more chunks were processed.
    fn advance(&self, chunks: u64);

    /// Called before a pass over `chunks` chunks; `None` if the number is unknown.
    fn expect(&self, _chunks: Option<u64>) {}

    /// Called when `chunks` more chunks of a copy were verified, after all were written.
    fn advance_verified(&self, _chunks: u64) {}
}

/// Ignores progress.
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
