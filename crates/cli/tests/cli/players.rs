//! `player` and `resource`: showing, removing, exporting and importing.

use std::fs;
use std::process::Command;

use hyworld_testkit::shared;
use serde_json::{Value, json};

use crate::run::Sandbox;

const ANNA: &str = "00010203-0405-0607-0809-0a0b0c0d0e0f";
const BERT: &str = "00000000-0000-0000-0000-00000000000b";

const FILE: &str = r#"{
  "Components": {
    "Nameplate": {
      "Text": "Anna"
    },
    "UUID": {
      "UUID": {
        "$binary": "AAECAwQFBgcICQoLDA0ODw==",
        "$type": "04"
      }
    },
    "Transform": {
      "Position": {
        "X": 1.5,
        "Y": 80.0,
        "Z": -3.0
      }
    },
    "Player": {
      "GameMode": "Adventure",
      "PlayerData": {
        "World": "default"
      },
      "Inventory": {
        "ActiveHotbarSlot": 2,
        "HotBar": {
          "Id": "Simple",
          "Capacity": 9,
          "Items": {
            "2": {
              "Id": "Weapon_Sword_Iron",
              "Quantity": 1,
              "Durability": 8.5,
              "MaxDurability": 60.0
            }
          }
        },
        "Armor": {
          "Id": "Simple",
          "Capacity": 4,
          "Items": {}
        }
      }
    },
    "plugin:Own": {
      "$odd": 1.0
    }
  }
}"#;

/// Creates a save with two worlds and the player Anna.
pub(crate) fn save() -> Sandbox {
    let sandbox = Sandbox::new();
    for folder in ["players", "resources", "worlds/one/resources", "worlds/two/resources"] {
        fs::create_dir_all(sandbox.path(&format!("universe/{folder}"))).unwrap();
    }
    sandbox.file(&format!("universe/players/{ANNA}.json"), FILE.as_bytes());
    sandbox.file("universe/resources/Memories.json", b"{\"Kept\": [1]}");
    for world in ["one", "two"] {
        sandbox.file(&format!("universe/worlds/{world}/config.json"), b"{\"Version\": 4}");
        sandbox.file(&format!("universe/worlds/{world}/resources/Time.json"), b"{\"Now\": 1.0}");
    }
    sandbox.file("universe/worlds/one/resources/Bad.json", b"{");
    sandbox
}

