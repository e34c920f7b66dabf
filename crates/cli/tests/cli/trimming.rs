//! `diff` and `trim` on the small save of `querying`.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFiles};
use hyworld_testkit::{Random, shared};
use serde_json::{Value, json};

use crate::querying::{CHUNKS, block, holder, run, save};
use crate::run::Sandbox;

const WORLD: &str = "save/universe/worlds/one";

/// Copies a folder of the sandbox.
fn copy(sandbox: &Sandbox, from: &str, to: &str) {
    copy_folder(&sandbox.path(from), &sandbox.path(to));
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() {
            copy_folder(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

fn edit(storage: &RegionFiles, at: ChunkPos, change: impl FnOnce(&mut Chunk)) {
    let mut chunk = Chunk::decode(storage.read(at).unwrap().unwrap()).unwrap();
    change(&mut chunk);
    storage.write(at, &chunk.encode()).unwrap();
}

/// Creates the save and a copy of it with changes of every kind.
fn changed() -> Sandbox {
    let sandbox = save();
    copy(&sandbox, "save", "old");
    let storage = RegionFiles::open(&sandbox.path(CHUNKS)).unwrap();
    edit(&storage, ChunkPos::new(1, 1), |chunk| {
        chunk.set_block(block(9, 70, 9), "Rock_Stone").unwrap();
        chunk.set_fluid(block(9, 71, 9), "Water", 8).unwrap();
        let empty = r#"{"Components": {"ItemContainerBlock": {"ItemContainer": {"Capacity": 9,
            "Items": {"3": {"Id": "Stick", "Quantity": 2}}}}}}"#;
        chunk.block_entities_mut().insert(block(5, 64, 5), holder(empty)).unwrap();
    });
    edit(&storage, ChunkPos::new(4, 4), |chunk| chunk.entities_mut().replace(Vec::new()).unwrap());
    storage.remove(ChunkPos::new(10, 10)).unwrap();
    storage.write(ChunkPos::new(20, 0), &Chunk::new().encode()).unwrap();
    drop(storage);
    let config = sandbox.path(WORLD).join("config.json");
    let text = fs::read_to_string(&config).unwrap().replace("\"Seed\": 1", "\"Seed\": 2");
    hyworld_testkit::write_file(&config, text.as_bytes());
    sandbox
}

/// Returns the lines of `diff --json` for changes of every kind.
pub(crate) fn differences() -> Vec<Value> {
    let sandbox = changed();
    let mut lines =
        run(&sandbox, &["diff", "old", "save", "--json", "--blocks"]).ends(1).json_lines();
    let mut other = lines[0].clone();
    other["entities"] = json!([{"change": "added", "id": "text", "uuid": "text", "x": 1, "y": 1,
        "z": 1}, {"change": "added", "id": "text", "uuid": null, "x": null, "y": null, "z": null}]);
    other["block_entities"] = other["entities"].clone();
    other["items"] = json!([{"id": "text", "count": 1, "holder": "text", "x": null, "y": null,
        "z": null}]);
    other["others"] = json!(["text"]);
    lines.insert(1, other);
    lines
}

/// Returns the lines of `trim --json` in a dry run and after removing chunks.
pub(crate) fn plans() -> Vec<Value> {
    let sandbox = save();
    let mut lines =
        run(&sandbox, &["trim", "save", "--all", "--json", "--dry-run"]).ends(0).json_lines();
    lines.extend(run(&sandbox, &["trim", "save", "--all", "--json", "--yes"]).ends(0).json_lines());
    lines[0]["pointing"] = json!([{"kind": "text", "name": "text", "x": 1, "z": 1}]);
    lines
}

