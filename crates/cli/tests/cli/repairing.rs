//! `repair`, `restore`, `undelete`, `compact`, `seal` and `undo` on worlds.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hyworld_testkit::damage::{RegionBytes, copy_folder};
use serde_json::Value;

use crate::generated;
use crate::run::Sandbox;

/// A save with 25 chunks of terrain around the origin in four region files, and a backup of it.
pub(crate) fn save() -> Sandbox {
    let sandbox = generated::world("Sample", false);
    sandbox.run(&["pregen", "world", "--radius", "2"]).ends(0);
    fs::create_dir_all(sandbox.path("save/universe/worlds")).unwrap();
    fs::rename(sandbox.path("world"), sandbox.path("save/universe/worlds/w")).unwrap();
    fs::remove_dir_all(sandbox.path("universe")).unwrap();
    copy_folder(&sandbox.path("save"), &sandbox.path("good"));
    sandbox
}

/// The bytes of every file of a folder, except undo bundles.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|end| end != "hyundo") {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Destroys the frames of some chunks in every region file of a save. Returns how many.
pub(crate) fn damage(save: &Path) -> usize {
    let folder = save.join("universe/worlds/w/chunks");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut file = RegionBytes::open(&path);
        for slot in file.slots().into_iter().step_by(3) {
            let at = file.blob_offset(slot) + 12;
            file.bytes[at..at + 40].fill(0xee);
            count += 1;
        }
        file.save();
    }
    count
}

fn summary(lines: &[Value]) -> &Value {
    lines.last().unwrap()
}

fn bundle(sandbox: &Sandbox, name: &str) -> String {
    let path = format!("save/universe/worlds/{name}");
    assert!(sandbox.path(&path).exists(), "{path}");
    path
}

#[test]
fn a_plan_changes_nothing_and_a_repair_can_be_undone() {
    let sandbox = save();
    let good = files(&sandbox.path("good"));
    let count = damage(&sandbox.path("save"));
    let damaged = files(&sandbox.path("save"));
    let run = sandbox.run(&["repair", "save", "--from", "good", "--dry-run", "--json"]).ends(1);
    let lines = run.json_lines();
    assert_eq!(lines.iter().filter(|line| line["type"] == "chunk").count(), count);
    assert!(lines.iter().all(|line| line["type"] != "chunk" || line["remedy"] == "copy"));
    assert_eq!(summary(&lines)["applied"], false);
    let run = sandbox.run(&["repair", "save", "--from", "good"]).ends(1);
    assert!(run.text().contains("nothing changed; --yes applies the plan"), "{}", run.text());
    assert!(files(&sandbox.path("save")) == damaged, "a plan changes nothing");
    let run = sandbox.run(&["repair", "save", "--from", "good", "--yes", "--json"]).ends(0);
    assert_eq!(summary(&run.json_lines())["repaired"], count);
    sandbox.run(&["verify", "save"]).ends(0);
    let undo = bundle(&sandbox, "w-repair-1.hyundo");
    sandbox.run(&["undo", &undo, "--dry-run"]).ends(0);
    sandbox.run(&["undo", &undo, "--yes"]).ends(0);
    assert!(files(&sandbox.path("save")) == damaged, "undoing restores every byte");
    let undo = bundle(&sandbox, "w-undo-1.hyundo");
    sandbox.run(&["undo", &undo, "--yes"]).ends(0);
    sandbox.run(&["verify", "save"]).ends(0);
    assert_eq!(files(&sandbox.path("good")), good, "sources are only read");
}

