//! The fields of a column: heights, tints and environments.

use super::section::PlainSection;
use crate::bit_array::TenBitArray;
use crate::palette::NAME_CHARS_MAX;
use crate::wire::Reader;

const COLUMNS: usize = 1024;

/// The heights of the columns of a plain chunk.
pub(super) struct Heights {
    keys: Vec<i16>,
    indices: [u16; COLUMNS],
}

impl Heights {
    /// Checks `BlockChunk.Data`.
    pub(super) fn read(data: &[u8]) -> Option<Self> {
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
        let is_plain = |(number, tint): (usize, &[u8; 4])| {
            let is_opaque = tint.last() == Some(&0xFF) || *tint == [0; 4];
            is_opaque && tints.get(..number).is_some_and(|known| !known.contains(tint))
        };
        let are_plain = tints.iter().enumerate().all(is_plain);
        self::indices(&mut reader, count)?;
        (are_plain && reader.left() == 0).then_some(Self { keys, indices })
    }

    /// Returns whether the block at the height of each column is not air. Height 0 means that the
    /// column has no opaque block.
    pub(super) fn are_on_blocks(&self, sections: &[PlainSection<'_>; 10]) -> bool {
        self.indices.iter().enumerate().all(|(column, index)| {
            let height = self.keys.get(usize::from(*index)).copied().unwrap_or(0);
            let height = usize::try_from(height).unwrap_or(0);
            let cell = (height & 31) << 10 | column;
            let section = sections.get(height >> 5);
            height == 0 || section.is_some_and(|section| section.blocks.has_block(cell))
        })
    }
}

fn key_count(reader: &mut Reader<'_>) -> Option<usize> {
    usize::try_from(reader.i16_le().ok()?).ok().filter(|count| (1..=COLUMNS).contains(count))
}

/// Reads the indices into a list of this many keys.
fn indices(reader: &mut Reader<'_>, keys: usize) -> Option<[u16; COLUMNS]> {
    (reader.i32_le().ok()? == 1280).then_some(())?;
    let indices = TenBitArray::from_bytes(reader.bytes(1280).ok()?)?.unpack();
    let greatest = indices.iter().copied().fold(0, u16::max);
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
    let mut ids: Vec<i32> = Vec::with_capacity(count);
    let mut names: Vec<&str> = Vec::with_capacity(count);
    for _ in 0..count {
        let (id, name) = (reader.i32().ok()?, reader.utf().ok()?);
        if ids.contains(&id) || names.contains(&name) || name.len() > NAME_CHARS_MAX {
            return None;
        }
        ids.push(id);
        names.push(name);
    }
    let (words, rest) = reader.bytes(reader.left()).ok()?.as_chunks::<4>();
    rest.is_empty().then_some(())?;
    columns(words, &ids)
}

fn columns(words: &[[u8; 4]], ids: &[i32]) -> Option<()> {
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

/// Checks one column: heights ascend, adjacent runs differ, and ids are listed. The id 0 need not
/// be listed.
fn column(words: &[[u8; 4]], ids: &[i32]) -> Option<()> {
    let (_, words) = words.split_first()?;
    let (heights, runs) = words.split_at_checked(words.len() / 2)?;
    let number = |word: &[u8; 4]| i32::from_be_bytes(*word);
    let mut is_plain = true;
    let mut last = None;
    for height in heights.iter().map(number) {
        is_plain &= last < Some(height);
        last = Some(height);
    }
    let mut last = None;
    for id in runs.iter().map(number) {
        is_plain &= last != Some(id) && (id == 0 || ids.contains(&id));
        last = Some(id);
    }
    is_plain.then_some(())
}
