//! A storage that fails on demand, for tests of code that uses storages.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyworld_coords::ChunkPos;

use crate::error::{Error, Result};
use crate::storage::{ChunkSize, ChunkStorage, Positions};

/// A wrapper that fails on demand.
#[derive(Debug)]
pub struct FailingStorage<S> {
    inner: S,
    fail_reads: AtomicBool,
    fail_writes: AtomicBool,
    /// Every n-th operation fails; 0 disables this.
    fail_every: AtomicU64,
    operations: AtomicU64,
}

impl<S: ChunkStorage> FailingStorage<S> {
    /// Wraps `inner`; no operation fails yet.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            fail_reads: AtomicBool::new(false),
            fail_writes: AtomicBool::new(false),
            fail_every: AtomicU64::new(0),
            operations: AtomicU64::new(0),
        }
    }

    /// Sets whether reads fail.
    pub fn fail_reads(&self, fail: bool) {
        self.fail_reads.store(fail, Ordering::SeqCst);
    }

    /// Sets whether writes, removes and syncs fail.
    pub fn fail_writes(&self, fail: bool) {
        self.fail_writes.store(fail, Ordering::SeqCst);
    }

    /// Makes every n-th operation fail; 0 disables this.
    pub fn fail_every(&self, n: u64) {
        self.fail_every.store(n, Ordering::SeqCst);
    }

    /// Returns the wrapped storage.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn check(&self, always: &AtomicBool, action: &'static str) -> Result<()> {
        let number = self.operations.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        let is_due = number.checked_rem(self.fail_every.load(Ordering::SeqCst)) == Some(0);
        if is_due || always.load(Ordering::SeqCst) {
            let (location, source) = (self.inner.location(), "told to fail".into());
            return Err(Error::Engine { location, action, source });
        }
        Ok(())
    }
}

impl<S: ChunkStorage> ChunkStorage for FailingStorage<S> {
    fn location(&self) -> String {
        self.inner.location()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        self.check(&self.fail_reads, "read")?;
        self.inner.read(at)
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        self.check(&self.fail_writes, "write")?;
        self.inner.write(at, document)
    }

    fn remove(&self, at: ChunkPos) -> Result<bool> {
        self.check(&self.fail_writes, "remove")?;
        self.inner.remove(at)
    }

    fn positions(&self) -> Positions<'_> {
        match self.check(&self.fail_reads, "list") {
            Ok(()) => self.inner.positions(),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        self.check(&self.fail_reads, "read")?;
        self.inner.size(at)
    }

    fn sync(&self) -> Result<()> {
        self.check(&self.fail_writes, "sync")?;
        self.inner.sync()
    }
}
