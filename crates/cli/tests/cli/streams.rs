//! Stdout and stderr, closed pipes, locks and permissions.

use std::fs;
use std::process::Stdio;

use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_testkit::sample;

use crate::run::Sandbox;

#[test]
fn a_closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::new();
    sandbox.file("content", &sample(3, 3_000_000));
    sandbox.run(&["region", "put", "a.bin", "0", "content"]).ends(0);
    let verbs: [&[&str]; 6] = [
        &["region", "get", "a.bin", "0"],
        &["region", "info", "a.bin"],
        &["region", "ls", "a.bin"],
        &["region", "verify", "a.bin"],
        &["completions", "bash"],
        &["man"],
    ];
    for verb in verbs {
        let mut command = sandbox.command(verb);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{verb:?}: {err}");
        assert!(!err.contains("hyworld:") && !err.contains("panicked"), "{verb:?}: {err}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    for verb in ["info", "ls", "verify"] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output =
            sandbox.command(&["region", verb, "a.bin", "-q"]).stdout(full).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let expected = if verb == "verify" { (Some(0), 0) } else { (Some(3), 1) };
        assert_eq!((output.status.code(), err.lines().count()), expected, "{verb}: {err}");
        assert!(err.is_empty() || err.starts_with("hyworld: cannot write to stdout: "), "{err}");
    }
}

#[test]
fn a_file_locked_by_a_writer_can_be_read_but_not_changed() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    sandbox.file("content", b"x");
    let writer = IndexedStorageFile::open(sandbox.path("a.bin")).unwrap();
    let before = sandbox.state();
    let changing: [&[&str]; 7] = [
        &["put", "a.bin", "0", "content"],
        &["rm", "a.bin", "0"],
        &["compact", "a.bin"],
        &["seal", "a.bin"],
        &["upgrade", "a.bin"],
        &["put", "a.bin", "0", "content", "--seal"],
        &["rm", "a.bin", "0", "--json"],
    ];
    assert!(writer.contains(Slot::new(0)).unwrap(), "`rm` has something to do");
    for verb in changing {
        let line = sandbox.run(&[&["region"], verb].concat()).fails(3);
        assert!(line.starts_with("a.bin: another program has this file open"), "{line}");
    }
    for verb in ["info", "ls", "verify", "salvage"] {
        sandbox.run(&["region", verb, "a.bin"]).ends(0);
    }
    sandbox.run(&["region", "compact", "a.bin", "--dry-run"]).ends(0);
    assert_eq!(sandbox.state(), before);
    drop(writer);
    sandbox.run(&["region", "rm", "a.bin", "0"]).ends(0);
}

#[test]
fn read_only_files_in_read_only_folders_can_be_read() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    let (path, before) = (sandbox.path("a.bin"), sandbox.state());
    let folder = path.parent().unwrap();
    let set = |read_only| {
        for path in [path.as_path(), folder] {
            let mut permissions = fs::metadata(path).unwrap().permissions();
            permissions.set_readonly(read_only);
            fs::set_permissions(path, permissions).unwrap();
        }
    };
    set(true);
    let runs =
        ["info", "ls", "verify", "salvage"].map(|verb| sandbox.run(&["region", verb, "a.bin"]));
    let get = sandbox.run(&["region", "get", "a.bin", "0"]);
    set(false);
    assert_eq!(get.ends(0).out, sandbox.documents("a.bin")[&0]);
    for run in runs {
        run.ends(0);
    }
    assert_eq!(sandbox.state(), before);
}

#[test]
fn data_goes_to_stdout_and_messages_to_stderr() {
    let sandbox = Sandbox::with("v1/orphan_segments", "a.bin");
    for verb in ["ls", "salvage"] {
        let run = sandbox.run(&["region", verb, "a.bin"]).ends(0);
        assert_eq!(run.text().lines().count(), 2, "a title and one row: {}", run.text());
        assert!(!run.err.is_empty() && !run.err.contains("hyworld:"), "{}", run.err);
        let quiet = sandbox.run(&["region", verb, "a.bin", "--quiet"]).ends(0);
        assert_eq!(quiet.text(), run.text());
        assert_eq!(quiet.err, "");
    }
}

#[test]
fn without_a_terminal_there_is_no_progress_and_no_colour() {
    let sandbox = Sandbox::with("v1/fragmented", "a.bin");
    for verb in ["verify", "seal", "salvage", "compact"] {
        let run = sandbox.run(&["region", verb, "a.bin"]).ends(0);
        let all = [run.text(), &run.err].concat();
        assert!(!all.contains(['\u{1b}', '\r']), "{verb}: {all:?}");
    }
}
