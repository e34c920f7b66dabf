//! Clients that try to break the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::client::Server;
use super::world;

/// The memory that the server may need, whatever clients do.
const MEMORY_MAX: u64 = 150 << 20;

/// How long a normal request may take while others misbehave.
const PATIENCE: Duration = Duration::from_secs(15);

fn status(answer: &[u8]) -> u16 {
    let text = String::from_utf8_lossy(answer);
    text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[test]
fn paths_and_numbers_do_not_reach_the_disk() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none --cache cache");
    server.wait_until_drawn();
    for path in [
        "/../world/config.json",
        "/..%2fworld%2fconfig.json",
        "/%2e%2e/world/config.json",
        "/config.json",
        "/state/world.json",
        "/tiles/world/surface/0/0/../../../../../state/world.json",
        "/tiles/../../world/config.json/0/0/0.webp",
        "/tiles/world/..%2f..%2fstate/0/0/0.webp",
        "/tiles/world/secret/0/0/0.webp",
        "/tiles/other/surface/0/0/0.webp",
        "/tiles/world/surface/0/2147483647/-2147483648.webp",
        "/tiles/world/surface/255/2147483647/2147483647.webp",
        "/tiles/world/surface/256/0/0.webp",
        "/tiles/world/surface/0/99999999999999999999/0.webp",
        "/tiles/world/info/3/0/0.js",
        "/worlds/..%2fstate%2fworld.json.js",
        "/worlds/other.js",
        "/etc/passwd",
        "//etc/passwd",
        "/leaflet/../map.js",
        "/api/v1/chunk?x=2147483647&z=-2147483648",
        "/api/v1/block?x=2147483647&y=319&z=-2147483648",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    for path in [
        "/api/v1/chunk?x=99999999999&z=0",
        "/api/v1/chunk?x=1",
        "/api/v1/block?x=1&y=-1&z=1",
        "/api/v1/block?x=1&y=1e9&z=1",
    ] {
        assert_eq!(server.get(path).status, 400, "{path}");
    }
    assert_eq!(server.get(&format!("/{}", "a".repeat(1_000))).status, 414);
    // Nothing in an answer names a path of this machine.
    for path in ["/nothing", "/api/v1/chunk?x=99&z=99", "/worlds/other.js", "/metrics"] {
        let body = String::from_utf8(server.get(path).body).unwrap();
        assert!(!body.contains(sandbox.path("").to_str().unwrap()), "{path}: {body}");
    }
    server.stop();
}

#[test]
fn requests_that_are_not_for_this_server_are_refused() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    let send = |head: &str| server.send(head).status;
    assert_eq!(send("GET / HTTP/1.1\r\nHost: evil.example\r\n"), 421);
    assert_eq!(send("GET / HTTP/1.1\r\nHost: localhost.evil.example:80\r\n"), 421);
    assert_eq!(send("GET / HTTP/1.1\r\n"), 400, "Host is missing");
    assert_eq!(send("GET / HTTP/1.0\r\n"), 400, "Host is missing");
    assert_eq!(send("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n"), 400);
    assert_eq!(send("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n"), 421);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "FROBNICATE"] {
        let answer = server.send(&format!("{method} /map.js HTTP/1.1\r\nHost: localhost\r\n"));
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let body = "POST /map.js HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n";
    assert_eq!(send(body), 405, "the body is not waited for");
    let answer = server.get("/map.js");
    assert_eq!(answer.header("access-control-allow-origin"), None);
    server.stop();
}

#[test]
fn heads_that_are_long_or_not_http_are_refused() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    let refused = [0, 400, 414, 431];
    assert!(refused.contains(&status(&server.send_bytes(long.as_bytes()))));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(50_000));
    assert!(refused.contains(&status(&server.send_bytes(many.as_bytes()))));
    let path = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(1 << 20));
    assert!(refused.contains(&status(&server.send_bytes(path.as_bytes()))));
    for bytes in
        [&b"\0\xff\xfe\r\n\r\n"[..], b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"]
    {
        assert!(refused.contains(&status(&server.send_bytes(bytes))), "{bytes:?}");
    }
    assert_eq!(server.get("/map.js").status, 200);
    assert!(server.memory_max() < MEMORY_MAX, "{} bytes", server.memory_max());
    server.stop();
}

