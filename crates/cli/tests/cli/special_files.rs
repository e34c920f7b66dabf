//! Pipes, devices, sparse files and giant JSON inside a world: every verb ends, in little memory.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bombs::{MEMORY_MAX, peak};
use crate::repairing::save;
use crate::run::Sandbox;

/// The verbs that read a whole world, and some that change it.
const VERBS: [&str; 26] = [
    "verify SAVE",
    "verify SAVE --manifest manifest.txt",
    "info SAVE",
    "ls SAVE",
    "stats SAVE",
    "find SAVE --block Rock* --item * --text *",
    "select SAVE touched",
    "diff SAVE good",
    "diff good SAVE",
    "map SAVE --assets none -o map",
    "map SAVE --assets none -o map.png",
    "dump SAVE",
    "fingerprint SAVE",
    "undelete SAVE",
    "trim SAVE --select x>99 --dry-run",
    "world list SAVE",
    "player list SAVE",
    "resource list SAVE",
    "snapshot SAVE copy",
    "convert SAVE converted/chunks",
    "restore SAVE --from good --area -9,-9:9,9 --yes",
    "repair SAVE --from good --yes",
    "upgrade SAVE --assets none",
    "trim SAVE --select x>99 --yes",
    "compact SAVE --yes",
    "seal SAVE --yes",
];

fn run_all(sandbox: &Sandbox) {
    run_verbs(sandbox, &VERBS);
}

/// Runs verbs. Each must end within a minute, without a panic, in little memory.
fn run_verbs(sandbox: &Sandbox, verbs: &[&str]) {
    for verb in verbs {
        let words: Vec<&str> =
            verb.split(' ').map(|word| if word == "SAVE" { "save" } else { word }).collect();
        let mut command: Command = sandbox.command(&words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (started, mut most) = (Instant::now(), 0);
        let status = loop {
            most = peak(&child).unwrap_or(0).max(most);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            let is_late = started.elapsed() > Duration::from_mins(1);
            if is_late {
                child.kill().unwrap();
            }
            assert!(!is_late, "{verb} does not end");
            std::thread::sleep(Duration::from_millis(3));
        };
        assert!(status.code().is_some_and(|code| code <= 3), "{verb}: {status}");
        assert!(most < MEMORY_MAX, "{verb}: {most} bytes");
    }
}

fn pipe(sandbox: &Sandbox, name: &str) {
    let made = Command::new("mkfifo").arg(sandbox.path(name)).status().unwrap();
    assert!(made.success(), "{name}");
}

#[test]
fn pipes_and_devices_do_not_stop_a_verb() {
    let sandbox = save();
    fs::create_dir_all(sandbox.path("save/universe/players")).unwrap();
    fs::create_dir_all(sandbox.path("save/backup")).unwrap();
    let player = "save/universe/players/00000000-0000-0000-0000-00000000000a.json";
    for name in [
        "save/universe/worlds/w/chunks/3.3.region.bin",
        "save/universe/worlds/w/resources/Pipe.json",
        "save/universe/worlds/w/paths.json",
        "save/universe/warps.json",
        "save/backup/2026-02-02_10-00-00.zip",
        player,
    ] {
        pipe(&sandbox, name);
    }
    for name in ["chunks/4.4.region.bin", "resources/Zero.json", "zero.txt"] {
        symlink("/dev/zero", sandbox.path("save/universe/worlds/w").join(name)).unwrap();
    }
    run_all(&sandbox);
}

#[test]
fn a_configuration_that_is_a_pipe_does_not_stop_a_verb() {
    let sandbox = save();
    let config = "save/universe/worlds/w/config.json";
    fs::remove_file(sandbox.path(config)).unwrap();
    pipe(&sandbox, config);
    run_all(&sandbox);
}

#[test]
fn sparse_files_and_giant_json_are_bounded() {
    let sandbox = save();
    let world = sandbox.path("save/universe/worlds/w");
    let sparse = world.join("chunks/6.6.region.bin");
    fs::copy(world.join("chunks/0.0.region.bin"), &sparse).unwrap();
    File::options().write(true).open(sparse).unwrap().set_len(1 << 40).unwrap();
    let zeros = format!("{{\"A\": [{}0]}}", "0,".repeat(15_000_000));
    hyworld_testkit::write_file(&world.join("resources/Zeros.json"), zeros.as_bytes());
    let keys: Vec<_> = (0..200_000).map(|key| format!("\"{key}\":{key}")).collect();
    let keys = format!("{{{}}}", keys.join(","));
    hyworld_testkit::write_file(&world.join("resources/Keys.json"), keys.as_bytes());
    run_all(&sandbox);
}

/// Every verb reads the configuration. These need the most memory for it.
#[test]
fn a_giant_configuration_is_bounded() {
    let objects = |count: usize| format!("{{\"A\":[{}0]}}", "{\"X\":1,\"Z\":2},".repeat(count));
    let keys = |count: usize, bytes: usize| {
        let text = "x".repeat(bytes);
        let members: Vec<_> = (0..count).map(|key| format!("\"{key}\":\"{text}\"")).collect();
        format!("{{{}}}", members.join(","))
    };
    // Nearly as many values and bytes as are accepted.
    for text in [objects(165_000), keys(490_000, 50)] {
        let sandbox = save();
        let config = sandbox.path("save/universe/worlds/w/config.json");
        // Settings of plugins are kept as they are.
        hyworld_testkit::write_file(&config, format!("{{\"Plugin\":{text}}}").as_bytes());
        let info = sandbox.run(&["info", "save", "--fast", "--json"]).ends(0).json();
        assert!(info["worlds"][0]["config"].is_object(), "not accepted: {info}");
        run_verbs(&sandbox, &["upgrade SAVE --assets none", "trim SAVE --select x>99 --yes"]);
    }
}
