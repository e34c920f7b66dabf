//! [`ChunkSet`]: a set of chunks, one bit for each slot of a region.

use std::collections::BTreeMap;

use hyworld_coords::{ChunkPos, ChunkRect, RegionPos, RegionSlot};

/// The number of 64-bit words with one bit for each of the 1,024 slots of a region.
const WORDS: usize = 16;

/// The chunks of one region.
type Bits = [u64; WORDS];

/// A set of chunks. It needs about 150 bytes for each region with a chunk in the set, whatever the
/// number of chunks.
///
/// ```
/// use hyworld_coords::ChunkPos;
/// use hyworld_maintenance::ChunkSet;
///
/// let set: ChunkSet = [ChunkPos::new(3, -1), ChunkPos::new(40, 2)].into_iter().collect();
/// assert_eq!((set.len(), set.regions().count()), (2, 2));
/// assert!(set.contains(ChunkPos::new(40, 2)) && !set.contains(ChunkPos::new(0, 0)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChunkSet {
    regions: BTreeMap<RegionPos, Bits>,
}

impl ChunkSet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a chunk. Returns whether it is new in the set.
    pub fn insert(&mut self, at: ChunkPos) -> bool {
        let (word, bit) = index(at.slot());
        let bits = self.regions.entry(at.region()).or_default();
        let Some(word) = bits.get_mut(word) else { return false };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Removes a chunk. Returns whether it was in the set.
    pub fn remove(&mut self, at: ChunkPos) -> bool {
        let (number, bit) = index(at.slot());
        let Some(bits) = self.regions.get_mut(&at.region()) else { return false };
        let Some(word) = bits.get_mut(number) else { return false };
        let is_removed = *word & bit != 0;
        *word &= !bit;
        if bits.iter().all(|word| *word == 0) {
            self.regions.remove(&at.region());
        }
        is_removed
    }

    /// Adds all chunks of a region.
    pub fn insert_region(&mut self, region: RegionPos) {
        self.regions.insert(region, [u64::MAX; WORDS]);
    }

    /// Returns whether a chunk is in the set.
    pub fn contains(&self, at: ChunkPos) -> bool {
        let (word, bit) = index(at.slot());
        let found = self.regions.get(&at.region()).and_then(|bits| bits.get(word));
        found.is_some_and(|word| word & bit != 0)
    }

    /// Returns the number of chunks in the set.
    pub fn len(&self) -> u64 {
        self.regions.values().map(count).fold(0, u64::saturating_add)
    }

    /// Returns whether no chunk is in the set.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// Returns the number of regions with chunks in the set.
    pub fn region_count(&self) -> usize {
        self.regions.len()
    }

    /// Returns the number of chunks of one region.
    pub fn count_in(&self, region: RegionPos) -> u64 {
        self.regions.get(&region).map_or(0, count)
    }

    /// Returns the regions with chunks in the set and the number of those chunks, in file order.
    pub fn regions(&self) -> impl Iterator<Item = (RegionPos, u64)> {
        self.regions.iter().map(|(region, bits)| (*region, count(bits)))
    }

    /// Returns the chunks in the order of regions and slots.
    pub fn iter(&self) -> impl Iterator<Item = ChunkPos> + Send {
        self.regions.iter().flat_map(|(region, bits)| {
            let is_set = move |slot: &RegionSlot| {
                let (word, bit) = index(*slot);
                bits.get(word).is_some_and(|word| word & bit != 0)
            };
            RegionSlot::all().filter(is_set).filter_map(|slot| region.chunk(slot))
        })
    }

    /// Returns the smallest rectangle with all chunks; `None` if the set is empty.
    pub fn bounds(&self) -> Option<ChunkRect> {
        let mut all = self.iter();
        let first = all.next()?;
        let (min, max) = all.fold((first, first), |(min, max), at| {
            let low = ChunkPos::new(min.x.min(at.x), min.z.min(at.z));
            (low, ChunkPos::new(max.x.max(at.x), max.z.max(at.z)))
        });
        Some(ChunkRect::new(min, max))
    }

    /// Adds every chunk of another set.
    pub fn add(&mut self, other: &Self) {
        for (region, theirs) in &other.regions {
            let ours = self.regions.entry(*region).or_default();
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours |= theirs);
        }
    }

    /// Removes every chunk of another set.
    pub fn subtract(&mut self, other: &Self) {
        for (region, theirs) in &other.regions {
            if let Some(ours) = self.regions.get_mut(region) {
                ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours &= !theirs);
            }
        }
        self.regions.retain(|_, bits| bits.iter().any(|word| *word != 0));
    }

    /// Returns this set and all chunks at most `distance` chunks away along each axis.
    #[must_use]
    pub fn grown(&self, distance: u32) -> Self {
        let mut grown = self.clone();
        // Each step adds the chunks around those of the step before.
        for _ in 0..distance {
            let before = grown.clone();
            for at in before.iter() {
                ChunkRect::around(at, 1).in_rows().for_each(|near| {
                    grown.insert(near);
                });
            }
        }
        grown
    }
}

