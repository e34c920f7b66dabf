//! Regions: [`RegionPos`] in the world, and the name of its file.

use std::cmp::Ordering;

use crate::dimensions::{MAX_Y, MIN_Y};
use crate::text::{display_coordinates, parse_coordinates};
use crate::{BlockPos, BlockRect, ChunkPos, ChunkRect, Rect, RegionSlot};

/// The suffix of the name of a region file.
const FILE_NAME_END: &str = ".region.bin";

/// A region in the world: 32 x 32 chunks, stored in one file.
///
/// Regions compare row by row: by z, then by x.
///
/// Any two numbers are a valid region, but its chunks and blocks have 32-bit coordinates too.
/// Regions from -67,108,864 to 67,108,863 have chunks, and those from -2,097,152 to 2,097,151 have
/// blocks as well. A region has either all of them or none; if it has none, the methods that
/// convert to them return `None`.
///
/// ```
/// use hyworld_coords::{BlockPos, RegionPos};
///
/// let region = RegionPos::from_file_name("3.-2.region.bin").ok_or("not a region file")?;
/// assert_eq!(region, RegionPos::new(3, -2));
/// assert_eq!(region.first_block(), Some(BlockPos::new(3072, 0, -2048)));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RegionPos {
    /// Position along the first horizontal axis, in regions.
    pub x: i32,
    /// Position along the second horizontal axis, in regions.
    pub z: i32,
}

display_coordinates!(RegionPos, |region| [region.x, region.z]);
parse_coordinates!(RegionPos { x, z });

impl RegionPos {
    /// Returns the region at these coordinates.
    pub const fn new(x: i32, z: i32) -> Self {
        Self { x, z }
    }

    /// Returns the name of the file that stores this region: `<x>.<z>.region.bin`.
    pub fn file_name(self) -> String {
        format!("{}.{}{FILE_NAME_END}", self.x, self.z)
    }

    /// Parses the name of a region file. Returns `None` if it is not one.
    ///
    /// Accepts only the exact names that [`file_name`](Self::file_name) returns. The game also
    /// accepts names such as `+1.01.region.bin`, but then looks for the chunks in `1.1.region.bin`;
    /// accepting both would map two files to one region.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (x, z) = name.strip_suffix(FILE_NAME_END)?.split_once('.')?;
        let region = Self::new(x.parse().ok()?, z.parse().ok()?);
        (region.file_name() == name).then_some(region)
    }

    /// Returns the chunk in this slot. [`ChunkPos::region`] and [`ChunkPos::slot`] are the inverse.
    pub fn chunk(self, slot: RegionSlot) -> Option<ChunkPos> {
        let first = self.first_chunk()?;
        // The low five bits of the first chunk are zero, so no carry can occur.
        Some(ChunkPos::new(first.x | i32::from(slot.x()), first.z | i32::from(slot.z())))
    }

    /// Returns the chunk with the lowest coordinates.
    pub fn first_chunk(self) -> Option<ChunkPos> {
        Some(self.chunks()?.min())
    }

    /// Returns the chunk with the highest coordinates.
    pub fn last_chunk(self) -> Option<ChunkPos> {
        Some(self.chunks()?.max())
    }

    /// Returns the chunks of this region. Row by row they are in slot order.
    pub fn chunks(self) -> Option<ChunkRect> {
        Rect::single(self).chunks()
    }

    /// Returns the block with the lowest coordinates, at the bottom of the world.
    pub fn first_block(self) -> Option<BlockPos> {
        Some(self.blocks()?.min().block(MIN_Y))
    }

    /// Returns the block with the highest coordinates, at the top of the world.
    pub fn last_block(self) -> Option<BlockPos> {
        Some(self.blocks()?.max().block(MAX_Y))
    }

    /// Returns the columns of blocks in this region.
    pub fn blocks(self) -> Option<BlockRect> {
        Rect::single(self).blocks()
    }
}

impl Ord for RegionPos {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.z, self.x).cmp(&(other.z, other.x))
    }
}

impl PartialOrd for RegionPos {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::coordinate;

    #[test]
    fn file_names_are_decimal() {
        let name = |x, z| RegionPos::new(x, z).file_name();
        assert_eq!(name(0, 0), "0.0.region.bin");
        assert_eq!(name(3, -2), "3.-2.region.bin");
        assert_eq!(name(i32::MIN, i32::MAX), "-2147483648.2147483647.region.bin");
    }

    #[test]
    fn names_that_the_game_never_writes_are_rejected() {
        for name in ["+1.0", "1.+0", "01.0", "1.00", "-0.0", "0.-0", "-01.0"] {
            assert_eq!(RegionPos::from_file_name(&format!("{name}.region.bin")), None, "{name}");
        }
    }

