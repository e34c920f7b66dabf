//! Paths on the disk, which clients on other machines must not see.

use std::fs;

use serde_json::Value;

use super::client::Server;
use crate::querying;
use crate::run::{Sandbox, keys};

const CONFIG: &[u8] = br#"{"Version": 4, "Seed": 1,
    "ChunkStorage": {"Type": "IndexedStorage", "Path": "/srv/secret-data"}}"#;

/// Creates the save `secret/private/`, with paths in its configuration and in its findings.
fn save() -> Sandbox {
    let sandbox = querying::save();
    fs::create_dir(sandbox.path("secret")).unwrap();
    fs::rename(sandbox.path("save"), sandbox.path("secret/private")).unwrap();
    sandbox.file("secret/private/universe/worlds/one/config.json", CONFIG);
    sandbox.file("secret/private/secret-notes.txt", b"");
    sandbox.file("secret/private/universe/secret-list.txt", b"");
    fs::create_dir(sandbox.path("secret/private/backup")).unwrap();
    sandbox.file("secret/private/backup/2026-01-02_03-04-05.zip", b"not a backup");
    sandbox
}

fn json(server: &Server, path: &str) -> Value {
    let answer = server.get(path);
    assert_eq!(answer.status, 200, "{path}");
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn clients_on_other_machines_see_no_paths() {
    let sandbox = save();
    let root = sandbox.path("").display().to_string();
    let world = "secret/private/universe/worlds/one";
    for path in [
        "secret/private".to_owned(),
        format!("{root}secret/private/universe"),
        format!("{root}{world}"),
        format!("{world}/chunks"),
        format!("{root}{world}/chunks/0.0.region.bin"),
    ] {
        for option in ["--public", "--host map.example"] {
            let server = Server::start(&sandbox, &format!("{path} --assets none {option}"));
            server.wait_until_drawn();
            for route in [
                "/api/v1/info",
                "/api/v1/chunk?x=1&z=1",
                "/api/v1/block?x=37&y=64&z=37",
                "/api/v1/block?x=9000&y=64&z=37",
                "/map.js",
                "/worlds/one.js",
                "/metrics",
            ] {
                let text = String::from_utf8(server.get(route).body).unwrap();
                for hidden in ["secret", "private", root.trim_end_matches('/'), "region.bin"] {
                    assert!(!text.contains(hidden), "{path} {option} {route}: {text}");
                }
            }
            server.stop();
        }
    }
}

#[test]
fn everything_but_paths_is_answered() {
    let sandbox = save();
    let server = Server::start(&sandbox, "secret/private --assets none --public");
    let info = json(&server, "/api/v1/info");
    assert_eq!(keys(&info), ["kind", "universe", "worlds", "storage", "finding_count"]);
    assert_eq!((&info["kind"], &info["finding_count"]), (&"a save".into(), &1.into()), "{info}");
    assert_eq!(info["universe"]["backups"]["newest"], "2026-01-02_03-04-05.zip");
    let world = &info["worlds"][0];
    assert_eq!((&world["name"], &world["storage"]["chunks"]), (&"one".into(), &144.into()));
    assert_eq!(world["provider"], serde_json::json!({"Type": "IndexedStorage"}));
    let chunk = json(&server, "/api/v1/chunk?x=1&z=1");
    assert_eq!(keys(&chunk), ["region", "slot", "raw", "compressed", "chunk"]);
    let block = json(&server, "/api/v1/block?x=37&y=64&z=37");
    assert_eq!((&block["block"], &block["slot"]), (&"Furniture_Chest".into(), &33.into()));
    assert!(block["block_entity"].is_object() && block["file"].is_null(), "{block}");
    server.stop();
}
