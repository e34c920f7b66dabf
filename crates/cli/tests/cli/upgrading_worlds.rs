//! `upgrade` and `--assets`: renamed blocks, old sections, and undo.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFiles};
use hyworld_testkit::{Random, V0Writer, fixture};
use serde_json::Value;

use crate::run::Sandbox;

const WORLD: &str = "save/universe/worlds/default";

/// Creates a save with the chunks of a fixture, and an unpacked assets folder with the migrations
/// of the fixture.
fn save(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path(&format!("{WORLD}/chunks"))).unwrap();
    sandbox.file(&format!("{WORLD}/config.json"), b"{\"Version\": 4}");
    let region = fixture(&format!("original/chunks/{name}.region.bin"));
    sandbox.file(&format!("{WORLD}/chunks/0.0.region.bin"), &region);
    let migrations = fixture("original/chunks/synthetic_migrations.migrations.json");
    let migrations: Value = serde_json::from_slice(&migrations).unwrap();
    let folder = "assets/Server/Item/Block/Migrations";
    fs::create_dir_all(sandbox.path(folder)).unwrap();
    for (number, asset) in migrations.as_object().unwrap() {
        sandbox.file(&format!("{folder}/{number}.json"), asset.to_string().as_bytes());
    }
    sandbox
}

/// Packs migrations into a zip like those of the game and of mods.
fn pack(sandbox: &Sandbox, name: &str, assets: &[(u32, &str)]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(sandbox.path(name)).unwrap());
    for (number, text) in assets {
        let path = format!("Server/Item/Block/Migrations/{number}.json");
        zip.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

/// Returns all documents of the world.
fn documents(sandbox: &Sandbox) -> Vec<(ChunkPos, Vec<u8>)> {
    let storage = RegionFiles::open_read_only(&sandbox.path(&format!("{WORLD}/chunks"))).unwrap();
    let positions = storage.all_positions().unwrap().into_iter();
    positions.map(|at| (at, storage.read(at).unwrap().unwrap())).collect()
}

pub(crate) fn samples() -> Vec<Value> {
    let sandbox = save("synthetic_migrations");
    let run =
        |words: &[&str]| sandbox.run(&[&["upgrade", "save", "--json"], words].concat()).json();
    let mut lines = vec![run(&["--assets", "none"]), run(&["--assets", "assets"])];
    lines[1]["findings"] = serde_json::json!(["text"]);
    lines[1]["old_files"] = serde_json::json!(["text"]);
    lines
}

#[test]
fn blocks_are_renamed_and_the_upgrade_can_be_undone() {
    let sandbox = save("synthetic_migrations");
    let before = documents(&sandbox);
    let words = ["upgrade", "save", "--assets", "assets"];
    let dry = sandbox.run(&[&words[..], &["--dry-run"]].concat()).ok();
    assert!(dry.starts_with("assets: 3 block migrations\n"), "{dry}");
    assert!(dry.contains("Lab_Mid") && dry.ends_with("nothing written\n"), "{dry}");
    assert_eq!(documents(&sandbox), before);
    let shown = sandbox.run(&["dump", "save", "--assets", "assets"]).ok();
    let report = sandbox.run(&[&words[..], &["--json"]].concat()).ends(0).json();
    assert!(report["written"].as_u64().unwrap() > 0, "{report}");
    assert_eq!((&report["written"], &report["failed"]), (&report["behind"], &0.into()));
    let bundle = report["bundle"].as_str().unwrap();
    assert!(bundle.ends_with("worlds/default-upgrade-1.hyundo"), "{bundle}");
    // The stored names are those shown with `--assets` before.
    let names = |text: &str| -> Vec<Value> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let blocks = |line: Value| {
            let sections = line["chunk"]["sections"].as_array().unwrap().clone();
            sections.into_iter().map(|section| section["blocks"].clone()).collect()
        };
        lines.map(blocks).collect()
    };
    assert_eq!(names(&shown), names(&sandbox.run(&["dump", "save"]).ok()));
    let again = sandbox.run(&[&words[..], &["--json"]].concat()).ends(0).json();
    assert_eq!((&again["behind"], &again["bundle"]), (&0.into(), &Value::Null));
    sandbox.run(&["undo", bundle, "--yes"]).ends(0);
    assert_eq!(documents(&sandbox), before, "byte for byte");
}