#[test]
fn differences_of_every_kind_are_shown() {
    let sandbox = changed();
    let stat = run(&sandbox, &["diff", "old", "save"]).ends(1);
    let expected = [
        " chunk 1,1        | 1 block, 1 fluid, 1 block entity, 9 items",
        " chunk 4,4        | 1 entity",
        " chunk 10,10      | removed",
        " chunk 20,0       | added",
        " config.json      | Seed",
        "2 chunks changed, 1 added, 1 removed, 141 equal",
        "1 changed block, 1 changed fluid, 2 items put in, 7 items taken out",
    ];
    assert_eq!(stat.text().lines().collect::<Vec<_>>(), expected);
    let details = run(&sandbox, &["diff", "old", "save", "--details", "--blocks"]).ends(1);
    for part in [
        "     blocks from 41 70 41 to 41 70 41\n            1  Empty -> Rock_Stone",
        "     -7 Bar_Gold in Furniture_Chest at 37 64 37",
        "     +2 Stick in Furniture_Chest at 37 64 37",
        "     entity Sheep removed at 140 65 140",
        "     fluid 41 71 41  Empty -> Water",
    ] {
        assert!(details.text().contains(part), "{part}\n{}", details.text());
    }
    let part = run(&sandbox, &["diff", "old", "save", "--select", "chunk:4,4", "--csv"]).ends(1);
    assert_eq!(part.text(), "0;0;4;4\n");
    run(&sandbox, &["diff", "old", "save", "--select", "chunk:5,5"]).ends(0);
}

#[test]
fn copies_in_another_form_are_equal() {
    let sandbox = save();
    copy(&sandbox, "save", "old");
    let equal = run(&sandbox, &["diff", "old", "save"]).ends(0);
    assert_eq!(equal.text(), "equal: 144 chunks\n");
    run(&sandbox, &["seal", "save", "--yes"]).ends(0);
    run(&sandbox, &["diff", "old", "save"]).ends(0);
    run(&sandbox, &["compact", "save", "--level", "9", "--yes"]).ends(0);
    run(&sandbox, &["diff", "old", "save"]).ends(0);
    for (name, world) in [("a.manifest", "old"), ("b.manifest", "save")] {
        run(&sandbox, &["verify", world, "--manifest", name]);
    }
    run(&sandbox, &["diff", "a.manifest", "b.manifest"]).ends(0);
}

/// Changed blocks: position, old and new name.
type Log = BTreeMap<(i32, u16, i32), (String, String)>;

/// Sets random blocks and returns what differs afterwards.
fn edit_blocks(storage: &RegionFiles, random: &mut Random) -> Log {
    let mut log = Log::new();
    for number in 0..300_u32 {
        let mut below = |limit: u32| random.below(limit);
        let (chunk_x, chunk_z) = (below(11).cast_signed(), below(11).cast_signed());
        let at = ChunkPos::new(chunk_x - 1, chunk_z - 1);
        let mut small = |limit: u32| u16::try_from(below(limit)).unwrap();
        let (y, [x, z]) = (small(320), [small(32), small(32)].map(|at| u8::try_from(at).unwrap()));
        let name = if number % 3 == 0 { "Empty".to_owned() } else { format!("Block_{}", below(5)) };
        edit(storage, at, |chunk| {
            let cell = block(x, y, z);
            let before = chunk.block(cell).unwrap().name().to_owned();
            chunk.set_block(cell, name.as_str()).unwrap();
            let key = (at.x * 32 + i32::from(x), y, at.z * 32 + i32::from(z));
            log.entry(key).or_insert((before, String::new())).1.clone_from(&name);
        });
    }
    log.retain(|_, (from, to)| from != to);
    log
}

