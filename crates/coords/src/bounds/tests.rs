use proptest::prelude::*;

use super::*;
use crate::testing::coordinate;

const MIN: i32 = i32::MIN;
const MAX: i32 = i32::MAX;

fn rect<P: FlatPos>(min: (i32, i32), max: (i32, i32)) -> Rect<P> {
    Rect::new(P::from_xz(min.0, min.1), P::from_xz(max.0, max.1))
}

fn everything<P: FlatPos>() -> Rect<P> {
    rect((MIN, MIN), (MAX, MAX))
}

/// Generates a rectangle that is small enough to iterate over, also at the ends of `i32`.
fn small_rect<P: FlatPos>() -> impl Strategy<Value = Rect<P>> {
    (coordinate(), coordinate(), 0..70, 0..70).prop_map(|(x, z, width, depth)| {
        rect((x, z), (x.saturating_add(width), z.saturating_add(depth)))
    })
}

fn any_rect<P: FlatPos>() -> impl Strategy<Value = Rect<P>> {
    (coordinate(), coordinate(), coordinate(), coordinate())
        .prop_map(|(x, z, other_x, other_z)| rect((x, z), (other_x, other_z)))
}

fn xz<P: FlatPos>(positions: impl Iterator<Item = P>) -> Vec<(i32, i32)> {
    positions.map(FlatPos::xz).collect()
}

#[test]
fn corners_can_be_given_in_any_order() {
    let expected: ChunkRect = rect((-1, -2), (3, 4));
    for (corner, opposite) in [((3, 4), (-1, -2)), ((-1, 4), (3, -2)), ((3, -2), (-1, 4))] {
        assert_eq!(rect::<ChunkPos>(corner, opposite), expected);
    }
    assert_eq!(expected.min(), ChunkPos::new(-1, -2));
    assert_eq!(expected.max(), ChunkPos::new(3, 4));
    assert_eq!(format!("{expected} {expected:?}"), "(-1, -2) to (3, 4) (-1, -2) to (3, 4)");
}

#[test]
fn sizes_count_both_corners() {
    let rect: RegionRect = rect((-1, -2), (3, 4));
    assert_eq!((rect.width(), rect.depth(), rect.count()), (5, 7, 35));
    assert_eq!(Rect::single(ChunkPos::new(MAX, MIN)).count(), 1);
}

#[test]
fn the_largest_rectangle_can_be_counted() {
    let all: BlockRect = everything();
    assert_eq!((all.width(), all.depth()), (1 << 32, 1 << 32));
    assert_eq!(all.count(), 1 << 64);
}

#[test]
fn a_square_reaches_as_far_on_every_side() {
    let square = Rect::around(ChunkPos::new(10, -10), 3);
    assert_eq!(square, rect((7, -13), (13, -7)));
    assert_eq!(square.count(), 49);
    assert_eq!(Rect::around(ChunkPos::new(5, 5), 0), Rect::single(ChunkPos::new(5, 5)));
}

#[test]
fn a_square_is_cut_off_at_the_end_of_the_world() {
    assert_eq!(Rect::around(ChunkPos::new(MAX, MIN), 2), rect((MAX - 2, MIN), (MAX, MIN + 2)));
    assert_eq!(Rect::around(RegionPos::new(0, -1), u32::MAX), everything());
    assert_eq!(Rect::around(RegionPos::new(MIN, MAX), u32::MAX), everything());
}

#[test]
fn rectangles_contain_their_edges() {
    let rect: ChunkRect = rect((-1, -2), (3, 4));
    for (x, z) in [(-1, -2), (3, -2), (-1, 4), (3, 4), (0, 0)] {
        assert!(rect.contains(ChunkPos::new(x, z)), "({x}, {z})");
    }
    for (x, z) in [(-2, 0), (4, 0), (0, -3), (0, 5), (MIN, 0), (0, MAX)] {
        assert!(!rect.contains(ChunkPos::new(x, z)), "({x}, {z})");
    }
}

#[test]
fn intersections_are_contained_in_both() {
    let one: ChunkRect = rect((0, 0), (5, 5));
    assert_eq!(one.intersection(rect((3, -4), (9, 2))), Some(rect((3, 0), (5, 2))));
    assert_eq!(one.intersection(rect((5, 5), (9, 9))), Some(rect((5, 5), (5, 5))));
    assert_eq!(one.intersection(rect((6, 0), (9, 5))), None);
    assert_eq!(one.intersection(rect((0, -9), (5, -1))), None);
    assert_eq!(one.intersection(everything()), Some(one));
}

#[test]
fn rows_run_along_x() {
    let rect: BlockRect = rect((-1, 7), (1, 8));
    let expected = [(-1, 7), (0, 7), (1, 7), (-1, 8), (0, 8), (1, 8)];
    assert_eq!(xz(rect.in_rows()), expected);
    let mut reversed = expected;
    reversed.reverse();
    assert_eq!(xz(rect.in_rows().rev()), reversed);
}

