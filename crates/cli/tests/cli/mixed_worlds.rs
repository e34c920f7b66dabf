//! An unfinished copy is continued only from the same world.

use std::fs;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::{sample, write_file};

use crate::run::{Run, Sandbox};

/// Creates a world at `path`, with an optional UUID, whose chunks start at `x`.
fn world(sandbox: &Sandbox, path: &str, uuid: Option<&str>, x: i32) {
    let storage = RegionFiles::open(&sandbox.path(path).join("chunks")).unwrap();
    for n in 0..46 {
        let seed = u64::from((x + n).unsigned_abs());
        storage.write(ChunkPos::new(x + n, 3), &sample(seed, 2000)).unwrap();
    }
    if let Some(uuid) = uuid {
        sandbox.file(&format!("{path}/config.json"), config(uuid).as_bytes());
    }
}

fn config(uuid: &str) -> String {
    format!(r#"{{"Version": 4, "UUID": {{"$binary": "{uuid}", "$type": "04"}}}}"#)
}

/// Starts a copy of `world` that stays unfinished because a part of the world cannot be read.
fn interrupted(sandbox: &Sandbox, folder: &str, target: &str) {
    let damaged = sandbox.path(folder).join("world/chunks/9.9.region.bin");
    write_file(&damaged, b"this is not a region file, but it is long enough");
    run_in(sandbox, folder, target).ends(1);
    fs::remove_file(damaged).unwrap();
}

fn run_in(sandbox: &Sandbox, folder: &str, target: &str) -> Run {
    let arguments = ["convert", "world", target];
    let mut command = sandbox.command(&arguments);
    Run::of(&arguments, &command.current_dir(sandbox.path(folder)).output().unwrap())
}

fn partial_chunks(sandbox: &Sandbox) -> usize {
    let copy = RegionFiles::open_read_only(&sandbox.path("copy/chunks.hyworld-partial")).unwrap();
    copy.positions().map(Result::unwrap).count()
}

const UUID_A: &str = "AAAAAAAAQACAAAAAAAAAAQ==";
const UUID_B: &str = "AAAAAAAAQACAAAAAAAAAAg==";

/// The same relative name, from another working folder.
#[test]
fn another_world_of_the_same_relative_name_is_refused() {
    let sandbox = Sandbox::new();
    world(&sandbox, "a/world", Some(UUID_A), 0);
    world(&sandbox, "b/world", Some(UUID_B), 100);
    interrupted(&sandbox, "a", "../copy");
    let refused = run_in(&sandbox, "b", "../copy").ends(3);
    assert!(refused.err.contains("is an unfinished copy of"), "{}", refused.err);
    assert!(refused.err.contains("a/world") && refused.err.contains("b/world"), "{}", refused.err);
    assert_eq!(partial_chunks(&sandbox), 46, "no chunk of the other world was added");
    assert!(!sandbox.path("copy/chunks").exists());
    run_in(&sandbox, "a", "../copy").ends(0);
    let copy = RegionFiles::open_read_only(&sandbox.path("copy/chunks")).unwrap();
    assert_eq!(copy.positions().count(), 46);
}

/// Another world was moved to the same path.
#[test]
fn another_world_at_the_same_path_is_refused_by_its_uuid() {
    let sandbox = Sandbox::new();
    world(&sandbox, "world", Some(UUID_A), 0);
    interrupted(&sandbox, "", "copy");
    fs::rename(sandbox.path("world"), sandbox.path("moved")).unwrap();
    world(&sandbox, "world", Some(UUID_B), 100);
    let refused = sandbox.run(&["convert", "world", "copy"]).ends(3);
    assert!(refused.err.contains("(world "), "{}", refused.err);
    assert_eq!(partial_chunks(&sandbox), 46);
}

/// Without a configuration, worlds differ only in their chunks.
#[test]
fn chunks_of_another_world_keep_the_target_unfinished() {
    let sandbox = Sandbox::new();
    world(&sandbox, "world", None, 0);
    interrupted(&sandbox, "", "copy");
    fs::rename(sandbox.path("world"), sandbox.path("moved")).unwrap();
    world(&sandbox, "world", None, 100);
    let run = sandbox.run(&["convert", "world", "copy"]).ends(1);
    assert!(run.err.contains("chunk 0,3: only in the target, not in the source"), "{}", run.err);
    assert!(run.err.contains("remove it, and run the same command again"), "{}", run.err);
    assert!(!sandbox.path("copy/chunks").exists());
    let object = sandbox.run(&["convert", "world", "copy", "--skip-unreadable", "--json"]).ends(1);
    let object = object.json();
    assert_eq!((&object["failed"], &object["finished"]), (&46.into(), &false.into()));
    assert_eq!(object["findings"][0]["stage"], "compare");
    fs::remove_dir_all(sandbox.path("copy")).unwrap();
    sandbox.run(&["convert", "world", "copy"]).ends(0);
}
