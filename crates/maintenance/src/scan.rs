//! The parallel scan behind every operation on many chunks.
//!
//! Items are handed out in order and admitted by weight: the documents in memory at the same time
//! stay within a byte budget, regardless of the number of threads. A document that is larger than
//! the whole budget is processed alone. The calling thread processes items too, and reduces all
//! results.

mod documents;
mod gate;
mod hashes;
mod spare;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_providers::{ChunkStorage, Error, Positions};

use gate::Gate;

pub use hashes::scan_hashes;
pub use spare::reuse_buffer;

pub(crate) use documents::{Batch, Form, Group, Reader, Verified};

/// Bytes of documents in memory at the same time. Decoding needs about the same again, and the
/// largest document in a region file has 256 MiB: together less than 512 MB.
const BUDGET_BYTES: u64 = 128 << 20;

/// In an ordered scan, the number of results per thread that may wait for earlier ones.
const WAITING_PER_JOB: usize = 8;

/// The options of a scan.
#[derive(Clone, Debug)]
#[must_use]
pub struct ScanOptions {
    jobs: NonZeroUsize,
    budget_bytes: u64,
    is_ordered: bool,
    cancel: Option<Arc<AtomicBool>>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        let jobs = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { jobs, budget_bytes: BUDGET_BYTES, is_ordered: false, cancel: None }
    }
}

impl ScanOptions {
    /// Creates the default options: all processors, 128 MiB of documents in memory, results in any
    /// order.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of threads.
    pub fn jobs(mut self, jobs: NonZeroUsize) -> Self {
        self.jobs = jobs;
        self
    }

    /// Returns the number of threads.
    pub fn job_count(&self) -> NonZeroUsize {
        self.jobs
    }

    /// Sets how many bytes of documents may be in memory at the same time.
    pub fn budget_bytes(mut self, bytes: u64) -> Self {
        self.budget_bytes = bytes;
        self
    }

    /// Sets whether results are reduced in the order of the items.
    pub fn ordered(mut self, is_ordered: bool) -> Self {
        self.is_ordered = is_ordered;
        self
    }

