//! One process of a server. It never outlives the test, even if the test is killed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use super::install;

/// Runs the program until stdin is closed, which happens when the test stops it or is killed.
const KEEPER: &str = r#""$@" >"$LOG" 2>&1 & child=$!; cat >/dev/null; kill -9 $child; wait $child"#;

/// The difference between the gRPC port and the HTTP port of a server.
const GRPC_OFFSET: u16 = 10_000;

/// A running `weed`.
#[derive(Debug)]
pub struct Node {
    arguments: Vec<OsString>,
    log: PathBuf,
    keeper: Option<Child>,
}

impl Node {
    /// Starts the process. Its output goes to `<name>.log` in the folder.
    pub fn start(folder: &Path, name: &str, arguments: &[String]) -> Self {
        let arguments = arguments.iter().map(OsString::from).collect();
        let log = folder.join(format!("{name}.log"));
        let mut node = Self { arguments, log, keeper: None };
        node.restart();
        node
    }

    /// Starts the process again with the same arguments.
    pub fn restart(&mut self) {
        assert!(self.keeper.is_none(), "the process is running");
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(install::weed().unwrap())
            .args(&self.arguments)
            .env("LOG", &self.log)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.keeper = Some(keeper.unwrap());
    }

    /// Kills the process, as in a power failure.
    pub fn kill(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait().unwrap();
        }
    }

    /// Returns the last lines of the log.
    pub fn log(&self) -> String {
        let mut text = String::new();
        if let Ok(mut file) = File::open(&self.log) {
            drop(file.read_to_string(&mut text));
        }
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns a free port whose gRPC port is free too. Both are below the system's range for outgoing
/// connections.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() * 37 % 10_000).unwrap();
    for _ in 0..1000 {
        let step = NEXT.fetch_add(1, Ordering::SeqCst);
        let port = 12_000 + (start + step * 3) % 10_000;
        let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if is_free(port) && is_free(port + GRPC_OFFSET) {
            return port;
        }
    }
    panic!("no free port");
}

/// Returns the status of a GET request, or 0 if it fails.
pub fn http_status(port: u16, path: &str) -> u16 {
    answer_status(port, &format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n"))
}

/// Creates the bucket by storing an object in it, as soon as the filer accepts writes.
pub fn create_bucket(filer_port: u16, bucket: &str, nodes: &[&Node]) {
    let request = format!(
        "PUT /buckets/{bucket}/created HTTP/1.0\r\nHost: 127.0.0.1:{filer_port}\r\n\
         Content-Length: 3\r\n\r\nyes"
    );
    wait_for("the filer", nodes, || answer_status(filer_port, &request) == 201);
}

fn answer_status(port: u16, request: &str) -> u16 {
    let send = || -> std::io::Result<u16> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok(std::str::from_utf8(&answer[9..]).unwrap_or("0").parse().unwrap_or(0))
    };
    send().unwrap_or(0)
}

/// Waits until `is_ready`. Panics with the logs of the nodes after 90 seconds.
pub fn wait_for(what: &str, nodes: &[&Node], is_ready: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_ready() {
        if started.elapsed() > Duration::from_secs(90) {
            let logs: Vec<_> = nodes.iter().map(|node| node.log()).collect();
            panic!("{what} did not become ready:\n{}", logs.join("\n\n"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