#[test]
fn another_world_is_refused() {
    let sandbox = save();
    damage(&sandbox.path("save"));
    let config = sandbox.path("good/universe/worlds/w/config.json");
    let text = fs::read_to_string(&config).unwrap();
    let start = text.find("\"$binary\": \"").unwrap() + 12;
    let changed = format!("{}{}{}", &text[..start], "AAAA", &text[start + 4..]);
    hyworld_testkit::write_file(&config, changed.as_bytes());
    let run = sandbox.run(&["repair", "save", "--from", "good", "--dry-run", "--json"]).ends(1);
    let lines = run.json_lines();
    assert_eq!(lines[0]["used"], false, "{lines:?}");
    assert!(lines[0]["reason"].as_str().unwrap().contains("another world"), "{lines:?}");
    assert!(lines.iter().all(|line| line["remedy"] != "copy"), "{lines:?}");
    let trusted = ["repair", "save", "--from", "good", "--trust-source", "--dry-run", "--json"];
    let lines = sandbox.run(&trusted).ends(1).json_lines();
    assert!(lines.iter().any(|line| line["remedy"] == "copy"), "{lines:?}");
    let restore = ["restore", "save", "--from", "good", "--chunk", "0,0", "--yes"];
    assert!(sandbox.run(&restore).fails(2).contains("another world"));
}

#[test]
fn only_chosen_chunks_are_repaired() {
    let sandbox = save();
    damage(&sandbox.path("save"));
    let chosen = ["repair", "save", "--from", "good", "--chunk", "0,0", "--yes", "--json"];
    let run = sandbox.run(&chosen).ends(0);
    assert_eq!(summary(&run.json_lines())["repaired"], 1);
    sandbox.run(&["chunk", "save", "--chunk", "0,0"]).ends(0);
    sandbox.run(&["verify", "save"]).ends(1);
    let none = ["repair", "save", "--only", "document", "--dry-run"];
    assert!(sandbox.run(&none).ends(0).text().contains("nothing to repair"));
}

#[test]
fn parts_of_a_backup_are_restored() {
    let sandbox = save();
    let good = files(&sandbox.path("good"));
    let region = "save/universe/worlds/w/chunks/0.0.region.bin";
    sandbox.run(&["region", "rm", region, "1,1"]).ends(0);
    sandbox.run(&["region", "rm", region, "0,1"]).ends(0);
    sandbox.file("save/universe/worlds/w/config.json", b"{}");
    let chunk = ["restore", "save", "--from", "good", "--chunk", "1,1", "--trust-source", "--yes"];
    sandbox.run(&chunk).ends(0);
    sandbox.run(&["chunk", "save", "--chunk", "1,1"]).ends(0);
    sandbox.run(&["chunk", "save", "--chunk", "0,1"]).ends(1);
    let both = ["restore", "save", "--from", "good", "--area", "-9,-9:9,9", "--trust-source"];
    let run = sandbox.run(&[&both[..], &["--file", "config.json", "--yes", "--json"]].concat());
    assert_eq!(summary(&run.ends(0).json_lines())["restored"], 1);
    let config = PathBuf::from("universe/worlds/w/config.json");
    assert!(files(&sandbox.path("save"))[&config] == good[&config]);
    sandbox.run(&["chunk", "save", "--chunk", "0,1"]).ends(0);
    let missing = ["restore", "save", "--from", "good", "--chunk", "90,90", "--yes"];
    assert!(sandbox.run(&missing).ends(1).text().contains("not in the backup"));
    let file = ["restore", "save", "--from", "good", "--file", "../x", "--yes"];
    assert!(sandbox.run(&file).fails(2).contains("does not have ../x"));
}

