//! Pages of other sites in the browser of a user who runs a server.

use super::client::Server;
use super::world;
use crate::browser::{DESKTOP, Scenario, assert_clean};

const PATHS: [&str; 6] = [
    "/map.js",
    "/worlds/world.js",
    "/tiles/world/surface/0/0/0.webp",
    "/events",
    "/api/v1/info",
    "/api/v1/chunk?x=0&z=0",
];

#[test]
fn requests_of_other_sites_are_refused() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    server.wait_until_drawn();
    let send = |path: &str, lines: &str| {
        server.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}")).status
    };
    for path in PATHS {
        for site in ["cross-site", "same-site"] {
            let lines = format!("Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: no-cors\r\n");
            assert_eq!(send(path, &lines), 403, "{path} from {site}");
        }
        assert_eq!(send(path, "Origin: http://evil.example\r\n"), 403, "{path}");
        let is_stream = path == "/events";
        if !is_stream {
            assert_eq!(send(path, "Sec-Fetch-Site: same-origin\r\n"), 200, "{path}");
            assert_eq!(server.get(path).status, 200, "programs do not send it: {path}");
        }
    }
    let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    assert_eq!(send("/", &format!("{link}Sec-Fetch-Dest: document\r\n")), 200);
    assert_eq!(send("/", &format!("{link}Sec-Fetch-Dest: iframe\r\n")), 403);
    server.stop();
}

#[test]
fn every_answer_has_the_headers_that_protect_it() {
    let sandbox = world();
    for (options, is_framed) in [("", false), (" --allow-framing", true)] {
        let server = Server::start(&sandbox, &format!("world --assets none{options}"));
        server.wait_until_drawn();
        let others = ["/", "/viewer.js", "/metrics", "/nothing", "/api/v1/chunk?x=99&z=99"];
        for path in PATHS.iter().filter(|path| **path != "/events").chain(&others) {
            let answer = server.get(path);
            for (name, value) in [
                ("cross-origin-resource-policy", "same-origin"),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{path}");
            }
            let policy = answer.header("content-security-policy").unwrap();
            assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
            assert_eq!(policy.contains("frame-ancestors 'none'"), !is_framed, "{path}");
            let framing = if is_framed { None } else { Some("DENY") };
            assert_eq!(answer.header("x-frame-options"), framing, "{path}");
        }
        let head = server.events().head;
        assert!(head.contains("cross-origin-resource-policy: same-origin"), "{head}");
        server.stop();
    }
}

#[test]
fn the_viewer_works_under_its_policy() {
    let sandbox = world();
    let server = Server::start(&sandbox, "world --assets none");
    server.wait_until_drawn();
    let Some(scenario) = Scenario::new("look", &server.url("/"), DESKTOP) else { return };
    let seen = scenario.run();
    assert_clean(&seen, &server.url("/"));
    assert_eq!(seen["broken"], 0);
    server.stop();
}

#[test]
fn a_page_of_another_site_cannot_read_or_frame_the_map() {
    let sandbox = world();
    for (options, is_framed) in [("", false), (" --allow-framing", true)] {
        let server = Server::start(&sandbox, &format!("world --assets none{options}"));
        server.wait_until_drawn();
        let Some(scenario) = Scenario::new("foreign", &server.url("/"), DESKTOP) else { return };
        let before = server.metrics()["hyworld_http_requests_total"];
        let seen = scenario.run();
        let requests = server.metrics()["hyworld_http_requests_total"] - before;
        assert_eq!(seen["read"], serde_json::json!([]), "read by a script of another site");
        assert_eq!(seen["tile"], 0, "the width of a tile in another site");
        // The viewer in a frame loads its own files: ten of them, and the tiles.
        assert_eq!(requests > 12, is_framed, "{requests} requests");
        server.stop();
    }
}