    #[test]
    fn other_names_are_rejected() {
        let names = [
            "",
            ".region.bin",
            "..region.bin",
            "0.region.bin",
            "0..region.bin",
            ".0.region.bin",
            "0.0.0.region.bin",
            "0.0.region.bin.old",
            "0.0.region.bin ",
            " 0.0.region.bin",
            "0. 0.region.bin",
            "0.0.region",
            "0.0.regionbin",
            "0.0region.bin",
            "0.0.Region.bin",
            "0.0.region.BIN",
            "r.0.0.region.bin",
            "0,0.region.bin",
            "1e2.0.region.bin",
            "0x1.0.region.bin",
            "2147483648.0.region.bin",
            "0.-2147483649.region.bin",
            "\u{0661}.0.region.bin",
            "chunks/0.0.region.bin",
        ];
        for name in names {
            assert_eq!(RegionPos::from_file_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_region_has_chunks_and_blocks() {
        let region = RegionPos::new(3, -2);
        assert_eq!(region.first_chunk(), Some(ChunkPos::new(96, -64)));
        assert_eq!(region.last_chunk(), Some(ChunkPos::new(127, -33)));
        assert_eq!(region.first_block(), Some(BlockPos::new(3072, 0, -2048)));
        assert_eq!(region.last_block(), Some(BlockPos::new(4095, 319, -1025)));
    }

    #[test]
    fn the_outermost_regions_reach_the_ends_of_i32() {
        let (low, high) = (RegionPos::new(-67_108_864, 0), RegionPos::new(67_108_863, 0));
        assert_eq!(low.first_chunk(), Some(ChunkPos::new(i32::MIN, 0)));
        assert_eq!(high.last_chunk(), Some(ChunkPos::new(i32::MAX, 31)));
        let (low, high) = (RegionPos::new(0, -2_097_152), RegionPos::new(0, 2_097_151));
        assert_eq!(low.first_block(), Some(BlockPos::new(0, 0, i32::MIN)));
        assert_eq!(high.last_block(), Some(BlockPos::new(1023, 319, i32::MAX)));
    }

    #[test]
    fn regions_beyond_the_last_chunk_have_no_chunks() {
        let slot = RegionSlot::new(0, 0).unwrap();
        for outside in [-67_108_865, 67_108_864, i32::MIN, i32::MAX] {
            for region in [RegionPos::new(outside, 0), RegionPos::new(0, outside)] {
                assert_eq!((region.first_chunk(), region.last_chunk()), (None, None), "{region}");
                assert_eq!((region.chunk(slot), region.chunks()), (None, None), "{region}");
                assert_eq!((region.first_block(), region.last_block()), (None, None), "{region}");
            }
        }
    }

    #[test]
    fn regions_beyond_the_last_block_have_chunks_but_no_blocks() {
        for outside in [-2_097_153, 2_097_152] {
            let region = RegionPos::new(0, outside);
            assert_eq!(region.first_chunk(), Some(ChunkPos::new(0, outside * 32)));
            assert_eq!((region.first_block(), region.last_block()), (None, None));
            assert_eq!(region.blocks(), None);
        }
    }

    #[test]
    fn every_slot_holds_one_chunk_of_the_region() {
        for region in [RegionPos::new(0, 0), RegionPos::new(-1, 5), RegionPos::new(67_108_863, -3)]
        {
            let by_slot = RegionSlot::all().map(|slot| {
                let chunk = region.chunk(slot).unwrap();
                assert_eq!((chunk.region(), chunk.slot()), (region, slot));
                chunk
            });
            assert!(by_slot.eq(region.chunks().unwrap().in_rows()), "{region}");
        }
    }

    #[test]
    fn regions_compare_row_by_row() {
        let mut regions = [(1, 1), (-5, 1), (9, 0), (0, -1)].map(|(x, z)| RegionPos::new(x, z));
        regions.sort();
        assert_eq!(regions, [(0, -1), (9, 0), (-5, 1), (1, 1)].map(|(x, z)| RegionPos::new(x, z)));
    }

    proptest! {
        #[test]
        fn file_names_round_trip(x in coordinate(), z in coordinate()) {
            let region = RegionPos::new(x, z);
            prop_assert_eq!(RegionPos::from_file_name(&region.file_name()), Some(region));
        }

        #[test]
        fn canonical_numbers_are_accepted(x in "0|-?[1-9][0-9]{0,8}", z in "0|-?[1-9][0-9]{0,8}") {
            let region = RegionPos::from_file_name(&format!("{x}.{z}.region.bin"));
            prop_assert_eq!(region, Some(RegionPos::new(x.parse().unwrap(), z.parse().unwrap())));
        }

        #[test]
        fn other_numbers_are_rejected(
            number in "\\+[0-9]{1,9}|-?0[0-9]{1,9}|-0|-?[3-9][0-9]{9,12}",
        ) {
            for name in [format!("{number}.0.region.bin"), format!("0.{number}.region.bin")] {
                prop_assert_eq!(RegionPos::from_file_name(&name), None, "{}", name);
            }
        }

        #[test]
        fn a_region_has_chunks_and_blocks_exactly_within_the_limits(
            x in coordinate(),
            z in coordinate(),
        ) {
            let within = |first: i32, last| [x, z].iter().all(|c| (first..=last).contains(c));
            let region = RegionPos::new(x, z);
            prop_assert_eq!(region.first_chunk().is_some(), within(-67_108_864, 67_108_863));
            prop_assert_eq!(region.first_block().is_some(), within(-2_097_152, 2_097_151));
            if let (Some(first), Some(last)) = (region.first_block(), region.last_block()) {
                prop_assert_eq!((first.region(), last.region()), (region, region));
                prop_assert_eq!((last.x - first.x, last.z - first.z), (1023, 1023));
            }
        }
    }
}
