//! `EnvironmentChunk.Data`: the environment at each height of each column.
//!
//! ```text
//! i32  environment count, each:  i32 id, utf name
//! 1024 columns, each:  i32 m, m x i32 greatest height, (m + 1) x i32 id
//! ```
//!
//! All integers are big-endian. Run 0 of a column ends at height 0 of its list (inclusive), run i
//! at height i, and the last run is unbounded. Ids have a meaning only through the list: the game
//! assigns them per session, so they differ between chunks of one world.

mod counts;
mod edit;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

use hyworld_coords::{ColumnArray, LocalColumn, MAX_Y, MIN_Y};

use crate::error::Result;
use crate::shared_bytes::SharedBytes;
use crate::wire::{Reader, put_utf};
use hyworld_documents::{Malformed, Problem};

/// The name of environments whose id is not listed. The game adds it to the list when it saves.
pub const UNKNOWN_ENVIRONMENT: &str = "Unknown";

/// The minimum size of a listed environment: its id and the length of its name.
const LISTED_BYTES_MIN: usize = 6;

/// The environments of a chunk.
///
/// Everything is kept as it was read: the order of the list, unused environments, and runs that the
/// game would store differently. Only a changed column is normalized.
///
/// Two values are equal if their bytes are equal, even if other bytes have the same meaning.
#[derive(Clone, Debug)]
pub struct EnvironmentChunk {
    list: Vec<ListedEnvironment>,
    /// All columns in order, as stored: a multiple of four bytes.
    columns: SharedBytes,
    /// The index of the first word of each column, computed when a column is first read.
    starts: OnceLock<ColumnArray<usize>>,
}

impl PartialEq for EnvironmentChunk {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list && self.columns == other.columns
    }
}

impl Eq for EnvironmentChunk {}

/// A big-endian integer as stored. Most are never read.
type Word = [u8; 4];

/// An entry of the list of environments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedEnvironment {
    /// The id that columns use.
    pub id: i32,
    /// The name of the environment.
    pub name: String,
}

/// A range of heights in a column with one environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnvironmentRun {
    /// The heights. The lowest and the highest run extend beyond the world.
    pub ys: RangeInclusive<i32>,
    /// The id; [`EnvironmentChunk::name_of`] returns its name.
    pub id: i32,
}

/// A column as stored.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Column<'a> {
    max_ys: &'a [Word],
    /// Has one element more than `max_ys`.
    ids: &'a [Word],
}

/// Returns words as integers.
fn numbers(words: &[Word]) -> impl ExactSizeIterator<Item = i32> {
    words.iter().map(|&word| i32::from_be_bytes(word))
}

impl EnvironmentChunk {
    /// Creates a chunk with the same environment everywhere.
    ///
    /// # Errors
    /// Returns an error if the name is too long.
    pub fn uniform(name: &str) -> Result<Self> {
        let mut chunk = Self::without_columns();
        let id = chunk.id_for(name)?;
        chunk.set_words([0, id].map(i32::to_be_bytes).repeat(LocalColumn::all().len()));
        Ok(chunk)
    }

    /// Decodes the field.
    ///
    /// # Errors
    /// Returns an error if the bytes are truncated or too long, or a name is not UTF-8. Unsorted
    /// heights and unlisted ids are accepted, as the game does.
    pub fn decode(data: &[u8]) -> Result<Self> {
        Self::read(Reader::new(data))
    }

    pub(crate) fn read(mut reader: Reader<'_>) -> Result<Self> {
        let list = decode_list(&mut reader)?;
        let columns = reader.clone().shared_bytes(reader.left())?;
        let (words, odd) = columns.as_slice().as_chunks();
        let is_valid = has_single_runs(words) || walk_columns(words, |_| ()).is_some();
        if !is_valid || !odd.is_empty() {
            return Err(find_fault(reader).into());
        }
        Ok(Self { list, columns, starts: OnceLock::new() })
    }

    fn without_columns() -> Self {
        let columns = SharedBytes::new(Vec::new());
        Self { list: Vec::new(), columns, starts: OnceLock::new() }
    }

    fn words(&self) -> &[Word] {
        self.columns.as_slice().as_chunks().0
    }

    fn set_words(&mut self, words: Vec<Word>) {
        self.columns = SharedBytes::new(words.into_flattened());
        self.starts = OnceLock::new();
    }

