//! Files that are not region files: one line, the right exit code, and no changes.

use std::fs;

use hyworld_testkit::fixture;

use crate::run::Sandbox;

/// Every command, with its arguments besides the file.
const VERBS: [&[&str]; 14] = [
    &["info"],
    &["info", "--json"],
    &["ls"],
    &["ls", "--json"],
    &["get", "0"],
    &["put", "0", "content"],
    &["put", "0", "content", "--seal"],
    &["rm", "0"],
    &["verify"],
    &["verify", "--rebuild-index", "--yes"],
    &["salvage"],
    &["compact"],
    &["upgrade"],
    &["seal"],
];

fn run_all(sandbox: &Sandbox, file: &str, code: i32, expected: &str) {
    for verb in VERBS {
        let (name, rest) = verb.split_first().unwrap();
        let before = sandbox.state();
        let line = sandbox.run(&[&["region", name, file], rest].concat()).fails(code);
        assert!(line.contains(expected), "{name}: {line}");
        assert_eq!(sandbox.state(), before, "{name}");
    }
}

fn with_document() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("content", b"content");
    sandbox
}

#[test]
fn a_picture_is_rejected() {
    let sandbox = with_document();
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0".to_vec();
    png.resize(5000, 7);
    sandbox.file("a.png", &png);
    run_all(&sandbox, "a.png", 1, "a.png: not a region file: it does not begin with");
}

#[test]
fn a_file_truncated_inside_its_header_is_rejected() {
    for len in ["10", "20", "31"] {
        let sandbox = with_document();
        let name = format!("original/corrupt/truncated_at_{len}.region.bin");
        sandbox.file("a.bin", &fixture(&name));
        let expected =
            format!("a.bin: not a region file: {len} bytes, shorter than the 32-byte header");
        run_all(&sandbox, "a.bin", 1, &expected);
    }
}

#[test]
fn a_header_with_impossible_numbers_is_rejected() {
    let sandbox = with_document();
    let mut bytes = fixture("original/v1/empty.region.bin");
    bytes[24..28].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF]);
    sandbox.file("a.bin", &bytes);
    run_all(&sandbox, "a.bin", 1, "a.bin: the header claims 2147483647 slots");
}

#[test]
fn unknown_versions_are_rejected() {
    for (name, version) in [("version_2", "2"), ("version_negative", "-1")] {
        let sandbox = with_document();
        sandbox.file("a.bin", &fixture(&format!("original/corrupt/{name}.region.bin")));
        run_all(&sandbox, "a.bin", 1, &format!("a.bin: unsupported format version {version}"));
    }
}

#[test]
fn a_folder_is_rejected() {
    let sandbox = with_document();
    fs::create_dir(sandbox.path("folder")).unwrap();
    run_all(&sandbox, "folder", 2, "folder: not a regular file");
    assert_eq!(fs::read_dir(sandbox.path("folder")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn devices_are_rejected() {
    let sandbox = with_document();
    for device in ["/dev/null", "/dev/zero"] {
        run_all(&sandbox, device, 2, &format!("{device}: not a regular file"));
    }
}

#[test]
fn a_missing_file_is_created_only_by_put() {
    let sandbox = with_document();
    for verb in VERBS.iter().filter(|verb| verb[0] != "put") {
        let (name, rest) = verb.split_first().unwrap();
        let line = sandbox.run(&[&["region", name, "none.bin"], rest].concat()).fails(2);
        assert!(line.starts_with("none.bin: cannot open: "), "{name}: {line}");
        assert_eq!(line.matches("os error").count(), 1, "{name}: {line}");
    }
    let line = sandbox.run(&["region", "put", "none/none.bin", "0", "content"]).fails(2);
    assert!(line.starts_with("none/none.bin: cannot create: "), "{line}");
    assert_eq!(sandbox.names(), ["content"]);
}

#[test]
fn an_empty_file_is_filled_only_by_put() {
    let sandbox = with_document();
    sandbox.file("a.bin", b"");
    let before = sandbox.state();
    for verb in VERBS.iter().filter(|verb| verb[0] != "put") {
        let (name, rest) = verb.split_first().unwrap();
        let line = sandbox.run(&[&["region", name, "a.bin"], rest].concat()).fails(1);
        assert_eq!(line, "a.bin: the file is empty", "{name}");
    }
    assert_eq!(sandbox.state(), before);
}

#[cfg(unix)]
#[test]
fn a_name_with_a_line_break_stays_on_one_line() {
    let sandbox = Sandbox::new();
    let name = "two\nlines\u{1b}[31m";
    let line = sandbox.run(&["region", "info", name]).fails(2);
    assert!(line.starts_with("two\\nlines\\u{1b}[31m: cannot open"), "{line}");
    sandbox.file("content", b"x");
    sandbox.run(&["region", "put", name, "0", "content"]).ends(0);
    for verb in ["info", "verify", "seal", "compact"] {
        let text = sandbox.run(&["region", verb, name]).ok();
        assert!(text.starts_with("two\\nlines\\u{1b}[31m"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn invalid_command_lines_are_rejected() {
    let sandbox = Sandbox::new();
    for wrong in [&[][..], &["region"]] {
        let run = sandbox.run(wrong).ends(2);
        assert_eq!(run.text(), "");
        assert!(run.err.contains("Usage: hyworld"), "{}", run.err);
    }
    let wrong: [(&[&str], &str); 4] = [
        (&["region", "explode"], "try `hyworld region --help`"),
        (&["region", "ls"], "try `hyworld region ls --help`"),
        (&["-x"], "try `hyworld --help`"),
        (&["completions"], "try `hyworld completions --help`"),
    ];
    for (wrong, help) in wrong {
        let line = sandbox.run(wrong).fails(2);
        assert!(line.ends_with(help), "{line}");
    }
}
