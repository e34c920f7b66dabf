//! `convert` and `ls`: complete copies, unfinished targets, and killed conversions.

use std::fs;
use std::time::Duration;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, FrameStorage, RegionFiles, RegionFilesOptions};
use hyworld_testkit::{Random, WORLDS, region_files, sample};

use crate::run::Sandbox;

/// Creates a world of 200 chunks in six regions, compressed at a level that the game does not use.
pub(crate) fn world(sandbox: &Sandbox) {
    let options = RegionFilesOptions::new().compression_level(7);
    let storage = options.open(&sandbox.path("world/chunks")).unwrap();
    for n in 0..200_u8 {
        let at = ChunkPos::new(i32::from(n % 50) - 25, i32::from(n / 50) * 20 - 5);
        storage.write(at, &sample(n.into(), 3000 + 50 * usize::from(n))).unwrap();
    }
    storage.sync().unwrap();
}

/// Returns the frames of all chunks of a folder of region files.
pub(crate) fn frames(sandbox: &Sandbox, folder: &str) -> Vec<(ChunkPos, Vec<u8>)> {
    let storage = RegionFiles::open_read_only(&sandbox.path(folder)).unwrap();
    let positions: Vec<_> = storage.positions().map(Result::unwrap).collect();
    let frames = storage.read_frames(&positions).into_iter();
    let frames = frames.map(|frame| frame.unwrap().unwrap().stored().to_vec());
    positions.into_iter().zip(frames).collect()
}

#[test]
fn region_files_to_region_files_are_copied_frame_by_frame() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let object = sandbox.run(&["convert", "world", "copy", "--json"]).ends(0).json();
    assert_eq!((&object["chunks"], &object["verified"]), (&200.into(), &200.into()));
    assert_eq!((&object["verbatim"], &object["finished"]), (&true.into(), &true.into()));
    assert!(frames(&sandbox, "world/chunks") == frames(&sandbox, "copy/chunks"));
    let names: Vec<_> = fs::read_dir(sandbox.path("copy")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let same = sandbox.run(&["convert", "world", "copy", "--verify-only"]).ok();
    assert_eq!(same, "world/chunks and copy/chunks: 200 chunks equal, 0 differences\n");
    let anew = sandbox.run(&["convert", "world/chunks", "anew/chunks", "--recompress"]).ok();
    assert!(anew.contains("200 copied recompressed"), "{anew}");
    assert!(frames(&sandbox, "world/chunks") != frames(&sandbox, "anew/chunks"));
    sandbox.run(&["convert", "world", "anew", "--verify-only"]).ends(0);
}

#[test]
fn a_region_file_can_be_a_source_but_not_a_target() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let object = sandbox.run(&["convert", "world/chunks/-1.0.region.bin", "part", "--json"]).json();
    assert_eq!(object["chunks"], 25);
    let error = sandbox.run(&["convert", "world", "world/chunks/0.0.region.bin"]).fails(2);
    assert!(error.contains("this is a file"), "{error}");
}

#[test]
fn nothing_is_overwritten_and_a_dry_run_writes_nothing() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let dry = sandbox.run(&["convert", "world", "copy", "--dry-run"]).ok();
    assert!(dry.ends_with("nothing written\n"), "{dry}");
    assert!(!sandbox.path("copy").exists());
    let error = sandbox.run(&["convert", "world", "world"]).fails(3);
    assert!(error.starts_with("world/chunks already exists"), "{error}");
    let missing = sandbox.run(&["convert", "nowhere", "copy"]).fails(2);
    assert_eq!(missing, "nowhere: no such file or folder");
}

#[test]
fn chunks_that_cannot_be_read_keep_the_target_unfinished() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    sandbox.file("world/chunks/5.5.region.bin", b"this is no region file, but it is long enough");
    let run = sandbox.run(&["convert", "world", "copy"]).ends(1);
    assert!(run.err.contains("5.5.region.bin") && run.err.contains("--skip-unreadable"));
    assert!(!sandbox.path("copy/chunks").exists());
    let object = sandbox.run(&["convert", "world", "copy", "--skip-unreadable", "--json"]);
    let object = object.ends(1).json();
    assert_eq!((&object["already"], &object["copied"]), (&200.into(), &0.into()));
    assert_eq!((&object["failed"], &object["finished"]), (&1.into(), &true.into()));
    assert_eq!(frames(&sandbox, "copy/chunks").len(), 200);
}

#[test]
fn differences_are_listed() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    sandbox.run(&["convert", "world", "copy"]).ends(0);
    let copy = RegionFiles::open(&sandbox.path("copy/chunks")).unwrap();
    copy.write(ChunkPos::new(0, -5), b"changed").unwrap();
    copy.remove(ChunkPos::new(1, -5)).unwrap();
    copy.write(ChunkPos::new(500, 500), b"new").unwrap();
    drop(copy);
    let run = sandbox.run(&["convert", "world", "copy", "--verify-only"]).ends(1);
    for line in [
        "chunk 0,-5: contents differ",
        "chunk 1,-5: only in the source",
        "chunk 500,500: only in the target",
        "198 chunks equal, 3 differences",
    ] {
        assert!(run.text().contains(line), "{line}\n{}", run.text());
    }
}

