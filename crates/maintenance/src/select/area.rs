//! [`Area`]: the parts of a selection that depend on positions only.

use hyworld_coords::{CHUNK_SIDE_BLOCKS, ChunkPos, RegionPos};

use super::chunk_set::ChunkSet;
use super::compare::Compare;
use super::polygon::Polygon;
use super::truth::Truth;

/// The number of chunks along each side of a region.
const REGION_SIDE_CHUNKS: i64 = 32;

/// The unit of the coordinates of an area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Block,
    Chunk,
    Region,
}

impl Unit {
    /// Returns the coordinates in this unit that the chunks from `first` to `last` cover.
    fn span(self, (first, last): (i64, i64)) -> (i64, i64) {
        let side = i64::from(CHUNK_SIDE_BLOCKS);
        match self {
            Self::Block => (first.saturating_mul(side), last.saturating_mul(side) + side - 1),
            Self::Chunk => (first, last),
            Self::Region => {
                (first.div_euclid(REGION_SIDE_CHUNKS), last.div_euclid(REGION_SIDE_CHUNKS))
            }
        }
    }
}

/// One chunk, or all chunks of a region: the chunk coordinates along both axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    pub(super) x: (i64, i64),
    pub(super) z: (i64, i64),
}

impl Window {
    pub(super) fn of_chunk(at: ChunkPos) -> Self {
        let (x, z) = (i64::from(at.x), i64::from(at.z));
        Self { x: (x, x), z: (z, z) }
    }

    pub(super) fn of_region(region: RegionPos) -> Self {
        let span = |at: i32| {
            let first = i64::from(at).saturating_mul(REGION_SIDE_CHUNKS);
            (first, first + REGION_SIDE_CHUNKS - 1)
        };
        Self { x: span(region.x), z: span(region.z) }
    }

    /// Returns the chunk, unless this is a region.
    fn chunk(self) -> Option<ChunkPos> {
        let x = i32::try_from(self.x.0).ok().filter(|_| self.x.0 == self.x.1)?;
        let z = i32::try_from(self.z.0).ok().filter(|_| self.z.0 == self.z.1)?;
        Some(ChunkPos::new(x, z))
    }

    /// Returns the region of its chunks.
    fn region(self) -> Option<RegionPos> {
        let axis = |at: i64| i32::try_from(at.div_euclid(REGION_SIDE_CHUNKS)).ok();
        Some(RegionPos::new(axis(self.x.0)?, axis(self.z.0)?))
    }

    /// Returns the result for a window that the area touches: `Yes` for one chunk, `Unknown` for a
    /// region, of which only some chunks may be in the area.
    fn partly(self) -> Truth {
        if self.chunk().is_some() { Truth::Yes } else { Truth::Unknown }
    }
}

/// A set of positions. A chunk belongs to it if it contains or touches a position of the area.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Area {
    /// A rectangle with these two opposite corners, both included.
    Rect { unit: Unit, x: (i64, i64), z: (i64, i64) },
    /// All positions up to `radius` from the centre, measured in `unit`.
    Circle { unit: Unit, center: (i64, i64), radius: i64 },
    /// Polygons in block coordinates.
    Polygons(Vec<Polygon>),
    /// Listed chunks, or all chunks that are not listed.
    List { chunks: ChunkSet, is_inverted: bool },
    /// Chunks by one of their coordinates.
    Axis { is_x: bool, compare: Compare },
    /// Chunks at most this many chunks away from one that is not stored.
    Border(u32),
    /// All of several areas.
    Any(Vec<Area>),
}

