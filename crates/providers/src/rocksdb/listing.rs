//! Lists the positions of all chunks.
//!
//! `RocksDB` fetches the document of every chunk it visits (the crate `rocksdb` 0.25 has no option
//! to fetch only keys), so listing takes as long as reading everything. If a document cannot be
//! fetched, `RocksDB` stops without reporting the key. The listing then searches for that key and
//! continues after it, so that one damaged chunk does not hide all later ones.

use std::path::Path;

use ::rocksdb::{ColumnFamily, DB, DBRawIterator};
use hyworld_coords::ChunkPos;

use super::key::{self, KEY_BYTES};
use super::{error, options};
use crate::error::{Error, Result};

/// An iterator over the positions of all chunks, in key order.
pub(super) struct Listing<'a> {
    folder: &'a Path,
    db: &'a DB,
    chunks: &'a ColumnFamily,
    keys: DBRawIterator<'a>,
    state: State,
    /// Everything before this key was listed.
    from: Vec<u8>,
    has_reported_unknown: bool,
}

enum State {
    /// The iterator must seek to `from`.
    Unplaced,
    /// The iterator is at the next key, at the end, or at damage.
    Placed,
    Done,
}

impl<'a> Listing<'a> {
    /// Creates a listing. If `has_reported_unknown` is set, unknown keys are not reported.
    pub(super) fn new(
        folder: &'a Path,
        db: &'a DB,
        chunks: &'a ColumnFamily,
        has_reported_unknown: bool,
    ) -> Self {
        let keys = db.raw_iterator_cf_opt(chunks, options::listing());
        let (state, from) = (State::Unplaced, Vec::new());
        Self { folder, db, chunks, keys, state, from, has_reported_unknown }
    }

    /// Returns an error for the first key that is not a chunk key.
    fn unknown_key(&mut self, bytes: usize) -> Option<Error> {
        if std::mem::replace(&mut self.has_reported_unknown, true) {
            return None;
        }
        let part = format!("keys that are not {KEY_BYTES} bytes long (one has {bytes})");
        Some(error::newer_layout(self.folder, part))
    }

    /// Finds the damage at which the iterator stopped and continues the listing after it. Returns
    /// the position if only the document is damaged, and an error if keys are.
    fn skip_damage(&mut self, damage: &::rocksdb::Error) -> Result<ChunkPos> {
        let first = self.first_number();
        let number = lowest(first, |number| self.has_key_up_to(number));
        self.state = State::Unplaced;
        if self.db.get_pinned_cf(self.chunks, number.to_be_bytes()).is_err() {
            // The key exists; only its document cannot be read.
            self.continue_at(number.checked_add(1));
            return Ok(key::position(number));
        }
        // The keys themselves cannot be read.
        let next = (!self.is_damage_at(u64::MAX)).then(|| lowest(first, |n| !self.is_damage_at(n)));
        self.continue_at(next);
        let until = next.map_or("the last".to_owned(), |next| key::position(next).to_string());
        let problem = format!("from chunk {} to {until}: {damage}", key::position(first));
        Err(error::engine(self.folder, "list all chunks", problem))
    }

    fn continue_at(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.from = number.to_be_bytes().to_vec(),
            None => self.state = State::Done,
        }
    }

    /// Returns the lowest number whose key may be at or after `from`.
    fn first_number(&self) -> u64 {
        let mut bytes = [0; KEY_BYTES];
        for (byte, from) in bytes.iter_mut().zip(&self.from) {
            *byte = *from;
        }
        u64::from_be_bytes(bytes)
    }

    /// Returns whether there is a key between `from` and this number. Also works if its document
    /// cannot be fetched, because `RocksDB` checks the bound first.
    fn has_key_up_to(&self, number: u64) -> bool {
        let mut options = options::listing();
        if let Some(end) = number.checked_add(1) {
            options.set_iterate_upper_bound(end.to_be_bytes());
        }
        let mut keys = self.db.raw_iterator_cf_opt(self.chunks, options);
        keys.seek(&self.from);
        keys.valid() || keys.status().is_err()
    }

    fn is_damage_at(&self, number: u64) -> bool {
        let mut keys = self.db.raw_iterator_cf_opt(self.chunks, options::listing());
        keys.seek(number.to_be_bytes());
        keys.status().is_err()
    }
}

/// Returns the lowest number from `first` on for which `has_property` is true. It must be true for
/// all higher numbers as well.
fn lowest(first: u64, has_property: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (first, u64::MAX);
    while low < high {
        let middle = low.midpoint(high);
        if has_property(middle) {
            high = middle;
        } else {
            low = middle.saturating_add(1);
        }
    }
    high
}

impl Iterator for Listing<'_> {
    type Item = Result<ChunkPos>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.state {
                State::Done => return None,
                State::Unplaced => {
                    self.keys.seek(&self.from);
                    self.state = State::Placed;
                }
                State::Placed => {}
            }
            let Some(key) = self.keys.key() else {
                let damage = self.keys.status().err();
                if damage.is_none() {
                    self.state = State::Done;
                }
                return damage.map(|damage| self.skip_damage(&damage));
            };
            let (at, bytes) = (key::decode(key), key.len());
            // The lowest key above this one.
            self.from.clear();
            self.from.extend_from_slice(key);
            self.from.push(0);
            self.keys.next();
            match at {
                Some(at) => return Some(Ok(at)),
                None => {
                    if let Some(error) = self.unknown_key(bytes) {
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_number_is_found() {
        for wanted in [0, 1, 77, u64::MAX - 1, u64::MAX] {
            assert_eq!(lowest(0, |number| number >= wanted), wanted);
        }
        assert_eq!(lowest(500, |_| true), 500);
        assert_eq!(lowest(u64::MAX, |_| false), u64::MAX);
    }
}
