//! A server that runs, and a small HTTP client.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::run::Sandbox;

/// How long a server may run after SIGTERM, whatever it does.
const STOP_MAX: Duration = Duration::from_secs(2);

/// A running `hyworld serve`, which is killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    port: u16,
}

/// An answer, complete or as far as it was read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n")?;
        let (head, body) = bytes.split_at(end);
        let text = std::str::from_utf8(head).unwrap();
        let mut lines = text.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header = |line: &str| {
            line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        };
        let headers = lines.filter_map(header).collect();
        Some(Self { status, headers, body: body.get(4..)?.to_vec() })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Server {
    /// Starts a server on a free port.
    pub(crate) fn start(sandbox: &Sandbox, options: &str) -> Self {
        let words = format!("serve {options} --listen 127.0.0.1:0");
        let mut command = sandbox.command(&words.split(' ').collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://127.0.0.1:").unwrap();
        let port = address.split(':').next().unwrap().parse().unwrap();
        Self { child, port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n", self.port))
    }

    /// Sends the lines of a request without the empty line at its end.
    pub(crate) fn send(&self, head: &str) -> Answer {
        let bytes = self.send_bytes(format!("{head}Connection: close\r\n\r\n").as_bytes());
        Answer::parse(&bytes).unwrap()
    }

    /// Sends bytes and returns everything that comes back. The server may close the connection at
    /// any time.
    pub(crate) fn send_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        let _written = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _read = stream.read_to_end(&mut answer);
        answer
    }

    /// Returns the numbers of `/metrics`, by name and labels.
    pub(crate) fn metrics(&self) -> BTreeMap<String, u64> {
        let text = String::from_utf8(self.get("/metrics").body).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let parse = |line: &str| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        };
        lines.map(parse).collect()
    }

    /// Waits until all worlds were drawn.
    pub(crate) fn wait_until_drawn(&self) {
        let end = Instant::now() + Duration::from_mins(1);
        let is_drawn = |(name, value): (&String, &u64)| {
            !name.starts_with("hyworld_last_scan_timestamp_seconds") || *value > 0
        };
        while !self.metrics().iter().all(is_drawn) {
            assert!(Instant::now() < end, "not drawn after 60 s");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Opens a stream of events.
    pub(crate) fn events(&self) -> Stream {
        let mut socket = self.connect();
        socket.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut stream = Stream { socket, text: String::new(), head: String::new(), status: 0 };
        let text = stream.read_until("\r\n\r\n", Duration::from_secs(10));
        stream.status = text.split(' ').nth(1).unwrap().parse().unwrap();
        stream.head = text;
        stream
    }

    /// Returns the greatest memory that the process had, in bytes.
    pub(crate) fn memory_max(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).unwrap();
        let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Asks the process to stop, and asserts that it does so at once and without an error.
    pub(crate) fn stop(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let end = Instant::now() + STOP_MAX;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(0));
                return;
            }
            assert!(Instant::now() < end, "still running {STOP_MAX:?} after SIGTERM");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// A stream of events.
pub(crate) struct Stream {
    socket: TcpStream,
    text: String,
    pub(crate) head: String,
    pub(crate) status: u16,
}

impl Stream {
    /// Reads until a text arrives. Returns everything that was read.
    pub(crate) fn read_until(&mut self, wanted: &str, limit: Duration) -> String {
        self.socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let end = Instant::now() + limit;
        let mut buffer = [0; 4096];
        while !self.text.contains(wanted) {
            assert!(Instant::now() < end, "{wanted:?} did not arrive: {}", self.text);
            if let Ok(count) = self.socket.read(&mut buffer) {
                self.text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
                assert!(count > 0, "the stream ended: {}", self.text);
            }
        }
        self.text.clone()
    }
}
