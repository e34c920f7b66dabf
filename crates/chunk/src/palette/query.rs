//! Queries over many cells of a palette.

use std::collections::HashMap;
use std::fmt;
use std::iter::FusedIterator;

use hyworld_coords::{BLOCKS_PER_SECTION, ColumnArray, LocalBlock, SectionArray};

use super::cell_runs::{CellRuns, VisitRuns};
use super::cells::CELLS;
use super::layer::LAYER_WORDS;
use super::{Palette, PaletteKey, PaletteType};

/// Consecutive cells with the same value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run<'a, K> {
    /// The value of all cells of the run.
    pub key: &'a K,
    /// The first cell.
    pub start: LocalBlock,
    /// The number of consecutive cells in index order: 1 to 32,768.
    pub len: u16,
}

impl<K> Run<'_, K> {
    /// Returns the cells of the run, in order.
    pub fn cells(&self) -> impl Iterator<Item = LocalBlock> + use<K> {
        let start = self.start.index();
        (start..start.saturating_add(self.len)).filter_map(LocalBlock::from_index)
    }
}

/// All cells of a palette as indices into a list of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaletteIndices<'a, K> {
    /// The values of the palette's entries in order, then the default value if cells have it
    /// without an entry.
    pub keys: Vec<&'a K>,
    /// The index of each cell's value; always less than the number of values.
    pub indices: SectionArray<u16>,
}

impl<K: PaletteKey> Palette<K> {
    /// Returns the runs of equal cells, in index order.
    pub fn runs(&self) -> Runs<'_, K> {
        let mut cells = self.cells.runs();
        Runs {
            palette: self,
            entry_indices: self.entry_indices(),
            start: 0,
            next: cells.next(),
            cells,
        }
    }

    /// Calls `visit` for every cell, in index order.
    pub fn for_each(&self, mut visit: impl FnMut(LocalBlock, &K)) {
        for run in self.runs() {
            run.cells().for_each(|cell| visit(cell, run.key));
        }
    }

    /// Returns whether a cell may have this value: it is listed or the default.
    pub(crate) fn has_value(&self, key: &K) -> bool {
        key == K::default_key() || self.entries.iter().any(|entry| entry.key == *key)
    }

    /// Returns the value of all cells if it is the same everywhere.
    pub fn uniform(&self) -> Option<&K> {
        self.runs().next().filter(|run| run.len == BLOCKS_PER_SECTION).map(|run| run.key)
    }

    /// Returns the id that a cell stores; 0 if no cells are stored. An id without an entry has the
    /// default value. With a table by id, this is the fastest way to read single cells.
    #[inline]
    pub fn id(&self, cell: LocalBlock) -> u16 {
        self.cells.id(cell.index())
    }

    /// Returns the ids of the cells of a horizontal layer. Faster than calling [`id`](Self::id).
    pub fn layer_ids(&self, y: u8) -> ColumnArray<u16> {
        // The number of cells always matches the array.
        let ids = ColumnArray::from_vec(self.cells.layer_ids(y));
        ids.unwrap_or_else(|| ColumnArray::filled(0))
    }

    /// Returns which cells of a horizontal layer have an id: one bit for each cell, in index order
    /// from the lowest bit of the first word. Tests many cells at a time.
    pub fn layer_cells(&self, y: u8, id: u16) -> [u64; LAYER_WORDS] {
        self.cells.layer_cells(y, id)
    }

    /// Returns the stored count of each entry, in entry order. Fast, and correct for everything
    /// that the game wrote; [`exact_counts`](Self::exact_counts) counts the cells.
    pub fn stored_counts(&self) -> Vec<(&K, u32)> {
        match self.kind() {
            PaletteType::Empty => vec![(K::default_key(), BLOCKS_PER_SECTION.into())],
            _ => self.entries.iter().map(|entry| (&entry.key, entry.count.into())).collect(),
        }
    }

    /// Counts the cells of each value. Each value is returned once; those without cells are not.
    pub fn exact_counts(&self) -> Vec<(&K, u32)> {
        let mut sums: Vec<(&K, u32)> = Vec::with_capacity(self.entries.len());
        let mut indices = HashMap::with_capacity(self.entries.len());
        let entry_indices = self.entry_indices();
        for (id, cells) in self.cells.counts().into_iter().enumerate().filter(|&(_, n)| n > 0) {
            let key = self.key_at(entry_indices.get(id).copied());
            let index = *indices.entry(key).or_insert(sums.len());
            match sums.get_mut(index) {
                Some((_, sum)) => *sum += cells,
                None => sums.push((key, cells)),
            }
        }
        sums
    }

    /// Returns every cell as an index into a list of values.
    pub fn indices(&self) -> PaletteIndices<'_, K> {
        let (keys, runs) = self.index_runs();
        let cells = runs.into_iter().map(|(index, len)| std::iter::repeat_n(index, len as usize));
        // The number of cells always matches the array.
        let indices = SectionArray::from_vec(cells.flatten().collect());
        PaletteIndices { keys, indices: indices.unwrap_or_else(|| SectionArray::filled(0)) }
    }

    /// Returns the values and the runs of [`indices`](Self::indices), as pairs of index and length.
    fn index_runs(&self) -> (Vec<&K>, Vec<(u16, u32)>) {
        self.visit_index_runs(Vec::with_capacity(RUNS))
    }

    /// Passes the index and the length of each run of [`indices`](Self::indices) to a visitor.
    /// Returns the values and the visitor.
    pub(crate) fn visit_index_runs<V: VisitRuns>(&self, visitor: V) -> (Vec<&K>, V) {
        let mut keys: Vec<&K> = self.entries.iter().map(|entry| &entry.key).collect();
        let unlisted = u16::try_from(keys.len()).unwrap_or(u16::MAX);
        let mut indices = self.entry_indices();
        for index in &mut indices {
            *index = unlisted.min(*index);
        }
        let is_empty = self.kind() == PaletteType::Empty;
        let len = if is_empty { BLOCKS_PER_SECTION.into() } else { 0 };
        let indices = indices.as_slice();
        let (index, has_unlisted) = (unlisted, is_empty);
        let first = IndexRuns { visitor, indices, unlisted, has_unlisted, index, len };
        let mut last = self.cells.visit_runs(first);
        last.visitor.visit(last.index, last.len);
        if last.has_unlisted {
            keys.push(K::default_key());
        }
        (keys, last.visitor)
    }

    /// Returns the value of every cell.
    pub fn to_array(&self) -> SectionArray<K> {
        let mut values = Vec::with_capacity(CELLS);
        for run in self.runs() {
            values.extend(std::iter::repeat_n(run.key, run.len.into()).cloned());
        }
        let fallback = || SectionArray::filled(K::default_key().clone());
        SectionArray::from_vec(values).unwrap_or_else(fallback)
    }

    /// Returns whether every cell has the same value in both, regardless of how they are stored.
    pub fn same_cells(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        // Fast paths for a changed copy.
        let differs = |cell| self.key_of(self.cells.id(cell)) != other.key_of(other.cells.id(cell));
        if self.last_set.is_some_and(differs)
            || self.cells.first_difference(&other.cells).is_some_and(differs)
        {
            return false;
        }
        let (mut mine, mut theirs) = (self.runs(), other.runs());
        // Runs are as long as possible, so equal cells have equal runs.
        loop {
            match (mine.next(), theirs.next()) {
                (None, None) => return true,
                (mine, theirs) if mine != theirs => return false,
                _ => {}
            }
        }
    }

    /// Returns `stored` if all its cells have the same values, else `self`.
    pub(crate) fn in_form_of<'a>(&'a self, stored: &'a Self) -> &'a Self {
        if self.same_cells(stored) { stored } else { self }
    }

    /// Returns the index of the entry for each id that a cell can hold, or [`NO_ENTRY`].
    fn entry_indices(&self) -> Vec<u16> {
        let mut indices = vec![NO_ENTRY; self.kind().id_space()];
        // In reverse, so that the first of several entries with one id wins.
        for (index, entry) in (0..NO_ENTRY).zip(&self.entries).rev() {
            if let Some(slot) = indices.get_mut(usize::from(entry.internal_id)) {
                *slot = index;
            }
        }
        indices
    }

    fn key_at(&self, index: Option<u16>) -> &K {
        let entry = index.and_then(|index| self.entries.get(usize::from(index)));
        entry.map_or_else(|| K::default_key(), |entry| &entry.key)
    }
}

