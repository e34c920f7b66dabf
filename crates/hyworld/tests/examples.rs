//! Runs the eight programs of `examples/` on a sample world, and checks their length.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hyworld::chunk::Holder;
use hyworld::coords::ChunkRect;
use hyworld::documents::Document;
use hyworld::prelude::*;
use hyworld::world::{BuiltInGenerator, Universe, WorldName, WorldSettings};

const NAMES: [&str; 8] = [
    "read_block",
    "count_blocks",
    "find_item",
    "replace_blocks",
    "repair_world",
    "copy_chunk",
    "write_chunk",
    "convert_world",
];

const CHEST: BlockPos = BlockPos::new(5, 300, -7);

/// A save with a world of sample terrain, in which a chest holds seven sticks.
fn sample() -> (tempfile::TempDir, PathBuf) {
    let save = tempfile::tempdir().unwrap();
    let universe = Universe::create(&save.path().join("universe")).unwrap();
    let mut settings = WorldSettings::default();
    settings.seed = Some(5);
    let name = WorldName::new("default").unwrap();
    let path = universe.create_generated_world(&name, settings, BuiltInGenerator::Sample).unwrap();
    let running = RunningWorld::open(save.path(), |_| {}).unwrap();
    let area = ChunkRect::around(ChunkPos::new(0, 0), 1);
    let filled = running.store().fill(area.in_file_order(), |_| true);
    assert_eq!((filled.done, filled.failed), (9, 0));
    assert!(running.shut_down().is_complete());
    drop(running);
    let json = r#"{"Components": {"container": {"ItemContainer": {
        "Capacity": 18, "Items": {"2": {"Id": "Stick", "Quantity": 7}}}}}}"#;
    let holder = Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap();
    let mut world = hyworld::open(save.path()).unwrap();
    let edited = world.edit(BlockBox::new(CHEST, CHEST), |chunk, part| {
        chunk.block_entities_mut().insert(part.min(), holder.clone())?;
        Ok(())
    });
    let edited = edited.unwrap();
    assert_eq!((edited.chunks, edited.changed), (1, 1));
    (save, path)
}

/// Runs an example, which cargo builds with the tests, and returns its output.
fn run(name: &str, arguments: &[&str]) -> String {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    let output = Command::new(program).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn counts(path: &str) -> BTreeMap<String, u64> {
    let text = run("count_blocks", &[path]);
    let line = |line: &str| {
        let (count, name) = line.trim().split_once(' ').unwrap();
        (name.to_owned(), count.parse().unwrap())
    };
    text.lines().map(line).collect()
}

#[test]
fn the_examples_work() {
    let (save, folder) = sample();
    let path = save.path().to_str().unwrap();
    assert_eq!(run("read_block", &[path, "5", "0", "-7"]), "Rock_Bedrock\n");
    assert_eq!(run("read_block", &[path, "9999", "0", "0"]), "no chunk is stored there\n");
    let before = counts(path);
    assert_eq!(before.values().sum::<u64>(), 9 * 327_680);
    assert_eq!(run("find_item", &[path, "Stick"]), "7 at 5,300,-7\n");
    assert_eq!(run("find_item", &[path, "Stone"]), "");
    let all = ["-32", "-32", "63", "63"];
    let replace = [&[path, "Rock_Bedrock", "Rock_Gold"], &all[..]].concat();
    let bedrock = before["Rock_Bedrock"];
    let replaced = run("replace_blocks", &replace);
    assert!(replaced.starts_with(&format!("{bedrock} blocks replaced; undo: Some(")), "{replaced}");
    assert_eq!(run("replace_blocks", &replace), "0 blocks replaced; undo: None\n");
    let after = counts(path);
    assert_eq!((after.get("Rock_Bedrock"), after["Rock_Gold"]), (None, bedrock));
    let copy = save.path().join("copy/chunks");
    let copy = copy.to_str().unwrap();
    assert_eq!(run("convert_world", &[path, copy]), "9 chunks copied, 9 verified\n");
    assert_eq!(counts(copy), after);
    assert_eq!(run("write_chunk", &[path, "0", "0", "Rock_Gold"]), "1 chunk written\n");
    assert_eq!(run("read_block", &[path, "5", "63", "7"]), "Rock_Gold\n");
    let copied = run("copy_chunk", &[copy, path, "0", "0"]);
    assert!(copied.starts_with("1 chunk written; undo: Some("), "{copied}");
    assert_eq!(counts(path), after);
    assert_eq!(run("repair_world", &[path, copy]), "0 chunks to repair\n0 chunks repaired\n");
    destroy_first_blob(&folder.join("chunks/0.0.region.bin"));
    let repaired = "1 chunks to repair\n1 chunks repaired\n1 files restored\n";
    assert_eq!(run("repair_world", &[path, copy]), repaired);
    assert!(!folder.join(".hyworld.lock").exists());
}

/// Overwrites a part of the first blob of a region file.
fn destroy_first_blob(path: &Path) {
    let mut file = hyworld_testkit::damage::RegionBytes::open(path);
    let slot = file.slots().first().copied().unwrap();
    let at = file.blob_offset(slot) + 12;
    file.bytes.get_mut(at..at + 20).unwrap().fill(0xee);
    file.save();
}

fn source(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(folder.join("examples").join(name).with_extension("rs")).unwrap()
}

#[test]
fn examples_have_at_most_twenty_lines_without_imports() {
    for name in NAMES {
        let text = source(name);
        let body = text.split("fn main()").nth(1).unwrap();
        let lines = body.lines().skip(1).filter(|line| !line.trim().is_empty() && *line != "}");
        let lines = lines.count();
        assert!(lines <= 20, "{name}: {lines} lines");
    }
}

#[test]
fn the_readme_shows_an_example() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let text = source("read_block");
    let (_, program) = text.split_once("\n\n").unwrap();
    assert!(readme.contains(program), "README.md does not have the text of read_block.rs");
}

/// Code hosts show the page as it is, so it contains the programs.
#[test]
fn the_library_guide_has_the_programs() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/library.md");
    let guide = fs::read_to_string(guide).unwrap();
    for name in NAMES {
        let program = format!("```rust,ignore\n{}```", source(name));
        assert!(guide.contains(&program), "docs/library.md does not have the text of {name}.rs");
    }
    assert!(!guide.contains("{{#"), "docs/library.md needs a preprocessor");
}