/// Kills a conversion at `times` random moments, then lets it finish. Returns how often it was
/// killed before it was finished.
fn convert_with_kills(sandbox: &Sandbox, arguments: &[&str], times: u32, most: Duration) -> u32 {
    let mut random = Random::new(11);
    let mut killed = 0;
    for _ in 0..times {
        let mut child =
            sandbox.command(arguments).stderr(std::process::Stdio::null()).spawn().unwrap();
        let wait = most * random.below(1000) / 1000;
        std::thread::sleep(wait);
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            break;
        }
        killed += 1;
        let target = sandbox.path("copy/chunks");
        assert!(!target.exists(), "a killed conversion must not create the target");
    }
    if !sandbox.path("copy/chunks").exists() {
        sandbox.run(arguments).ends(0);
    }
    killed
}

#[test]
fn a_killed_and_continued_conversion_gives_the_same_result() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let arguments = ["convert", "world", "copy", "--recompress", "--level", "19", "-q"];
    let killed = convert_with_kills(&sandbox, &arguments, 20, Duration::from_millis(120));
    assert!(killed > 3, "killed only {killed} times");
    sandbox.run(&["convert", "world", "copy", "--verify-only"]).ends(0);
    assert_eq!(fs::read_dir(sandbox.path("copy")).unwrap().count(), 1);
}

#[test]
fn real_worlds_survive_conversion() {
    for world in WORLDS {
        let Some(files) = region_files(world) else { return };
        let source = files[0].parent().unwrap().to_str().unwrap().to_owned();
        let sandbox = Sandbox::new();
        let object = sandbox.run(&["convert", &source, "copy", "--json"]).ends(0).json();
        assert_eq!(object["chunks"], object["verified"], "{world}");
        sandbox.run(&["convert", &source, "copy", "--verify-only"]).ends(0);
    }
}

#[test]
fn chunks_are_listed_with_their_sizes() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let lines = sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines();
    assert_eq!(lines.len(), 200);
    let raw: u64 = lines.iter().map(|line| line["raw"].as_u64().unwrap()).sum();
    assert_eq!(raw, (0..200).map(|n| 3000 + 50 * n).sum::<u64>());
    let run = sandbox.run(&["ls", "world/chunks"]).ends(0);
    assert_eq!(run.text().lines().count(), 201);
    assert!(run.err.starts_with("world/chunks: 200 chunks, "), "{}", run.err);
    sandbox.file("world/chunks/5.5.region.bin", b"this is no region file, but it is long enough");
    let run = sandbox.run(&["ls", "world"]).ends(1);
    assert_eq!(run.text().lines().count(), 201);
    assert!(run.err.contains("5.5.region.bin"), "{}", run.err);
}

#[test]
fn the_provider_is_read_from_the_files_of_the_world() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    sandbox.file("world/config.json", br#"{"Version": 4, "ChunkStorage": {"Type": "Empty"}}"#);
    assert!(sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines().is_empty());
    fs::create_dir(sandbox.path("world/resources")).unwrap();
    let current = br#"{"CurrentProvider": {"Type": "Hytale"}}"#;
    sandbox.file("world/resources/ChunkStorage.json", current);
    assert_eq!(sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines().len(), 200);
    sandbox.file("world/resources/ChunkStorage.json", br#"{"CurrentProvider": {"Type": "x:Y"}}"#);
    let error = sandbox.run(&["ls", "world"]).fails(3);
    assert!(error.starts_with(r#"provider "x:Y": unknown type"#), "{error}");
}

#[test]
fn a_world_is_found_in_the_folder_of_a_server_and_without_its_configuration() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let worlds = "server/universe/worlds";
    fs::create_dir_all(sandbox.path(&format!("{worlds}/empty"))).unwrap();
    fs::rename(sandbox.path("world"), sandbox.path(&format!("{worlds}/default"))).unwrap();
    // The server's configuration file must not make its folder a world.
    sandbox.file("server/config.json", b"{\"Version\": 4}");
    let count = |path: &str| sandbox.run(&["ls", path, "--json"]).ends(0).json_lines().len();
    for path in ["server", "server/universe", worlds, "server/universe/worlds/default"] {
        assert_eq!(count(path), 200, "{path}");
    }
    let config = format!("{worlds}/default/config.json");
    sandbox.file(&config, b"damaged");
    let line = sandbox.run(&["ls", "server"]).fails(1);
    assert!(line.contains("config.json: not JSON"), "{line}");
    fs::create_dir(sandbox.path(&format!("{worlds}/default/resources"))).unwrap();
    let current = br#"{"CurrentProvider": {"Type": "Hytale"}}"#;
    sandbox.file(&format!("{worlds}/default/resources/ChunkStorage.json"), current);
    assert_eq!(count("server"), 200, "the resource names the provider");
    sandbox.file(&format!("{config}.bak"), br#"{"ChunkStorage": {"Type": "Empty"}}"#);
    assert_eq!(count("server"), 200, "the chunks have not been moved yet");
}

#[test]
fn existing_chunks_decide_if_the_configured_provider_has_none() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    sandbox.file("world/config.json", br#"{"ChunkStorage": {"Type": "RocksDb"}}"#);
    assert_eq!(sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines().len(), 200);
    fs::rename(sandbox.path("world/config.json"), sandbox.path("world/instance.bson")).unwrap();
    assert_eq!(sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines().len(), 200);
}
