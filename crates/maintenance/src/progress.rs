//! Progress reporting for long operations.

/// Receives the progress of an operation, on the thread that called it.
pub trait Progress: Sync {
    /// So many more chunks were processed.
    fn advance(&self, chunks: u64);

    /// A pass over this many chunks begins; `None` if it is not known how many there are.
    fn expect(&self, _chunks: Option<u64>) {}

    /// So many more chunks of the target of a copy were verified, after all were written.
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
