//! Every maximum in one place, each with its reason.

/// How deep documents may be nested. Real chunks nest about ten levels: entities that carry
/// entities.
pub const DEPTH_MAX: u32 = 100;
