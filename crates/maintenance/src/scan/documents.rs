//! Reads the chunks of a storage in batches bounded by count, region and bytes.

use std::iter::Peekable;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hyworld_coords::ChunkPos;
use hyworld_files::invariant;
use hyworld_indexed_storage::{Damage, EncodedBlob, Slot};
use hyworld_providers::{ChunkSize, ChunkStorage, ChunkStorageExt, Error, Positions, Result};

use super::{ScanOptions, spare};
use crate::manifest::ShortHash;

/// The maximum number of chunks in a batch, which a remote storage reads in one call.
const BATCH_CHUNKS: usize = 32;

/// The size at which a batch is complete if chunks are read one by one: larger batches would leave
/// threads idle at the end, and smaller ones wake the calling thread more often.
const ONE_BY_ONE_BATCH_BYTES: u64 = 1 << 20;

/// The maximum size of a batch of more than one chunk.
const BATCH_BYTES: u64 = 16 << 20;

/// The initial weight of a document if the storage does not know sizes. The largest chunk seen in
/// real worlds has 665,146 bytes.
const ASSUMED_BYTES: u64 = 512 << 10;

/// The weight of compressed frames if the storage does not know sizes.
const ASSUMED_FRAME_BYTES: u64 = 128 << 10;

/// Consecutive positions of a listing, all from one region.
pub(crate) struct Batch {
    pub(crate) positions: Vec<ChunkPos>,
    /// The number of bytes that reading each of them needs, as known so far.
    pub(crate) weights: Vec<u64>,
    /// Parts of the storage that could not be listed.
    pub(crate) errors: Vec<Error>,
}

/// The form in which chunks are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Documents,
    Frames,
}

/// Chunks that were read together.
pub(crate) type Group<C> = Vec<(ChunkPos, Result<Option<C>>)>;

