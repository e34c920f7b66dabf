//! One value for each column of a chunk: a list of keys, and an index into it per column.
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

/// The number of keys that a ten-bit index can address.
const KEYS_MAX: usize = 1024;

/// The height of the highest opaque block in each column; 0 if there is none.
pub type HeightMap = ColumnPalette<i16>;

/// The colour of grass and leaves in each column, as `0xAARRGGBB`. The game always writes an alpha
/// of 255 and uses only the colour.
pub type TintMap = ColumnPalette<i32>;

/// One value for each column of a chunk in its stored form. Use it as [`HeightMap`] or [`TintMap`].
///
/// Keys keep their stored order, including unused ones, so that an unchanged palette encodes to the
/// same bytes. Two palettes are equal if their bytes are equal. Compare [`values`](Self::values) to
/// compare their meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnPalette<K> {
    /// An empty list means key 0 for every index. The game never writes it.
    keys: Vec<K>,
    /// Each index is less than the number of keys, if there are keys.
    indices: TenBitArray,
}

impl<K: ColumnKey> ColumnPalette<K> {
    /// Creates a palette with the same value in every column.
    pub fn uniform(value: K) -> Self {
        Self::from_values(&ColumnArray::filled(value))
    }

    /// Creates the palette that results in the game from setting these values in a new chunk in
    /// column order: key 0 first, used or not, then the other values in order of occurrence.
    pub fn from_values(values: &ColumnArray<K>) -> Self {
        let (keys, indices) = number_values(values, vec![K::default()]);
        // With 1024 other values there is no room for the leading 0.
        let (keys, indices) =
            if keys.len() > KEYS_MAX { number_values(values, Vec::new()) } else { (keys, indices) };
        Self { keys, indices: TenBitArray::pack(&indices) }
    }

    /// Returns the value of one column.
    pub fn value(&self, column: LocalColumn) -> K {
        self.key(self.indices.get(column))
    }

    /// Returns the values of all columns. Faster than calling [`value`](Self::value) for each.
    pub fn values(&self) -> ColumnArray<K> {
        let indices = self.indices.unpack();
        let values: Vec<K> = indices.iter().map(|&index| self.key(index)).collect();
        ColumnArray::from_vec(values).unwrap_or_else(|| ColumnArray::filled(K::default()))
    }

    /// Returns the listed values, including unused ones.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// Sets the value of a column. Returns whether it changed.
    ///
    /// As in the game, a new value is appended to the keys. Unused keys stay until the list is
    /// full; it is then rebuilt in column order.
    pub fn set(&mut self, column: LocalColumn, value: K) -> bool {
        if self.value(column) == value {
            return false;
        }
        if self.keys.is_empty() {
            *self = Self::default();
        }
        // A key past the last addressable index counts as new.
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

    /// Removes `value` from the list if it is the last key and no column has it. The game would
    /// keep it; removing it restores the bytes from before the value was added.
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
    /// Returns an error if the bytes are truncated, the key count is negative, the indices are not
    /// 1280 bytes long, or an index has no key.
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
        // Always fits: the count was read from an i16 or is at most 1024.
        out.extend(i16::try_from(self.keys.len()).unwrap_or(i16::MAX).to_le_bytes());
        for &key in &self.keys {
            key.put(out);
        }
        let bytes = self.indices.as_bytes();
        out.extend(i32::try_from(bytes.len()).unwrap_or(i32::MAX).to_le_bytes());
        out.extend(bytes);
    }
}

/// Value 0 in every column, as in a new chunk.
impl<K: ColumnKey> Default for ColumnPalette<K> {
    fn default() -> Self {
        Self { keys: vec![K::default()], indices: TenBitArray::zeros() }
    }
}

/// Assigns an index to each value in column order, after the given keys.
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

/// Checks that every index has a key. Without keys the indices are not used.
fn check_indices(indices: &TenBitArray, keys: usize, start: usize) -> Result<(), Malformed> {
    if keys == 0 || keys >= KEYS_MAX || usize::from(indices.bits_used()) < keys {
        return Ok(());
    }
    let numbers = indices.unpack();
    // A loop without an early exit takes a tenth of the time.
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

/// The value type of a [`ColumnPalette`]: `i16` or `i32`.
pub trait ColumnKey: Copy + Default + Eq + Hash + fmt::Debug + stored::Stored {}

mod stored {
    /// The stored form of a key. Prevents other crates from adding key types.
    pub trait Stored: Sized {
        const BYTES: usize;

        /// Reads all keys in the bytes.
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
