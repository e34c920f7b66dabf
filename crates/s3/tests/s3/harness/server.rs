//! A complete `SeaweedFS` in one process, and a client for it.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use hyworld_providers::Access;
use hyworld_s3::{S3Options, S3Storage};
use hyworld_testkit::seaweedfs::{ADMIN, BUCKET, GAME, Identity, WeedServer};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt};

/// A running server.
#[derive(Debug)]
pub(crate) struct Server(WeedServer);

impl Deref for Server {
    type Target = WeedServer;

    fn deref(&self) -> &WeedServer {
        &self.0
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut WeedServer {
        &mut self.0
    }
}

impl Server {
    /// Starts a server with an empty bucket.
    pub(crate) fn start() -> Self {
        Self(WeedServer::start())
    }

    /// Starts a server with additional arguments, which may depend on its folder.
    pub(crate) fn start_with(more: impl Fn(&Path) -> Vec<String>) -> Self {
        Self(WeedServer::start_with(more))
    }

    /// Returns options to open the world of this name.
    pub(crate) fn options(&self, world: &str) -> S3Options {
        options(&self.endpoint(), world, GAME)
    }

    pub(crate) fn open(&self, world: &str) -> S3Storage {
        self.options(world).open().unwrap()
    }

    pub(crate) fn open_read_only(&self, world: &str) -> S3Storage {
        self.options(world).access(Access::ReadOnly).open().unwrap()
    }

    /// Writes an object directly, bypassing the storage.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let path = ObjectPath::parse(name).unwrap();
        let bytes = bytes.to_vec();
        run(async move { client(&self.endpoint(), ADMIN).put(&path, bytes.into()).await }).unwrap();
    }

    /// Reads an object directly, bypassing the storage.
    pub(crate) fn get(&self, name: &str) -> Option<Vec<u8>> {
        let path = ObjectPath::parse(name).unwrap();
        run(async move {
            let found = client(&self.endpoint(), ADMIN).get(&path).await.ok()?;
            Some(found.bytes().await.unwrap().to_vec())
        })
    }

    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        let prefix = ObjectPath::parse(prefix).unwrap();
        run(async move {
            let all = client(&self.endpoint(), ADMIN).list(Some(&prefix));
            all.map_ok(|object| object.location.to_string()).try_collect().await.unwrap()
        })
    }
}

/// Returns options to open a world with an identity, without the environment of the test.
pub(crate) fn options(endpoint: &str, world: &str, who: Identity) -> S3Options {
    let variables = [("AWS_ACCESS_KEY_ID", who.key), ("AWS_SECRET_ACCESS_KEY", who.secret)];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let url = format!("s3://{BUCKET}/{world}");
    S3Options::new(&url).unwrap().variables(variables).endpoint(endpoint)
}

fn client(endpoint: &str, who: Identity) -> Arc<dyn ObjectStore> {
    // As the provider does; it may already be installed.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = AmazonS3Builder::new().with_endpoint(endpoint).with_allow_http(true);
    let builder = builder.with_access_key_id(who.key).with_secret_access_key(who.secret);
    let store = builder.with_bucket_name(BUCKET).with_region("us-east-1").build().unwrap();
    Arc::new(store)
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(90), work).await };
    runtime.block_on(limited).unwrap()
}
