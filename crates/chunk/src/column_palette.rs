//! One value for each column of a chunk, as a list of keys and an index into it per column.
//!
//! ```text
//! i16 LE   key count
//! keys     i16 LE each for heights, i32 LE each for tints
//! i32 LE   1280
//! 1280     1024 indices of ten bits, see `bit_array.rs`
//! ```

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use hyworld_coords::{ColumnArray, LocalColumn};

use crate::bit_array::{COUNT, PACKED_BYTES, TenBitArray};
use crate::wire::Reader;
use hyworld_documents::{Malformed, Problem};

/// How many keys an index of ten bits can name.
const KEYS_MAX: usize = 1024;

/// The greatest height of a block in each column that one cannot see through, 0 where there is
/// none.
pub type HeightMap = ColumnPalette<i16>;

/// The colour of grass and leaves in each column, as the bits of `0xAARRGGBB`. The game always
/// writes an alpha of 255 and uses only the other three.
pub type TintMap = ColumnPalette<i32>;

/// One value for each column of a chunk, as stored. Use it as [`HeightMap`] or [`TintMap`].
///
/// Keys are kept as they were read, in order and including those that no column uses, so that
/// what is not changed encodes to the bytes that it came from. Two palettes are equal if their
/// bytes are; to compare what they mean compare their [`values`](Self::values).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnPalette<K> {
    /// No keys at all stand for the single key 0, whatever the indices say. The game accepts
    /// that but never writes it.
    keys: Vec<K>,
    /// Each less than the number of keys, if there are keys.
    indices: TenBitArray,
}

impl<K: ColumnKey> ColumnPalette<K> {
    /// The same value in every column.
    pub fn uniform(value: K) -> Self {
        Self::from_values(&ColumnArray::filled(value))
    }

    /// The palette that the game has after setting these values in a new chunk, column by column:
    /// key 0 first, used or not, then the other values as they appear.
    pub fn from_values(values: &ColumnArray<K>) -> Self {
        let (keys, indices) = number_values(values, vec![K::default()]);
        // The leading 0 is one too many if 1024 other values are there.
        let (keys, indices) =
            if keys.len() > KEYS_MAX { number_values(values, Vec::new()) } else { (keys, indices) };
        Self { keys, indices: TenBitArray::pack(&indices) }
    }

    /// The value of one column.
    pub fn value(&self, column: LocalColumn) -> K {
        self.key(self.indices.get(column))
    }

    /// The values of all columns; faster than to ask for each.
    pub fn values(&self) -> ColumnArray<K> {
        let indices = self.indices.unpack();
        let values: Vec<K> = indices.iter().map(|&index| self.key(index)).collect();
        ColumnArray::from_vec(values).unwrap_or_else(|| ColumnArray::filled(K::default()))
    }

    /// The distinct values as listed, also those that no column has.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// Gives a column another value, and says whether that changed anything.
    ///
    /// As in the game, a new value becomes the last key, and keys that are no longer used stay
    /// until there are too many: then they are listed anew in the order of the columns.
    pub fn set(&mut self, column: LocalColumn, value: K) -> bool {
        if self.value(column) == value {
            return false;
        }
        if self.keys.is_empty() {
            *self = Self::default();
        }
        // Behind the last key that an index can name, known is as good as new.
        let known = self.keys.iter().position(|&key| key == value);
        let index = known.unwrap_or(self.keys.len());
        match u16::try_from(index) {
            Ok(number) if index < KEYS_MAX => {
                if known.is_none() {
                    self.keys.push(value);
                }
                self.indices.set(column, number);
            }
            _ => self.rebuild_with(column, value),
        }
        true
    }

    /// Takes a value off the list if it is the last one there and no column has it. The game would
    /// leave it there; without it a value that came and went leaves no trace.
    pub(crate) fn forget_last(&mut self, value: K) {
        let Some((last, others)) = self.keys.split_last() else { return };
        let is_used = |number: usize| {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            self.indices.unpack().contains(&number)
        };
        if *last == value && !others.is_empty() && !is_used(others.len()) {
            self.keys.pop();
        }
    }

    fn rebuild_with(&mut self, column: LocalColumn, value: K) {
        let mut values = self.values();
        values[column] = value;
        let (keys, indices) = number_values(&values, Vec::new());
        *self = Self { keys, indices: TenBitArray::pack(&indices) };
    }