#[test]
fn a_region_whose_file_was_removed_is_restored() {
    let sandbox = save();
    let chunks = sandbox.path("save/universe/worlds/w/chunks");
    fs::remove_file(chunks.join("0.0.region.bin")).unwrap();
    let before = files(&sandbox.path("save"));
    let one = ["restore", "save", "--from", "good", "--chunk", "1,1", "--yes", "--json"];
    assert_eq!(summary(&sandbox.run(&one).ends(0).json_lines())["restored"], 1);
    sandbox.run(&["undo", &bundle(&sandbox, "w-restore-1.hyundo"), "--yes"]).ends(0);
    assert!(files(&sandbox.path("save")) == before, "the file is removed again");
    let area = ["restore", "save", "--from", "good", "--area", "-9,-9:9,9", "--yes"];
    sandbox.run(&area).ends(0);
    sandbox.run(&["diff", "save", "good"]).ends(0);
    // The same if no region file is left.
    fs::remove_dir_all(&chunks).unwrap();
    fs::create_dir(&chunks).unwrap();
    for verb in ["compact", "seal", "unseal", "undelete", "repair"] {
        let run = sandbox.run(&[verb, "save", "--yes"]).ends(0);
        assert_eq!(fs::read_dir(&chunks).unwrap().count(), 0, "{verb}: {}", run.text());
    }
    sandbox.run(&area).ends(0);
    sandbox.run(&["diff", "save", "good"]).ends(0);
    assert_eq!(fs::read_dir(&chunks).unwrap().count(), 4);
}

/// A world without the folder has no chunks, like a new one.
#[test]
fn chunks_whose_folder_was_removed_are_restored() {
    let sandbox = save();
    let chunks = sandbox.path("save/universe/worlds/w/chunks");
    fs::remove_dir_all(&chunks).unwrap();
    for verb in ["verify", "info", "stats", "ls", "fingerprint"] {
        sandbox.run(&[verb, "save"]).ends(0);
    }
    for verb in ["compact", "seal", "unseal", "undelete", "repair"] {
        sandbox.run(&[verb, "save", "--yes"]).ends(0);
        assert!(!chunks.exists(), "{verb}");
    }
    let area = ["restore", "save", "--from", "good", "--area", "-9,-9:9,9", "--yes"];
    sandbox.run(&area).ends(0);
    sandbox.run(&["diff", "save", "good"]).ends(0);
    assert_eq!(fs::read_dir(&chunks).unwrap().count(), 4);
}

#[test]
fn removed_chunks_come_back() {
    let sandbox = save();
    let region = "save/universe/worlds/w/chunks/0.0.region.bin";
    let before = sandbox.documents(region);
    for slot in ["1,1", "0,1"] {
        sandbox.run(&["region", "rm", region, slot]).ends(0);
    }
    let lines = sandbox.run(&["undelete", "save", "--json"]).ends(0).json_lines();
    let orphans: Vec<_> = lines.iter().filter(|line| line["type"] == "orphan").collect();
    assert_eq!(orphans.len(), 2, "{lines:?}");
    for orphan in orphans {
        assert_eq!(orphan["stored"], "missing", "{orphan}");
        assert!(orphan["blocks"].as_u64().unwrap() > 1000, "{orphan}");
    }
    let all = ["undelete", "save", "--all", "--confidence", "low", "--yes", "--json"];
    let lines = sandbox.run(&all).ends(0).json_lines();
    assert_eq!(summary(&lines)["restored"], 2, "{lines:?}");
    assert!(sandbox.documents(region) == before, "both are where they were");
    let undo = bundle(&sandbox, "w-undelete-1.hyundo");
    sandbox.run(&["undo", &undo, "--yes"]).ends(0);
    sandbox.run(&["chunk", "save", "--chunk", "1,1"]).ends(1);
}