impl Area {
    /// Returns whether the chunks of a window belong to the area. Certain for one chunk, except
    /// that borders need the stored chunks.
    pub(super) fn test(&self, window: Window, stored: Option<&ChunkSet>) -> Truth {
        match self {
            Self::Rect { unit, x, z } => {
                let (across, along) = (unit.span(window.x), unit.span(window.z));
                if !touches(across, *x) || !touches(along, *z) {
                    Truth::No
                } else if is_inside(across, *x) && is_inside(along, *z) {
                    Truth::Yes
                } else {
                    window.partly()
                }
            }
            Self::Circle { unit, center, radius } => {
                let (across, along) = (unit.span(window.x), unit.span(window.z));
                let near = (nearest(across, center.0), nearest(along, center.1));
                let far = (farthest(across, center.0), farthest(along, center.1));
                if !is_within(near, *radius) {
                    Truth::No
                } else if is_within(far, *radius) {
                    Truth::Yes
                } else {
                    window.partly()
                }
            }
            Self::Polygons(polygons) => {
                let span = |axis| Unit::Block.span(axis);
                let (x, z) = (span(window.x), span(window.z));
                let tests = polygons.iter().map(|polygon| match polygon.test(x, z) {
                    Truth::Unknown => window.partly(),
                    known => known,
                });
                Truth::any(tests)
            }
            Self::List { chunks, is_inverted: true } => listed(chunks, window).negated(),
            Self::List { chunks, is_inverted: false } => listed(chunks, window),
            Self::Axis { is_x, compare } => {
                let (first, last) = if *is_x { window.x } else { window.z };
                compare.test_all(first, last)
            }
            Self::Border(distance) => match (window.chunk(), stored) {
                (Some(at), Some(stored)) => is_near_border(at, *distance, stored).into(),
                _ => Truth::Unknown,
            },
            Self::Any(areas) => Truth::any(areas.iter().map(|area| area.test(window, stored))),
        }
    }

    /// Returns whether it depends on which chunks are stored.
    pub(super) fn needs_stored(&self) -> bool {
        match self {
            Self::Border(_) => true,
            Self::Any(areas) => areas.iter().any(Self::needs_stored),
            _ => false,
        }
    }
}

fn listed(chunks: &ChunkSet, window: Window) -> Truth {
    if let Some(at) = window.chunk() {
        return chunks.contains(at).into();
    }
    match window.region().map(|region| chunks.count_in(region)) {
        Some(0) | None => Truth::No,
        Some(1024) => Truth::Yes,
        Some(_) => Truth::Unknown,
    }
}

fn is_near_border(at: ChunkPos, distance: u32, stored: &ChunkSet) -> bool {
    let mut around = hyworld_coords::ChunkRect::around(at, distance).in_rows();
    around.any(|near| !stored.contains(near))
}

fn touches(span: (i64, i64), other: (i64, i64)) -> bool {
    span.0 <= other.1 && other.0 <= span.1
}

fn is_inside(span: (i64, i64), other: (i64, i64)) -> bool {
    other.0 <= span.0 && span.1 <= other.1
}

/// Returns the distance from a coordinate to the nearest one of a span.
fn nearest(span: (i64, i64), to: i64) -> i64 {
    (span.0 - to).max(to - span.1).max(0)
}

/// Returns the distance from a coordinate to the farthest one of a span.
fn farthest(span: (i64, i64), to: i64) -> i64 {
    (to - span.0).max(span.1 - to)
}