/// Passes runs with the indices of their ids to another visitor.
struct IndexRuns<'a, V> {
    visitor: V,
    /// The index of each id.
    indices: &'a [u16],
    /// The index of ids without an entry.
    unlisted: u16,
    /// Whether a cell has such an id.
    has_unlisted: bool,
    /// The run that was not passed on yet, because the next one can have the same index. Its length
    /// is 0 at the beginning.
    index: u16,
    len: u32,
}

impl<V: VisitRuns> VisitRuns for IndexRuns<'_, V> {
    #[expect(clippy::inline_always, reason = "see the trait")]
    #[inline(always)]
    fn visit(&mut self, id: u16, len: u32) {
        let index = self.indices.get(usize::from(id)).copied().unwrap_or(self.unlisted);
        self.has_unlisted |= index == self.unlisted;
        if index == self.index {
            self.len = self.len.wrapping_add(len);
            return;
        }
        if self.len > 0 {
            self.visitor.visit(self.index, self.len);
        }
        (self.index, self.len) = (index, len);
    }
}

/// Space for the runs of most sections.
const RUNS: usize = 512;

/// Greater than the index of any entry.
const NO_ENTRY: u16 = u16::MAX;

/// An iterator over the runs of a palette, from [`Palette::runs`].
#[derive(Clone)]
pub struct Runs<'a, K> {
    palette: &'a Palette<K>,
    entry_indices: Vec<u16>,
    cells: CellRuns<'a>,
    /// The next run of cells with one id, which starts at `start`.
    next: Option<(u16, u32)>,
    start: u32,
}

impl<'a, K: PaletteKey> Iterator for Runs<'a, K> {
    type Item = Run<'a, K>;

    fn next(&mut self) -> Option<Run<'a, K>> {
        let (id, mut end) = self.next?;
        let key_of =
            |id: u16| self.palette.key_at(self.entry_indices.get(usize::from(id)).copied());
        let key = key_of(id);
        let start = LocalBlock::from_index(u16::try_from(self.start).ok()?)?;
        // Ids differ at the end of a run, but values need not: a value may be listed twice.
        loop {
            self.next = self.cells.next();
            match self.next {
                Some((id, next_end)) if key_of(id) == key => end = next_end,
                _ => break,
            }
        }
        let len = u16::try_from(end.saturating_sub(self.start)).ok()?;
        self.start = end;
        Some(Run { key, start, len })
    }
}

impl<K: PaletteKey> FusedIterator for Runs<'_, K> {}

impl<K> fmt::Debug for Runs<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("start", &self.start).finish_non_exhaustive()
    }
}
