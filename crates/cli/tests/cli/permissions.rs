//! Folders of another user: missing permissions are reported, and nothing changes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::converting::world;
use crate::run::{Run, Sandbox};

/// The user `nobody`, because root ignores permissions.
const NOBODY: u32 = 65_534;

/// Sets the permissions of a folder and everything in it.
fn set_mode(path: &Path, folders: u32, files: u32) {
    if !path.is_dir() {
        return fs::set_permissions(path, fs::Permissions::from_mode(files)).unwrap();
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(path).unwrap() {
        set_mode(&entry.unwrap().path(), folders, files);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(folders)).unwrap();
}

/// Runs `hyworld` as a user other than root.
fn run_as_user(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let is_root = fs::metadata(sandbox.path(".")).unwrap().uid() == 0;
    if !is_root {
        return sandbox.run(arguments);
    }
    // That user may not have access to the build folder.
    let binary = sandbox.path("hyworld");
    if !binary.exists() {
        fs::copy(env!("CARGO_BIN_EXE_hyworld"), &binary).unwrap();
    }
    let mut command = Command::new(binary);
    command.args(arguments).current_dir(sandbox.path(".")).uid(NOBODY).gid(NOBODY);
    Run::of(arguments, &command.output().unwrap())
}

#[test]
fn nothing_is_written_without_permission() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    fs::create_dir(sandbox.path("closed")).unwrap();
    set_mode(&sandbox.path("."), 0o755, 0o755);
    let mut targets = vec!["closed/copy", "closed/copy/chunks"];
    if cfg!(feature = "rocksdb") {
        targets.push("rocksdb:closed/db");
    }
    for target in targets {
        set_mode(&sandbox.path("closed"), 0o555, 0o444);
        let error = run_as_user(&sandbox, &["convert", "world", target]).fails(3);
        assert!(error.starts_with("closed"), "{target}: {error}");
        assert!(error.contains("Permission denied"), "{target}: {error}");
        assert_eq!(fs::read_dir(sandbox.path("closed")).unwrap().count(), 0, "{target}");
    }
    set_mode(&sandbox.path("."), 0o755, 0o755);
}

#[test]
fn read_only_files_are_read_and_unreadable_ones_are_errors() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let mut storages = vec![("world", "world")];
    if cfg!(feature = "rocksdb") {
        sandbox.run(&["convert", "world", "rocksdb:db"]).ends(0);
        storages.push(("rocksdb:db", "db"));
    }
    for (storage, folder) in storages {
        set_mode(&sandbox.path("."), 0o755, 0o755);
        set_mode(&sandbox.path(folder), 0o555, 0o444);
        let lines = run_as_user(&sandbox, &["ls", storage, "--json"]).ends(0).json_lines();
        assert_eq!(lines.len(), 200, "{storage}");
        set_mode(&sandbox.path(folder), 0o555, 0o000);
        let run = run_as_user(&sandbox, &["ls", storage, "--json"]);
        assert!(run.code == 1 || run.code == 3, "{storage}: {}", run.err);
        assert!(run.err.contains("ermission denied") && run.err.contains(folder), "{}", run.err);
        assert!(run.json_lines().is_empty(), "{storage}");
    }
    set_mode(&sandbox.path("."), 0o755, 0o755);
}
