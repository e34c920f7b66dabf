//! A complete `SeaweedFS` server in one process.

use std::path::Path;

use tempfile::TempDir;

use super::node::{Node, create_bucket, free_port, http_status, wait_for};

/// The bucket for the worlds of the tests.
pub const BUCKET: &str = "hyworld";

/// The credentials of a user.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The access key.
    pub key: &'static str,
    /// The secret key.
    pub secret: &'static str,
}

/// A user with all permissions.
pub const ADMIN: Identity = Identity { key: "ADMINKEYNAME", secret: "admin+SECRET/value" };
/// A user who may read, write and list.
pub const GAME: Identity = Identity { key: "GAMEKEYNAME", secret: "game+SECRET/value" };

/// A running server.
#[derive(Debug)]
pub struct WeedServer {
    node: Node,
    port: u16,
    /// The data folder; dropped last.
    folder: TempDir,
}

/// Writes the identities file of a gateway, and returns its path.
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

    /// Starts a server with additional arguments, computed from its folder.
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
            // Disables usage reports to the vendor.
            "-master.telemetry=false".to_owned(),
            format!("-master.port={master}"),
            // A single node has no peers to wait for.
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
        create_bucket(filer, BUCKET, &[&server.node]);
        server
    }

    /// Waits until the server answers.
    pub fn wait(&self) {
        wait_for("the server", &[&self.node], || http_status(self.port, "/status") == 200);
    }

    /// Kills the server, as in a power failure.
    pub fn kill(&mut self) {
        self.node.kill();
    }

    /// Starts the server again on the same data.
    pub fn restart(&mut self) {
        self.node.restart();
    }

    /// Returns the data folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the port of the S3 gateway.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of the S3 gateway.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the environment variables that give a program access as [`GAME`].
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_ACCESS_KEY_ID", GAME.key.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", GAME.secret.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }
}
