//! [`PastState`]: the chunks of a backup or manifest, for the layer `age`.

use std::collections::HashMap;
use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_maintenance::{Manifest, Progress, ScanOptions, Scanned, ShortHash, scan};

use crate::error::Result;
use crate::location::Location;
use crate::sources::time_of;

/// The hashes of all chunks at a time in the past.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastState {
    /// The time, in milliseconds since 1970.
    pub time_ms: u64,
    /// The hashes of the documents.
    chunks: HashMap<ChunkPos, ShortHash>,
}

impl PastState {
    /// Reads a manifest of `hyworld verify --manifest`, a backup or a world.
    ///
    /// # Errors
    /// Returns an error if it cannot be read. Single chunks that cannot be read are left out.
    pub fn open(path: &Path, options: &ScanOptions, progress: &dyn Progress) -> Result<Self> {
        if path.is_file() && Manifest::is_at(path) {
            let manifest = Manifest::read(path)?;
            let chunks = manifest.chunks.iter().map(|(at, record)| (*at, record.hash)).collect();
            return Ok(Self { time_ms: manifest.written_ms, chunks });
        }
        let location = Location::source(path)?;
        let storage = location.open()?;
        let mut chunks = HashMap::new();
        let hash = |_, document: hyworld_providers::Result<Option<Vec<u8>>>| {
            document.ok().flatten().map(|document| ShortHash::of(&document))
        };
        // The scan is cancelled only by the caller.
        let _completion = scan(&*storage, options, hash, |step| {
            if let Scanned::Chunk(at, Some(hash)) = step {
                chunks.insert(at, hash);
            }
            progress.advance(1);
        });
        Ok(Self { time_ms: time_of(&location).unwrap_or(0), chunks })
    }

    /// Returns a hash of everything in it.
    pub(super) fn digest(&self) -> u128 {
        let mut sum = u128::from(self.time_ms);
        for (at, hash) in &self.chunks {
            let text = format!("{},{} {hash}", at.x, at.z);
            sum = sum.wrapping_add(ShortHash::of(text.as_bytes()).to_number());
        }
        sum
    }
}

/// Returns how long a chunk was unchanged before the newest past state, in seconds: 0 if it differs
/// from that one, and at least 1 otherwise.
pub(super) fn age_seconds(history: &[PastState], at: ChunkPos, now: ShortHash) -> Option<u64> {
    let newest = history.first()?;
    let is_same = |past: &&PastState| past.chunks.get(&at) == Some(&now);
    let oldest = history.iter().take_while(is_same).last();
    let age = |past: &PastState| newest.time_ms.saturating_sub(past.time_ms) / 1_000;
    Some(oldest.map_or(0, |past| age(past).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_is_that_of_the_oldest_equal_state() {
        let at = ChunkPos::new(1, 2);
        let [a, b] = [b"a", b"b"].map(|bytes| ShortHash::of(bytes));
        let past = |days: u64, hash| PastState {
            time_ms: (100 - days) * 86_400_000,
            chunks: [(at, hash)].into(),
        };
        let history = [past(0, a), past(2, a), past(9, b), past(20, a)];
        assert_eq!(age_seconds(&history, at, a), Some(2 * 86_400));
        assert_eq!(age_seconds(&history, at, b), Some(0), "it changed after the newest one");
        assert_eq!(age_seconds(&history[..1], at, a), Some(1));
        assert_eq!(age_seconds(&history, ChunkPos::new(0, 0), a), Some(0));
        assert_eq!(age_seconds(&[], at, a), None);
    }
}
