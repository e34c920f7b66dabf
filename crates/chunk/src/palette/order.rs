//! The order in which the game lists the entries of a palette.
//!
//! It keeps them in a hash table and writes them as it walks through the table, so the order is
//! neither that of the ids nor that of their appearance. Any order can be read. Palettes that we
//! build imitate the game's, so that a world from our tools looks like one from the game, to
//! zstd as well as to people who compare.
//!
//! The table: open addressing, linear probing upwards, a power of two slots, at most three
//! quarters of them used. Id 0 has a place of its own. The walk begins with id 0 and goes from
//! the last slot down to the first; a table that grows is refilled in the order of the walk.

use super::{PaletteEntry, PaletteType};

/// How large the table is before anything is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TableSize {
    /// As for a palette that starts small and grows with each new value.
    Fresh,
    /// As for a palette that is built at once from all its values.
    ForAll,
}

/// Slots of a table that nobody announced entries to.
const FRESH_SLOTS: usize = 32;

/// Puts entries into the order of the walk, if they were inserted in the order given. Ids must
/// differ.
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

/// Where in a list the game would have an entry with another id, if the list is in the order of
/// one of its tables; `None` if it is not, as in palettes that other tools wrote.
///
/// The list tells neither how large the table was nor which id came first. Most lists of the game
/// are those of ids that came in ascending order, so that is what is tried.
pub(super) fn place_for<K>(
    entries: &[PaletteEntry<K>],
    kind: PaletteType,
    id: u16,
) -> Option<usize> {
    let mut ids: Vec<u16> = entries.iter().map(|entry| entry.internal_id).collect();
    ids.push(id);
    ids.sort_unstable();
    let ids: Vec<i32> = ids.into_iter().map(|id| signed(id, kind)).collect();
    let new = signed(id, kind);
    let announced = slots_for(ids.len());
    [FRESH_SLOTS, announced, 2 * announced].into_iter().find_map(|slots| {
        let walk = walk_of(&ids, slots);
        let others = walk.iter().filter(|id| **id != new);
        let listed = entries.iter().map(|entry| signed(entry.internal_id, kind));
        let is_table = others.copied().eq(listed);
        walk.iter().position(|id| *id == new).filter(|_| is_table)
    })
}

/// The walk through a table of at first so many slots, after these ids were inserted.
fn walk_of(ids: &[i32], slots: usize) -> Vec<i32> {
    let mut table = Table::new(slots);
    for &id in ids {
        table.insert(id, ());
    }
    table.walk().map(|(id, ())| id).collect()
}

/// The game keys its tables by ids with a sign, as wide as the type stores them.
fn signed(id: u16, kind: PaletteType) -> i32 {
    match kind {
        PaletteType::Empty | PaletteType::HalfByte | PaletteType::Byte => {
            i32::from(((id & 0xff) as u8).cast_signed())
        }
        PaletteType::Short => i32::from(id.cast_signed()),
    }
}

/// The least power of two of which `len` is at most three quarters.
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
        self.place(id, entry);
        self.len += 1;
        if slots_for(self.len) > self.slots.len() {
            let old = std::mem::replace(self, Self::new(slots_for(self.len)));
            self.len = old.len;
            for (id, entry) in old.walk() {
                self.place(id, entry);
            }
        }
    }

    fn place(&mut self, id: i32, entry: E) {
        if id == 0 {
            self.zero = Some((id, entry));
            return;
        }
        // A quarter of the slots is always free, so one is found before all were asked.
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

    /// Worked out on paper: 1 * 0x9E3779B9 = 0x9E3779B9, its halves xored 0xE78E, slot 14.
    #[test]
    fn slots_of_the_first_ids() {
        let slot = |id| hash(id) & 31;
        assert_eq!([1, 2, 3, 4].map(slot), [14, 28, 13, 25]);
        // -1 * 0x9E3779B9 = 0x61C88647, its halves xored 0xE78F.
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

    /// Eight slots: 15 and 16 are both at home in the last one, 5 in the first.
    #[test]
    fn ids_that_collide_move_up_and_wrap_round() {
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

    /// The same thirty ids in a table that grew from 32 slots to 64, and in one of 64 from the
    /// start: those that collide are listed in another order.
    #[test]
    fn growth_refills_in_the_order_of_the_walk() {
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

    /// Every id taken out of a list has its place in what is left; in a list that is in no order of
    /// the game none has.
    #[test]
    fn an_id_that_was_taken_out_has_its_place() {
        let entry = |internal_id| PaletteEntry { internal_id, key: (), count: 1 };
        for (count, size) in [
            (5, TableSize::Fresh),
            (24, TableSize::Fresh),
            (13, TableSize::ForAll),
            (30, TableSize::ForAll),
            (200, TableSize::ForAll),
        ] {
            let listed = order(0..count, PaletteType::Byte, size);
            for (place, &id) in listed.iter().enumerate() {
                let others = listed.iter().filter(|other| **other != id).copied().map(entry);
                let others: Vec<_> = others.collect();
                assert_eq!(place_for(&others, PaletteType::Byte, id), Some(place), "{id}");
            }
        }
        let odd = [5, 1, 3, 2, 0].map(entry);
        assert_eq!(place_for(&odd, PaletteType::Byte, 4), None);
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
