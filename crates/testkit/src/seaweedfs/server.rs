//! A whole `SeaweedFS` in one process.

use std::path::Path;

use tempfile::TempDir;

use super::node::{Node, free_port, http_status, make_bucket, wait_for};

/// The bucket in which the tests have their worlds.
pub const BUCKET: &str = "hyworld";

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The name of the key.
    pub key: &'static str,
    /// The key.
    pub secret: &'static str,
}

/// May do everything.
pub const ADMIN: Identity = Identity { key: "ADMINKEYNAME", secret: "admin+SECRET/value" };
/// May read, write and list.
pub const GAME: Identity = Identity { key: "GAMEKEYNAME", secret: "game+SECRET/value" };

/// A running server.
#[derive(Debug)]
pub struct WeedServer {
    node: Node,
    port: u16,
    /// Dropped last: it holds the data.
    folder: TempDir,
}

/// Which identities a gateway knows, as a file.
pub fn write_identities(folder: &TempDir) -> String {
    let identity = |name, who: Identity, actions: &[&str]| {
        let credentials = [serde_json::json!({"accessKey": who.key, "secretKey": who.secret})];
        serde_json::json!({"name": name, "credentials": credentials, "actions": actions})
    };
    let admin = identity("admin", ADMIN, &["Admin", "Read", "Write", "List"]);
    let game = identity("game", GAME, &["Read", "Write", "List"]);
    let identities = serde_json::json!({"identities": [admin, game]});
    let path = folder.path().join("identities.json");
    crate::write_file(&path, identities.to_string().as_bytes());
    path.display().to_string()
}

impl WeedServer {
    /// Starts a server with an empty bucket.
    pub fn start() -> Self {
        Self::start_with(|_| Vec::new())
    }

    /// The same with more arguments, which may need its folder.
    pub fn start_with(more: impl Fn(&Path) -> Vec<String>) -> Self {
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
        make_bucket(filer, BUCKET, &[&server.node]);
        server
    }

    /// Waits until it answers.
    pub fn wait(&self) {
        wait_for("the server", &[&self.node], || http_status(self.port, "/status") == 200);
    }

    /// Kills it, as a machine that loses its power would.
    pub fn kill(&mut self) {
        self.node.kill();
    }

    /// Starts it again on the same data.
    pub fn start_again(&mut self) {
        self.node.start_again();
    }

    /// Where its data is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The port of its gateway.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of its gateway.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The variables of the environment with which a program is allowed in, as an ordinary writer.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_ACCESS_KEY_ID", GAME.key.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", GAME.secret.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }
}