    /// Encodes the field.
    pub fn encode(&self) -> Vec<u8> {
        let names: usize = self.list.iter().map(|entry| LISTED_BYTES_MIN + entry.name.len()).sum();
        let mut out = Vec::with_capacity(4 + names + self.columns.as_slice().len());
        self.encode_into(&mut out);
        out
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        // Always fits: i32::MAX entries would need 12 gigabytes.
        out.extend(i32::try_from(self.list.len()).unwrap_or(i32::MAX).to_be_bytes());
        for entry in &self.list {
            out.extend(entry.id.to_be_bytes());
            put_utf(out, &entry.name);
        }
        out.extend(self.columns.as_slice());
    }

    /// Returns the listed environments in stored order, including unused ones.
    pub fn list(&self) -> &[ListedEnvironment] {
        &self.list
    }

    /// Returns the name of an id; [`UNKNOWN_ENVIRONMENT`] if it is not listed. If it is listed
    /// twice, the last entry wins.
    pub fn name_of(&self, id: i32) -> &str {
        let entry = self.list.iter().rev().find(|entry| entry.id == id);
        entry.map_or(UNKNOWN_ENVIRONMENT, |entry| &entry.name)
    }

    /// Returns the environment at a height of a column. Accepts any height; outside the world, old
    /// chunks have ids that are not listed.
    pub fn name(&self, column: LocalColumn, y: i32) -> &str {
        self.name_of(self.id(column, y))
    }

    /// Returns the id of the environment at a height of a column.
    pub fn id(&self, column: LocalColumn, y: i32) -> i32 {
        let Column { max_ys, ids } = self.column(column);
        let run = numbers(max_ys).position(|max_y| y <= max_y).unwrap_or(max_ys.len());
        ids.get(run).map_or(0, |&id| i32::from_be_bytes(id))
    }

    /// Returns the runs of a column from the bottom up, without gaps. Adjacent runs can have the
    /// same id if they are stored that way.
    pub fn runs(&self, column: LocalColumn) -> impl Iterator<Item = EnvironmentRun> {
        let Column { max_ys, ids } = self.column(column);
        // None after the run that ends at i32::MAX.
        let mut next = Some(i32::MIN);
        let max_ys = numbers(max_ys).chain([i32::MAX]);
        max_ys.zip(numbers(ids)).filter_map(move |(max_y, id)| {
            let min_y = next.filter(|&min_y| min_y <= max_y)?;
            next = max_y.checked_add(1);
            Some(EnvironmentRun { ys: min_y..=max_y, id })
        })
    }

    /// Returns the ids of the runs of a column.
    pub(crate) fn ids_of(&self, column: LocalColumn) -> impl Iterator<Item = i32> {
        numbers(self.column(column).ids)
    }

    /// Returns whether the heights of a column ascend and adjacent runs have different ids.
    pub(crate) fn has_ordered_runs(&self, column: LocalColumn) -> bool {
        let Column { max_ys, ids } = self.column(column);
        numbers(max_ys).is_sorted_by(|low, high| low < high)
            && ids.is_sorted_by(|run, next| run != next)
    }

    /// Returns the stored bytes of a column. Columns with equal bytes have equal runs.
    pub(crate) fn column_bytes(&self, column: LocalColumn) -> &[u8] {
        let words = self.words().get(self.starts()[column]..).unwrap_or_default();
        let count = words.first().map_or(0, |&count| i32::from_be_bytes(count));
        let len = usize::try_from(count).unwrap_or_default().saturating_add(1).saturating_mul(2);
        words.get(..len).unwrap_or_default().as_flattened()
    }

