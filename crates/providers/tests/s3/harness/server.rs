//! A whole `SeaweedFS` in one process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use hyworld_providers::{Access, S3Options, S3Storage};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt};
use tempfile::TempDir;

use super::node::{Node, free_port, http_status, wait_for};

/// The bucket in which the tests have their worlds.
pub(crate) const BUCKET: &str = "hyworld";

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) key: &'static str,
    pub(crate) secret: &'static str,
}

/// May do everything; makes buckets by writing to them.
pub(crate) const ADMIN: Identity = Identity { key: "ADMINKEYNAME", secret: "admin+SECRET/value" };
/// May read, write and list.
pub(crate) const GAME: Identity = Identity { key: "GAMEKEYNAME", secret: "game+SECRET/value" };

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    node: Node,
    port: u16,
    /// Dropped last: it holds the data.
    folder: TempDir,
}

/// Which identities a gateway knows, as a file.
pub(super) fn write_identities(folder: &TempDir) -> String {
    let identity = |name, who: Identity, actions: &[&str]| {
        let credentials = [serde_json::json!({"accessKey": who.key, "secretKey": who.secret})];
        serde_json::json!({"name": name, "credentials": credentials, "actions": actions})
    };
    let admin = identity("admin", ADMIN, &["Admin", "Read", "Write", "List"]);
    let game = identity("game", GAME, &["Read", "Write", "List"]);
    let identities = serde_json::json!({"identities": [admin, game]});
    let path = folder.path().join("identities.json");
    hyworld_testkit::write_file(&path, identities.to_string().as_bytes());
    path.display().to_string()
}

impl Server {
    /// Starts a server with an empty bucket.
    pub(crate) fn start() -> Self {
        Self::start_with(|_| Vec::new())
    }

    /// The same with more arguments, which may need its folder.
    pub(crate) fn start_with(more: impl Fn(&Path) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (master, volume, filer, s3) = (free_port(), free_port(), free_port(), free_port());
        let data = folder.path().display();
        let identities = write_identities(&folder);
        let mut arguments = vec!["server".to_owned(), "-filer".to_owned(), "-s3".to_owned()];
        arguments.extend([
            format!("-dir={data}"),
            "-ip=127.0.0.1".to_owned(),
            "-ip.bind=127.0.0.1".to_owned(),
            // Without this it reports its use to its makers.
            "-master.telemetry=false".to_owned(),
            format!("-master.port={master}"),
            // It has nobody to vote with; this is how long it waits before it knows.
            "-master.electionTimeout=1s".to_owned(),
            "-master.volumeSizeLimitMB=64".to_owned(),
            format!("-volume.port={volume}"),
            "-volume.max=20".to_owned(),
            format!("-filer.port={filer}"),
            format!("-filer.localSocket={data}/filer.sock"),
            format!("-s3.port={s3}"),
            "-s3.port.iceberg=0".to_owned(),
            "-s3.port.lance=0".to_owned(),
            format!("-s3.localSocket={data}/s3.sock"),
            format!("-s3.config={identities}"),
        ]);
        arguments.extend(more(folder.path()));
        let node = Node::start(folder.path(), "server", &arguments);
        let server = Self { node, port: s3, folder };
        server.wait();
        make_bucket(&server.endpoint());
        server
    }

    pub(crate) fn wait(&self) {
        wait_for("the server", &[&self.node], || http_status(self.port, "/status") == 200);
    }

    pub(crate) fn kill(&mut self) {
        self.node.kill();
    }

    pub(crate) fn start_again(&mut self) {
        self.node.start_again();
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How the world of this name is opened.
    pub(crate) fn options(&self, world: &str) -> S3Options {
        options(&self.endpoint(), world, GAME)
    }

    pub(crate) fn open(&self, world: &str) -> S3Storage {
        self.options(world).open().unwrap()
    }

    pub(crate) fn open_read_only(&self, world: &str) -> S3Storage {
        self.options(world).access(Access::ReadOnly).open().unwrap()
    }

    /// Writes an object past the storage.
    pub(crate) fn put(&self, name: &str, content: &[u8]) {
        let path = ObjectPath::parse(name).unwrap();
        let content = content.to_vec();
        run(async move { client(&self.endpoint(), ADMIN).put(&path, content.into()).await })
            .unwrap();
    }

    /// Reads an object past the storage.
    pub(crate) fn get(&self, name: &str) -> Option<Vec<u8>> {
        let path = ObjectPath::parse(name).unwrap();
        run(async move {
            let found = client(&self.endpoint(), ADMIN).get(&path).await.ok()?;
            Some(found.bytes().await.unwrap().to_vec())
        })
    }

    /// The names of all objects that begin with this.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        let prefix = ObjectPath::parse(prefix).unwrap();
        run(async move {
            let all = client(&self.endpoint(), ADMIN).list(Some(&prefix));
            all.map_ok(|object| object.location.to_string()).try_collect().await.unwrap()
        })
    }
}

/// How a world on a server is opened by somebody, without the environment of the test.
pub(crate) fn options(endpoint: &str, world: &str, who: Identity) -> S3Options {
    let variables = [("AWS_ACCESS_KEY_ID", who.key), ("AWS_SECRET_ACCESS_KEY", who.secret)];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let url = format!("s3://{BUCKET}/{world}");
    S3Options::new(&url).unwrap().variables(variables).endpoint(endpoint)
}

/// An administrator's write makes the bucket, as soon as the server can store anything.
pub(super) fn make_bucket(endpoint: &str) {
    let path = ObjectPath::from("made");
    let client = client(endpoint, ADMIN);
    run(async move { client.put(&path, "yes".into()).await }).unwrap();
}

fn client(endpoint: &str, who: Identity) -> Arc<dyn ObjectStore> {
    // As the provider does it; it may have done so already.
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