#[test]
fn a_world_is_compacted_and_sealed() {
    let sandbox = save();
    let region = "save/universe/worlds/w/chunks/0.0.region.bin";
    for slot in ["0,0", "1,0", "2,0"] {
        sandbox.run(&["region", "rm", region, slot]).ends(0);
    }
    let (before, documents) = (files(&sandbox.path("save")), sandbox.documents(region));
    let run = sandbox.run(&["compact", "save", "--dry-run"]).ends(0);
    assert!(run.text().contains("compacting frees"), "{}", run.text());
    assert!(files(&sandbox.path("save")) == before);
    let report = sandbox.run(&["compact", "save", "--yes", "--json"]).ends(0).json_lines();
    assert!(report[0]["after"].as_u64() < report[0]["before"].as_u64(), "{report:?}");
    assert_eq!(report[0]["after"], report[0]["forecast"]);
    assert!(sandbox.documents(region) == documents);
    let again = sandbox.run(&["compact", "save", "--yes"]).ends(0);
    assert!(again.text().contains("nothing to do"), "{}", again.text());
    let smaller = sandbox.run(&["compact", "save", "--level", "19", "--yes", "--json"]).ends(0);
    let smaller = smaller.json_lines();
    assert!(smaller[0]["blobs"].as_u64().unwrap() > 0, "{smaller:?}");
    assert!(sandbox.documents(region) == documents);
    sandbox.run(&["seal", "save", "--yes"]).ends(0);
    let verified = sandbox.run(&["region", "verify", region]).ok();
    assert!(verified.contains(&format!("{} sealed", documents.len())), "{verified}");
    sandbox.run(&["unseal", "save", "--yes"]).ends(0);
    assert!(sandbox.documents(region) == documents);
    for name in ["unseal-1", "seal-1", "compact-2", "compact-1"] {
        sandbox.run(&["undo", &bundle(&sandbox, &format!("w-{name}.hyundo")), "--yes"]).ends(0);
    }
    assert!(files(&sandbox.path("save")) == before, "undone in reverse order");
}

#[test]
fn files_of_the_universe_are_repaired_or_named() {
    let sandbox = save();
    let good = b"{\"Warps\": []}";
    sandbox.file("save/universe/warps.json", b"{");
    sandbox.file("save/permissions.json", b"{");
    let before = files(&sandbox.path("save"));
    let lines = sandbox.run(&["repair", "save", "--yes", "--json"]).ends(1).json_lines();
    let left: Vec<_> = lines.iter().filter(|line| line["type"] == "left").collect();
    assert_eq!(left.len(), 2, "{lines:?}");
    assert_eq!(summary(&lines)["left"], 2, "{lines:?}");
    let run = sandbox.run(&["repair", "save", "--yes"]).ends(1);
    assert!(run.text().contains("save/universe: nothing that can be repaired"), "{}", run.text());
    assert!(files(&sandbox.path("save")) == before);
    fs::remove_file(sandbox.path("save/permissions.json")).unwrap();
    sandbox.file("good/universe/warps.json", good);
    let copy = ["repair", "save", "--from", "good", "--trust-source", "--dry-run", "--json"];
    let lines = sandbox.run(&copy).ends(1).json_lines();
    assert!(lines.iter().any(|line| line["remedy"] == "copy"), "{lines:?}");
    sandbox.file("save/universe/warps.json.bak", good);
    sandbox.run(&["repair", "save", "--yes"]).ends(0);
    assert_eq!(sandbox.bytes("save/universe/warps.json"), good);
    sandbox.run(&["verify", "save"]).ends(0);
}

#[test]
fn each_world_gets_its_own_undo_bundle() {
    let sandbox = save();
    fs::create_dir(sandbox.path("save/universe/players")).unwrap();
    sandbox.file("save/universe/players/00000000-0000-0000-0000-000000000000.json", b"{");
    damage(&sandbox.path("save"));
    let worlds = sandbox.path("save/universe/worlds");
    copy_folder(&worlds.join("w"), &worlds.join("second"));
    copy_folder(&worlds.join("w"), &worlds.join("universe"));
    let before = files(&sandbox.path("save"));
    sandbox.run(&["repair", "save", "--yes", "--bundle", "b.hyundo"]).ends(0);
    sandbox.run(&["verify", "save"]).ends(0);
    let universe = "save/universe";
    let bundles = [
        ("-second", "worlds/second"),
        ("-universe", "worlds/universe"),
        (".universe", "."),
        ("-w", "worlds/w"),
    ];
    for (name, at) in bundles {
        let (name, at) = (format!("b{name}.hyundo"), format!("{universe}/{at}"));
        assert!(sandbox.run(&["undo", &name, "--yes"]).fails(2).contains("--at"));
        sandbox.run(&["undo", &name, "--at", &at, "--yes"]).ends(0);
    }
    assert!(files(&sandbox.path("save")) == before, "undoing restores every byte");
    sandbox.run(&["seal", "save", "--yes", "--bundle", "sealed.hyundo"]).ends(1);
    for name in ["sealed-second.hyundo", "sealed-w.hyundo"] {
        assert!(sandbox.path(name).exists(), "{name}");
    }
}

