//! The order in which the game lists the entries of a palette.
//!
//! The game keeps them in a hash table and writes them in iteration order, so they are sorted
//! neither by id nor by insertion. Any order can be read. Palettes that this crate builds use the
//! game's order, so that they compress and compare like those of the game.
//!
//! The table uses open addressing with linear probing upwards, has a power of two slots, and is at
//! most three quarters full. Id 0 has a separate slot. Iteration starts with id 0 and continues
//! from the last slot down to the first. A table that grows is refilled in iteration order.

use super::{PaletteEntry, PaletteType};

/// The initial size of the hash table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TableSize {
    /// The size of a palette that starts small and grows with each new value.
    Fresh,
    /// The size of a palette that is built at once from all its values.
    ForAll,
}

/// The default number of slots.
const FRESH_SLOTS: usize = 32;

/// Inserts the entries in order and returns them in iteration order. Ids must be unique.
pub(super) fn arrange<K>(
    entries: Vec<PaletteEntry<K>>,
    kind: PaletteType,
    size: TableSize,
) -> Vec<PaletteEntry<K>> {
    let mut table = Table::new(match size {
        TableSize::Fresh => FRESH_SLOTS,
        TableSize::ForAll => slots_for(entries.len()),
    });
    for entry in entries {
        let id = signed(entry.internal_id, kind);
        table.insert(id, entry);
    }
    table.walk().map(|(_, entry)| entry).collect()
}

/// Returns the position at which the game would list a new id. Returns `None` if the list is not in
/// the order of one of its tables, as in palettes that other tools wrote.
///
/// The list records neither the size of the table nor the insertion order. Most lists of the game
/// result from ids inserted in ascending order, so only that is tried.
pub(super) fn list_position<K>(
    entries: &[PaletteEntry<K>],
    kind: PaletteType,
    id: u16,
) -> Option<usize> {
    let mut ids: Vec<u16> = entries.iter().map(|entry| entry.internal_id).collect();
    ids.push(id);
    ids.sort_unstable();
    let ids: Vec<i32> = ids.into_iter().map(|id| signed(id, kind)).collect();
    let new = signed(id, kind);
    let presized = slots_for(ids.len());
    [FRESH_SLOTS, presized, 2 * presized].into_iter().find_map(|slots| {
        let walk = iteration_order(&ids, slots);
        let others = walk.iter().filter(|id| **id != new);
        let listed = entries.iter().map(|entry| signed(entry.internal_id, kind));
        let is_table = others.copied().eq(listed);
        walk.iter().position(|id| *id == new).filter(|_| is_table)
    })
}

/// Returns the ids in iteration order after inserting them into a table with `slots` slots.
fn iteration_order(ids: &[i32], slots: usize) -> Vec<i32> {
    let mut table = Table::new(slots);
    for &id in ids {
        table.insert(id, ());
    }
    table.walk().map(|(id, ())| id).collect()
}

/// Sign-extends an id from its stored width, as the game's table keys are signed.
fn signed(id: u16, kind: PaletteType) -> i32 {
    match kind {
        PaletteType::Empty | PaletteType::HalfByte | PaletteType::Byte => {
            i32::from(((id & 0xff) as u8).cast_signed())
        }
        PaletteType::Short => i32::from(id.cast_signed()),
    }
}

/// Returns the smallest table size that is at most three quarters full with `len` entries.
fn slots_for(len: usize) -> usize {
    (4 * len).div_ceil(3).next_power_of_two().max(2)
}

fn hash(id: i32) -> usize {
    let hash = id.cast_unsigned().wrapping_mul(0x9E37_79B9);
    (hash ^ hash >> 16) as usize
}

struct Table<E> {
    zero: Option<(i32, E)>,
    slots: Vec<Option<(i32, E)>>,
    len: usize,
}

impl<E> Table<E> {
    fn new(slots: usize) -> Self {
        let empty = std::iter::repeat_with(|| None).take(slots).collect();
        Self { zero: None, slots: empty, len: 0 }
    }

    fn insert(&mut self, id: i32, entry: E) {
        self.put(id, entry);
        self.len += 1;
        if slots_for(self.len) > self.slots.len() {
            let old = std::mem::replace(self, Self::new(slots_for(self.len)));
            self.len = old.len;
            for (id, entry) in old.walk() {
                self.put(id, entry);
            }
        }
    }

    fn put(&mut self, id: i32, entry: E) {
        if id == 0 {
            self.zero = Some((id, entry));
            return;
        }
        // A quarter of the slots is always free, so the search finds one.
        let home = hash(id) & (self.slots.len() - 1);
        let (before, from_home) = self.slots.split_at_mut(home);
        if let Some(slot) = from_home.iter_mut().chain(before).find(|slot| slot.is_none()) {
            *slot = Some((id, entry));
        }
    }

