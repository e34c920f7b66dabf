//! The fields of a column: heights, tints and environments.

use super::palette::Layer;
use super::section::PlainSection;
use crate::bit_array::{PACKED_BYTES, groups_of_four};
use crate::palette::NAME_CHARS_MAX;
use crate::wire::Reader;

const COLUMNS: usize = 1024;

/// The heights of the columns of a plain chunk.
pub(super) struct Heights<'a> {
    keys: Vec<i16>,
    /// The index of each column's key, packed.
    indices: &'a [u8; PACKED_BYTES],
}

impl<'a> Heights<'a> {
    /// Checks `BlockChunk.Data`.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(data);
        if reader.u8().ok()? > 1 {
            return None;
        }
        let count = key_count(&mut reader)?;
        let mut keys = Vec::with_capacity(count);
        let mut seen = [false; 320];
        for _ in 0..count {
            let key = reader.i16_le().ok()?;
            let seen = seen.get_mut(usize::try_from(key).ok()?)?;
            if std::mem::replace(seen, true) {
                return None;
            }
            keys.push(key);
        }
        let indices = indices(&mut reader, count)?;
        let count = key_count(&mut reader)?;
        let tints = reader.bytes(count.checked_mul(4)?).ok()?.as_chunks::<4>().0;
        let is_plain = |tint: &[u8; 4]| tint.last() == Some(&0xFF) || *tint == [0; 4];
        let are_plain = tints.iter().all(is_plain) && are_distinct(tints);
        self::indices(&mut reader, count)?;
        (are_plain && reader.left() == 0).then_some(Self { keys, indices })
    }

    /// Returns whether the block at the height of each column is not air. Height 0 means that the
    /// column has no opaque block.
    pub(super) fn are_on_blocks(&self, sections: &[PlainSection<'_>; 10]) -> bool {
        let layer = |height: &i16| match usize::try_from(*height) {
            Ok(height @ 1..) => sections.get(height >> 5)?.blocks.layer(height & 31),
            _ => Some(Layer::Any),
        };
        let layers: Vec<_> = self.keys.iter().map(layer).collect();
        groups_of_four(self.indices).flatten().enumerate().all(|(column, index)| {
            let layer = layers.get(usize::from(index)).and_then(Option::as_ref);
            layer.is_some_and(|layer| layer.has_block(column))
        })
    }
}

/// Returns whether no tint occurs twice.
fn are_distinct(tints: &[[u8; 4]]) -> bool {
    // Has a bit for each hash that was seen, so that few tints are compared with all before them.
    let mut seen = [0_u64; 64];
    tints.iter().enumerate().all(|(number, tint)| {
        let hash = u32::from_le_bytes(*tint).wrapping_mul(0x9E37_79B1) >> 20;
        let bit = 1 << (hash & 63);
        let is_new = seen.get_mut((hash >> 6) as usize).is_some_and(|word| {
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        });
        is_new || tints.get(..number).is_some_and(|known| !known.contains(tint))
    })
}

fn key_count(reader: &mut Reader<'_>) -> Option<usize> {
    usize::try_from(reader.i16_le().ok()?).ok().filter(|count| (1..=COLUMNS).contains(count))
}

/// Reads the packed index of each column, which must be below `keys`.
fn indices<'a>(reader: &mut Reader<'a>, keys: usize) -> Option<&'a [u8; PACKED_BYTES]> {
    (usize::try_from(reader.i32_le().ok()?) == Ok(PACKED_BYTES)).then_some(())?;
    let indices = reader.bytes(PACKED_BYTES).ok()?.as_array()?;
    let greatest = groups_of_four(indices).flatten().fold(0, u16::max);
    (usize::from(greatest) < keys).then_some(indices)
}

/// Checks `EnvironmentChunk.Data`.
pub(super) fn has_plain_environments(data: &[u8]) -> bool {
    environments(data).is_some()
}

fn environments(data: &[u8]) -> Option<()> {
    let mut reader = Reader::new(data);
    let count = reader.i32().ok()?;
    let count = reader.count(count, 6).ok()?;
    let mut ids = Ids::new(count);
    let mut names: Vec<&str> = Vec::with_capacity(count);
    for _ in 0..count {
        let (id, name) = (reader.bytes(4).ok()?.as_array()?, reader.utf().ok()?);
        if ids.listed.contains(id) || names.contains(&name) || name.len() > NAME_CHARS_MAX {
            return None;
        }
        ids.add(*id);
        names.push(name);
    }
    let (words, rest) = reader.bytes(reader.left()).ok()?.as_chunks::<4>();
    rest.is_empty().then_some(())?;
    columns(words, &ids)
}