#[test]
fn the_inventory_of_a_player_is_shown_as_a_table() {
    let sandbox = save();
    let list = sandbox.run(&["player", "list", "."]).ok();
    let row = format!("{ANNA}  Anna  default  1.5 80.0 -3.0       1\n");
    assert!(list.ends_with(&row), "{list}");
    for player in ["anna", ANNA] {
        let text = sandbox.run(&["player", "show", "universe", player]).ok();
        for line in [
            &*format!("player {ANNA}: Anna"),
            "  world      default",
            "  container  slot  item               quantity  durability",
            "  hotbar      > 2  Weapon_Sword_Iron         1  8.5 of 60.0",
            "  empty: armor",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
    let object = sandbox.run(&["player", "show", ".", "Anna", "--json"]).ends(0).json();
    assert_eq!(object["containers"][0]["items"][0]["id"], "Weapon_Sword_Iron");
    let error = sandbox.run(&["player", "show", ".", "Carl"]).fails(2);
    assert!(error.contains("`hyworld player list "), "{error}");
}

#[test]
fn a_removed_player_is_kept_and_restored_byte_for_byte() {
    let sandbox = save();
    let name = format!("universe/players/{ANNA}.json");
    sandbox.file(&format!("{name}.bak"), b"{\"Components\": {}}");
    let dry = sandbox.run(&["player", "remove", ".", "Anna", "--dry-run"]).ok();
    assert!(dry.ends_with("would be removed; nothing changed\n"), "{dry}");
    assert_eq!(sandbox.bytes(&name), FILE.as_bytes());
    let removed = sandbox.run(&["player", "remove", ".", "Anna"]).ok();
    assert!(removed.contains(&format!("kept as ./universe/players/{ANNA}.json.removed")));
    assert!(!sandbox.path(&name).exists() && !sandbox.path(&format!("{name}.bak")).exists());
    assert_eq!(sandbox.bytes(&format!("{name}.removed")), FILE.as_bytes());
    assert!(sandbox.run(&["player", "list", ".", "--json"]).ends(0).json_lines().is_empty());
    let back = sandbox.run(&["player", "import", ".", &format!("{name}.removed")]).ok();
    assert!(back.starts_with(&format!("player {ANNA}: added\n")), "{back}");
    assert_eq!(sandbox.bytes(&name), FILE.as_bytes());
    for verb in ["import", "remove-player"] {
        sandbox.run(&["undo", &format!("universe-{verb}-1.hyundo"), "--yes"]).ends(0);
    }
    assert_eq!(sandbox.bytes(&name), FILE.as_bytes());
    assert_eq!(sandbox.bytes(&format!("{name}.bak")), b"{\"Components\": {}}");
    assert!(!sandbox.path(&format!("{name}.removed")).exists());
}

#[test]
fn a_damaged_player_is_not_exported_as_an_empty_one() {
    let sandbox = save();
    sandbox.file(&format!("universe/players/{ANNA}.json"), b"{\"Components\": ");
    let error = sandbox.run(&["player", "export", ".", ANNA, "-o", "anna.json"]).fails(1);
    assert!(error.contains(ANNA), "{error}");
    assert!(!sandbox.path("anna.json").exists());
}

#[test]
fn an_exported_player_can_be_imported_with_another_uuid() {
    let sandbox = save();
    let stdout = sandbox.run(&["player", "export", ".", "Anna"]).ok();
    assert_eq!(stdout.strip_suffix('\n'), Some(FILE));
    sandbox.run(&["player", "export", ".", "Anna", "-o", "anna.json"]).ends(0);
    assert_eq!(sandbox.bytes("anna.json"), FILE.as_bytes());
    sandbox.run(&["player", "export", ".", "Anna", "-o", "anna.json"]).fails(2);
    let error = sandbox.run(&["player", "import", ".", "anna.json"]).fails(2);
    assert!(error.contains("--replace"), "{error}");
    sandbox.run(&["player", "import", ".", "anna.json", "--as", BERT]).ends(0);
    let bert: Value =
        serde_json::from_slice(&sandbox.bytes(&format!("universe/players/{BERT}.json"))).unwrap();
    let uuid = json!({"$binary": "AAAAAAAAAAAAAAAAAAAACw==", "$type": "04"});
    assert_eq!(bert["Components"]["UUID"]["UUID"], uuid);
    assert_eq!(bert["Components"]["plugin:Own"], json!({"$odd": 1.0}));
    sandbox.file("other.json", b"{\"Components\": {}}");
    sandbox.run(&["player", "import", ".", "other.json"]).fails(1);
    let words = ["player", "import", ".", "other.json", "--as", ANNA, "--replace"];
    let replaced = sandbox.run(&words).ok();
    assert!(replaced.contains("the old file is now the backup"), "{replaced}");
    let backup = format!("universe/players/{ANNA}.json.bak");
    assert_eq!(sandbox.bytes(&backup), FILE.as_bytes());
    for bad in [&b"{"[..], b"[]", b"{\"Other\": 1}", b""] {
        sandbox.file("bad.json", bad);
        sandbox.run(&["player", "import", ".", "bad.json", "--as", BERT, "--replace"]).fails(1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn players_are_not_changed_while_a_server_runs() {
    let sandbox = save();
    fs::create_dir(sandbox.path("universe/worlds/two/chunks")).unwrap();
    let region = sandbox.path("universe/worlds/two/chunks/0.0.region.bin");
    let file = fs::File::create(region).unwrap();
    // The command has the file open too, and ends with this statement.
    let mut program = Command::new("sleep").arg("600").stdout(file).spawn().unwrap();
    sandbox.file("anna.json", FILE.as_bytes());
    let removed = sandbox.run(&["player", "remove", ".", "Anna"]);
    let imported = sandbox.run(&["player", "import", ".", "anna.json", "--replace"]);
    program.kill().and_then(|()| program.wait()).unwrap();
    assert!(removed.fails(3).contains("sleep"));
    assert!(imported.fails(3).contains("sleep"));
    assert_eq!(sandbox.bytes(&format!("universe/players/{ANNA}.json")), FILE.as_bytes());
}

#[test]
fn resources_of_the_universe_and_of_worlds_are_listed_and_shown() {
    let sandbox = save();
    let lines = sandbox.run(&["resource", "list", ".", "--json"]).ends(1).json_lines();
    let found: Vec<_> =
        lines.iter().map(|line| (line["world"].as_str(), line["id"].as_str().unwrap())).collect();
    let expected =
        [(None, "Memories"), (Some("one"), "Bad"), (Some("one"), "Time"), (Some("two"), "Time")];
    assert_eq!(found, expected);
    let text = sandbox.run(&["resource", "show", ".", "Memories"]).ok();
    assert_eq!(text, "{\n  \"Kept\": [\n    1\n  ]\n}\n");
    let error = sandbox.run(&["resource", "show", ".", "Time"]).fails(2);
    assert!(error.contains("--world"), "{error}");
    let one = sandbox.run(&["resource", "show", ".", "Time", "--world", "one"]).ok();
    assert_eq!(one, "{\n  \"Now\": 1.0\n}\n");
    let one = sandbox.run(&["resource", "show", "universe/worlds/one", "Time", "--json"]).ok();
    assert_eq!(one, "{\"world\":\"one\",\"id\":\"Time\",\"value\":{\"Now\":1.0}}\n");
    sandbox.run(&["resource", "show", ".", "None"]).fails(2);
    sandbox.run(&["resource", "show", ".", "Bad"]).fails(1);
}

#[test]
fn real_players_are_shown_and_exported_verbatim() {
    let Some(worlds) = shared("worlds") else { return };
    for world in ["ocean-2026-01", "flat-2026-02", "explored-2026-01"] {
        let path = worlds.join(world);
        let sandbox = Sandbox::new();
        let save = path.to_str().unwrap();
        let players = sandbox.run(&["player", "list", save, "--json"]).ends(0).json_lines();
        assert_eq!(players.len(), 1, "{world}");
        let uuid = players[0]["uuid"].as_str().unwrap();
        let object = sandbox.run(&["player", "show", save, uuid, "--json"]).ends(0).json();
        assert!(object["containers"].as_array().unwrap().len() >= 6, "{object}");
        let exported = sandbox.run(&["player", "export", save, uuid]).ok();
        let stored = path.join(format!("universe/players/{uuid}.json"));
        let stored = fs::read_to_string(stored).unwrap();
        assert_eq!(exported.strip_suffix('\n'), Some(&*stored), "{world}");
    }
}
