//! [`Polygon`]: an area with straight borders, in block coordinates.

use super::truth::Truth;

/// The part of a block by which a chunk must overlap a polygon. Chunks that share only a border
/// with it do not belong to it.
const OVERLAP: f64 = 1.0 / 1024.0;

/// A polygon with holes. A position is inside if it is enclosed by an odd number of rings.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Polygon {
    rings: Vec<Vec<(f64, f64)>>,
    /// The smallest rectangle around it.
    min: (f64, f64),
    max: (f64, f64),
}

impl Polygon {
    /// Creates a polygon; `None` if it has no positions or one that is not a finite number. The
    /// last position of a ring is connected with the first.
    pub(super) fn new(rings: Vec<Vec<(f64, f64)>>) -> Option<Self> {
        let first = *rings.iter().flatten().next()?;
        let (mut min, mut max) = (first, first);
        for (x, z) in rings.iter().flatten() {
            if !x.is_finite() || !z.is_finite() {
                return None;
            }
            min = (min.0.min(*x), min.1.min(*z));
            max = (max.0.max(*x), max.1.max(*z));
        }
        Some(Self { rings, min, max })
    }

    /// Returns the smallest rectangle around it.
    pub(super) fn bounds(&self) -> ((f64, f64), (f64, f64)) {
        (self.min, self.max)
    }

    /// Returns the number of positions.
    pub(super) fn len(&self) -> usize {
        self.rings.iter().map(Vec::len).sum()
    }

    /// Returns whether a rectangle of blocks is completely inside or completely outside; `Unknown`
    /// if a border crosses it.
    #[expect(clippy::cast_precision_loss, reason = "block coordinates have up to 33 bits")]
    pub(super) fn test(&self, x: (i64, i64), z: (i64, i64)) -> Truth {
        let low = (x.0 as f64 + OVERLAP, z.0 as f64 + OVERLAP);
        // A block covers the positions up to the next coordinate.
        let high = ((x.1 + 1) as f64 - OVERLAP, (z.1 + 1) as f64 - OVERLAP);
        let is_apart =
            high.0 < self.min.0 || self.max.0 < low.0 || high.1 < self.min.1 || self.max.1 < low.1;
        if is_apart {
            return Truth::No;
        }
        if self.edges().any(|(from, to)| crosses(from, to, low, high)) {
            return Truth::Unknown;
        }
        let is_inside = self.edges().filter(|(from, to)| is_left_of(*from, *to, low)).count() % 2;
        (is_inside == 1).into()
    }

    fn edges(&self) -> impl Iterator<Item = ((f64, f64), (f64, f64))> {
        self.rings.iter().flat_map(|ring| {
            let next = ring.iter().skip(1).chain(ring.first());
            ring.iter().copied().zip(next.copied())
        })
    }
}

/// Returns whether an edge crosses the horizontal ray from a position to the right.
fn is_left_of(from: (f64, f64), to: (f64, f64), at: (f64, f64)) -> bool {
    if (from.1 > at.1) == (to.1 > at.1) {
        return false;
    }
    let share = (at.1 - from.1) / (to.1 - from.1);
    at.0 < from.0 + share * (to.0 - from.0)
}

/// Returns whether an edge has a position inside a rectangle: the parts of it that are between the
/// two vertical and the two horizontal sides overlap.
fn crosses(from: (f64, f64), to: (f64, f64), low: (f64, f64), high: (f64, f64)) -> bool {
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    let axes = [(from.0, to.0, low.0, high.0), (from.1, to.1, low.1, high.1)];
    for (from, to, low, high) in axes {
        let length = to - from;
        if length == 0.0 {
            if from < low || high < from {
                return false;
            }
            continue;
        }
        let (enter, leave) = ((low - from) / length, (high - from) / length);
        first = first.max(enter.min(leave));
        last = last.min(enter.max(leave));
    }
    first <= last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(low: f64, high: f64) -> Vec<(f64, f64)> {
        vec![(low, low), (high, low), (high, high), (low, high), (low, low)]
    }

    fn test(polygon: &Polygon, x: i64, z: i64) -> Truth {
        polygon.test((x * 32, x * 32 + 31), (z * 32, z * 32 + 31))
    }

    #[test]
    fn chunks_inside_outside_and_at_the_border() {
        let with_hole = Polygon::new(vec![square(0.0, 320.0), square(64.0, 128.0)]).unwrap();
        assert_eq!(test(&with_hole, 0, 0), Truth::Yes);
        assert_eq!(test(&with_hole, 9, 9), Truth::Yes);
        assert_eq!((test(&with_hole, 10, 9), test(&with_hole, -1, 0)), (Truth::No, Truth::No));
        assert_eq!((test(&with_hole, 2, 2), test(&with_hole, 3, 3)), (Truth::No, Truth::No));
        let shifted = Polygon::new(vec![square(1.0, 33.0)]).unwrap();
        assert_eq!((test(&shifted, 0, 0), test(&shifted, 1, 1)), (Truth::Unknown, Truth::Unknown));
        let thin = Polygon::new(vec![vec![(-100.0, 5.0), (1000.0, 5.0), (0.0, 5.5)]]).unwrap();
        assert_eq!((test(&thin, 3, 0), test(&thin, 3, 1)), (Truth::Unknown, Truth::No));
    }

    #[test]
    fn positions_must_be_finite() {
        assert_eq!(Polygon::new(Vec::new()), None);
        assert_eq!(Polygon::new(vec![vec![(0.0, f64::NAN)]]), None);
        let huge = Polygon::new(vec![square(-1e300, 1e300)]).unwrap();
        assert_eq!(test(&huge, 0, 0), Truth::Yes);
        assert_eq!(huge.len(), 5);
    }
}
