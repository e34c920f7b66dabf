//! Every command that would change a world refuses if another program has it open.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::run::{Run, Sandbox};
use crate::world::{FILE, SLOT, sample, with_chunk};
use hyworld_testkit::write_file;
use hyworld_world::{ServerCheck, WritePermit};

const UNIVERSE_FILE: &str = "u/worlds/a/chunks/-1.0.region.bin";

/// Another program that has a file open for writing, as a server has its region files.
pub(crate) struct Program(Child);

impl Program {
    pub(crate) fn with_open(path: &Path) -> Self {
        let file = File::options().append(true).open(path).unwrap();
        let mut command = Command::new("sleep");
        Self(command.arg("600").stdout(file).stdin(Stdio::null()).spawn().unwrap())
    }

    /// Returns the name of the program in errors.
    pub(crate) fn name(&self) -> String {
        format!("process {}, sleep, has ", self.0.id())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).unwrap();
    }
}

/// Creates a world `world` with a sealed chunk whose index entry is lost, and the same world in a
/// universe `u`.
fn worlds() -> Sandbox {
    let sandbox = with_chunk(&sample());
    sandbox.file("world/config.json", b"{\"Version\": 4, \"Seed\": 1}");
    sandbox.file("content", b"content");
    sandbox.run(&["region", "seal", FILE]).ends(0);
    sandbox.run(&["region", "put", FILE, "5", "content"]).ends(0);
    fs::create_dir_all(sandbox.path("u/worlds/a/chunks")).unwrap();
    fs::copy(sandbox.path(FILE), sandbox.path(UNIVERSE_FILE)).unwrap();
    sandbox.file("u/worlds/a/config.json", b"{\"Version\": 4, \"Seed\": 1}");
    let mut bytes = sandbox.bytes(FILE);
    let entry = 32 + 4 * SLOT as usize;
    bytes.get_mut(entry..entry + 4).unwrap().fill(0);
    sandbox.file(FILE, &bytes);
    sandbox
}

/// Returns every file at any depth, with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

/// All commands that change a file of the world, and that work if no program has it open.
const WRITING: [&[&str]; 10] = [
    &["region", "put", FILE, "6", "content"],
    &["region", "put", FILE, "6", "content", "--seal"],
    &["region", "rm", FILE, "5"],
    &["region", "seal", FILE],
    &["region", "seal", FILE, "--remove"],
    &["region", "salvage", FILE, "--segment", "2", "--restore", "29,7"],
    &["region", "verify", FILE, "--rebuild-index", "--removed"],
    &["region", "compact", FILE],
    &["region", "upgrade", FILE],
    &["stress", "world", "--yes", "--seconds", "0.1"],
];

const WRITING_UNIVERSE: [&[&str]; 4] = [
    &["world", "copy", "u", "a", "b"],
    &["world", "delete", "u", "a", "--yes"],
    &["convert", "world", "rocksdb:u/worlds/a/db"],
    &["pregen", "u", "--radius", "1"],
];

#[track_caller]
fn refuses(run: Run, program: &Program) {
    let run = run.ends(3);
    assert!(run.err.contains(&program.name()), "{}", run.err);
}

#[cfg(target_os = "linux")]
#[test]
fn no_command_changes_a_world_that_another_program_has_open() {
    let sandbox = worlds();
    let before = files(&sandbox.path("."));
    for (file, verbs) in [(FILE, &WRITING[..]), (UNIVERSE_FILE, &WRITING_UNIVERSE)] {
        let program = Program::with_open(&sandbox.path(file));
        for verb in verbs {
            refuses(sandbox.run(verb), &program);
            assert!(files(&sandbox.path(".")) == before, "{verb:?} changed a file");
        }
    }
    for verb in WRITING {
        let run = sandbox.run(verb);
        assert!(run.code < 2, "{verb:?}: {}", run.err);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn region_files_outside_a_world_are_guarded() {
    let sandbox = Sandbox::new();
    sandbox.file("content", b"content");
    sandbox.run(&["region", "put", "a.bin", "5", "content"]).ends(0);
    let before = sandbox.state();
    let program = Program::with_open(&sandbox.path("a.bin"));
    for verb in ["compact", "seal", "upgrade"] {
        refuses(sandbox.run(&["region", verb, "a.bin"]), &program);
    }
    refuses(sandbox.run(&["region", "rm", "a.bin", "5"]), &program);
    assert_eq!(sandbox.state(), before);
    sandbox.run(&["region", "rm", "a.bin", "5", "--dry-run"]).ends(0);
    sandbox.run(&["region", "put", "b.bin", "5", "content"]).ends(0);
    assert!(!sandbox.path(".hyworld.lock").exists());
}

/// `--force` ignores the other program, except where its writes would be lost.
#[cfg(target_os = "linux")]
#[test]
fn force_ignores_the_other_program() {
    for verb in &WRITING[..7] {
        let sandbox = worlds();
        let _program = Program::with_open(&sandbox.path(FILE));
        let before = sandbox.bytes(FILE);
        let number =
            std::os::unix::fs::MetadataExt::ino(&fs::metadata(sandbox.path(FILE)).unwrap());
        sandbox.run(&[verb, ["--force"].as_slice()].concat()).ends(0);
        let now = std::os::unix::fs::MetadataExt::ino(&fs::metadata(sandbox.path(FILE)).unwrap());
        assert_eq!(now, number, "{verb:?} replaced a file that a program has open");
        let is_changed = sandbox.bytes(FILE) != before;
        assert!(is_changed || verb.contains(&"--remove"), "{verb:?}");
    }
    let sandbox = worlds();
    let program = Program::with_open(&sandbox.path(FILE));
    let error = sandbox.run(&["region", "rm", FILE, "5"]).fails(3);
    assert!(error.ends_with("or use --force if that program does not write this file"), "{error}");
    let error = sandbox.run(&["region", "compact", FILE]).fails(3);
    assert!(error.contains(&program.name()) && !error.contains("--force"), "{error}");
    sandbox.run(&["region", "compact", FILE, "--force"]).ends(2);
}

#[test]
fn the_lock_of_hyworld_is_never_forced() {
    let sandbox = worlds();
    let permit = WritePermit::of_world(&sandbox.path("world"), ServerCheck::Refuse).unwrap();
    let before = files(&sandbox.path("."));
    let holder = format!("hyworld, process {} is writing this world", std::process::id());
    for verb in WRITING {
        let run = sandbox.run(verb).ends(3);
        assert!(run.err.contains(&holder), "{}", run.err);
    }
    sandbox.run(&["region", "rm", FILE, "5", "--force"]).ends(3);
    assert!(files(&sandbox.path(".")) == before);
    drop(permit);
    sandbox.run(&["region", "rm", FILE, "5"]).ends(0);
}

#[cfg(target_os = "linux")]
#[test]
fn other_open_files_in_the_folder_are_ignored() {
    let sandbox = worlds();
    write_file(&sandbox.path("world/out.txt"), b"");
    let _program = Program::with_open(&sandbox.path("world/out.txt"));
    sandbox.run(&["region", "rm", FILE, "5"]).ends(0);
}