#[cfg(feature = "rocksdb")]
#[test]
fn chunks_of_a_database_are_repaired() {
    use hyworld_coords::ChunkPos;
    use hyworld_providers::{ChunkStorage, RocksDbOptions};

    let sandbox = save();
    sandbox.run(&["convert", "good", "rocksdb:db"]).ends(0);
    let database = RocksDbOptions::new().open(&sandbox.path("db")).unwrap();
    let at = ChunkPos::new(0, 0);
    let whole = database.read(at).unwrap().unwrap();
    database.write(at, b"not a document").unwrap();
    database.sync().unwrap();
    drop(database);
    sandbox.run(&["verify", "rocksdb:db"]).ends(1);
    let repair = ["repair", "rocksdb:db", "--from", "good", "--yes", "--json"];
    let lines = sandbox.run(&repair).ends(0).json_lines();
    assert_eq!(summary(&lines)["repaired"], 1, "{lines:?}");
    let read = || RocksDbOptions::new().open(&sandbox.path("db")).unwrap().read(at).unwrap();
    assert!(read() == Some(whole), "the chunk of the source");
    sandbox.run(&["undo", "db-repair-1.hyundo", "--yes"]).ends(0);
    assert_eq!(read().unwrap(), b"not a document");
    // The same for the database of a world, which is moved with its world.
    fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.file("in/config.json", b"{}");
    fs::rename(sandbox.path("db"), sandbox.path("in/db")).unwrap();
    let repair = ["repair", "rocksdb:in/db", "--from", "good", "--trust-source", "--yes"];
    sandbox.run(&repair).ends(0);
    fs::rename(sandbox.path("in"), sandbox.path("moved")).unwrap();
    let undo = ["undo", "in-repair-1.hyundo", "--at", "moved", "--yes", "--trust-bundle"];
    sandbox.run(&undo).ends(0);
    let database = RocksDbOptions::new().open(&sandbox.path("moved/db")).unwrap();
    assert_eq!(database.read(at).unwrap().unwrap(), b"not a document");
}

#[test]
fn files_that_were_changed_since_stay() {
    let sandbox = save();
    damage(&sandbox.path("save"));
    sandbox.run(&["repair", "save", "--from", "good", "--yes"]).ends(0);
    let region = "save/universe/worlds/w/chunks/0.0.region.bin";
    sandbox.run(&["region", "rm", region, "0,0"]).ends(0);
    let undo = bundle(&sandbox, "w-repair-1.hyundo");
    let run = sandbox.run(&["undo", &undo, "--yes", "--json"]).ends(1);
    let lines = run.json_lines();
    assert!(summary(&lines)["conflicts"].as_u64().unwrap() > 0, "{lines:?}");
    sandbox.run(&["chunk", "save", "--chunk", "0,0"]).ends(1);
    let mut bytes = sandbox.bytes(&undo);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let broken = "save/universe/worlds/broken.hyundo";
    sandbox.file(broken, &bytes);
    let lines = sandbox.run(&["undo", broken, "--dry-run", "--json"]).ends(1).json_lines();
    assert_eq!(summary(&lines)["complete"], false, "{lines:?}");
    sandbox.file("other.hyundo", b"something else");
    assert!(sandbox.run(&["undo", "other.hyundo"]).fails(1).contains("not a usable undo bundle"));
}
