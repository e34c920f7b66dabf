//! The limits of this crate, with their reasons.

/// The maximum nesting of documents. Known chunks nest about ten levels.
pub const DEPTH_MAX: u32 = 100;

/// The maximum number of values in JSON text, which take up to 150 bytes of memory each, without
/// long texts. A configuration is in memory up to five times. The largest real file has about
/// 40,000.
pub const JSON_VALUES_MAX: u32 = 500_000;
