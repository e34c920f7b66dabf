//! Files that verbs write beside their work: never over something that hyworld did not make, never
//! inside a world, never under a name that means something else.

use std::fs;

use crate::repairing::{files, save};

const REGION: &str = "save/universe/worlds/w/chunks/0.0.region.bin";

#[test]
fn no_output_replaces_a_file_of_a_world_or_of_the_user() {
    let sandbox = save();
    let before = files(&sandbox.path("save"));
    let photo = b"\x89PNG\r\n\x1a\n a photo".as_slice();
    for name in ["photo.png", "photo.webp", "photo.svg", "photo.pmtiles", "photo.bin"] {
        sandbox.file(name, photo);
    }
    let inside = "save/universe/worlds/w/new.png";
    let verbs: [&[&str]; 8] = [
        &["trim", "save", "--select", "x >= 99", "--dry-run", "--picture"],
        &["map", "save", "--assets", "none", "-o"],
        &["stats", "save", "--plot"],
        &["chunk", "save", "--chunk", "0,0", "--bson"],
        &["region", "get", REGION, "0,0", "-o"],
        &["verify", "save", "--manifest"],
        &["seal", "save", "--yes", "--bundle"],
        &["compact", "save", "--yes", "--bundle"],
    ];
    for verb in verbs {
        for output in [REGION, inside, "photo.png", "photo.webp", "photo.svg", "photo.pmtiles"] {
            let run = sandbox.run(&[verb, &[output]].concat());
            assert!(run.code != 0, "{verb:?} {output}: {}", run.text());
        }
    }
    assert!(files(&sandbox.path("save")) == before, "the world is as it was");
    for name in ["photo.png", "photo.webp", "photo.svg", "photo.pmtiles"] {
        assert!(sandbox.bytes(name) == photo, "{name}");
    }
}

#[test]
fn own_outputs_are_replaced() {
    let sandbox = save();
    for _ in 0..2 {
        for picture in ["map.png", "map.webp", "map.pmtiles", "map"] {
            sandbox.run(&["map", "save", "--assets", "none", "-o", picture]).ends(0);
        }
        for plot in ["plot.svg", "plot.png"] {
            sandbox.run(&["stats", "save", "--plot", plot]).ends(0);
        }
        let trim = ["trim", "save", "--select", "x >= 99", "--dry-run", "--picture", "trim.png"];
        sandbox.run(&trim).ends(0);
    }
}

#[test]
fn urls_are_not_folders() {
    let sandbox = save();
    for target in ["s3://bucket/prefix", "rocksdb:folder", "S3:x", "http://host/x"] {
        sandbox.run(&["snapshot", "save", target]).fails(2);
        sandbox.run(&["map", "save", "--assets", "none", "-o", target]).fails(2);
    }
    for target in ["x.region.bin", "1.2.region.bin", "backup.zip", "Backup.ZIP", "x.hyundo"] {
        sandbox.run(&["convert", "save", target]).fails(2);
    }
    let left = fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, ["good", "save"], "nothing was written");
}

/// A limit on the length of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_not_a_fault_of_the_data() {
    let sandbox = save();
    let limited = |words: &[&str]| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "trap '' XFSZ; ulimit -f 40; exec \"$@\"", "sh"]);
        command.arg(env!("CARGO_BIN_EXE_hyworld")).args(words).current_dir(sandbox.path(""));
        crate::run::Run::of(words, &command.output().unwrap())
    };
    let run = limited(&["convert", "save", "copy/chunks"]).ends(3);
    assert!(run.err.contains("make room"), "{}", run.err);
    assert!(!run.err.contains("--skip-unreadable"), "{}", run.err);
    let stress = ["stress", "save", "--seconds", "1", "--yes", "--seed", "1"];
    limited(&stress).ends(3);
    sandbox.run(&["verify", "save"]).ends(0);
    sandbox.run(&["convert", "save", "copy/chunks"]).ends(0);
    sandbox.run(&["diff", "save", "copy/chunks", "--chunks-only"]).ends(0);
}
