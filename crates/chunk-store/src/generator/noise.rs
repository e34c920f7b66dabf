//! Noise in integer arithmetic, so that it is the same on every machine.

/// Fixed-point 1.0. Noise values range from 0 to this.
pub(super) const ONE: i64 = 1 << 16;

/// Returns a pseudo-random number for a seed and a position.
pub(super) fn hash(seed: u64, x: i64, y: i64, z: i64) -> u64 {
    let mut state = seed;
    for axis in [x, y, z] {
        state = mix(state ^ axis.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    state
}

fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Returns the random value at a lattice corner, from 0 to [`ONE`].
pub(super) fn corner(seed: u64, x: i64, y: i64, z: i64) -> i64 {
    (hash(seed, x, y, z) & 0xffff).cast_signed()
}

/// Interpolates from `a` at 0 to `b` at [`ONE`].
pub(super) fn between(a: i64, b: i64, at: i64) -> i64 {
    a + (((b - a) * at) >> 16)
}

/// The curve 3t^2 - 2t^3, which has slope 0 at both ends.
fn smooth(t: i64) -> i64 {
    (((t * t) >> 16) * (3 * ONE - 2 * t)) >> 16
}

/// Returns the value of a smooth 2D field with features `1 << scale` blocks wide; `scale` is at
/// most 16.
pub(super) fn field(seed: u64, x: i64, z: i64, scale: u32) -> i64 {
    let (cell_x, cell_z) = (x >> scale, z >> scale);
    let part = |position: i64, cell: i64| smooth((position - (cell << scale)) << (16 - scale));
    let (part_x, part_z) = (part(x, cell_x), part(z, cell_z));
    let row = |z| between(corner(seed, cell_x, 0, z), corner(seed, cell_x + 1, 0, z), part_x);
    between(row(cell_z), row(cell_z + 1), part_z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_everywhere() {
        assert_eq!(hash(1, 2, 3, 4), hash(1, 2, 3, 4));
        let found = [(0, 0), (17, -5), (-100_000, 99_999)].map(|(x, z)| field(7, x, z, 5));
        assert!(found.iter().all(|value| (0..=ONE).contains(value)), "{found:?}");
    }

    #[test]
    fn fields_have_no_steps() {
        for x in -300..300_i64 {
            let step = (field(3, x, 40, 6) - field(3, x + 1, 40, 6)).abs();
            // The curve is at most 1.5 times as steep as a straight line.
            assert!(step <= ONE * 3 / 2 / 64 + 4, "{step} at {x}");
        }
    }
}