/// Older versions kept the old chunks in a folder of the world.
#[test]
fn an_upgrade_of_an_older_version_is_undone_from_its_folder() {
    let sandbox = save("synthetic_migrations");
    let before = documents(&sandbox);
    let kept = format!("{WORLD}/hyworld-undo-1");
    let folder = RegionFiles::open(&sandbox.path(&kept)).unwrap();
    for (at, document) in &before {
        folder.write(*at, document).unwrap();
    }
    drop(folder);
    sandbox.run(&["upgrade", "save", "--assets", "assets"]).ends(0);
    assert!(documents(&sandbox) != before);
    let undone = sandbox.run(&["upgrade", "save", "--undo", &kept]).ok();
    assert!(undone.contains("restored") && undone.contains("default-upgrade-2.hyundo"), "{undone}");
    assert_eq!(documents(&sandbox), before, "byte for byte");
}

#[test]
fn old_sections_are_upgraded_without_assets() {
    let sandbox = save("synthetic_old_versions");
    let report = sandbox.run(&["upgrade", "save", "--assets", "none", "--json"]).ends(0).json();
    assert!(report["old_versions"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["written"], report["behind"]);
    let again = sandbox.run(&["upgrade", "save", "--assets", "none", "--json"]).ends(0).json();
    assert_eq!(again["behind"], 0);
    sandbox.run(&["verify", "save"]).ends(0);
}

#[test]
fn region_files_of_version_0_become_version_1() {
    let sandbox = save("synthetic_migrations");
    sandbox.run(&["upgrade", "save", "--assets", "none"]).ends(0);
    let mut v0 = V0Writer::new(1024, 4096);
    v0.append(0, &crate::world::sample().encode());
    let path = format!("{WORLD}/chunks/1.0.region.bin");
    sandbox.file(&path, &v0.bytes);
    let words = ["upgrade", "save", "--assets", "none"];
    let dry = sandbox.run(&[&words[..], &["--dry-run"]].concat()).ok();
    assert!(dry.contains("1 region file of version 0 would become version 1"), "{dry}");
    assert_eq!(sandbox.bytes(&path), v0.bytes);
    let before = documents(&sandbox);
    let json = sandbox.run(&[&words[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(json["old_files"], serde_json::json!([path]), "{json}");
    assert!(documents(&sandbox) == before);
    let info = sandbox.run(&["region", "info", &path, "--json"]).ends(0).json();
    assert_eq!(info["version"], 1);
    let again = sandbox.run(&[&words[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(again["old_files"], serde_json::json!([]), "{again}");
    sandbox.run(&["undo", json["bundle"].as_str().unwrap(), "--yes"]).ends(0);
    assert_eq!(sandbox.bytes(&path), v0.bytes);
}

#[test]
fn assets_that_are_not_wanted_are_neither_missing_nor_used() {
    let sandbox = save("synthetic_migrations");
    let renamed = r#"{"DirectMigrations": {"Lab_Mid": "Of_The_Game"}}"#;
    for has_assets in [false, true] {
        if has_assets {
            pack(&sandbox, "save/Assets.zip", &[(0, renamed)]);
            assert!(sandbox.run(&["upgrade", "save", "--dry-run"]).ok().contains("Of_The_Game"));
        }
        let text = sandbox.run(&["upgrade", "save", "--assets", "none", "--dry-run"]).ok();
        assert!(text.starts_with("--assets none: no block is renamed\n"), "{text}");
        assert!(!text.contains("not found") && !text.contains("Of_The_Game"), "{text}");
    }
}

#[test]
fn assets_are_found_and_mods_override_them_by_number() {
    let sandbox = save("synthetic_migrations");
    fs::create_dir(sandbox.path("elsewhere")).unwrap();
    pack(
        &sandbox,
        "elsewhere/Assets.zip",
        &[(0, r#"{"DirectMigrations": {"Lab_Mid": "Of_The_Game"}}"#)],
    );
    fs::create_dir(sandbox.path("save/mods")).unwrap();
    pack(&sandbox, "save/mods/other.zip", &[]);
    let words = ["upgrade", "save", "--dry-run", "--json"];
    let run = |sandbox: &Sandbox| {
        let mut command = sandbox.command(&words);
        command.env("HOME", sandbox.path("home")).env_remove("XDG_DATA_HOME");
        let run = crate::run::Run::of(&words, &command.output().unwrap()).ends(0);
        let renames = run.json()["renames"].as_array().unwrap().clone();
        let new = |rename: &Value| (rename["from"] == "Lab_Mid").then(|| rename["to"].clone());
        renames.iter().find_map(new)
    };
    // No assets beside the save or in the home folder.
    assert_eq!(run(&sandbox), None);
    fs::rename(sandbox.path("elsewhere/Assets.zip"), sandbox.path("save/Assets.zip")).unwrap();
    assert_eq!(run(&sandbox), Some("Of_The_Game".into()));
    let latest = "home/.local/share/Hytale/install/release/package/game/latest";
    fs::create_dir_all(sandbox.path(latest)).unwrap();
    fs::rename(sandbox.path("save/Assets.zip"), sandbox.path(&format!("{latest}/Assets.zip")))
        .unwrap();
    assert_eq!(run(&sandbox), Some("Of_The_Game".into()));
    let of_mod = r#"{"NameMigrations": {"Lab_Mid": "Of_The_Mod"}}"#;
    pack(&sandbox, "save/mods/blocks.jar", &[(0, of_mod)]);
    assert_eq!(run(&sandbox), Some("Of_The_Mod".into()));
    for bad in ["nowhere", "save"] {
        let run = sandbox.run(&["upgrade", "save", "--assets", bad, "--dry-run"]);
        assert!((1..=2).contains(&run.code), "{run:?}");
    }
    sandbox.file("bad.zip", b"this is not a zip");
    sandbox.run(&["upgrade", "save", "--assets", "bad.zip"]).fails(3);
}

#[test]
fn block_ids_in_very_old_sections_become_names() {
    let sandbox = save("synthetic_old_versions");
    let all = sandbox.run(&["dump", "save"]).ok();
    assert!(!all.contains("\"From_The_Map\""));
    // A section of version 3 whose only block has a numeric id.
    let storage = RegionFiles::open(&sandbox.path(&format!("{WORLD}/chunks"))).unwrap();
    let json = format!(
        r#"{{"Components": {{"ChunkColumn": {{"Sections": [{{"Components": {{"Block": {{
            "Version": 3, "Data": {{"$binary": "{}", "$type": "00"}}}}}}}}]}}}}}}"#,
        numbered_section("17")
    );
    let document = hyworld::documents::Document::from_json(&json).unwrap().to_bytes();
    storage.write(ChunkPos::new(9, 9), &document).unwrap();
    storage.sync().unwrap();
    drop(storage);
    let map = br#"{"Blocks": [{"Id": 17, "BlockType": "From_The_Map"}]}"#;
    sandbox.file("save/universe/blockIdMap.legacy.json", map);
    let report = sandbox.run(&["upgrade", "save", "--assets", "none", "--json"]).json();
    let renames = report["renames"].as_array().unwrap();
    assert!(renames.iter().any(|rename| rename["to"] == "From_The_Map"), "{report}");
    let block = sandbox.run(&["block", "save", "288", "0", "288", "--json"]).json();
    assert_eq!(block["block"], "From_The_Map");
}