/// Reads chunks of one storage in groups of bounded size.
pub(crate) struct Reader<'a> {
    storage: &'a dyn ChunkStorage,
    batch_bytes: u64,
    /// A batch of this size is complete.
    enough_bytes: u64,
    group_chunks: usize,
    /// The weight of a document if the storage does not know sizes: the largest seen so far.
    assumed: AtomicU64,
    /// Held by a thread while it processes a document above `batch_bytes` whose size was not known
    /// when it was admitted. So at most one such document is in memory in addition to the budget.
    oversize: Mutex<()>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(storage: &'a dyn ChunkStorage, options: &ScanOptions) -> Self {
        let jobs = options.jobs.get() as u64;
        let batch_bytes = options.budget_bytes.checked_div(jobs).unwrap_or_default();
        Self {
            storage,
            batch_bytes: batch_bytes.min(BATCH_BYTES),
            enough_bytes: BATCH_BYTES,
            group_chunks: BATCH_CHUNKS,
            assumed: AtomicU64::new(ASSUMED_BYTES),
            oversize: Mutex::default(),
        }
    }

    /// Passes on each document before the next one is read, unless the storage is faster for many
    /// at once.
    pub(crate) fn one_by_one(mut self) -> Self {
        if self.storage.knows_sizes() {
            self.group_chunks = 1;
            self.enough_bytes = ONE_BY_ONE_BATCH_BYTES;
        }
        self
    }

    /// Splits positions into batches, each with its weight.
    pub(crate) fn batches(
        &self,
        positions: Positions<'a>,
        form: Form,
    ) -> impl Iterator<Item = (u64, Batch)> + Send {
        let mut positions = positions.peekable();
        let mut held = None;
        std::iter::from_fn(move || {
            let (weight, batch) = self.next_batch(&mut positions, &mut held, form);
            let is_empty = batch.positions.is_empty() && batch.errors.is_empty();
            (!is_empty).then_some((weight, batch))
        })
    }

    /// `held` is a position that did not fit into the previous batch.
    fn next_batch(
        &self,
        positions: &mut Peekable<Positions<'_>>,
        held: &mut Option<(ChunkPos, u64)>,
        form: Form,
    ) -> (u64, Batch) {
        let mut batch = Batch { positions: Vec::new(), weights: Vec::new(), errors: Vec::new() };
        let mut bytes = 0_u64;
        if let Some((at, weight)) = held.take() {
            batch.positions.push(at);
            batch.weights.push(weight);
            bytes = weight;
        }
        while batch.positions.len().max(batch.errors.len()) < BATCH_CHUNKS
            && bytes < self.enough_bytes
        {
            let region = batch.positions.first().map(|first: &ChunkPos| first.region());
            let fits = |next: &Result<ChunkPos>| match next {
                Ok(at) => region.is_none_or(|region| region == at.region()),
                Err(_) => true,
            };
            match positions.next_if(fits) {
                None => break,
                Some(Err(error)) => batch.errors.push(error),
                Some(Ok(at)) => {
                    let weight = self.weigh(at, form);
                    let sum = bytes.saturating_add(weight);
                    if sum > self.batch_bytes && !batch.positions.is_empty() {
                        *held = Some((at, weight));
                        break;
                    }
                    batch.positions.push(at);
                    batch.weights.push(weight);
                    bytes = sum;
                }
            }
        }
        (bytes, batch)
    }

    fn weigh(&self, at: ChunkPos, form: Form) -> u64 {
        // A chunk whose size cannot be read is reported when it is read.
        let size = self.known_size(at).map(|size| match form {
            Form::Documents => size.raw,
            Form::Frames => size.stored.unwrap_or(size.raw),
        });
        size.unwrap_or_else(|| match form {
            _ if self.storage.knows_sizes() => 0,
            Form::Documents => self.assumed.load(Ordering::Relaxed),
            Form::Frames => ASSUMED_FRAME_BYTES,
        })
    }

    fn known_size(&self, at: ChunkPos) -> Option<ChunkSize> {
        self.storage.knows_sizes().then(|| self.storage.size(at).ok().flatten()).flatten()
    }

    /// Reads documents and passes them on in groups bounded by bytes. `weights` are those of the
    /// batch; without them, sizes are read again.
    pub(crate) fn documents(
        &self,
        positions: &[ChunkPos],
        weights: &[u64],
        mut work: impl FnMut(Group<Vec<u8>>),
    ) {
        let mut groups = Groups::new(self, &mut work);
        match self.storage.frames() {
            _ if self.storage.knows_sizes() => {
                for (number, at) in positions.iter().enumerate() {
                    let raw = self.raw_bytes(*at, weights.get(number));
                    groups.add(*at, raw, || self.read(*at));
                }
            }
            // The headers contain the lengths, so nothing is decompressed for this.
            Some(frames) => {
                for (at, blob) in positions.iter().zip(frames.read_frames(positions)) {
                    let found = blob.as_ref().ok().and_then(Option::as_ref);
                    let raw = found.map_or(0, |blob| u64::from(blob.header().raw_bytes));
                    groups.add(*at, raw, || decompress(*at, blob));
                }
            }
            None => {
                for at in positions {
                    let document = self.storage.read(*at);
                    let found = document.as_ref().ok().and_then(Option::as_ref);
                    let raw = found.map_or(0, |document| document.len() as u64);
                    self.assumed.fetch_max(raw, Ordering::Relaxed);
                    groups.add(*at, raw, || document);
                }
            }
        }
        groups.flush();
    }

    /// Returns the size of a document whose storage knows sizes; 0 if it cannot be read.
    fn raw_bytes(&self, at: ChunkPos, weight: Option<&u64>) -> u64 {
        weight.copied().unwrap_or_else(|| self.known_size(at).map_or(0, |size| size.raw))
    }

    /// Reads a document into the spare buffer of this thread.
    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        let mut document = spare::take();
        Ok(self.storage.read_into(at, &mut document)?.then_some(document))
    }

    /// Reads compressed frames and passes them on in groups bounded by bytes. `weights` are those
    /// of the batch; without them, sizes are read again.
    pub(crate) fn frames(
        &self,
        positions: &[ChunkPos],
        weights: &[u64],
        mut work: impl FnMut(Group<EncodedBlob>),
    ) {
        let frames = self.storage.frames();
        let frames = match invariant!(frames, "frames are read only from storages of frames") {
            Ok(frames) => frames,
            Err(bug) => {
                return work(positions.iter().map(|at| (*at, Err(bug.clone().into()))).collect());
            }
        };
        let mut groups = Groups::new(self, &mut work);
        if self.storage.knows_sizes() {
            for (number, at) in positions.iter().enumerate() {
                let size = || self.known_size(*at).and_then(|size| size.stored).unwrap_or_default();
                let size = weights.get(number).copied().unwrap_or_else(size);
                let read =
                    || invariant!(frames.read_frames(&[*at]).pop(), "one chunk has one result")?;
                groups.add(*at, size, read);
            }
        } else {
            for (at, blob) in positions.iter().zip(frames.read_frames(positions)) {
                let found = blob.as_ref().ok().and_then(Option::as_ref);
                let bytes = found.map_or(0, |blob| blob.stored().len() as u64);
                groups.add(*at, bytes, || blob);
            }
        }
        groups.flush();
    }
}

