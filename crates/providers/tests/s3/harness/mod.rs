//! Real servers on 127.0.0.1, started and stopped by the tests.

mod cluster;
mod install;
mod node;
mod proxy;
mod server;

pub(crate) use cluster::Cluster;
pub(crate) use node::{free_port, http_status};
pub(crate) use proxy::Proxy;
pub(crate) use server::{GAME, Identity, Server};

/// Whether the real server can be had. Where it cannot, the test says so and ends; in CI it fails.
pub(crate) fn is_available() -> bool {
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