#[test]
fn slow_clients_are_disconnected() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    let mut slow: Vec<TcpStream> = (0..50).map(|_| server.connect()).collect();
    let head = b"GET /map.js HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let clock = Instant::now();
    // One byte each second, so that a head would take 42 seconds.
    for byte in head.iter().take(8) {
        for stream in &mut slow {
            let _written = stream.write_all(&[*byte]);
        }
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(server.get("/map.js").status, 200, "others are served");
    }
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut answer = Vec::new();
        // An error is that the server closed the connection before all bytes arrived.
        let _read = stream.read_to_end(&mut answer);
        assert!([0, 408].contains(&status(&answer)));
    }
    assert!(clock.elapsed() < Duration::from_secs(20), "{:?}", clock.elapsed());
    // This one and those that are being closed.
    assert!(server.metrics()["hyworld_http_connections"] < 5);
    server.stop();
}

/// Returns how many connections this process can open, at most 1,000.
fn connections_max() -> usize {
    let text = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Max open files"));
    let limit = line.and_then(|line| line.split_whitespace().nth(3)?.parse::<usize>().ok());
    limit.unwrap_or(1_024).saturating_sub(64).min(1_000)
}

#[test]
fn a_thousand_connections_delay_others_only_for_seconds() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    server.wait_until_drawn();
    let count = connections_max();
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..count {
        let address = ([127, 0, 0, 1], server.port()).into();
        // The queue of the system may be full for a moment.
        let Ok(mut stream) = TcpStream::connect_timeout(&address, PATIENCE) else { continue };
        if number % 2 == 0 {
            let _written = stream.write_all(b"GET /map.js HTTP/1.1\r\nHost: local");
        }
        idle.push(stream);
    }
    assert!(idle.len() * 10 > count * 9, "only {} of {count} connected", idle.len());
    let clock = Instant::now();
    assert_eq!(server.get("/tiles/world/surface/0/0/0.webp").status, 200);
    assert!(clock.elapsed() < PATIENCE, "{:?}", clock.elapsed());
    drop(idle);
    assert_eq!(server.get("/map.js").status, 200);
    assert!(server.memory_max() < MEMORY_MAX, "{} bytes", server.memory_max());
    server.stop();
}

#[test]
fn event_streams_are_limited_and_freed() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    server.wait_until_drawn();
    let streams: Vec<_> = (0..200).map(|_| server.events()).collect();
    let accepted = streams.iter().filter(|stream| stream.status == 200).count();
    let refused = streams.iter().filter(|stream| stream.status == 503).count();
    assert_eq!((accepted, refused), (128, 72));
    assert_eq!(server.get("/map.js").status, 200);
    drop(streams);
    let clock = Instant::now();
    while server.events().status != 200 {
        assert!(clock.elapsed() < Duration::from_secs(5), "closed streams are not freed");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(server.memory_max() < MEMORY_MAX, "{} bytes", server.memory_max());
    server.stop();
}

#[test]
fn many_requests_for_work_are_answered_or_refused() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    server.wait_until_drawn();
    let statuses = std::thread::scope(|scope| {
        let ask = |number: i32| server.get(&format!("/api/v1/chunk?x={}&z=0", number % 5)).status;
        let threads: Vec<_> = (0..400).map(|number| scope.spawn(move || ask(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200));
    assert!(server.memory_max() < MEMORY_MAX, "{} bytes", server.memory_max());
    server.stop();
}

#[test]
fn pipes_in_a_world_do_not_delay_the_end() {
    let sandbox = world();
    for name in ["chunks/5.5.region.bin", "chunks/-1.-1.region.bin"] {
        let path = sandbox.path("world").join(name);
        let _removed = std::fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    let markers = sandbox.path("world/resources/BlockMapMarkers.json");
    assert!(std::process::Command::new("mkfifo").arg(markers).status().unwrap().success());
    let server = Server::start(&sandbox, "world --assets none");
    // Both read pipes: the thread that draws, and a worker.
    server.wait_until_drawn();
    assert_eq!(server.get("/api/v1/chunk?x=-1&z=-1").status, 404);
    assert_eq!(server.get("/api/v1/chunk?x=1&z=1").status, 200);
    server.stop();
}
