//! A world with chunks of games 0.5, 0.6 and 0.7 in every command. Those of 0.6 and 0.7 are built
//! by hand; none comes from a real world.

use std::fs;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::{SectionNames, game_0_6_chunk, game_0_7_chunk};
use serde_json::Value;

use crate::run::{Run, Sandbox};
use crate::world;

const NEWER: &str = "written by game 0.7 or newer: Block version 7 is not supported yet";
const FILE: &str = "world/chunks/0.0.region.bin";

/// Creates a world with chunk 0,0 of game 0.5, chunk 1,0 of 0.6, and if requested 2,0 and 3,0 of
/// 0.7.
fn mixed(with_0_7: bool) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["world", "create", "universe", "world", "--generator", "flat"]).ends(0);
    fs::rename(sandbox.path("universe/worlds/world"), sandbox.path("world")).unwrap();
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    let mut chunks = vec![world::sample().encode(), game_0_6_chunk(SectionNames::LIKELY)];
    if with_0_7 {
        chunks.extend([game_0_7_chunk(), game_0_7_chunk()]);
    }
    for (x, document) in (0..).zip(chunks) {
        storage.write(ChunkPos::new(x, 0), &document).unwrap();
    }
    drop(storage);
    sandbox
}

fn run(sandbox: &Sandbox, words: &str) -> Run {
    sandbox.run(&words.split(' ').collect::<Vec<_>>())
}

#[test]
fn entities_of_all_layouts_are_counted() {
    let sandbox = mixed(true);
    let info = run(&sandbox, "info world --json").ends(0).json();
    let contents = &info["worlds"][0]["storage"]["contents"];
    assert_eq!((&contents["entities"], &contents["block_entities"]), (&7.into(), &4.into()));
    let versions = &contents["newest_versions"];
    assert_eq!((&versions["Block"], &versions["BlockChunk"]), (&7.into(), &4.into()));
    assert_eq!(versions["HeightmapColumn"], 0);
    let text = run(&sandbox, "info world").ok();
    assert!(text.contains("  versions       Block 7, BlockChunk 4\n"), "{text}");
}

#[test]
fn a_chunk_shows_its_entity_layout_and_entities() {
    let sandbox = mixed(true);
    let old = run(&sandbox, "chunk world --chunk 0,0").ok();
    assert!(old.contains("entities        stored in the chunk (up to game 0.5)"), "{old}");
    let new = run(&sandbox, "chunk world --chunk 1,0").ok();
    assert!(new.contains("entities        stored in the sections (since game 0.6)"), "{new}");
    assert!(new.contains("37,65,9") && new.contains("Furniture_Chest"), "{new}");
    assert!(new.contains("Sheep") && new.contains("Ore_Iron"), "{new}");
    let json = run(&sandbox, "chunk world --chunk 1,0 --json").ends(0).json();
    let chunk = &json["chunk"];
    assert_eq!(chunk["entities_kept_in"], "sections");
    assert_eq!(
        (&chunk["entities"][1]["y"], &chunk["entities"][1]["section"]),
        (&170.into(), &5.into())
    );
    let chest = &chunk["block_entities"][0];
    assert_eq!((&chest["x"], &chest["y"], &chest["z"]), (&37.into(), &65.into(), &9.into()));
    let block = run(&sandbox, "block world 37 65 9 --json").ends(0).json();
    assert!(block["block_entity"]["Components"]["ItemContainerBlock"].is_object(), "{block}");
}

#[test]
fn commands_that_need_blocks_report_a_newer_chunk_once() {
    let sandbox = mixed(true);
    let shown = run(&sandbox, "chunk world --chunk 2,0").ends(1);
    assert_eq!(shown.err.matches("written by").count(), 1, "{}", shown.err);
    assert!(shown.err.contains(NEWER) && shown.text().contains("Sheep"), "{}", shown.err);
    assert!(run(&sandbox, "block world 64 0 0").ends(1).err.contains(NEWER));
    let verify = run(&sandbox, "verify world").ends(0);
    assert_eq!(verify.text().matches(NEWER).count(), 1, "{}", verify.text());
    assert!(verify.text().contains("newer: 1 more finding"), "{}", verify.text());
    let lines = run(&sandbox, "verify world --json").ends(0).json_lines();
    assert_eq!(lines.iter().filter(|line| line["message"] == NEWER).count(), 2, "one per chunk");
    let summary = lines.last().unwrap();
    assert_eq!(summary["errors"], 0);
    // The samples are copies of each other, with invented contents, at other positions.
    let classes = &summary["classes"];
    assert_eq!((&classes["misplaced"], &classes["newer"]), (&4.into(), &2.into()), "{classes}");
    assert_eq!((&classes["component"], &classes["missing"]), (&Value::Null, &Value::Null));
    let kept = &summary["entities_kept_in_chunks"];
    assert_eq!((&kept["chunk"], &kept["sections"]), (&1.into(), &3.into()));
    let digests = run(&sandbox, "fingerprint world --json").ends(1);
    assert_eq!(digests.json_lines().len(), 2);
    let line = format!("2 chunks in world/chunks have no digests: {NEWER}\n");
    assert_eq!(digests.err.matches(NEWER).count(), 1, "once for all: {}", digests.err);
    assert!(digests.err.contains(&line), "{}", digests.err);
}