impl FromIterator<ChunkPos> for ChunkSet {
    fn from_iter<I: IntoIterator<Item = ChunkPos>>(positions: I) -> Self {
        let mut set = Self::new();
        set.extend(positions);
        set
    }
}

impl Extend<ChunkPos> for ChunkSet {
    fn extend<I: IntoIterator<Item = ChunkPos>>(&mut self, positions: I) {
        for at in positions {
            self.insert(at);
        }
    }
}

/// Returns the word of a slot and its bit in that word.
fn index(slot: RegionSlot) -> (usize, u64) {
    let index = usize::from(slot.index());
    (index >> 6, 1_u64 << (index & 63))
}

fn count(bits: &Bits) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(positions: &[(i32, i32)]) -> ChunkSet {
        positions.iter().map(|(x, z)| ChunkPos::new(*x, *z)).collect()
    }

    #[test]
    fn chunks_are_added_and_removed() {
        let mut chunks = set(&[(0, 0), (31, 31), (-1, -32), (i32::MIN, i32::MAX)]);
        assert_eq!((chunks.len(), chunks.regions().count()), (4, 3));
        assert!(!chunks.insert(ChunkPos::new(31, 31)) && chunks.insert(ChunkPos::new(1, 0)));
        assert!(chunks.remove(ChunkPos::new(-1, -32)) && !chunks.remove(ChunkPos::new(-1, -32)));
        assert_eq!(chunks.count_in(RegionPos::new(-1, -1)), 0);
        assert_eq!(chunks, set(&[(i32::MIN, i32::MAX), (1, 0), (31, 31), (0, 0)]));
        let order: Vec<_> = chunks.iter().collect();
        assert!(order.is_sorted() && order.len() == 4, "{order:?}");
        chunks.subtract(&set(&[(0, 0), (1, 0), (31, 31), (5, 5)]));
        assert_eq!(chunks, set(&[(i32::MIN, i32::MAX)]));
        assert_eq!(chunks.bounds().map(ChunkRect::count), Some(1));
        assert_eq!(ChunkSet::new().bounds(), None);
    }

    #[test]
    fn a_whole_region_has_1024_chunks() {
        let mut chunks = ChunkSet::new();
        chunks.insert_region(RegionPos::new(-2, 3));
        assert_eq!((chunks.len(), chunks.iter().count()), (1024, 1024));
        let area = chunks.bounds().unwrap();
        assert_eq!((area.min(), area.max()), (ChunkPos::new(-64, 96), ChunkPos::new(-33, 127)));
    }

    #[test]
    fn a_grown_set_has_a_ring_around_it() {
        assert_eq!(set(&[(0, 0)]).grown(2).len(), 25);
        assert_eq!(set(&[(0, 0), (1, 0)]).grown(1).len(), 12);
        assert_eq!(set(&[(i32::MAX, i32::MIN)]).grown(1).len(), 4);
        let mut both = set(&[(0, 0)]);
        both.add(&set(&[(0, 0), (9, 9)]));
        assert_eq!(both.len(), 2);
    }
}