    /// Stops the scan once this flag is set. Items in progress are finished.
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Returns whether the flag of [`cancel`](Self::cancel) is set.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// How a scan ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[must_use]
pub enum Completion {
    /// Every item was processed.
    #[default]
    Complete,
    /// The caller cancelled it before the last item.
    Cancelled,
}

/// One step of a scan of a storage.
#[derive(Debug)]
pub enum Scanned<R> {
    /// A chunk and the result of `map`.
    Chunk(ChunkPos, R),
    /// A part of the storage that cannot be listed.
    Unlisted(Error),
}

/// Reads every chunk of a storage, maps its document on several threads, and reduces the results
/// on the calling thread, chunk by chunk. `map` gets `Ok(None)` for a chunk that was removed after
/// it was listed.
pub fn scan<R: Send>(
    storage: &dyn ChunkStorage,
    options: &ScanOptions,
    map: impl Fn(ChunkPos, Result<Option<Vec<u8>>, Error>) -> R + Sync,
    reduce: impl FnMut(Scanned<R>),
) -> Completion {
    scan_positions(storage, storage.positions(), options, map, reduce)
}

/// Like [`scan`], for the chunks at `positions`.
pub fn scan_positions<R: Send>(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    options: &ScanOptions,
    map: impl Fn(ChunkPos, Result<Option<Vec<u8>>, Error>) -> R + Sync,
    mut reduce: impl FnMut(Scanned<R>),
) -> Completion {
    let reader = Reader::new(storage, options).one_by_one();
    let batches = reader.batches(positions, Form::Documents);
    let map_batch = |batch: Batch| {
        let mut results = Vec::with_capacity(batch.positions.len());
        reader.documents(&batch.positions, &batch.weights, |group| {
            results.extend(group.into_iter().map(|(at, document)| (at, map(at, document))));
        });
        (results, batch.errors)
    };
    scan_items(batches, options, map_batch, |(results, errors)| {
        for error in errors {
            reduce(Scanned::Unlisted(error));
        }
        for (at, result) in results {
            reduce(Scanned::Chunk(at, result));
        }
    })
}

/// Like [`scan_positions`], with all checks of the container, and if requested with hashes of the
/// stored blobs.
pub(crate) fn scan_verified<R: Send>(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    options: &ScanOptions,
    has_hashes: bool,
    map: impl Fn(Verified) -> R + Sync,
    mut reduce: impl FnMut(Scanned<R>),
) -> Completion {
    let reader = Reader::new(storage, options).one_by_one();
    let batches = reader.batches(positions, Form::Documents);
    let map_batch = |batch: Batch| {
        let mut results = Vec::with_capacity(batch.positions.len());
        reader.verified(&batch, has_hashes, |verified| {
            results.push((verified.at, map(verified)));
        });
        (results, batch.errors)
    };
    scan_items(batches, options, map_batch, |(results, errors)| {
        errors.into_iter().map(Scanned::Unlisted).for_each(&mut reduce);
        results.into_iter().map(|(at, result)| Scanned::Chunk(at, result)).for_each(&mut reduce);
    })
}

/// Maps the occupied slots of a region file on several threads, in order.
pub fn scan_slots<R: Send>(
    file: &IndexedStorageFile,
    options: &ScanOptions,
    map: impl Fn(Slot) -> R + Sync,
    mut reduce: impl FnMut(Slot, R),
) -> Completion {
    let weigh = |slot| {
        let stat = file.stat(slot).ok().flatten();
        (stat.map_or(0, |stat| u64::from(stat.raw_bytes)), slot)
    };
    let slots = file.occupied().into_iter().map(weigh);
    let options = options.clone().ordered(true);
    scan_items(slots, &options, |slot| (slot, map(slot)), |(slot, result)| reduce(slot, result))
}

/// Maps items on several threads and reduces the results on the calling thread. Each item comes
/// with the number of bytes that mapping it needs.
pub fn scan_items<T: Send, R: Send>(
    items: impl Iterator<Item = (u64, T)> + Send,
    options: &ScanOptions,
    map: impl Fn(T) -> R + Sync,
    reduce: impl FnMut(R),
) -> Completion {
    let jobs = options.jobs.get();
    let window = jobs.saturating_mul(WAITING_PER_JOB);
    let gate = Gate::new(items, options.budget_bytes, options.is_ordered.then_some(window));
    let (is_ordered, waiting) = (options.is_ordered, BTreeMap::new());
    let mut results = Results { is_ordered, waiting, reduced: 0, reduce };
    let work = |emit: &mut dyn FnMut(u64, R) -> bool| {
        while let Some((ticket, item)) = gate.next(|| options.is_cancelled()) {
            let (number, result) = (ticket.number(), map(item));
            drop(ticket);
            if !emit(number, result) {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(window);
        let spawn = || {
            let (sender, work) = (sender.clone(), &work);
            let worker = move || work(&mut |number, result| sender.send((number, result)).is_ok());
            thread::Builder::new().spawn_scoped(scope, worker).is_ok()
        };
        // This thread works too: a new thread may need longer to start than a short scan takes. If
        // some threads cannot be started, the others do the work.
        let _started = (1..jobs).take_while(|_| !gate.is_exhausted() && spawn()).count();
        drop(sender);
        loop {
            let finished = receiver.try_recv().ok();
            let mapped = || {
                let (ticket, item) = gate.try_next(|| options.is_cancelled())?;
                Some((ticket.number(), map(item)))
            };
            // Without an item that may start, the next result comes from another thread.
            let result = finished.or_else(mapped).or_else(|| receiver.recv().ok());
            let Some((number, result)) = result else { break };
            gate.set_reduced(results.add(number, result));
        }
    });
    if gate.is_exhausted() { Completion::Complete } else { Completion::Cancelled }
}

/// Passes results to `reduce`, in order if requested.
struct Results<R, F> {
    is_ordered: bool,
    /// Results that wait for an earlier one, by number.
    waiting: BTreeMap<u64, R>,
    /// The number of reduced results.
    reduced: u64,
    reduce: F,
}

impl<R, F: FnMut(R)> Results<R, F> {
    /// Reduces a result, or keeps it until its turn. Returns the number of reduced results.
    fn add(&mut self, number: u64, result: R) -> u64 {
        let number = if self.is_ordered { number } else { self.reduced };
        self.waiting.insert(number, result);
        while let Some(result) = self.waiting.remove(&self.reduced) {
            (self.reduce)(result);
            self.reduced = self.reduced.saturating_add(1);
        }
        self.reduced
    }
}