    fn key(&self, index: u16) -> K {
        self.keys.get(usize::from(index)).copied().unwrap_or_default()
    }

    /// # Errors
    /// If the bytes end, the key count is negative, the indices have another length than 1280
    /// bytes, or an index names no key.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.i16_le()?;
        let count = reader.count(count.into(), K::BYTES)?;
        let keys = K::read_all(reader.bytes(count.saturating_mul(K::BYTES))?);
        let at = reader.at();
        let found = reader.i32_le()?;
        let wrong_length = || {
            let what = "the length of the column indices";
            let problem = Problem::Value { what, found: found.into(), expected: "1280 bytes" };
            Malformed { at, problem }
        };
        if usize::try_from(found).ok() != Some(PACKED_BYTES) {
            return Err(wrong_length());
        }
        let start = reader.at();
        let indices =
            TenBitArray::from_bytes(reader.bytes(PACKED_BYTES)?).ok_or_else(wrong_length)?;
        check_indices(&indices, keys.len(), start)?;
        Ok(Self { keys, indices })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        // Never more than an i16 can say: read from one, or at most 1024.
        out.extend(i16::try_from(self.keys.len()).unwrap_or(i16::MAX).to_le_bytes());
        for &key in &self.keys {
            key.put(out);
        }
        let bytes = self.indices.as_bytes();
        out.extend(i32::try_from(bytes.len()).unwrap_or(i32::MAX).to_le_bytes());
        out.extend(bytes);
    }
}

/// Value 0 in every column: what a new chunk has.
impl<K: ColumnKey> Default for ColumnPalette<K> {
    fn default() -> Self {
        Self { keys: vec![K::default()], indices: TenBitArray::zeros() }
    }
}

/// Numbers the values in the order of the columns, after those that are numbered already.
fn number_values<K: ColumnKey>(
    values: &ColumnArray<K>,
    mut keys: Vec<K>,
) -> (Vec<K>, [u16; COUNT]) {
    let mut numbers: HashMap<K, u16> = keys.iter().copied().zip(0..).collect();
    let mut indices = [0; COUNT];
    for (&value, index) in values.values().zip(&mut indices) {
        let next = u16::try_from(keys.len()).unwrap_or(u16::MAX);
        *index = *numbers.entry(value).or_insert_with(|| {
            keys.push(value);
            next
        });
    }
    (keys, indices)
}

/// An index that names no key would have no value. Without keys nothing looks at the indices.
fn check_indices(indices: &TenBitArray, keys: usize, start: usize) -> Result<(), Malformed> {
    if keys == 0 || keys >= KEYS_MAX || usize::from(indices.bits_used()) < keys {
        return Ok(());
    }
    let numbers = indices.unpack();
    // Asked without a way out of the loop, this takes a tenth of the time.
    let greatest = numbers.iter().fold(0, |greatest, &index| index.max(greatest));
    if usize::from(greatest) < keys {
        return Ok(());
    }
    match numbers.iter().enumerate().find(|&(_, &index)| usize::from(index) >= keys) {
        None => Ok(()),
        Some((column, &index)) => {
            let (what, expected) = ("the index of a column", "one of the keys");
            let problem = Problem::Value { what, found: index.into(), expected };
            // Ten bits per column, eight per byte.
            Err(Malformed { at: start.saturating_add(column.saturating_mul(10) / 8), problem })
        }
    }
}

/// What a [`ColumnPalette`] holds: `i16` or `i32`, and no other type.
pub trait ColumnKey: Copy + Default + Eq + Hash + fmt::Debug + stored::Stored {}

mod stored {
    /// How a key is stored. Keeps other crates from adding keys that the format does not have.
    pub trait Stored: Sized {
        const BYTES: usize;

        /// As many keys as are in the bytes.
        fn read_all(bytes: &[u8]) -> Vec<Self>;

        fn put(self, out: &mut Vec<u8>);
    }
}

macro_rules! column_key {
    ($type:ty) => {
        impl ColumnKey for $type {}

        impl stored::Stored for $type {
            const BYTES: usize = size_of::<$type>();

            fn read_all(bytes: &[u8]) -> Vec<Self> {
                let (keys, _) = bytes.as_chunks();
                keys.iter().map(|&key| <$type>::from_le_bytes(key)).collect()
            }

            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
        }
    };
}

column_key!(i16);
column_key!(i32);

#[cfg(test)]
mod tests;
