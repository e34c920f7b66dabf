//! Tests of the provider `hyworld:S3` with a real server: `SeaweedFS`, started on 127.0.0.1.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test prints a message")]

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

/// Returns distinct positions in several regions.
fn positions(count: i32) -> Vec<ChunkPos> {
    (0..count).map(|n| ChunkPos::new(n % 50 - 25, n / 50 - 5)).collect()
}

/// Builds a document that contains its position and version.
fn document(at: ChunkPos, version: u32) -> Vec<u8> {
    format!("chunk {at} version {version} ").repeat(40).into_bytes()
}