#[test]
fn items_and_entities_of_newer_chunks_are_found_and_counted() {
    let sandbox = mixed(true);
    let items = run(&sandbox, "find world --item Weapon_Sword_Iron --json").ends(0);
    let holders = items.json_lines().into_iter().filter(|line| line["holder"] == "Unknown");
    assert_eq!((holders.count(), items.err.contains(NEWER)), (2, false), "{}", items.err);
    let blocks = run(&sandbox, "find world --block Furniture_Chest --item Ore_Iron").ends(1);
    assert!(blocks.err.contains(&format!("2 chunks are not searched completely: {NEWER}")));
    assert_eq!(blocks.err.matches(NEWER).count(), 1, "once for all: {}", blocks.err);
    let stats = run(&sandbox, "stats world --json").ends(1);
    let counted = stats.json();
    assert_eq!(["chunks", "newer", "unreadable"].map(|key| &counted[key]), [4, 2, 0]);
    assert!(counted["items"]["Weapon_Sword_Iron"].as_u64() >= Some(3), "{}", counted["items"]);
    assert!(stats.err.contains(&format!("2 chunks are counted without their blocks: {NEWER}")));
    assert_eq!(stats.err.matches(NEWER).count(), 1, "once for all: {}", stats.err);
}

#[test]
fn the_block_entity_of_a_newer_chunk_is_shown() {
    let sandbox = mixed(true);
    let text = run(&sandbox, "block world 69 65 9").ends(1);
    assert!(text.err.contains(NEWER), "{}", text.err);
    for line in ["position       69,65,9", "block entity   ItemContainerBlock", "slot           2"]
    {
        assert!(text.text().contains(line), "{line}: {}", text.text());
    }
    let json = run(&sandbox, "block world 69 65 9 --json").ends(1).json();
    assert_eq!((&json["x"], &json["block"], &json["slot"]), (&69.into(), &Value::Null, &2.into()));
    assert!(json["block_entity"]["Components"]["ItemContainerBlock"].is_object(), "{json}");
}

#[test]
fn commands_that_need_no_blocks_work_on_newer_chunks() {
    let sandbox = mixed(true);
    let before = sandbox.documents(FILE);
    assert_eq!(before.len(), 4);
    assert_eq!(run(&sandbox, "ls world --json").ends(0).json_lines().len(), 4);
    for words in ["region info", "region ls", "region verify", "region salvage"] {
        run(&sandbox, &format!("{words} {FILE}")).ends(0);
    }
    assert_eq!(run(&sandbox, &format!("region get {FILE} 2")).ends(0).out, before[&2]);
    run(&sandbox, "convert world copy").ends(0);
    run(&sandbox, "convert world copy --verify-only").ends(0);
    assert_eq!(sandbox.documents("copy/chunks/0.0.region.bin"), before);
    run(&sandbox, &format!("region seal {FILE}")).ends(0);
    run(&sandbox, &format!("region compact {FILE}")).ends(0);
    assert_eq!(sandbox.documents(FILE), before);
    let bson = run(&sandbox, "chunk world --chunk 2,0 --bson -").ends(0);
    assert_eq!(bson.out, game_0_7_chunk());
    assert!(
        run(&sandbox, "chunk world --chunk 2,0 --component HeightmapColumn").ok().contains("Data")
    );
}

/// The store loads, ticks and saves chunks of both games and keeps the format of each.
#[test]
fn a_mixed_world_of_released_games_works_in_every_command() {
    let sandbox = mixed(false);
    let before = sandbox.documents(FILE);
    let verify = run(&sandbox, "verify world").ok();
    // The samples are stored at other positions than those of their entities.
    assert!(verify.contains("0 errors, 4 warnings"), "{verify}");
    assert!(verify.contains("anomaly 2, misplaced 2"), "{verify}");
    assert_eq!(run(&sandbox, "fingerprint world --json").ends(0).json_lines().len(), 2);
    run(&sandbox, "pregen world --radius 1").ends(0);
    let verify = run(&sandbox, "verify world").ok();
    assert!(verify.contains("(up to game 0.5): 8 chunks\n"), "{verify}");
    assert!(verify.contains("(since game 0.6): 1 chunk\n"), "{verify}");
    for (slot, document) in before {
        assert!(sandbox.documents(FILE)[&slot] == document, "slot {slot}");
    }
    let store = "stress world --seconds 1 --viewers 2 --radius 2 --area 2 --speed 30 --yes";
    run(&sandbox, store).ends(0);
    let chunk = run(&sandbox, "chunk world --chunk 1,0 --json").ends(0).json();
    assert_eq!(chunk["chunk"]["entities_kept_in"], "sections");
    assert_eq!(chunk["chunk"]["entities"].as_array().unwrap().len(), 2);
    assert_eq!(chunk["chunk"]["entities"][1]["section"], 5);
    assert_eq!(chunk["chunk"]["block_entities"].as_array().unwrap().len(), 1);
    run(&sandbox, "verify world").ends(0);
}
