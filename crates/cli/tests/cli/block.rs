//! `block`: one block as text and as JSON.

use hyworld_chunk::bson::Document;
use hyworld_chunk::{AssetKey, Chunk, FluidRef};
use hyworld_coords::{ChunkBlock, RegionPos, RegionSlot};
use serde_json::json;

use crate::run::Sandbox;
use crate::world::{self, FILE, sample, with_chunk};

#[test]
fn the_upper_half_of_a_door_is_shown() {
    let sandbox = with_chunk(&sample());
    let run = sandbox.run(&["block", "world", "-91", "66", "233"]).ends(0);
    let expected = "  \
  position       -91,66,233
  block          Door
  rotation       yaw 90 degrees, towards -x
  filler         this is +0,+1,+0 from the base cell at -91,65,233
  ticking        no
  fluid          none
  support        none
  local light    red 1, green 2, blue 3, sky 15, stale
  global light   red 1, green 2, blue 3, sky 15, stale
  environment    Env_Hills
  column         height 66, tint #1234ab
  block entity   none
  chunk          -3,7, section 2 (y 64 to 95)
  file           world/chunks/-1.0.region.bin
  slot           253 (x 29, z 7)
";
    assert_eq!(run.text(), expected);
    assert_eq!(run.err, "");
}

#[test]
fn other_kinds_of_blocks_are_shown() {
    let sandbox = with_chunk(&sample());
    let line = |words: &[&str], name: &str| {
        let text = sandbox.run(&[&["block", "world"], words].concat()).ok();
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.trim_start()[name.len()..].trim().to_owned()
    };
    let door = ["-91", "65", "233"];
    assert_eq!(line(&door, "filler"), "none: this is the base cell");
    assert_eq!(line(&door, "ticking"), "yes");
    assert_eq!(line(&door, "support"), "2 blocks from its support");
    assert_eq!(line(&["-65", "65", "255"], "fluid"), "Water, level 8");
    let chest = ["-96", "64", "224"];
    assert_eq!(line(&chest, "block entity"), "Chest");
    assert_eq!(line(&chest, "column"), "height 64, tint #00ff00");
    let air = ["-96", "319", "224"];
    assert_eq!(line(&air, "block  "), "Empty");
    assert_eq!(line(&air, "rotation"), "none");
    assert_eq!(line(&air, "local light"), "none");
    assert_eq!(line(&["-96", "0", "224"], "environment"), "Env_Caves");
}

#[test]
fn a_block_is_printed_as_json() {
    let sandbox = with_chunk(&sample());
    let run = sandbox.run(&["block", FILE, "-91", "66", "233", "--json"]).ends(0);
    let light = json!({"red": 1, "green": 2, "blue": 3, "sky": 15, "stored": true,
        "current": false});
    let expected = json!({
        "x": -91, "y": 66, "z": 233, "block": "Door",
        "rotation": {"index": 1, "yaw": 90, "pitch": 0, "roll": 0},
        "filler": {"bits": 1024, "x": 0, "y": 1, "z": 0}, "base": {"x": -91, "y": 65, "z": 233},
        "ticking": false, "fluid": "Empty", "fluid_level": 0, "support": 0,
        "local_light": light, "global_light": light, "environment": "Env_Hills",
        "height": 66, "tint": "#1234ab", "chunk": {"x": -3, "z": 7}, "section": 2,
        "cell": 2 * 1024 + 9 * 32 + 5, "file": FILE, "region": {"x": -1, "z": 0}, "slot": 253,
        "block_entity": null,
    });
    assert_eq!(run.text(), format!("{expected}\n"), "including the order of the keys");
}

#[test]
fn the_block_entity_is_restored_from_its_json() {
    let sandbox = with_chunk(&sample());
    let run = sandbox.run(&["block", "world", "-96", "64", "224", "--json"]).ends(0);
    assert_eq!(run.json()["block"], "Chest");
    let (_, text) = run.text().split_once("\"block_entity\":").unwrap();
    let text = text.trim_end().strip_suffix('}').unwrap();
    assert_eq!(Document::from_json(text).unwrap(), world::chest());
}

#[test]
fn blocks_of_the_game_match_the_library() {
    let sandbox = Sandbox::with("chunks/synthetic_v6", "0.0.region.bin");
    let region = RegionPos::new(0, 0);
    let mut checked = 0;
    for (slot, document) in sandbox.documents("0.0.region.bin") {
        let local = RegionSlot::from_index(u16::try_from(slot).unwrap()).unwrap();
        let at = region.chunk(local).unwrap();
        let chunk = Chunk::decode(document).unwrap();
        for index in (0..327_680).step_by(54_321) {
            let block = ChunkBlock::from_index(index).unwrap();
            let (pos, info) = (at.block(block).unwrap(), chunk.block(block).unwrap());
            let fluid = info.fluid().unwrap();
            let [x, y, z] = [pos.x, pos.y, pos.z].map(|number| number.to_string());
            let run = sandbox.run(&["block", "0.0.region.bin", &x, &y, &z, "--json"]).ends(0);
            let json = run.json();
            assert_eq!(json["block"], info.name(), "{pos}");
            assert_eq!(json["rotation"]["index"], info.rotation().index(), "{pos}");
            assert_eq!(json["filler"]["bits"], info.filler().bits(), "{pos}");
            assert_eq!(json["ticking"], info.is_ticking(), "{pos}");
            assert_eq!(json["fluid"], fluid.map_or(AssetKey::EMPTY_NAME, FluidRef::name), "{pos}");
            assert_eq!(json["fluid_level"], fluid.map_or(0, FluidRef::level), "{pos}");
            assert_eq!(json["support"], info.support().unwrap(), "{pos}");
            assert_eq!(json["environment"], info.environment().unwrap(), "{pos}");
            assert_eq!(json["height"], chunk.height(block.column()).unwrap(), "{pos}");
            let light = info.light();
            let channels = [light.red(), light.green(), light.blue(), light.sky()];
            let shown = &json["global_light"];
            let shown = ["red", "green", "blue", "sky"].map(|channel| &shown[channel]);
            assert_eq!(shown, channels, "{pos}");
            let text = sandbox.run(&["block", "0.0.region.bin", &x, &y, &z]).ok();
            assert_eq!(text.lines().count(), 15, "{text}");
            checked += 1;
        }
    }
    assert!(checked > 15);
}

#[test]
fn invalid_positions_are_rejected() {
    let sandbox = with_chunk(&sample());
    for y in ["-1", "320", "-2147483648"] {
        let line = sandbox.run(&["block", "world", "-96", y, "224"]).fails(2);
        assert_eq!(line, format!("y is {y}, but blocks have y from 0 to 319"));
    }
    let mistakes = [&["1", "2"][..], &["1", "2", "a"], &["1", "2", "2147483648"]];
    for words in mistakes {
        sandbox.run(&[&["block", "world"], words].concat()).ends(2);
    }
    let line = sandbox.run(&["block", "world", "-97", "5", "224"]).fails(1);
    assert!(line.starts_with("world/chunks/-1.0.region.bin: chunk -4,7 is not stored: slot 252"));
}

#[test]
fn a_chunk_that_cannot_be_decoded_is_an_error() {
    let mut chunk = sample();
    chunk.set_raw("BlockChunk", &Document::new().to_bytes()).unwrap();
    let sandbox = with_chunk(&chunk);
    let line = sandbox.run(&["block", "world", "-96", "64", "224"]).fails(1);
    let expected = "world/chunks/-1.0.region.bin: chunk -3,7 (slot 253): BlockChunk: at byte 0: \
                    the binary field Data is missing";
    assert_eq!(line, expected);
}
