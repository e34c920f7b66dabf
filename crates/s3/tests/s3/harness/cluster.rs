//! A `SeaweedFS` cluster of processes that can be killed: three masters, three volume servers with
//! two copies of everything, a filer and two gateways.

use std::collections::BTreeMap;

use hyworld_s3::S3Options;
use hyworld_testkit::seaweedfs::{
    BUCKET, GAME, Node, create_bucket, free_port, http_status, wait_for, write_identities,
};
use tempfile::TempDir;

use super::server::options;

/// A running cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    masters: BTreeMap<u16, Node>,
    volumes: Vec<Node>,
    gateways: [u16; 2],
    _others: Vec<Node>,
    /// Dropped last: it holds the data.
    _folder: TempDir,
}

const LOCAL: [&str; 2] = ["-ip=127.0.0.1", "-ip.bind=127.0.0.1"];

fn start(folder: &TempDir, command: &str, number: u16, arguments: &[String]) -> Node {
    let local = LOCAL.iter().map(|argument| (*argument).to_owned());
    let all = std::iter::once(command.to_owned()).chain(local).chain(arguments.iter().cloned());
    Node::start(folder.path(), &format!("{command}-{number}"), &all.collect::<Vec<_>>())
}

fn data(folder: &TempDir, name: &str, port: u16) -> String {
    let path = folder.path().join(format!("{name}-{port}"));
    std::fs::create_dir(&path).unwrap();
    path.display().to_string()
}

impl Cluster {
    /// Starts a cluster with an empty bucket.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ports: Vec<_> = (0..3).map(|_| free_port()).collect();
        let peers: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let peers = peers.join(",");
        let masters = start_masters(&folder, &ports, &peers);
        let has_leader = || ports.iter().any(|port| http_status(*port, "/cluster/healthz") == 200);
        wait_for("the masters", &masters.values().collect::<Vec<_>>(), has_leader);
        let volumes = start_volumes(&folder, &peers);
        let (filer, filer_port) = start_filer(&folder, &peers);
        let gateways = [free_port(), free_port()];
        let mut others: Vec<_> =
            gateways.iter().map(|port| start_gateway(&folder, *port, filer_port)).collect();
        others.push(filer);
        let is_up = |port: &u16| http_status(*port, "/status") == 200;
        wait_for("the gateways", &others.iter().collect::<Vec<_>>(), || gateways.iter().all(is_up));
        create_bucket(filer_port, BUCKET, &others.iter().collect::<Vec<_>>());
        Self { masters, volumes, gateways, _others: others, _folder: folder }
    }

    pub(crate) fn endpoint(&self, gateway: usize) -> String {
        format!("http://127.0.0.1:{}", self.gateways[gateway])
    }

    /// Returns options to open a world through one of the gateways.
    pub(crate) fn options(&self, gateway: usize, world: &str) -> S3Options {
        options(&self.endpoint(gateway), world, GAME)
    }

    /// Kills one of the three volume servers, which hold the chunks.
    pub(crate) fn kill_volume_server(&mut self) {
        self.volumes.pop().unwrap().kill();
    }

    /// Kills the leading master.
    pub(crate) fn kill_leader(&mut self) {
        let leads = |port: &u16| http_status(*port, "/cluster/leader") == 200;
        let leader = self.masters.keys().copied().find(leads);
        let leader = leader.unwrap_or_else(|| *self.masters.keys().next().unwrap());
        self.masters.remove(&leader).unwrap().kill();
    }
}

fn start_masters(folder: &TempDir, ports: &[u16], peers: &str) -> BTreeMap<u16, Node> {
    let one = |port: &u16| {
        let arguments = [
            format!("-port={port}"),
            format!("-mdir={}", data(folder, "master", *port)),
            format!("-peers={peers}"),
            // Two copies, on different servers.
            "-defaultReplication=001".to_owned(),
            "-volumeSizeLimitMB=64".to_owned(),
            "-telemetry=false".to_owned(),
            "-electionTimeout=2s".to_owned(),
        ];
        (*port, start(folder, "master", *port, &arguments))
    };
    ports.iter().map(one).collect()
}

fn start_volumes(folder: &TempDir, peers: &str) -> Vec<Node> {
    let one = |_| {
        let port = free_port();
        let arguments = [
            format!("-port={port}"),
            format!("-dir={}", data(folder, "volume", port)),
            format!("-master={peers}"),
            "-max=20".to_owned(),
        ];
        start(folder, "volume", port, &arguments)
    };
    (0..3).map(one).collect()
}

fn start_filer(folder: &TempDir, peers: &str) -> (Node, u16) {
    let port = free_port();
    let store = data(folder, "filer", port);
    let arguments = [
        format!("-port={port}"),
        format!("-master={peers}"),
        format!("-defaultStoreDir={store}"),
        format!("-localSocket={store}/filer.sock"),
    ];
    let node = start(folder, "filer", port, &arguments);
    wait_for("the filer", &[&node], || http_status(port, "/") == 200);
    (node, port)
}

fn start_gateway(folder: &TempDir, port: u16, filer: u16) -> Node {
    let arguments = [
        format!("-port={port}"),
        format!("-filer=127.0.0.1:{filer}"),
        "-port.iceberg=0".to_owned(),
        "-port.lance=0".to_owned(),
        format!("-localSocket={}/s3-{port}.sock", folder.path().display()),
        format!("-config={}", write_identities(folder)),
    ];
    start(folder, "s3", port, &arguments)
}
