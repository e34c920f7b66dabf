//! `serve`: routes, live changes, and hostile clients.

#![cfg(unix)]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod client;
mod cross_site;
mod hostile;
mod public;

use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use serde_json::Value;

use crate::browser::{DESKTOP, Scenario, assert_clean};
use crate::maps::run;
use crate::run::Sandbox;
use crate::{generated, querying};
use client::Server;

/// Creates a world of 9 x 9 chunks.
fn world() -> Sandbox {
    let sandbox = generated::world("Sample", false);
    run(&sandbox, "pregen world --radius 4").ends(0);
    sandbox
}

#[test]
fn every_route_answers() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    server.wait_until_drawn();
    for (path, kind, start) in [
        ("/", "text/html; charset=utf-8", "<!doctype html>"),
        ("/index.html", "text/html; charset=utf-8", "<!doctype html>"),
        ("/viewer.css", "text/css; charset=utf-8", ":root"),
        ("/leaflet/leaflet.js", "text/javascript; charset=utf-8", ""),
        ("/map.js", "text/javascript; charset=utf-8", "hyworldMap({"),
        ("/worlds/world.js?v=1", "text/javascript; charset=utf-8", "hyworldWorld({"),
        ("/tiles/world/surface/0/0/0.webp", "image/webp", "RIFF"),
        ("/tiles/world/height/0/-1/-1.webp?v=7", "image/webp", "RIFF"),
        ("/tiles/world/info/0/-1/0.js", "text/javascript; charset=utf-8", "hyworldInfo("),
        ("/metrics", "text/plain; version=0.0.4; charset=utf-8", "# HELP hyworld_chunks"),
        ("/api/v1/info", "application/json", "{"),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(answer.body.starts_with(start.as_bytes()), "{path}");
        let head = server.send(&format!("HEAD {path} HTTP/1.1\r\nHost: localhost\r\n"));
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
    let is_kept =
        |path: &str| server.get(path).header("cache-control").unwrap().contains("max-age");
    assert!(is_kept("/tiles/world/surface/0/0/0.webp?v=7"));
    assert!(!is_kept("/tiles/world/surface/0/0/0.webp") && !is_kept("/worlds/world.js?v=7"));
    let metrics = server.metrics();
    assert_eq!(metrics["hyworld_chunks{world=\"world\"}"], 81);
    assert_eq!(metrics["hyworld_damaged_slots{world=\"world\"}"], 0);
    assert!(metrics["hyworld_region_bytes{world=\"world\"}"] > 10_000);
    assert!(metrics["hyworld_http_requests_total"] > 20);
    server.stop();
}

#[test]
fn the_api_answers_like_the_verbs() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    for (path, words) in [
        ("/api/v1/info", "info world --fast --json"),
        ("/api/v1/chunk?x=-1&z=2", "chunk world --chunk -1,2 --json"),
        ("/api/v1/block?x=-5&y=40&z=70", "block world -5 40 70 --json"),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        let object: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(object, run(&sandbox, words).ends(0).json(), "{path}");
    }
    for path in ["/api/v1/chunk?x=99&z=99", "/api/v1/block?x=9000&y=1&z=0"] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        let json: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(json["error"], "no chunk is stored at this position", "{path}");
    }
    server.stop();
}

