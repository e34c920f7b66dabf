//! Construction of palettes, and changes of many cells at once.

use std::collections::HashMap;

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock, SectionArray};

use super::cells::Cells;
use super::order::{self, TableSize};
use super::{
    EditError, Nibbles, PALETTE_ENTRIES_MAX, Palette, PaletteEntry, PaletteKey, PaletteType,
};

/// A palette that is built at once uses half-bytes below this many values. One that grows cell by
/// cell uses them for one value more.
const HALF_BYTE_VALUES: usize = 16;

/// A palette built from all cells at once stores one byte per cell below this many values.
const BYTE_VALUES: usize = 256;

impl<K: PaletteKey> Palette<K> {
    /// Creates a palette in which every cell has this value.
    pub fn filled(key: K) -> Self {
        if key == *K::default_key() {
            return Self::empty();
        }
        let entries = vec![PaletteEntry { internal_id: 0, key, count: BLOCKS_PER_SECTION }];
        Self::new(entries, Cells::HalfByte(Nibbles::zeros()), true)
    }

    /// Creates a palette with these values in the smallest type. Ids are assigned in order of first
    /// occurrence, and entries are listed in the game's order.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`] if all 32,768 cells differ.
    pub fn from_array(values: &SectionArray<K>) -> Result<Self, EditError> {
        let mut keys: Vec<K> = Vec::new();
        let mut indices_by_key: HashMap<&K, u16> = HashMap::new();
        let mut last = None;
        let indices = SectionArray::from_fn(|cell| {
            let key = &values[cell];
            // Neighbours are often equal, and comparing is cheaper than a lookup.
            match last {
                Some((last_key, index)) if last_key == key => return index,
                _ => {}
            }
            let next = u16::try_from(keys.len()).unwrap_or(u16::MAX);
            let index = *indices_by_key.entry(key).or_insert_with(|| {
                keys.push(key.clone());
                next
            });
            last = Some((key, index));
            index
        });
        Self::from_indices(&keys, &indices)
    }

    /// Creates a palette with the values `keys[indices[cell]]`, as [`from_array`](Self::from_array)
    /// does. Keys may repeat or be unused; an index past the end means the default value.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`].
    pub fn from_indices(keys: &[K], indices: &SectionArray<u16>) -> Result<Self, EditError> {
        let mut first: HashMap<&K, usize> = HashMap::with_capacity(keys.len() + 1);
        let same: Vec<usize> = keys
            .iter()
            .chain([K::default_key()])
            .enumerate()
            .map(|(index, key)| *first.entry(key).or_insert(index))
            .collect();
        let mut ids: Vec<Option<u16>> = vec![None; same.len()];
        let mut entries: Vec<PaletteEntry<K>> = Vec::new();
        let mut cells = Vec::with_capacity(indices.values().len());
        for &index in indices.values() {
            let key_index = usize::from(index).min(keys.len());
            let key_index = same.get(key_index).copied().unwrap_or(key_index);
            let next = u16::try_from(entries.len()).unwrap_or(u16::MAX);
            let Some(slot) = ids.get_mut(key_index) else { continue };
            let id = *slot.get_or_insert(next);
            if id == next {
                let key = keys.get(key_index).unwrap_or_else(|| K::default_key()).clone();
                entries.push(PaletteEntry { internal_id: id, key, count: 0 });
            }
            if let Some(entry) = entries.get_mut(usize::from(id)) {
                entry.count += 1;
            }
            cells.push(id);
        }
        Self::from_ids(entries, &cells)
    }

    /// Creates a palette from entries that are numbered from 0 in their order and all used.
    fn from_ids(entries: Vec<PaletteEntry<K>>, ids: &[u16]) -> Result<Self, EditError> {
        let kind = match &*entries {
            [only] if only.key == *K::default_key() => return Ok(Self::empty()),
            entries if entries.len() < HALF_BYTE_VALUES => PaletteType::HalfByte,
            entries if entries.len() < BYTE_VALUES => PaletteType::Byte,
            entries if entries.len() <= PALETTE_ENTRIES_MAX => PaletteType::Short,
            _ => return Err(EditError::PaletteFull),
        };
        let entries = order::arrange(entries, kind, TableSize::ForAll);
        Ok(Self::new(entries, Cells::pack(kind, ids), true))
    }

