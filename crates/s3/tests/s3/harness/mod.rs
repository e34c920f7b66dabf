//! Real servers on 127.0.0.1, started and stopped by the tests.

mod cluster;
mod proxy;
mod server;

pub(crate) use cluster::Cluster;
pub(crate) use hyworld_testkit::seaweedfs::{GAME, Identity, free_port, http_status, is_available};
pub(crate) use proxy::Proxy;
pub(crate) use server::Server;