    fn walk(self) -> impl Iterator<Item = (i32, E)> {
        self.zero.into_iter().chain(self.slots.into_iter().rev().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(ids: impl IntoIterator<Item = u16>, kind: PaletteType, size: TableSize) -> Vec<u16> {
        let entry = |internal_id| PaletteEntry { internal_id, key: (), count: 1 };
        let entries = ids.into_iter().map(entry).collect();
        arrange(entries, kind, size).into_iter().map(|entry| entry.internal_id).collect()
    }

    /// Computed by hand: 1 * 0x9E3779B9 = 0x9E3779B9, the xor of its halves is 0xE78E, slot 14.
    #[test]
    fn slots_of_the_first_ids() {
        let slot = |id| hash(id) & 31;
        assert_eq!([1, 2, 3, 4].map(slot), [14, 28, 13, 25]);
        // -1 * 0x9E3779B9 = 0x61C88647, the xor of its halves is 0xE78F.
        assert_eq!(slot(-1), 15);
    }

    #[test]
    fn zero_comes_first_and_then_the_slots_from_the_last() {
        let fresh =
            |ids: &[u16]| order(ids.iter().copied(), PaletteType::HalfByte, TableSize::Fresh);
        assert_eq!(fresh(&[0, 1, 2, 3, 4]), [0, 2, 4, 1, 3]);
        assert_eq!(fresh(&[3, 2, 1]), [2, 1, 3]);
        assert_eq!(fresh(&[]), [0_u16; 0]);
    }

    /// Eight slots: the home slot of 15 and 16 is the last one, that of 5 the first.
    #[test]
    fn colliding_ids_move_up_and_wrap_around() {
        let walk = |ids: [i32; 3]| {
            let mut table = Table::new(8);
            for id in ids {
                table.insert(id, ());
            }
            table.walk().map(|(id, ())| id).collect::<Vec<_>>()
        };
        assert_eq!([15, 16, 5].map(|id| hash(id) & 7), [7, 7, 0]);
        assert_eq!(walk([15, 16, 5]), [15, 5, 16]);
        assert_eq!(walk([5, 16, 15]), [16, 15, 5]);
    }

    /// The same thirty ids in a table that grew from 32 to 64 slots, and in one that had 64 slots
    /// from the start: colliding ids are listed in a different order.
    #[test]
    fn growth_refills_in_iteration_order() {
        let head = [0, 29, 25, 4, 12, 13, 8, 9, 28, 24, 26];
        let tail = [2, 27, 6, 15, 14, 11, 10, 1, 3, 7, 5];
        let grown = [18, 16, 17, 19, 23, 20, 22, 21];
        let sized = [23, 16, 17, 19, 18, 22, 21, 20];
        let thirty = |size| order(0..30, PaletteType::Byte, size);
        assert_eq!(thirty(TableSize::Fresh), [&head[..], &grown, &tail].concat());
        assert_eq!(thirty(TableSize::ForAll), [&head[..], &sized, &tail].concat());
    }

    #[test]
    fn a_full_half_byte_palette() {
        let expected = [0, 2, 6, 4, 15, 14, 12, 13, 8, 9, 11, 10, 1, 3, 7, 5];
        for size in [TableSize::Fresh, TableSize::ForAll] {
            assert_eq!(order(0..16, PaletteType::HalfByte, size), expected);
        }
    }

    /// Every removed id gets its old position back, except in a list in unknown order.
    #[test]
    fn a_removed_id_gets_its_old_position() {
        let entry = |internal_id| PaletteEntry { internal_id, key: (), count: 1 };
        for (count, size) in [
            (5, TableSize::Fresh),
            (24, TableSize::Fresh),
            (13, TableSize::ForAll),
            (30, TableSize::ForAll),
            (200, TableSize::ForAll),
        ] {
            let listed = order(0..count, PaletteType::Byte, size);
            for (position, &id) in listed.iter().enumerate() {
                let others = listed.iter().filter(|other| **other != id).copied().map(entry);
                let others: Vec<_> = others.collect();
                assert_eq!(list_position(&others, PaletteType::Byte, id), Some(position), "{id}");
            }
        }
        let odd = [5, 1, 3, 2, 0].map(entry);
        assert_eq!(list_position(&odd, PaletteType::Byte, 4), None);
    }

    #[test]
    fn a_table_holds_three_quarters_of_its_slots() {
        assert_eq!(
            [0, 1, 2, 3, 4, 6, 7, 12, 13, 24, 25].map(slots_for),
            [2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64]
        );
    }

    #[test]
    fn ids_have_a_sign() {
        assert_eq!(signed(200, PaletteType::Byte), -56);
        assert_eq!(signed(200, PaletteType::Short), 200);
        assert_eq!(signed(0xffff, PaletteType::Short), -1);
    }
}