fn is_within((x, z): (i64, i64), radius: i64) -> bool {
    let square = |length: i64| i128::from(length).saturating_mul(i128::from(length));
    square(x).saturating_add(square(z)) <= square(radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(unit: Unit, x: (i64, i64), z: (i64, i64)) -> Area {
        Area::Rect { unit, x, z }
    }

    fn chunk(area: &Area, x: i32, z: i32) -> Truth {
        area.test(Window::of_chunk(ChunkPos::new(x, z)), None)
    }

    /// What is known about a region must hold for each of its chunks.
    #[test]
    fn regions_agree_with_their_chunks() {
        let listed: ChunkSet = (0..40).map(|x| ChunkPos::new(x, 7)).collect();
        let compare = Compare::parse("<=", 40).unwrap();
        let mut full = ChunkSet::new();
        full.insert_region(RegionPos::new(1, 0));
        let polygon = Polygon::new(vec![vec![(-40.5, 3.0), (900.0, 80.0), (20.0, 2000.0)]]);
        let areas = [
            rect(Unit::Block, (-1, 1500), (31, 2047)),
            rect(Unit::Chunk, (-5, 70), (-32, 31)),
            rect(Unit::Region, (0, 1), (-1, -1)),
            Area::Circle { unit: Unit::Block, center: (-100, 1100), radius: 1000 },
            Area::Circle { unit: Unit::Chunk, center: (31, 31), radius: 33 },
            Area::Circle { unit: Unit::Chunk, center: (16, 16), radius: 100 },
            Area::Circle { unit: Unit::Region, center: (1, 1), radius: 1 },
            Area::List { chunks: listed, is_inverted: false },
            Area::List { chunks: full, is_inverted: true },
            Area::Axis { is_x: true, compare },
            Area::Polygons(vec![polygon.unwrap()]),
        ];
        for area in &areas {
            let mut known = 0;
            for (x, z) in (-3..3).flat_map(|x| (-3..3).map(move |z| (x, z))) {
                let region = RegionPos::new(x, z);
                let whole = area.test(Window::of_region(region), None);
                let chunks = region.chunks().unwrap().in_rows();
                let single: Vec<Truth> = chunks.map(|at| chunk(area, at.x, at.z)).collect();
                assert!(single.iter().all(|truth| *truth != Truth::Unknown), "{area:?}");
                if whole != Truth::Unknown {
                    known += 1;
                    assert!(single.iter().all(|truth| *truth == whole), "{area:?} {region}");
                }
            }
            assert!(known > 0, "{area:?}");
        }
    }

    #[test]
    fn a_chunk_belongs_to_an_area_that_touches_it() {
        let blocks = rect(Unit::Block, (31, 64), (-1, -1));
        let inside: Vec<i32> = (-2..5).filter(|x| chunk(&blocks, *x, -1) == Truth::Yes).collect();
        assert_eq!(inside, [0, 1, 2]);
        // The nearest block of chunk 1,0 is block 32,0.
        let circle = |radius| Area::Circle { unit: Unit::Block, center: (0, 0), radius };
        assert_eq!((chunk(&circle(31), 1, 0), chunk(&circle(32), 1, 0)), (Truth::No, Truth::Yes));
        let regions = Area::Circle { unit: Unit::Region, center: (0, 0), radius: 1 };
        assert_eq!((chunk(&regions, 63, 0), chunk(&regions, 63, 32)), (Truth::Yes, Truth::No));
    }

    #[test]
    fn borders_need_the_stored_chunks() {
        let border = Area::Border(1);
        assert_eq!(chunk(&border, 0, 0), Truth::Unknown);
        let stored: ChunkSet =
            (0..5).flat_map(|x| (0..5).map(move |z| ChunkPos::new(x, z))).collect();
        let test = |x, z| border.test(Window::of_chunk(ChunkPos::new(x, z)), Some(&stored));
        assert_eq!((test(0, 2), test(2, 2), test(4, 4)), (Truth::Yes, Truth::No, Truth::Yes));
        assert!(border.needs_stored() && Area::Any(vec![border]).needs_stored());
    }

    #[test]
    fn the_ends_of_the_world_do_not_overflow() {
        let everything = rect(Unit::Block, (i64::MIN, i64::MAX), (i64::MIN, i64::MAX));
        assert_eq!(chunk(&everything, i32::MIN, i32::MAX), Truth::Yes);
        let far = Area::Circle {
            unit: Unit::Block,
            center: (i64::from(i32::MAX), i64::from(i32::MIN)),
            radius: i64::from(u32::MAX),
        };
        assert_eq!(chunk(&far, i32::MIN, i32::MAX), Truth::No);
        let region = Window::of_region(RegionPos::new(i32::MAX, i32::MIN));
        assert_eq!(far.test(region, None), Truth::No);
    }
}
