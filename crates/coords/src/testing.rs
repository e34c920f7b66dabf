//! Strategies that the property tests share.

use proptest::prelude::*;

/// Generates a coordinate. Small values, the ends of `i32` and both sides of every power of two are
/// as likely as all others together, because errors in shifts and masks are most likely there.
pub(crate) fn coordinate() -> impl Strategy<Value = i32> {
    let near_power = (0_u32..31, -2..=2, any::<bool>()).prop_map(|(bits, step, negative)| {
        let value = (1_i32 << bits).saturating_add(step);
        if negative { value.wrapping_neg() } else { value }
    });
    prop_oneof![
        any::<i32>(),
        -100..=100,
        i32::MIN..=i32::MIN + 100,
        i32::MAX - 100..=i32::MAX,
        near_power,
    ]
}