/// The listed environment ids, as they are stored.
struct Ids {
    listed: Vec<[u8; 4]>,
    /// For each value of the last byte, one of the listed ids that end with it, or 0. The other ids
    /// are only in `listed`.
    by_last_byte: [[u8; 4]; 256],
}

impl Ids {
    /// Creates a list of the id 0, which need not be listed.
    fn new(capacity: usize) -> Self {
        Self { listed: Vec::with_capacity(capacity), by_last_byte: [[0; 4]; 256] }
    }

    fn add(&mut self, id: [u8; 4]) {
        let [.., last] = id;
        let known = self.by_last_byte.get_mut(usize::from(last));
        if let Some(known) = known.filter(|_| last != 0) {
            *known = id;
        }
        self.listed.push(id);
    }

    #[inline]
    fn contains(&self, id: [u8; 4]) -> bool {
        let [.., last] = id;
        self.by_last_byte.get(usize::from(last)) == Some(&id) || self.listed.contains(&id)
    }
}

fn columns(words: &[[u8; 4]], ids: &Ids) -> Option<()> {
    let len = column_words(words)?;
    let first = words.get(..len)?;
    column(first, ids)?;
    // Often all columns are equal: then the words are equal to themselves, shifted by a column.
    let is_repeated = words.len() == len.checked_mul(COLUMNS)?
        && words.get(len..)? == words.get(..words.len().checked_sub(len)?)?;
    if is_repeated {
        return Some(());
    }
    let (mut before, mut rest) = (first, words.get(len..)?);
    for _ in 1..COLUMNS {
        let (next, after) = rest.split_at_checked(column_words(rest)?)?;
        if next != before {
            column(next, ids)?;
        }
        (before, rest) = (next, after);
    }
    rest.is_empty().then_some(())
}

/// Returns the number of words of the first column.
fn column_words(words: &[[u8; 4]]) -> Option<usize> {
    let runs = usize::try_from(i32::from_be_bytes(*words.first()?)).ok()?;
    runs.checked_add(1)?.checked_mul(2)
}

/// Checks one column: heights ascend, adjacent runs differ, and ids are listed.
fn column(words: &[[u8; 4]], ids: &Ids) -> Option<()> {
    let (_, words) = words.split_first()?;
    let (heights, runs) = words.split_at_checked(words.len() / 2)?;
    let (mut last_id, runs) = runs.split_first()?;
    let (mut last_height, mut is_plain) = (i64::MIN, ids.contains(*last_id));
    // No early exit, because it would rarely be taken. There is one height between two runs.
    for (height, id) in heights.iter().zip(runs) {
        let height = i64::from(i32::from_be_bytes(*height));
        is_plain &= last_height < height;
        is_plain &= last_id != id;
        is_plain &= ids.contains(*id);
        (last_height, last_id) = (height, id);
    }
    is_plain.then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_tints_are_found() {
        let mut tints: Vec<[u8; 4]> = (0..1000_u32).map(|n| (n * 7919).to_le_bytes()).collect();
        assert!(are_distinct(&tints));
        for at in [1, 500, 999] {
            let before = std::mem::replace(&mut tints[at], (3 * 7919_u32).to_le_bytes());
            assert!(!are_distinct(&tints), "{at}");
            tints[at] = before;
        }
        assert!(are_distinct(&tints) && are_distinct(&[]));
    }

    #[test]
    fn environments_are_listed_except_0() {
        let mut ids = Ids::new(3);
        for id in [7_i32, 7 + 256, 512] {
            ids.add(id.to_be_bytes());
        }
        for id in [0, 7, 7 + 256, 512] {
            assert!(ids.contains(i32::to_be_bytes(id)), "{id}");
        }
        for id in [1, 256, 7 + 512, -1, i32::MIN] {
            assert!(!ids.contains(i32::to_be_bytes(id)), "{id}");
        }
    }

    #[test]
    fn columns_ascend_and_change() {
        let mut ids = Ids::new(1);
        ids.add([0, 0, 0, 9]);
        let is_plain = |numbers: &[i32]| {
            let words: Vec<_> = numbers.iter().map(|number| number.to_be_bytes()).collect();
            column(&words, &ids).is_some()
        };
        assert!(is_plain(&[0, 9]) && is_plain(&[2, i32::MIN, 5, 0, 9, 0]));
        assert!(!is_plain(&[0, 8]) && !is_plain(&[1, 3, 9, 9]) && !is_plain(&[1, 3, 8, 9]));
        assert!(!is_plain(&[2, 5, 5, 0, 9, 0]) && !is_plain(&[2, 5, -5, 0, 9, 0]));
    }
}