    /// Returns the bytes of a column without the stored runs that [`runs`](Self::runs) leaves out.
    /// Columns with equal runs have equal bytes.
    pub(crate) fn used_bytes(&self, column: LocalColumn) -> Cow<'_, [u8]> {
        let stored = self.column(column);
        let is_before = |pair: &[Word; 2]| {
            let [a, b] = pair.map(i32::from_be_bytes);
            a < b
        };
        let is_used = stored.max_ys.array_windows().all(is_before)
            && stored.max_ys.last().is_none_or(|last| i32::from_be_bytes(*last) < i32::MAX);
        if is_used {
            return Cow::Borrowed(self.column_bytes(column));
        }
        let runs: Vec<_> = self.runs(column).collect();
        let max_ys = runs.iter().map(|run| *run.ys.end()).filter(|max_y| *max_y < i32::MAX);
        let count = i32::try_from(runs.len().saturating_sub(1)).unwrap_or(i32::MAX);
        let words = [count].into_iter().chain(max_ys).chain(runs.iter().map(|run| run.id));
        Cow::Owned(words.flat_map(i32::to_be_bytes).collect())
    }

    /// Returns the environments of the blocks of this chunk. Leaves out those that are only listed,
    /// or only used above or below the world.
    pub fn names_used(&self) -> BTreeSet<&str> {
        let in_world = |run: &EnvironmentRun| *run.ys.start() <= MAX_Y && *run.ys.end() >= MIN_Y;
        let runs = LocalColumn::all().flat_map(|column| self.runs(column).filter(in_world));
        let ids: BTreeSet<i32> = runs.map(|run| run.id).collect();
        // The last entry for an id replaces the earlier ones.
        let names: BTreeMap<i32, &str> =
            self.list.iter().map(|entry| (entry.id, entry.name.as_str())).collect();
        ids.into_iter().map(|id| names.get(&id).copied().unwrap_or(UNKNOWN_ENVIRONMENT)).collect()
    }

    fn starts(&self) -> &ColumnArray<usize> {
        self.starts.get_or_init(|| {
            let mut starts = Vec::with_capacity(LocalColumn::all().len());
            // Cannot fail: the columns were checked when they were read or built.
            walk_columns(self.words(), |at| starts.push(at));
            ColumnArray::from_vec(starts).unwrap_or_else(|| ColumnArray::filled(0))
        })
    }

    fn column(&self, column: LocalColumn) -> Column<'_> {
        let words = self.words().get(self.starts()[column]..).unwrap_or_default();
        let Some((&count, rest)) = words.split_first() else {
            return Column::default();
        };
        let count = usize::try_from(i32::from_be_bytes(count)).unwrap_or_default();
        let (max_ys, rest) = rest.split_at_checked(count).unwrap_or_default();
        Column { max_ys, ids: rest.get(..=count).unwrap_or_default() }
    }
}

fn decode_list(reader: &mut Reader<'_>) -> Result<Vec<ListedEnvironment>, Malformed> {
    let count = reader.i32()?;
    let count = reader.count(count, LISTED_BYTES_MIN)?;
    (0..count)
        .map(|_| Ok(ListedEnvironment { id: reader.i32()?, name: reader.utf()?.to_owned() }))
        .collect()
}

/// Returns whether every column is a single run, as in most chunks.
fn has_single_runs(words: &[Word]) -> bool {
    /// Selects the first half of a column, the number of its heights. The second half is an id.
    const COUNT: u64 = u64::from_le_bytes([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
    let (columns, rest) = words.as_flattened().as_chunks();
    // A loop without an early exit takes an eighth of the time.
    let bits = |bits, column: &[u8; 8]| bits | u64::from_le_bytes(*column);
    columns.len() == LocalColumn::all().len()
        && rest.is_empty()
        && columns.iter().fold(0, bits) & COUNT == 0
}

/// Calls `begins` with the index of the first word of each column. Returns `None` unless the
/// columns fill the words exactly.
fn walk_columns(words: &[Word], mut begins: impl FnMut(usize)) -> Option<()> {
    let mut at = 0_usize;
    let (mut count, mut column_words) = ([0; 4], 2_usize);
    for _ in LocalColumn::all() {
        begins(at);
        // Most columns have the same length as the previous one. Reusing that length lets the
        // processor predict the start of the next column.
        let found = *words.get(at)?;
        if found != count {
            count = found;
            let runs = usize::try_from(i32::from_be_bytes(found)).ok()?;
            column_words = runs.checked_add(1)?.checked_mul(2)?;
        }
        at = at.checked_add(column_words)?;
    }
    (at == words.len()).then_some(())
}

/// Returns the error of columns that do not fill their bytes exactly.
fn find_fault(mut reader: Reader<'_>) -> Malformed {
    let mut walk = || {
        for _ in LocalColumn::all() {
            let count = reader.i32()?;
            let count = reader.count(count, 8)?;
            reader.bytes(count.saturating_mul(8).saturating_add(4))?;
        }
        reader.clone().finish()
    };
    let fault = walk().err();
    fault.unwrap_or_else(|| reader.malformed(Problem::Trailing { bytes: 0 }))
}

#[cfg(test)]
mod tests;
