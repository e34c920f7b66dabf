//! Questions to a palette that concern many cells.

use std::collections::HashMap;
use std::fmt;
use std::iter::FusedIterator;

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock, SectionArray};

use super::cell_runs::CellRuns;
use super::cells::CELLS;
use super::{Palette, PaletteKey, PaletteType};

/// Neighbouring cells with the same value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run<'a, K> {
    /// The value of all of them.
    pub key: &'a K,
    /// The first of them.
    pub start: LocalBlock,
    /// How many there are, in the order of their indices: 1 to 32,768.
    pub len: u16,
}

impl<K> Run<'_, K> {
    /// The cells of the run, in order.
    pub fn cells(&self) -> impl Iterator<Item = LocalBlock> + use<K> {
        let start = self.start.index();
        (start..start.saturating_add(self.len)).filter_map(LocalBlock::from_index)
    }
}

/// All cells of a palette by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaletteIndices<'a, K> {
    /// The values: those that the palette lists, in that order, and the default value after them
    /// if cells have it without its being listed.
    pub keys: Vec<&'a K>,
    /// Which of the values each cell has; always less than the number of values.
    pub indices: SectionArray<u16>,
}

impl<K: PaletteKey> Palette<K> {
    /// The cells in the order of their indices, equal neighbours taken together.
    pub fn runs(&self) -> Runs<'_, K> {
        let mut cells = self.cells.runs();
        Runs { palette: self, places: self.places(), start: 0, next: cells.next(), cells }
    }

    /// Calls `visit` for every cell, in the order of their indices.
    pub fn for_each(&self, mut visit: impl FnMut(LocalBlock, &K)) {
        for run in self.runs() {
            run.cells().for_each(|cell| visit(cell, run.key));
        }
    }

    /// Returns whether a cell may have a value: whether it is listed, or the default.
    pub(crate) fn has_value(&self, key: &K) -> bool {
        key == K::default_key() || self.entries.iter().any(|entry| entry.key == *key)
    }

    /// The value of all cells, if they have the same.
    pub fn uniform(&self) -> Option<&K> {
        self.runs().next().filter(|run| run.len == BLOCKS_PER_SECTION).map(|run| run.key)
    }

    /// How many cells have each value, as the entries say: fast, and true for everything that
    /// the game wrote. The order is that of the entries.
    pub fn stored_counts(&self) -> Vec<(&K, u32)> {
        match self.kind() {
            PaletteType::Empty => vec![(K::default_key(), BLOCKS_PER_SECTION.into())],
            _ => self.entries.iter().map(|entry| (&entry.key, entry.count.into())).collect(),
        }
    }

    /// How many cells have each value, counted. Every value occurs once, and none with 0 cells.
    pub fn exact_counts(&self) -> Vec<(&K, u32)> {
        let mut sums: Vec<(&K, u32)> = Vec::with_capacity(self.entries.len());
        let mut places = HashMap::with_capacity(self.entries.len());
        let ids = self.places();
        for (id, cells) in self.cells.counts().into_iter().enumerate().filter(|&(_, n)| n > 0) {
            let key = self.key_at(ids.get(id).copied());
            let place = *places.entry(key).or_insert(sums.len());
            match sums.get_mut(place) {
                Some((_, sum)) => *sum += cells,
                None => sums.push((key, cells)),
            }
        }
        sums
    }

    /// Every cell as a number into a list of values.
    pub fn indices(&self) -> PaletteIndices<'_, K> {
        let (keys, runs) = self.index_runs();
        let cells = runs.into_iter().map(|(index, len)| std::iter::repeat_n(index, len as usize));
        // The cells of a section are as many as the array has.
        let indices = SectionArray::from_vec(cells.flatten().collect());
        PaletteIndices { keys, indices: indices.unwrap_or_else(|| SectionArray::filled(0)) }
    }

    /// As [`indices`](Self::indices), with how many neighbours have the same.
    pub(crate) fn index_runs(&self) -> (Vec<&K>, Vec<(u16, u32)>) {
        let mut keys: Vec<&K> = self.entries.iter().map(|entry| &entry.key).collect();
        let unlisted = u16::try_from(keys.len()).unwrap_or(u16::MAX);
        let (places, mut start) = (self.places(), 0);
        let mut runs: Vec<(u16, u32)> = Vec::new();
        for (id, end) in self.cells.runs() {
            let place = places.get(usize::from(id));
            let index = place.map_or(unlisted, |place| unlisted.min(*place));
            let len = end.saturating_sub(start);
            match runs.last_mut() {
                // Two ids can mean the same.
                Some((last, sum)) if *last == index => *sum = sum.saturating_add(len),
                _ => runs.push((index, len)),
            }
            start = end;
        }
        if runs.iter().any(|(index, _)| *index == unlisted) {
            keys.push(K::default_key());
        }
        (keys, runs)
    }

    /// The value of every cell.
    pub fn to_array(&self) -> SectionArray<K> {
        let mut values = Vec::with_capacity(CELLS);
        for run in self.runs() {
            values.extend(std::iter::repeat_n(run.key, run.len.into()).cloned());
        }
        let fallback = || SectionArray::filled(K::default_key().clone());
        SectionArray::from_vec(values).unwrap_or_else(fallback)
    }

    /// Whether every cell has the same value in both, however they are stored.
    pub fn same_cells(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        // Where one was changed after it was copied from the other, this is most of the work.
        if let Some(cell) = self.cells.first_difference(&other.cells)
            && self.key_of(self.cells.id(cell)) != other.key_of(other.cells.id(cell))
        {
            return false;
        }
        let (mut mine, mut theirs) = (self.runs(), other.runs());
        // Runs are as long as they can be, so equal cells have equal runs.
        loop {
            match (mine.next(), theirs.next()) {
                (None, None) => return true,
                (mine, theirs) if mine != theirs => return false,
                _ => {}
            }
        }
    }

    /// Returns `stored` if every cell has the same value there, else itself.
    pub(crate) fn in_form_of<'a>(&'a self, stored: &'a Self) -> &'a Self {
        if self.same_cells(stored) { stored } else { self }
    }

    /// For every id that a cell can hold, which entry has it; [`NO_ENTRY`] if none does.
    fn places(&self) -> Vec<u16> {
        let mut places = vec![NO_ENTRY; self.kind().id_space()];
        // Backwards, so that the first of several entries with one id is the one that stays.
        for (place, entry) in (0..NO_ENTRY).zip(&self.entries).rev() {
            if let Some(slot) = places.get_mut(usize::from(entry.internal_id)) {
                *slot = place;
            }
        }
        places
    }

    fn key_at(&self, place: Option<u16>) -> &K {
        let entry = place.and_then(|place| self.entries.get(usize::from(place)));
        entry.map_or_else(|| K::default_key(), |entry| &entry.key)
    }
}

/// Not the number of any entry: there are fewer.
const NO_ENTRY: u16 = u16::MAX;

/// The runs of a palette, from [`Palette::runs`].
#[derive(Clone)]
pub struct Runs<'a, K> {
    palette: &'a Palette<K>,
    places: Vec<u16>,
    cells: CellRuns<'a>,
    /// The next run of cells with one id, which begins at `start`.
    next: Option<(u16, u32)>,
    start: u32,
}

impl<'a, K: PaletteKey> Iterator for Runs<'a, K> {
    type Item = Run<'a, K>;

    fn next(&mut self) -> Option<Run<'a, K>> {
        let (id, mut end) = self.next?;
        let key_of = |id: u16| self.palette.key_at(self.places.get(usize::from(id)).copied());
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
