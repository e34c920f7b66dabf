//! In what two storages differ.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::batches::{Batch, for_each_batch};
use crate::progress::Progress;

/// In what two storages differ about a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// Only the first has it.
    OnlyFirst(ChunkPos),
    /// Only the second has it.
    OnlySecond(ChunkPos),
    /// Both have it, with other documents.
    Content(ChunkPos),
    /// It could not be found out.
    Unknown {
        /// The chunk, if it is about one.
        chunk: Option<ChunkPos>,
        /// Why.
        message: String,
    },
}

/// What a comparison came to. The differences themselves were handed out one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompareReport {
    /// Chunks with the same document in both.
    pub same: u64,
    /// Differences.
    pub different: u64,
}

/// Compares the documents of two storages, however they are compressed, on up to `jobs` threads.
/// `found` gets each difference.
pub fn compare(
    first: &dyn ChunkStorage,
    second: &dyn ChunkStorage,
    jobs: NonZeroUsize,
    found: &mut (dyn FnMut(&Difference) + Send),
    progress: &dyn Progress,
) -> CompareReport {
    let state = Mutex::new((CompareReport::default(), found));
    let tell = |same: u64, differences: Vec<Difference>| {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, found) = &mut *state;
        report.same = report.same.saturating_add(same);
        report.different = report.different.saturating_add(differences.len() as u64);
        for difference in &differences {
            found(difference);
        }
    };
    for_each_batch(first, jobs, |batch| {
        let chunks = batch.positions.len() as u64;
        let (same, differences) = compare_batch(first, second, batch);
        tell(same, differences);
        progress.advance(chunks);
    });
    for_each_batch(second, jobs, |batch| {
        let mut differences = unknown(batch.errors);
        for at in batch.positions {
            // What the first cannot read was said when it was read.
            if matches!(first.contains(at), Ok(false)) {
                differences.push(Difference::OnlySecond(at));
            }
        }
        tell(0, differences);
    });
    state.into_inner().unwrap_or_else(PoisonError::into_inner).0
}

fn unknown(errors: Vec<hyworld_providers::Error>) -> Vec<Difference> {
    let errors = errors.into_iter();
    errors.map(|error| Difference::Unknown { chunk: None, message: error.to_string() }).collect()
}

fn compare_batch(
    first: &dyn ChunkStorage,
    second: &dyn ChunkStorage,
    batch: Batch,
) -> (u64, Vec<Difference>) {
    let mut differences = unknown(batch.errors);
    let mut same = 0_u64;
    let (a, b) = (first.read_many(&batch.positions), second.read_many(&batch.positions));
    for (at, pair) in batch.positions.into_iter().zip(a.into_iter().zip(b)) {
        match pair {
            (Ok(a), Ok(b)) if a == b => same = same.saturating_add(u64::from(a.is_some())),
            (Ok(Some(_)), Ok(Some(_))) => differences.push(Difference::Content(at)),
            (Ok(Some(_)), Ok(None)) => differences.push(Difference::OnlyFirst(at)),
            (Ok(None), Ok(_)) => differences.push(Difference::OnlySecond(at)),
            (Err(error), _) | (_, Err(error)) => {
                let message = error.to_string();
                differences.push(Difference::Unknown { chunk: Some(at), message });
            }
        }
    }
    (same, differences)
}