/// Adds random entities, and random items to the chest. Returns the UUIDs and the numbers of items.
fn edit_contents(
    storage: &RegionFiles,
    random: &mut Random,
) -> (BTreeSet<String>, BTreeMap<String, i64>) {
    let (mut uuids, mut items) = (BTreeSet::new(), BTreeMap::from([("Bar_Gold".to_owned(), -7)]));
    for number in 0..20_u8 {
        let at = ChunkPos::new(random.below(9).cast_signed(), random.below(9).cast_signed());
        let entity = format!(
            r#"{{"Components": {{"NPC": {{"RoleName": "Cow"}}, "UUID": {{"UUID":
                {{"$binary": "{number:02}AAAAAAAAAAAAAAAAAAAA==", "$type": "04"}}}}}}}}"#
        );
        let entity = holder(&entity);
        let bytes = hyworld_chunk::Entity(&entity).uuid().unwrap();
        uuids.insert(format!("{:032x}", u128::from_be_bytes(bytes)));
        edit(storage, at, |chunk| chunk.entities_mut().push(entity).unwrap());
    }
    let mut slots = Vec::new();
    for slot in 0..9 {
        let (id, count) = (format!("Item_{}", random.below(4)), i64::from(random.below(9)) + 1);
        slots.push(format!(r#""{slot}": {{"Id": "{id}", "Quantity": {count}}}"#));
        *items.entry(id).or_default() += count;
    }
    let chest = format!(
        r#"{{"Components": {{"ItemContainerBlock": {{"ItemContainer": {{"Capacity": 9,
            "Items": {{{}}}}}}}}}}}"#,
        slots.join(", ")
    );
    edit(storage, ChunkPos::new(1, 1), |chunk| {
        chunk.block_entities_mut().insert(block(5, 64, 5), holder(&chest)).unwrap();
    });
    (uuids, items)
}

/// Makes random edits, keeps a log of them, and compares the log with the differences.
#[test]
fn random_edits_are_found_exactly() {
    let sandbox = save();
    copy(&sandbox, "save", "old");
    let storage = RegionFiles::open(&sandbox.path(CHUNKS)).unwrap();
    let mut random = Random::new(7);
    let log = edit_blocks(&storage, &mut random);
    let (uuids, items) = edit_contents(&storage, &mut random);
    drop(storage);
    let lines = run(&sandbox, &["diff", "old", "save", "--json", "--blocks"]).ends(1).json_lines();
    let (mut found, mut found_uuids, mut found_items) =
        (Log::new(), BTreeSet::new(), BTreeMap::new());
    for chunk in lines.iter().filter(|line| line["type"] == "chunk") {
        for cell in chunk["blocks"]["cells"].as_array().into_iter().flatten() {
            let int = |key: &str| i32::try_from(cell[key].as_i64().unwrap()).unwrap();
            let text = |key: &str| cell[key].as_str().unwrap().to_owned();
            let key = (int("x"), u16::try_from(int("y")).unwrap(), int("z"));
            found.insert(key, (text("from"), text("to")));
        }
        for entity in chunk["entities"].as_array().unwrap() {
            assert_eq!(entity["change"], "added");
            found_uuids.insert(entity["uuid"].as_str().unwrap().replace('-', ""));
        }
        for item in chunk["items"].as_array().unwrap() {
            found_items
                .insert(item["id"].as_str().unwrap().to_owned(), item["count"].as_i64().unwrap());
        }
    }
    assert!(log.len() > 200, "{}", log.len());
    assert_eq!(found, log);
    assert_eq!((found_uuids, found_items), (uuids, items));
}

#[test]
fn only_untouched_chunks_are_removed_and_undo_restores_them() {
    let sandbox = save();
    copy(&sandbox, WORLD, "before");
    run(&sandbox, &["trim", "save"]).ends(2);
    let words =
        ["trim", "save", "--all", "--json", "--dry-run", "--ring", "1", "--picture", "plan.png"];
    let plan = run(&sandbox, &words).ends(0).json();
    assert_eq!((&plan["kept"]["touched"], &plan["kept"]["spawn"]), (&4.into(), &81.into()));
    assert_eq!(plan["applied"], false);
    assert!(sandbox.bytes("plan.png").starts_with(b"\x89PNG"));
    let asked = run(&sandbox, &["trim", "save", "--all", "--ring", "1"]).ends(1);
    assert!(asked.text().contains("nothing changed; --yes"), "{}", asked.text());
    let done = run(&sandbox, &["trim", "save", "--all", "--ring", "1", "--yes"]).ends(0);
    let removed = plan["removed"].as_u64().unwrap();
    assert!(done.text().contains(&format!("{removed} chunks and ")), "{}", done.text());
    let left = RegionFiles::open_read_only(&sandbox.path(CHUNKS)).unwrap().all_positions().unwrap();
    assert_eq!(left.len() as u64, 144 - removed);
    for kept in [(1, 1), (4, 4), (9, 0), (0, 9), (0, 0), (5, 5), (10, 1), (1, 10)] {
        assert!(left.contains(&ChunkPos::new(kept.0, kept.1)), "{kept:?}");
    }
    assert!(!left.contains(&ChunkPos::new(10, 10)));
    let bundle = format!("{WORLD}-trim-1.hyundo");
    run(&sandbox, &["undo", &bundle, "--yes"]).ends(0);
    run(&sandbox, &["diff", "before", WORLD]).ends(0);
    for entry in sandbox.path("before/chunks").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let now = sandbox.path(CHUNKS).join(path.file_name().unwrap());
        assert_eq!(fs::read(&path).unwrap(), fs::read(now).unwrap(), "{}", path.display());
    }
}