#[test]
fn file_order_is_region_by_region() {
    // Two chunks on each side of the corner where four regions meet.
    let rect: ChunkRect = rect((-2, -2), (1, 1));
    let expected = [
        [(-2, -2), (-1, -2), (-2, -1), (-1, -1)],
        [(0, -2), (1, -2), (0, -1), (1, -1)],
        [(-2, 0), (-1, 0), (-2, 1), (-1, 1)],
        [(0, 0), (1, 0), (0, 1), (1, 1)],
    ];
    assert_eq!(xz(rect.in_file_order()), expected.concat());
}

#[test]
fn file_order_of_a_region_is_slot_order() {
    let chunks = RegionPos::new(-3, 2).chunks().unwrap();
    let slots: Vec<u16> = chunks.in_file_order().map(|chunk| chunk.slot().index()).collect();
    assert_eq!(slots, (0..1024).collect::<Vec<_>>());
}

#[test]
fn a_rectangle_is_cut_into_regions() {
    let rect_of_chunks: ChunkRect = rect((30, -1), (32, 0));
    let parts: Vec<_> = rect_of_chunks.by_region().collect();
    let expected = [
        (RegionPos::new(0, -1), rect((30, -1), (31, -1))),
        (RegionPos::new(1, -1), rect((32, -1), (32, -1))),
        (RegionPos::new(0, 0), rect((30, 0), (31, 0))),
        (RegionPos::new(1, 0), rect((32, 0), (32, 0))),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn iteration_ends_at_the_end_of_the_world() {
    let high: ChunkRect = rect((MAX - 1, MAX), (MAX, MAX));
    assert_eq!(xz(high.in_rows()), [(MAX - 1, MAX), (MAX, MAX)]);
    assert_eq!(xz(high.in_file_order()), [(MAX - 1, MAX), (MAX, MAX)]);
    let low: ChunkRect = rect((MIN, MIN), (MIN, MIN + 1));
    assert_eq!(xz(low.in_rows()), [(MIN, MIN), (MIN, MIN + 1)]);
    assert_eq!(xz(low.in_file_order()), [(MIN, MIN), (MIN, MIN + 1)]);
}

#[test]
fn the_largest_rectangle_can_be_iterated_from_both_ends() {
    let mut chunks = everything::<ChunkPos>().in_file_order();
    assert_eq!(chunks.next(), Some(ChunkPos::new(MIN, MIN)));
    assert_eq!(chunks.next(), Some(ChunkPos::new(MIN + 1, MIN)));
    assert_eq!(chunks.next_back(), Some(ChunkPos::new(MAX, MAX)));
}

#[test]
fn coarser_units_cover_the_rectangle() {
    let blocks: BlockRect = rect((-1, 31), (32, 1024));
    assert_eq!(blocks.chunks(), rect((-1, 0), (1, 32)));
    assert_eq!(blocks.regions(), rect((-1, 0), (0, 1)));
    let chunks: ChunkRect = rect((-33, 31), (0, 32));
    assert_eq!(chunks.regions(), rect((-2, 0), (0, 1)));
}

#[test]
fn finer_units_fill_the_rectangle() {
    let chunks: ChunkRect = rect((-1, 0), (1, 32));
    assert_eq!(chunks.blocks(), Some(rect((-32, 0), (63, 1055))));
    let regions: RegionRect = rect((-2, 0), (0, 1));
    assert_eq!(regions.chunks(), Some(rect((-64, 0), (31, 63))));
    assert_eq!(regions.blocks(), Some(rect((-2048, 0), (1023, 2047))));
}

#[test]
fn finer_units_stop_at_the_end_of_the_world() {
    assert_eq!(everything::<ChunkPos>().blocks(), Some(everything()));
    assert_eq!(everything::<RegionPos>().chunks(), Some(everything()));
    assert_eq!(everything::<RegionPos>().blocks(), Some(everything()));
    let half_outside: ChunkRect = rect((67_108_863, 0), (MAX, 0));
    assert_eq!(half_outside.blocks(), Some(rect((MAX - 31, 0), (MAX, 31))));
    let outside: ChunkRect = rect((67_108_864, 0), (MAX, 0));
    assert_eq!(outside.blocks(), None);
    let outside: RegionRect = rect((0, MIN), (0, -2_097_153));
    assert_eq!(outside.blocks(), None);
    assert_eq!(outside.chunks(), Some(rect((0, MIN), (31, -67_108_865))));
}

#[test]
fn the_whole_world_has_chunks_and_regions() {
    assert_eq!(
        everything::<ColumnPos>().chunks(),
        rect((MIN / 32, MIN / 32), (MAX / 32, MAX / 32))
    );
    assert_eq!(
        everything::<ColumnPos>().regions(),
        rect((MIN / 1024, MIN / 1024), (MAX / 1024, MAX / 1024))
    );
    assert_eq!(
        everything::<ChunkPos>().regions(),
        rect((MIN / 32, MIN / 32), (MAX / 32, MAX / 32))
    );
}

proptest! {
    #[test]
    fn rows_contain_every_position_once(rect in small_rect::<RegionPos>()) {
        let walked: Vec<_> = rect.in_rows().collect();
        prop_assert_eq!(walked.len() as u128, rect.count());
        prop_assert!(walked.iter().all(|&pos| rect.contains(pos)));
        // Strictly ascending, so there are no duplicates.
        prop_assert!(walked.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn file_order_contains_every_chunk_once(rect in small_rect::<ChunkPos>()) {
        let walked: Vec<_> = rect.in_file_order().collect();
        prop_assert_eq!(walked.len() as u128, rect.count());
        prop_assert!(walked.iter().all(|&chunk| rect.contains(chunk)));
        prop_assert!(walked.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn every_part_lies_in_its_region(rect in small_rect::<ChunkPos>()) {
        for (region, part) in rect.by_region() {
            prop_assert_eq!((part.min().region(), part.max().region()), (region, region));
            prop_assert_eq!(part.intersection(rect), Some(part));
        }
    }

    #[test]
    fn intersections_contain_what_both_contain(
        one in any_rect::<ChunkPos>(), other in any_rect::<ChunkPos>(),
        x in coordinate(), z in coordinate(),
    ) {
        let both = one.intersection(other);
        prop_assert_eq!(both, other.intersection(one));
        for chunk in [ChunkPos::new(x, z), one.min(), one.max(), other.min(), other.max()] {
            let in_both = one.contains(chunk) && other.contains(chunk);
            prop_assert_eq!(both.is_some_and(|both| both.contains(chunk)), in_both);
        }
    }

    #[test]
    fn squares_contain_exactly_the_near_positions(
        x in coordinate(), z in coordinate(),
        other_x in coordinate(), other_z in coordinate(),
        radius in any::<u32>(),
    ) {
        let square = Rect::around(ColumnPos::new(x, z), radius);
        let near = x.abs_diff(other_x).max(z.abs_diff(other_z)) <= radius;
        prop_assert_eq!(square.contains(ColumnPos::new(other_x, other_z)), near);
    }

    #[test]
    fn the_chunks_of_blocks_are_those_with_a_block_inside(
        blocks in any_rect::<ColumnPos>(), x in coordinate(), z in coordinate(),
    ) {
        let (column, chunk) = (ColumnPos::new(x, z), ChunkPos::new(x, z));
        prop_assert!(!blocks.contains(column) || blocks.chunks().contains(column.chunk()));
        let touched = chunk.blocks().is_some_and(|own| own.intersection(blocks).is_some());
        prop_assert_eq!(blocks.chunks().contains(chunk), touched);
        let region = RegionPos::new(x, z);
        let touched = region.blocks().is_some_and(|own| own.intersection(blocks).is_some());
        prop_assert_eq!(blocks.regions().contains(region), touched);
    }

    #[test]
    fn the_blocks_of_chunks_are_those_whose_chunk_is_inside(
        chunks in any_rect::<ChunkPos>(), x in coordinate(), z in coordinate(),
    ) {
        let column = ColumnPos::new(x, z);
        let inside = chunks.blocks().is_some_and(|blocks| blocks.contains(column));
        prop_assert_eq!(inside, chunks.contains(column.chunk()));
        // Converting to blocks and back loses only chunks without blocks.
        if let (Some(blocks), Some(_), Some(_)) =
            (chunks.blocks(), chunks.min().blocks(), chunks.max().blocks())
        {
            prop_assert_eq!(blocks.chunks(), chunks);
        }
    }

    #[test]
    fn the_chunks_of_regions_are_those_whose_region_is_inside(
        regions in any_rect::<RegionPos>(), x in coordinate(), z in coordinate(),
    ) {
        let (chunk, column) = (ChunkPos::new(x, z), ColumnPos::new(x, z));
        let inside = regions.chunks().is_some_and(|chunks| chunks.contains(chunk));
        prop_assert_eq!(inside, regions.contains(chunk.region()));
        let inside = regions.blocks().is_some_and(|blocks| blocks.contains(column));
        prop_assert_eq!(inside, regions.contains(column.region()));
    }

    #[test]
    fn the_regions_of_chunks_are_those_with_a_chunk_inside(
        chunks in any_rect::<ChunkPos>(), x in coordinate(), z in coordinate(),
    ) {
        let region = RegionPos::new(x, z);
        let touched = region.chunks().is_some_and(|own| own.intersection(chunks).is_some());
        prop_assert_eq!(chunks.regions().contains(region), touched);
    }
}