/// A chunk that was read with all checks of its container.
pub(crate) struct Verified {
    pub(crate) at: ChunkPos,
    pub(crate) document: Result<Option<Vec<u8>>>,
    /// Damage that does not keep the game from reading the chunk.
    pub(crate) damage: Option<Damage>,
    /// The hash of the stored blob, if it was requested.
    pub(crate) stored: Option<ShortHash>,
}

impl Reader<'_> {
    /// Reads documents one by one like [`documents`](Self::documents), and checks the lengths and
    /// the seals of compressed frames completely.
    pub(crate) fn verified(
        &self,
        Batch { positions, weights, .. }: &Batch,
        has_hashes: bool,
        mut work: impl FnMut(Verified),
    ) {
        let Some(frames) = self.storage.frames().filter(|_| self.storage.knows_sizes()) else {
            return self.documents(positions, weights, |group| {
                for (at, document) in group {
                    work(Verified { at, document, damage: None, stored: None });
                }
            });
        };
        for (number, at) in positions.iter().enumerate() {
            let raw = self.raw_bytes(*at, weights.get(number));
            let is_large = raw > self.batch_bytes;
            let lock = || self.oversize.lock().unwrap_or_else(PoisonError::into_inner);
            let alone = is_large.then(lock);
            let blob = frames.read_frames(&[*at]).pop();
            let blob = invariant!(blob, "one chunk has one result").map_err(Error::from);
            let blob = blob.flatten();
            let stored = blob.as_ref().ok().filter(|_| has_hashes).and_then(Option::as_ref);
            let stored = stored.map(|blob| ShortHash::of(blob.stored()));
            work(Verified { stored, ..verify_blob(*at, blob) });
            drop(alone);
        }
    }
}

fn verify_blob(at: ChunkPos, blob: Result<Option<EncodedBlob>>) -> Verified {
    let slot = Slot::new(at.slot().index().into());
    let mut document = spare::take();
    let verified = blob.map(|blob| blob.map(|blob| blob.verify(slot, &mut document)));
    let (document, damage) = match verified {
        Ok(Some(Ok(damage))) => (Ok(Some(document)), damage),
        Ok(Some(Err(damage))) => {
            let source = hyworld_indexed_storage::Error::NotABlob { damage }.into();
            (Err(Error::Damaged { at, source }), None)
        }
        Ok(None) => (Ok(None), None),
        Err(error) => (Err(error), None),
    };
    Verified { at, document, damage, stored: None }
}

fn decompress(at: ChunkPos, blob: Result<Option<EncodedBlob>>) -> Result<Option<Vec<u8>>> {
    let Some(blob) = blob? else { return Ok(None) };
    let document = blob.document(Slot::new(at.slot().index().into()));
    document.map(Some).map_err(|error| Error::Damaged { at, source: error.into() })
}

/// Collects chunks up to the maximum size of a batch.
struct Groups<'r, 'a, C> {
    reader: &'r Reader<'a>,
    group: Group<C>,
    bytes: u64,
    work: &'r mut dyn FnMut(Group<C>),
}

impl<'r, 'a, C> Groups<'r, 'a, C> {
    fn new(reader: &'r Reader<'a>, work: &'r mut dyn FnMut(Group<C>)) -> Self {
        Self { reader, group: Vec::new(), bytes: 0, work }
    }

    fn add(&mut self, at: ChunkPos, bytes: u64, read: impl FnOnce() -> Result<Option<C>>) {
        let limit = self.reader.batch_bytes;
        if self.bytes.saturating_add(bytes) > limit {
            self.flush();
        }
        if bytes > limit {
            let alone = self.reader.oversize.lock().unwrap_or_else(PoisonError::into_inner);
            (self.work)(vec![(at, read())]);
            drop(alone);
            return;
        }
        self.group.push((at, read()));
        self.bytes = self.bytes.saturating_add(bytes);
        if self.group.len() >= self.reader.group_chunks {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.bytes = 0;
        if !self.group.is_empty() {
            (self.work)(std::mem::take(&mut self.group));
        }
    }
}
