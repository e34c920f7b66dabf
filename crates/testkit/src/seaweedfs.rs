//! `SeaweedFS`, a real object store, on 127.0.0.1: installed, started and stopped by the tests.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]
#![expect(clippy::missing_panics_doc, reason = "everything here fails by panicking")]

mod install;
mod node;
mod server;

pub use node::{Node, free_port, http_status, make_bucket, wait_for};
pub use server::{ADMIN, BUCKET, GAME, Identity, WeedServer, write_identities};

/// Whether the real server can be had. Where it cannot, the test says so and ends; in CI it fails.
pub fn is_available() -> bool {
    match install::weed() {
        Ok(_) => true,
        Err(reason) => {
            let must_run = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!must_run, "in CI the tests on a real server must run: {reason}");
            println!("SKIPPED: no real S3 server to test with: {reason}");
            false
        }
    }
}
