//! Changes to single cells, growing and shrinking palettes as the game does.

use std::collections::HashMap;
use std::convert::Infallible;

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock};

use super::cells::Cells;
use super::order::{self, TableSize};
use super::{NameTooLong, PALETTE_ENTRIES_MAX, Palette, PaletteEntry, PaletteKey, PaletteType};
use crate::error::Error;

/// A byte palette with this many entries or fewer becomes a half-byte palette. Less than 16, so
/// that a section at the limit does not change its type repeatedly.
const SHRINK_TO_HALF_BYTE_MAX: usize = 14;

/// A short palette with this many entries or fewer becomes a byte palette.
const SHRINK_TO_BYTE_MAX: usize = 251;

/// The reason why a section was not changed. The section is as it was before.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The palette lists as many different values as the format allows.
    #[error("the palette is full: it already lists {PALETTE_ENTRIES_MAX} different values")]
    PaletteFull,
    /// The section has an old version that lacks some of the fields.
    #[error("a block section of version {version} can be changed only after an upgrade")]
    OldVersion {
        /// The version of the section.
        version: i32,
    },
    /// A number is out of range for its field.
    #[error("{what} is {found}; expected {expected}")]
    Value {
        /// The name of the number.
        what: &'static str,
        /// Its value.
        found: u8,
        /// A description of the allowed range.
        expected: &'static str,
    },
    /// A name is too long for the format.
    #[error(transparent)]
    Name(#[from] NameTooLong),
    /// A component that the change needs is malformed, or a newer game wrote it.
    #[error(transparent)]
    Malformed(#[from] Error),
}

impl From<Infallible> for EditError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl<K: PaletteKey> Palette<K> {
    /// Sets the value of one cell. Returns whether the cell changed.
    ///
    /// Setting a cell to its current value leaves every byte unchanged. Otherwise the palette grows
    /// and shrinks as the game's does. If no other cell has the old value, the new value takes its
    /// id and its position in the list. Otherwise it takes the lowest free id and the position
    /// where the game would list it, or the end if the list is long or not in an order that the
    /// game writes. A value that no cell has any more is removed. The other entries keep their ids
    /// and order, unless the palette shrinks to a smaller type, which renumbers and reorders them.
    ///
    /// Setting a cell and setting it back restores every byte, with two exceptions: the palette
    /// changed its type in between; or a value was removed and added again, and its id was not the
    /// lowest free one or the list was not in a recognised order.
    ///
    /// The first change of a decoded palette repairs everything that [`check`](Self::check) reports
    /// without changing the value of any cell: counts are corrected, duplicate values get the id of
    /// their first entry, unused entries are removed.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`].
    pub fn set(&mut self, cell: LocalBlock, key: K) -> Result<bool, EditError> {
        if *self.get(cell) == key {
            return Ok(false);
        }
        self.make_consistent()?;
        let index = cell.index();
        let old_id = self.cells.id(index);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == key) {
            entry.count += 1;
            let id = entry.internal_id;
            self.cells.set(index, id);
            self.release(old_id);
        } else if let Some(last) = self.last_cell_of(old_id) {
            last.key = key;
        } else {
            if self.entries.len() >= PALETTE_ENTRIES_MAX {
                return Err(EditError::PaletteFull);
            }
            let internal_id = self.new_id();
            self.cells.set(index, internal_id);
            let position = self.list_position(internal_id);
            self.entries.insert(position, PaletteEntry { internal_id, key, count: 1 });
            self.release(old_id);
        }
        self.shrink();
        self.last_set = Some(index);
        Ok(true)
    }

    /// Sets the values of several cells in order. Returns how many cells changed.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`]. The cells before the failing one stay changed.
    pub fn set_many(
        &mut self,
        values: impl IntoIterator<Item = (LocalBlock, K)>,
    ) -> Result<usize, EditError> {
        let mut changed = 0;
        for (cell, key) in values {
            changed += usize::from(self.set(cell, key)?);
        }
        Ok(changed)
    }

    /// Returns the entry with this id if only one cell has it.
    fn last_cell_of(&mut self, id: u16) -> Option<&mut PaletteEntry<K>> {
        self.entries.iter_mut().find(|entry| entry.internal_id == id && entry.count == 1)
    }

    /// Decrements the count of the entry with this id, and removes the entry at 0.
    fn release(&mut self, id: u16) {
        let position = self.entries.iter().position(|entry| entry.internal_id == id);
        let Some(entry) = position.and_then(|position| self.entries.get_mut(position)) else {
            return;
        };
        entry.count = entry.count.saturating_sub(1);
        if let (0, Some(position)) = (entry.count, position) {
            self.entries.remove(position);
        }
    }

    /// Returns the position in the list at which the game would insert a new entry, or the end.
    fn list_position(&self, id: u16) -> usize {
        let end = self.entries.len();
        // Finding the order of a longer list costs more than it is worth.
        match self.kind() {
            PaletteType::Empty | PaletteType::Short => end,
            kind => order::list_position(&self.entries, kind, id).unwrap_or(end).min(end),
        }
    }

    /// Returns the lowest free id, growing the palette to a type that can hold it.
    fn new_id(&mut self) -> u16 {
        if self.kind() == PaletteType::Empty {
            self.grow();
        }
        let mut used = vec![false; self.entries.len() + 1];
        for entry in &self.entries {
            if let Some(slot) = used.get_mut(usize::from(entry.internal_id)) {
                *slot = true;
            }
        }
        // `used` has one element more than there are entries, so one id is free.
        let free = used.iter().position(|used| !used).unwrap_or(0);
        while free >= self.kind().id_space() {
            self.grow();
        }
        u16::try_from(free).unwrap_or(u16::MAX)
    }

    /// Changes to the next larger type. Ids do not change.
    fn grow(&mut self) {
        self.cells = match self.kind() {
            PaletteType::Empty => {
                let key = K::default_key().clone();
                let entry = PaletteEntry { internal_id: 0, key, count: BLOCKS_PER_SECTION };
                self.entries = vec![entry];
                Cells::pack(PaletteType::HalfByte, &self.cells.ids())
            }
            PaletteType::HalfByte => Cells::pack(PaletteType::Byte, &self.cells.ids()),
            PaletteType::Byte | PaletteType::Short => {
                Cells::pack(PaletteType::Short, &self.cells.ids())
            }
        };
    }

    /// Changes to the next smaller type if there are few enough entries. Returns whether it did.
    pub(super) fn shrink(&mut self) -> bool {
        match (self.kind(), &*self.entries) {
            (PaletteType::Short, entries) if entries.len() <= SHRINK_TO_BYTE_MAX => {
                self.renumber(PaletteType::Byte);
            }
            (PaletteType::Byte, entries) if entries.len() <= SHRINK_TO_HALF_BYTE_MAX => {
                self.renumber(PaletteType::HalfByte);
            }
            (PaletteType::HalfByte, [only]) if only.key == *K::default_key() => {
                *self = Self::empty();
            }
            _ => return false,
        }
        true
    }

    /// Renumbers the ids from 0 in entry order, and stores the cells as `kind`.
    fn renumber(&mut self, kind: PaletteType) {
        let mut new_ids = vec![0; self.kind().id_space()];
        for (new_id, entry) in (0..=u16::MAX).zip(&mut self.entries) {
            if let Some(slot) = new_ids.get_mut(usize::from(entry.internal_id)) {
                *slot = new_id;
            }
            entry.internal_id = new_id;
        }
        self.cells = self.cells.replaced(kind, &new_ids);
        let entries = std::mem::take(&mut self.entries);
        self.entries = order::arrange(entries, kind, TableSize::Fresh);
    }

    /// Makes entries and cells agree without changing the value of any cell.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`] and changes nothing if a cell has an unlisted id and the
    /// list has no room for the default value.
    pub(super) fn make_consistent(&mut self) -> Result<(), EditError> {
        if !self.is_consistent && !self.check().is_empty() {
            self.repair()?;
        }
        self.is_consistent = true;
        Ok(())
    }

    fn repair(&mut self) -> Result<(), EditError> {
        let mut new_ids: Vec<Option<u16>> = vec![None; self.kind().id_space()];
        let mut first_ids: HashMap<&K, u16> = HashMap::with_capacity(self.entries.len());
        for entry in &self.entries {
            if let Some(slot @ None) = new_ids.get_mut(usize::from(entry.internal_id)) {
                *slot = Some(*first_ids.entry(&entry.key).or_insert(entry.internal_id));
            }
        }
        let counts = self.cells.counts();
        let default_id = first_ids.get(K::default_key()).copied().or_else(|| {
            let mut ids = (0..=u16::MAX).zip(new_ids.iter().zip(&counts));
            ids.find(|(_, (new_id, cells))| new_id.is_none() && **cells > 0).map(|(id, _)| id)
        });
        let default_id = default_id.unwrap_or(0);
        let new_ids: Vec<u16> = new_ids.iter().map(|id| id.unwrap_or(default_id)).collect();
        let cells = self.cells.replaced(self.kind(), &new_ids);
        let counts = cells.counts();
        if counts.iter().filter(|cells| **cells > 0).count() > PALETTE_ENTRIES_MAX {
            return Err(EditError::PaletteFull);
        }
        self.cells = cells;
        let key = K::default_key().clone();
        self.entries.push(PaletteEntry { internal_id: default_id, key, count: 0 });
        self.recount(counts);
        Ok(())
    }

    /// Sets the count of each entry. Keeps only the first entry of each id that has cells.
    fn recount(&mut self, mut counts: Vec<u32>) {
        self.entries.retain_mut(|entry| {
            let cells = counts.get_mut(usize::from(entry.internal_id)).map(std::mem::take);
            entry.count = cells.and_then(|cells| u16::try_from(cells).ok()).unwrap_or(0);
            entry.count > 0
        });
    }
}