#[test]
fn claims_selections_and_whole_files_are_respected() {
    let sandbox = save();
    let storage = RegionFiles::open(&sandbox.path(CHUNKS)).unwrap();
    for x in 100..104 {
        let document = crate::querying::natural().encode();
        storage.write(ChunkPos::new(x, 0), &document).unwrap();
    }
    drop(storage);
    sandbox.file("claims.json", br#"{"one": {"102,0": "Anna"}}"#);
    let protect = ["--protect-json", "claims.json", "--x", "*.*.@0", "--z", "*.*.@1"];
    let trim = |more: &[&str]| {
        let words: Vec<&str> = ["trim", "save", "--json"].iter().chain(more).copied().collect();
        run(&sandbox, &words)
    };
    let far = ["--select", "x > 50", "--dry-run"];
    assert_eq!(trim(&far).ends(0).json()["removed"], 4);
    let kept = [&far[..], &["--keep", "chunk:100,0", "--ring", "0"]].concat();
    assert_eq!(trim(&kept).ends(0).json()["removed"], 3);
    let claimed = [&far[..], &protect, &["--ring", "1"]].concat();
    assert_eq!(trim(&claimed).ends(0).json()["removed"], 1);
    trim(&[&far[..], &["--protect-json", "claims.json", "--x", "a.b", "--z", "c"]].concat())
        .ends(2);
    let done = trim(&["--select", "x > 50", "--yes"]).ends(0).json();
    assert_eq!((&done["removed"], &done["files"]), (&4.into(), &1.into()));
    assert!(!sandbox.path(CHUNKS).join("3.0.region.bin").exists());
    assert!(sandbox.path(CHUNKS).join("0.0.region.bin").exists());
}

/// In real worlds, no chunk is offered that a player has probably changed.
#[test]
fn touched_chunks_of_real_worlds_are_never_offered() {
    for name in ["explored-2026-01", "adventure-2026-06", "flat-2026-02"] {
        let Some(world) = shared(&format!("worlds/{name}")) else { return };
        let sandbox = Sandbox::new();
        copy_folder(&world, &sandbox.path("world"));
        run(&sandbox, &["trim", "world", "--all", "--yes", "-q"]).ends(0);
        let world = world.to_str().unwrap();
        let removed = run(&sandbox, &["diff", world, "world", "--csv", "--chunks-only"]).ends(1);
        sandbox.file("removed.csv", removed.text().as_bytes());
        let list = format!("@{}", sandbox.path("removed.csv").display());
        let all = run(&sandbox, &["select", world, &list, "--json"]).ends(0).json();
        assert!(all["chunks"].as_u64().unwrap() > 90, "{name}: {all}");
        for test in [
            "changes > 0",
            "item",
            "placed_by",
            "near:respawn:100",
            "near:player:100",
            "kinds >= 8 AND changes > 0",
        ] {
            let query = format!("{list} AND {test}");
            let found = run(&sandbox, &["select", world, &query]).ends(0);
            assert!(found.text().starts_with("0 chunks"), "{name}: {test}: {}", found.text());
        }
    }
}