#[test]
fn addresses_of_other_machines_need_a_flag() {
    let sandbox = querying::save();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let error = run(&sandbox, &format!("serve save --listen {listen}")).fails(2);
        assert!(error.contains("other machines can reach this address"), "{error}");
    }
    run(&sandbox, "serve missing --listen 127.0.0.1:0").fails(2);
    let error = run(&sandbox, "serve save --listen 127.0.0.1:0 --layer diff").fails(2);
    assert!(error.contains("only for `map`"), "{error}");
    let server = Server::start(&sandbox, "save --assets none --public --host map.example");
    for (host, status) in [("map.example", 200), ("MAP.example:80", 200), ("other.example", 421)] {
        let answer = server.send(&format!("GET /map.js HTTP/1.1\r\nHost: {host}\r\n"));
        assert_eq!(answer.status, status, "{host}");
    }
    server.wait_until_drawn();
    let list = String::from_utf8(server.get("/map.js").body).unwrap();
    assert!(list.contains(r#""paths":{}"#), "clients do not see paths: {list}");
    let port = server.port();
    let error = run(&sandbox, &format!("serve save --listen 127.0.0.1:{port}")).fails(2);
    assert!(error.contains("choose another port"), "{error}");
    server.stop();
}

#[test]
fn a_cache_is_used_by_the_next_start() {
    let sandbox = world();
    let options = "world --assets none --cache cache";
    let server = Server::start(&sandbox, options);
    server.wait_until_drawn();
    assert!(server.metrics()["hyworld_tiles_drawn_total"] > 10);
    server.stop();
    let server = Server::start(&sandbox, options);
    server.wait_until_drawn();
    let list = String::from_utf8(server.get("/map.js").body).unwrap();
    assert!(list.contains(r#""paths":{"world":"world"}"#), "for commands: {list}");
    let page = String::from_utf8(sandbox.bytes("cache/worlds/world.js")).unwrap();
    assert!(!page.contains("path"), "the cache can be published: {page}");
    assert_eq!(server.metrics()["hyworld_tiles_drawn_total"], 0);
    server.stop();
    // The cache is also a map for `map`.
    run(&sandbox, "map world -o cache --assets none").ends(0);
}

/// Builds a pillar in a chunk, as a server would.
fn change(sandbox: &Sandbox) {
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    let at = ChunkPos::new(0, 0);
    let mut chunk = hyworld_chunk::Chunk::decode(storage.read(at).unwrap().unwrap()).unwrap();
    chunk.set_block(querying::block(16, 250, 16), "Rock_Stone").unwrap();
    storage.write(at, &chunk.encode()).unwrap();
}

#[test]
fn a_change_arrives_in_the_browser_within_five_seconds() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    server.wait_until_drawn();
    let Some(scenario) = Scenario::new("live", &server.url("/"), DESKTOP) else { return };
    let before = server.get("/tiles/world/height/0/0/0.webp").body;
    let seen = scenario.run_with(|| change(&sandbox));
    assert_clean(&seen, &server.url("/"));
    assert!(seen["seconds"].as_f64().unwrap() < 5.0, "{seen}");
    assert_eq!(seen["broken"], 0);
    assert_ne!(server.get("/tiles/world/height/0/0/0.webp").body, before);
    server.stop();
}

#[test]
fn a_change_is_an_event() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none --poll 1");
    server.wait_until_drawn();
    let mut events = server.events();
    assert_eq!(events.status, 200);
    change(&sandbox);
    let clock = Instant::now();
    let text = events.read_until("}\n\n", Duration::from_secs(10));
    assert!(text.contains("event: changed\ndata: {\"world\":\"world\",\"version\":"), "{text}");
    assert!(clock.elapsed() < Duration::from_secs(5), "{:?}", clock.elapsed());
    server.stop();
}

#[test]
fn all_worlds_of_a_save_are_served() {
    let sandbox = Sandbox::new();
    for name in ["one", "two"] {
        run(&sandbox, &format!("world create save/universe {name} --generator flat")).ends(0);
        run(&sandbox, &format!("pregen save/universe/worlds/{name} --radius 1")).ends(0);
    }
    let server = Server::start(&sandbox, "save --assets none");
    let list = server.get("/map.js").body;
    assert!(String::from_utf8(list).unwrap().contains(r#"["one","two"]"#));
    server.wait_until_drawn();
    for name in ["one", "two"] {
        assert_eq!(server.get(&format!("/tiles/{name}/surface/0/0/0.webp")).status, 200);
    }
    assert_eq!(server.get("/api/v1/info").status, 200);
    server.stop();
}
