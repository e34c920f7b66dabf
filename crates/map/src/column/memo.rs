//! [`TileMemo`]: chunks with equal documents are decoded once.

use std::sync::{Arc, Mutex, PoisonError};

use hyworld_chunk::{Chunk, Error};

use super::{Facts, Other, Tile, TileReader};

/// Decodes documents, and remembers the last one: most chunks of flat and empty worlds have equal
/// documents.
#[derive(Debug, Default)]
pub struct TileMemo {
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    /// The length of the last document. The bytes of the next one are kept only if it has the same
    /// length, so that worlds without equal chunks have no extra cost.
    len: usize,
    /// How many documents were kept since the last one that was equal.
    misses: u32,
    kept: Option<Arc<(Vec<u8>, Tile)>>,
}

/// After this many different documents of the same length, none is kept until `RETRY`.
const TRIES: u32 = 4;
const RETRY: u32 = 256;

impl Last {
    /// Counts a document that is not the kept one. Returns whether the next one may be equal to it.
    fn is_likely(&mut self, len: usize) -> bool {
        let has_same_len = std::mem::replace(&mut self.len, len) == len;
        let is_likely = has_same_len && self.misses % RETRY < TRIES;
        self.misses = self.misses.wrapping_add(u32::from(has_same_len));
        is_likely
    }
}

impl TileMemo {
    /// Decodes a document, or returns why it cannot be drawn. `document` is then a buffer for
    /// another document, with arbitrary contents.
    pub fn tile(&self, reader: &TileReader<'_>, document: &mut Vec<u8>) -> (Tile, Option<Error>) {
        let lock = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Compared without the lock, so that threads do not wait for each other.
        let kept = lock().kept.clone();
        if let Some((bytes, tile)) = kept.as_deref()
            && *bytes == *document
        {
            lock().misses = 0;
            return (tile.clone(), None);
        }
        let copy = lock().is_likely(document.len()).then(|| document.clone());
        let chunk = Chunk::decode(std::mem::take(document));
        let decoded = chunk.as_ref().map_err(Clone::clone);
        let (tile, error) = reader.tile(decoded, Facts::default(), Other::None);
        *document = chunk.map(Chunk::into_buffer).unwrap_or_default();
        if let (Some(bytes), Tile::Columns(columns)) = (copy, &tile) {
            lock().kept = Some(Arc::new((bytes, Tile::Columns(Arc::clone(columns)))));
        }
        (tile, error)
    }
}
