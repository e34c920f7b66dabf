//! Keeps region files open.
//!
//! Lock order: the list of files, then the state of one file. The list is never locked while a file
//! is being opened or synced, so a slow disk delays only the users of that file.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyworld_coords::RegionPos;
use hyworld_indexed_storage::{Error, IndexedStorageFile, Result};

use super::{RegionFilesOptions, is_missing};

/// How many regions are remembered, open or known to be missing, before the list is cleaned. Each
/// takes about 100 bytes.
const REMEMBERED_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct RegionCache {
    options: RegionFilesOptions,
    regions: Mutex<HashMap<RegionPos, Arc<Region>>>,
    open_files: AtomicUsize,
    clock: AtomicU64,
    /// Errors from closing files, reported by the next sync.
    failures: Mutex<Vec<Error>>,
}

#[derive(Debug, Default)]
struct Region {
    state: Mutex<State>,
    last_used: AtomicU64,
    /// Set if something was written since the last sync.
    is_written: AtomicBool,
}

#[derive(Debug, Default)]
enum State {
    /// Not opened yet, or closed again.
    #[default]
    Unknown,
    /// The file does not exist.
    Missing,
    Open {
        file: Arc<IndexedStorageFile>,
        is_writable: bool,
    },
}

/// A file that is being written. Dropping it marks the file as written, so that a later sync covers
/// the write.
#[derive(Debug)]
pub(super) struct WritableFile {
    file: Arc<IndexedStorageFile>,
    region: Arc<Region>,
}

impl Deref for WritableFile {
    type Target = IndexedStorageFile;

    fn deref(&self) -> &IndexedStorageFile {
        &self.file
    }
}

impl Drop for WritableFile {
    fn drop(&mut self) {
        self.region.is_written.store(true, Ordering::Release);
    }
}

/// Ignores poisoning: the guarded data is consistent at all times.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RegionCache {
    pub(super) fn new(options: RegionFilesOptions) -> Self {
        Self {
            options,
            regions: Mutex::default(),
            open_files: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            failures: Mutex::default(),
        }
    }

    /// Opens the file of a region for reading. Returns `None` if it is missing.
    pub(super) fn read(
        &self,
        region: RegionPos,
        path: &Path,
    ) -> Result<Option<Arc<IndexedStorageFile>>> {
        let region = self.region(region);
        let mut state = lock(&region.state);
        match &*state {
            State::Open { file, .. } => return Ok(Some(Arc::clone(file))),
            State::Missing => return Ok(None),
            State::Unknown => {}
        }
        let file = match IndexedStorageFile::open_read_only(path) {
            Ok(file) => Arc::new(file),
            Err(error) if is_missing(&error) => {
                *state = State::Missing;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        *state = State::Open { file: Arc::clone(&file), is_writable: false };
        drop(state);
        self.opened();
        Ok(Some(file))
    }

    /// Opens the file of a region for writing, creating it if it is missing.
    pub(super) fn write(&self, region: RegionPos, path: &Path) -> Result<WritableFile> {
        let region = self.region(region);
        let mut state = lock(&region.state);
        if let State::Open { file, is_writable: true } = &*state {
            return Ok(WritableFile { file: Arc::clone(file), region: Arc::clone(&region) });
        }
        // Threads that still read through the old read-only handle can finish.
        let file = Arc::new(self.options.writing().open(path)?);
        let was_open = matches!(&*state, State::Open { .. });
        *state = State::Open { file: Arc::clone(&file), is_writable: true };
        drop(state);
        if !was_open {
            self.opened();
        }
        Ok(WritableFile { file, region })
    }

    fn region(&self, at: RegionPos) -> Arc<Region> {
        let mut regions = lock(&self.regions);
        if regions.len() >= REMEMBERED_MAX && !regions.contains_key(&at) {
            regions.retain(|_, region| {
                // A region without other owners cannot be opened while the list is locked.
                Arc::strong_count(region) > 1 || matches!(*lock(&region.state), State::Open { .. })
            });
        }
        let region = Arc::clone(regions.entry(at).or_default());
        region.last_used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        region
    }

    fn opened(&self) {
        let open = self.open_files.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if open > self.options.open_files_max {
            self.close_idle(open.saturating_sub(self.options.open_files_max));
        }
    }

    /// Closes up to `count` unused files, least recently used first.
    fn close_idle(&self, count: usize) {
        let mut idle: Vec<_> = lock(&self.regions).values().cloned().collect();
        idle.sort_by_key(|region| region.last_used.load(Ordering::Relaxed));
        let mut left = count;
        for region in idle {
            if left == 0 {
                return;
            }
            // The file is being opened by another thread.
            let Ok(mut state) = region.state.try_lock() else { continue };
            let State::Open { file, .. } = &*state else { continue };
            if Arc::strong_count(file) > 1 {
                continue;
            }
            self.sync_region(&region, file);
            *state = State::Unknown;
            self.open_files.fetch_sub(1, Ordering::Relaxed);
            left = left.saturating_sub(1);
        }
    }

    /// Syncs a file that was written. Errors are reported by the next sync.
    fn sync_region(&self, region: &Region, file: &IndexedStorageFile) {
        if !region.is_written.swap(false, Ordering::AcqRel) {
            return;
        }
        if let Err(error) = file.sync() {
            region.is_written.store(true, Ordering::Release);
            lock(&self.failures).push(error);
        }
    }

    /// Makes all writes durable.
    pub(super) fn sync(&self) -> Result<()> {
        let regions: Vec<_> = lock(&self.regions).values().cloned().collect();
        for region in regions {
            let state = lock(&region.state);
            if let State::Open { file, is_writable: true } = &*state {
                let file = Arc::clone(file);
                drop(state);
                self.sync_region(&region, &file);
            }
        }
        let failures = std::mem::take(&mut *lock(&self.failures));
        failures.into_iter().next().map_or(Ok(()), Err)
    }

    #[cfg(test)]
    pub(super) fn open_files(&self) -> usize {
        self.open_files.load(Ordering::Relaxed)
    }
}
