//! The limits of this crate, with their reasons.

/// The maximum nesting of documents. Known chunks nest about ten levels.
pub const DEPTH_MAX: u32 = 100;
