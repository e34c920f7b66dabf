//! The provider `hyworld:S3` on a real server: `SeaweedFS`, started here on 127.0.0.1.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

mod cluster;
mod conform;
mod faults;
mod fence;
mod harness;
mod layout;
mod measure;
mod secrets;
mod slow;
mod tls;

use hyworld_coords::ChunkPos;

/// Positions that no two of are the same, in several regions.
fn positions(count: i32) -> Vec<ChunkPos> {
    (0..count).map(|n| ChunkPos::new(n % 50 - 25, n / 50 - 5)).collect()
}

/// A document that says what it is: for `at`, in its `version`.
fn document(at: ChunkPos, version: u32) -> Vec<u8> {
    format!("chunk {at} version {version} ").repeat(40).into_bytes()
}