/// Returns a section of version 3 in base64: half a byte per cell, all with this block.
fn numbered_section(name: &str) -> String {
    let mut data = vec![1, 0, 1, 0];
    data.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
    data.extend(name.as_bytes());
    data.extend([0x80, 0]);
    data.extend(vec![0; 16384]);
    // No ticking blocks, no local or global light, no changes.
    data.extend([0; 4]);
    data.extend([0, 0, 0, 0, 0, 0]);
    data.extend([0; 4]);
    base64(&data)
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for sandbox in 0..4 {
            let digit = digits[(bits >> (18 - 6 * sandbox) & 63) as usize];
            out.push(if sandbox <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[test]
fn after_a_kill_every_chunk_is_old_or_new_and_the_old_one_is_kept() {
    let sandbox = save("synthetic_migrations");
    let chunks = sandbox.path(&format!("{WORLD}/chunks"));
    let (first, document) = documents(&sandbox).remove(0);
    let storage = RegionFiles::open(&chunks).unwrap();
    for n in 0..300 {
        storage.write(ChunkPos::new(first.x + 40 + n % 60, n / 60), &document).unwrap();
    }
    storage.sync().unwrap();
    drop(storage);
    let before = documents(&sandbox);
    let complete = save("synthetic_migrations");
    complete.run(&["upgrade", "save", "--assets", "assets"]).ends(0);
    let upgraded = documents(&complete).remove(0).1;
    let words = ["upgrade", "save", "--assets", "assets", "-q"];
    let (mut random, mut killed) = (Random::new(3), 0);
    for _ in 0..15 {
        let mut child = sandbox.command(&words).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(random.below(400))));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        for ((at, old), (_, now)) in before.iter().zip(documents(&sandbox)) {
            let is_known = now == *old || now == upgraded || at.x < first.x + 40;
            assert!(is_known, "{at}: neither old nor new");
        }
    }
    assert!(killed > 0, "no run was killed");
    sandbox.run(&words).ends(0);
    let bundles = (1..20).map(|number| format!("{WORLD}-upgrade-{number}.hyundo"));
    let bundles: Vec<_> = bundles.filter(|name| sandbox.path(name).exists()).collect();
    for bundle in bundles.iter().rev() {
        // A bundle of a killed run has no end, which is reported.
        let undone = sandbox.run(&["undo", bundle, "--yes"]);
        assert!(!undone.err.contains("changed since"), "{}", undone.err);
    }
    assert!(documents(&sandbox) == before, "all chunks are restored");
}