    /// Returns a new palette with the same cells, in the smallest type and without anomalies.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`].
    pub fn rebuilt(&self) -> Result<Self, EditError> {
        let found = self.indices();
        let keys: Vec<K> = found.keys.into_iter().cloned().collect();
        Self::from_indices(&keys, &found.indices)
    }

    /// Sets all cells of a box, both corners included. Returns how many cells changed. Counts as
    /// one change: the palette shrinks as far as it can at the end.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`].
    pub fn fill(
        &mut self,
        corner: LocalBlock,
        opposite: LocalBlock,
        key: K,
    ) -> Result<usize, EditError> {
        if corner == opposite {
            return self.set(corner, key).map(usize::from);
        }
        self.set_all(in_box(corner, opposite), &key)
    }

    /// Sets several cells to one value. Returns how many cells changed. Counts as one change, like
    /// [`fill`](Self::fill).
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`].
    pub(crate) fn set_all(
        &mut self,
        cells: impl Iterator<Item = LocalBlock> + Clone,
        key: &K,
    ) -> Result<usize, EditError> {
        let Some(first) = cells.clone().find(|&cell| self.get(cell) != key) else {
            return Ok(0);
        };
        self.set(first, key.clone())?;
        let Some(id) = self.entries.iter().find(|entry| entry.key == *key) else {
            // No other value is left, so the palette has become empty.
            return Ok(1);
        };
        let id = id.internal_id;
        let mut lost = vec![0_u16; self.kind().id_space()];
        let mut changed: u16 = 0;
        for cell in cells.map(LocalBlock::index) {
            let old_id = self.cells.id(cell);
            if let Some(lost) = lost.get_mut(usize::from(old_id)).filter(|_| old_id != id) {
                *lost += 1;
                changed += 1;
                self.cells.set(cell, id);
            }
        }
        self.entries.retain_mut(|entry| {
            let lost = lost.get(usize::from(entry.internal_id)).copied().unwrap_or(0);
            let gained = if entry.internal_id == id { changed } else { 0 };
            entry.count = entry.count.wrapping_sub(lost).wrapping_add(gained);
            entry.count > 0
        });
        while self.shrink() {}
        Ok(usize::from(changed) + 1)
    }

    /// Returns whether [`fill`](Self::fill) would succeed.
    pub(crate) fn can_fill(&self, corner: LocalBlock, opposite: LocalBlock, key: &K) -> bool {
        self.entries.len() < PALETTE_ENTRIES_MAX
            || self.clone().fill(corner, opposite, key.clone()).is_ok()
    }

    /// Renames values. `rename` returns the new value, or `None` to keep the old one. Values that
    /// become equal are merged under the first id. Returns whether any value was renamed.
    ///
    /// The type of the palette does not change, as in the game's block migrations.
    pub fn map_keys(&mut self, mut rename: impl FnMut(&K) -> Option<K>) -> bool {
        let mut changed = false;
        for entry in &mut self.entries {
            if let Some(key) = rename(&entry.key).filter(|key| *key != entry.key) {
                entry.key = key;
                changed = true;
            }
        }
        if changed {
            self.is_consistent = false;
            // If there is no room for the repair, the cells still have the new values.
            self.make_consistent().unwrap_or_default();
        }
        changed
    }
}

/// Returns the cells between two corners, in index order.
pub(crate) fn in_box(
    corner: LocalBlock,
    opposite: LocalBlock,
) -> impl Iterator<Item = LocalBlock> + Clone {
    let side = |of: fn(LocalBlock) -> u8| {
        let (one, other) = (of(corner), of(opposite));
        one.min(other)..=one.max(other)
    };
    let (xs, zs) = (side(LocalBlock::x), side(LocalBlock::z));
    side(LocalBlock::y).flat_map(move |y| {
        let xs = xs.clone();
        zs.clone().flat_map(move |z| xs.clone().filter_map(move |x| LocalBlock::new(x, y, z)))
    })
}
