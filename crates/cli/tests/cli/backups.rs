//! Backups of the game as sources: differences, and files that a world lost.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::repairing::{files, save};
use crate::run::Sandbox;

/// Writes a backup of the universe of a save, as the game does.
pub(crate) fn back_up(sandbox: &Sandbox, save: &str, name: &str) {
    let mut zip = zip::ZipWriter::new(File::create(sandbox.path(name)).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for (path, bytes) in files(&sandbox.path(save).join("universe")) {
        zip.start_file(path.to_str().unwrap(), options).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap();
}

fn with_files() -> Sandbox {
    let sandbox = save();
    fs::create_dir_all(sandbox.path("save/universe/players")).unwrap();
    let player = "save/universe/players/00000000-0000-0000-0000-00000000000a.json";
    sandbox.file(player, b"{\"Components\": {\"A\": {\"B\": 1}}}");
    sandbox.file("save/universe/worlds/w/resources/Time.json", b"{\"Now\": 1}");
    back_up(&sandbox, "save", "backup.zip");
    sandbox
}

#[test]
fn files_of_a_backup_are_compared() {
    let sandbox = with_files();
    sandbox.run(&["diff", "backup.zip", "save"]).ends(0);
    sandbox.run(&["diff", "save", "backup.zip"]).ends(0);
    sandbox.file("save/universe/worlds/w/resources/Time.json", b"{\"Now\": 2}");
    sandbox.file("save/universe/worlds/w/resources/New.json", b"{}");
    fs::remove_dir_all(sandbox.path("save/universe/players")).unwrap();
    let lines = sandbox.run(&["diff", "backup.zip", "save", "--json"]).ends(1).json_lines();
    let mut found: Vec<_> = lines.iter().filter(|line| line["type"] == "file").collect();
    found.sort_by_key(|line| line["file"].as_str().unwrap().to_owned());
    let shown: Vec<_> = found.iter().map(|line| (&line["file"], &line["change"])).collect();
    let player = "players/00000000-0000-0000-0000-00000000000a.json";
    let expected =
        [(player, "removed"), ("resources/New.json", "added"), ("resources/Time.json", "changed")];
    assert_eq!(shown.len(), 3, "{lines:?}");
    for ((file, change), expected) in shown.into_iter().zip(expected) {
        assert_eq!((file.as_str().unwrap(), change.as_str().unwrap()), expected);
    }
}

#[test]
fn a_missing_configuration_is_found_and_restored() {
    let sandbox = with_files();
    let config = Path::new("save/universe/worlds/w/config.json");
    let before = sandbox.bytes(config.to_str().unwrap());
    fs::remove_file(sandbox.path(config.to_str().unwrap())).unwrap();
    let lines = sandbox.run(&["verify", "save", "--json"]).ends(1).json_lines();
    let found: Vec<_> = lines.iter().filter(|line| line["class"] == "world-file").collect();
    assert_eq!(found.len(), 1, "{lines:?}");
    assert!(found[0]["file"].as_str().unwrap().ends_with("config.json"), "{found:?}");
    let repair = ["repair", "save", "--from", "backup.zip", "--yes"];
    sandbox.run(&repair).ends(0);
    assert_eq!(sandbox.bytes(config.to_str().unwrap()), before);
    sandbox.run(&["verify", "save"]).ends(0);
}

/// What `verify` and `ls` accept, `info` and `world list` show.
#[test]
fn a_folder_with_worlds_is_accepted_by_all_verbs() {
    let sandbox = save();
    fs::create_dir(sandbox.path("downloads")).unwrap();
    fs::rename(sandbox.path("save/universe/worlds/w"), sandbox.path("downloads/w")).unwrap();
    for verb in ["verify", "ls", "info", "stats", "fingerprint"] {
        sandbox.run(&[verb, "downloads"]).ends(0);
    }
    let worlds = sandbox.run(&["world", "list", "downloads"]).ok();
    assert!(worlds.contains("w     -"), "{worlds}");
    fs::remove_dir_all(sandbox.path("downloads/w/chunks")).unwrap();
    sandbox.run(&["info", "downloads"]).fails(1);
}
