//! `SeaweedFS`, a real object store, installed and run by the tests on 127.0.0.1.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test prints a message")]
#![expect(clippy::missing_panics_doc, reason = "everything here fails by panicking")]

mod install;
mod node;
mod server;

pub use node::{Node, create_bucket, free_port, http_status, wait_for};
pub use server::{ADMIN, BUCKET, GAME, Identity, WeedServer, write_identities};

/// Returns whether the server can be installed. If not, prints that the test is skipped; in CI it
/// panics.
pub fn is_available() -> bool {
    match install::weed() {
        Ok(_) => true,
        Err(reason) => {
            let must_run = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!must_run, "tests on a real server must run in CI: {reason}");
            println!("SKIPPED: no S3 server to test with: {reason}");
            false
        }
    }
}
