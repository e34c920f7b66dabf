//! `saves`: finding saves and games in the folders named by the environment.

use std::fs;

use crate::run::{Run, Sandbox};

/// Runs `saves` with a home folder that has two saves and an installed game.
pub(crate) fn found(options: &[&str]) -> Run {
    let sandbox = Sandbox::new();
    let home = ".var/app/com.hypixel.HytaleLauncher/data/Hytale";
    for world in ["One/universe/worlds/default", "Two/universe/worlds/a", "Two/universe/worlds/b"] {
        fs::create_dir_all(sandbox.path(&format!("{home}/UserData/Saves/{world}"))).unwrap();
    }
    fs::create_dir_all(sandbox.path(&format!("{home}/UserData/Saves/not a save"))).unwrap();
    let game = format!("{home}/install/release/package/game/latest");
    fs::create_dir_all(sandbox.path(&game)).unwrap();
    sandbox.file(&format!("{game}/Assets.zip"), b"1234");
    run(&sandbox, options)
}

fn run(sandbox: &Sandbox, options: &[&str]) -> Run {
    let words = [&["saves"], options].concat();
    let mut command = sandbox.command(&words);
    command.env_remove("APPDATA").env_remove("XDG_DATA_HOME").env("HOME", sandbox.path(""));
    Run::of(&words, &command.output().unwrap())
}

#[test]
fn saves_and_games_are_found_through_the_environment() {
    let text = found(&[]).ok();
    for line in ["default        0  ", "a, b           0  ", "release  4 bytes  "] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}\n{text}");
    }
    assert!(!text.contains("not a save"), "{text}");
    assert_eq!(found(&["--json"]).ends(0).json_lines().len(), 3);
}

#[test]
fn the_searched_folders_are_listed_if_nothing_is_found() {
    let sandbox = Sandbox::new();
    let found = run(&sandbox, &[]).ends(0);
    assert_eq!(found.text(), "");
    assert!(found.err.starts_with("nothing found; looked in "), "{}", found.err);
    assert!(found.err.contains(".local/share/Hytale"), "{}", found.err);
}
