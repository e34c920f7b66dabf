//! Changing single cells, with the growth and shrinking of the game's own palettes.

use std::collections::HashMap;
use std::convert::Infallible;

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock};

use super::cells::Cells;
use super::order::{self, TableSize};
use super::{NameTooLong, PALETTE_ENTRIES_MAX, Palette, PaletteEntry, PaletteKey, PaletteType};
use crate::error::Error;

/// A byte palette with this many entries or fewer becomes a half-byte palette. It is less than
/// 16 so that a section at the border does not change back and forth.
const HALF_BYTE_AGAIN_MAX: usize = 14;

/// A short palette with this many entries or fewer becomes a byte palette.
const BYTE_AGAIN_MAX: usize = 251;

/// Why a section was not changed. It is as it was before.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The palette lists as many different values as the format allows.
    #[error("a palette can list {PALETTE_ENTRIES_MAX} different values, and this one does")]
    PaletteFull,
    /// The section is stored as an old version, which lacks some of the fields.
    #[error("a block section of version {version} can be changed only after an upgrade")]
    OldVersion {
        /// The version of the section.
        version: i32,
    },
    /// A number has no place in the field.
    #[error("{what} is {found}; expected {expected}")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: u8,
        /// What is allowed, in words.
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
    /// Gives one cell a value, and says whether that was a change.
    ///
    /// Setting a cell to what it has already leaves every byte alone. Otherwise the palette grows
    /// and shrinks as the game's does: a new value takes the id, and the place in the list, of the
    /// value that it replaces if no other cell has that; or else the lowest free id, and the place
    /// where the game would list it. (That is the end of the list if the list is not in an order
    /// of the game, or long.) A value that no cell has any more is removed. The other entries stay
    /// where they are, except when the palette shrinks to a smaller type, which numbers and lists
    /// them anew.
    ///
    /// So a cell that is set and set back leaves every byte as it was, unless the palette came to
    /// another type on the way, or a value vanished and came back and either its id was not the
    /// lowest free one or the list was not in an order that we understand.
    ///
    /// Before the first change of a palette that was read, everything that [`check`](Self::check)
    /// finds is straightened out without changing any cell's value: counts are counted, values
    /// that are listed twice get the id that was listed first, unused entries are removed.
    ///
    /// # Errors
    /// [`EditError::PaletteFull`].
    pub fn set(&mut self, cell: LocalBlock, key: K) -> Result<bool, EditError> {
        if *self.get(cell) == key {
            return Ok(false);
        }
        self.make_tidy()?;
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
            let place = self.place_for(internal_id);
            self.entries.insert(place, PaletteEntry { internal_id, key, count: 1 });
            self.release(old_id);
        }
        self.shrink();
        Ok(true)
    }

    /// Gives cells values, one after the other, and says how many that changed.
    ///
    /// # Errors
    /// [`EditError::PaletteFull`]; the cells before are changed then.
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

    /// The entry with this id if only one cell has it, which is then about to get another value.
    fn last_cell_of(&mut self, id: u16) -> Option<&mut PaletteEntry<K>> {
        self.entries.iter_mut().find(|entry| entry.internal_id == id && entry.count == 1)
    }

    /// One cell fewer has this id.
    fn release(&mut self, id: u16) {
        let place = self.entries.iter().position(|entry| entry.internal_id == id);
        let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) else {
            return;
        };
        entry.count = entry.count.saturating_sub(1);
        if let (0, Some(place)) = (entry.count, place) {
            self.entries.remove(place);
        }
    }

    /// Where in the list a new entry goes: where the game would list it, or else at the end.
    fn place_for(&self, id: u16) -> usize {
        let end = self.entries.len();
        // The order of a longer list takes longer to find than it is worth.
        match self.kind() {
            PaletteType::Empty | PaletteType::Short => end,
            kind => order::place_for(&self.entries, kind, id).unwrap_or(end).min(end),
        }
    }

    /// The lowest id that is not in use, in a type that can hold it.
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
        // Among one more id than there are entries, one is free.
        let free = used.iter().position(|used| !used).unwrap_or(0);
        while free >= self.kind().id_space() {
            self.grow();
        }
        u16::try_from(free).unwrap_or(u16::MAX)
    }

    /// Changes to the next larger type. Ids stay as they are.
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

    /// Changes to the next smaller type if the entries have become few enough, and says whether
    /// it did.
    pub(super) fn shrink(&mut self) -> bool {
        match (self.kind(), &*self.entries) {
            (PaletteType::Short, entries) if entries.len() <= BYTE_AGAIN_MAX => {
                self.renumber(PaletteType::Byte);
            }
            (PaletteType::Byte, entries) if entries.len() <= HALF_BYTE_AGAIN_MAX => {
                self.renumber(PaletteType::HalfByte);
            }
            (PaletteType::HalfByte, [only]) if only.key == *K::default_key() => {
                *self = Self::empty();
            }
            _ => return false,
        }
        true
    }

    /// Counts the ids from 0, in the order of the entries, and stores the cells as `kind`.
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

    /// Makes entries and cells agree, without changing the value of any cell.
    ///
    /// # Errors
    /// [`EditError::PaletteFull`], and nothing is changed, if the values that are listed leave no
    /// room for the default value of a cell whose id is not.
    pub(super) fn make_tidy(&mut self) -> Result<(), EditError> {
        if !self.tidy && !self.check().is_empty() {
            self.straighten()?;
        }
        self.tidy = true;
        Ok(())
    }

    fn straighten(&mut self) -> Result<(), EditError> {
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

    /// Notes how many cells have each entry, and keeps the first entry of each id that has any.
    fn recount(&mut self, mut counts: Vec<u32>) {
        self.entries.retain_mut(|entry| {
            let cells = counts.get_mut(usize::from(entry.internal_id)).map(std::mem::take);
            entry.count = cells.and_then(|cells| u16::try_from(cells).ok()).unwrap_or(0);
            entry.count > 0
        });
    }
}
