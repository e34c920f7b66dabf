//! Every command in advice can be run as printed.

use hyworld_testkit::manifest;

use crate::converting::world;
use crate::run::Sandbox;

/// Returns the commands between backticks. All text in backticks must be a complete command.
fn commands(text: &str) -> Vec<Vec<String>> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .map(|command| {
            let words: Vec<_> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
            assert_eq!(words.first(), Some(&"hyworld"), "{command:?} is not a command, in: {text}");
            words.into_iter().skip(1).map(str::to_owned).collect()
        })
        .collect()
}

/// Runs every command of the advice for a fixture, each with a new copy of it.
fn follow(fixture: &str, text: &str) -> usize {
    let commands = commands(text);
    for command in &commands {
        let sandbox = Sandbox::with(fixture, "a.bin");
        if command.iter().any(|word| word == "put") {
            sandbox.file("slot-6.bin", b"content");
        }
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let run = sandbox.run(&arguments);
        assert_ne!(run.code, 2, "{fixture}: {command:?}: {}", run.err);
    }
    commands.len()
}

#[test]
fn every_command_in_advice_about_region_files_runs() {
    let mut followed = 0;
    for known in manifest("corrupt/") {
        let fixture = known.file.trim_end_matches(".region.bin");
        for verb in [&["verify"][..], &["info"], &["ls"], &["compact"]] {
            let (verb, rest) = verb.split_first().unwrap();
            let sandbox = Sandbox::with(fixture, "a.bin");
            let run = sandbox.run(&[&["region", verb, "a.bin"], rest].concat());
            // A one-word description of a table is not advice.
            let text = run.text().replace("see `salvage`", "");
            followed += follow(fixture, &text) + follow(fixture, &run.err);
        }
    }
    let broken = "corrupt/zstd_magic_broken";
    let refused = Sandbox::with(broken, "a.bin").run(&["region", "get", "a.bin", "6"]);
    followed += follow(broken, &refused.err);
    let v0 = "v0/basic";
    let refused = Sandbox::with(v0, "a.bin").run(&["region", "compact", "a.bin"]);
    followed += follow(v0, &refused.err);
    assert!(followed > 40, "{followed} commands");
}

/// Runs every command of a text in the sandbox. Returns the number of commands.
fn run_all(sandbox: &Sandbox, text: &str) -> usize {
    let commands = commands(text);
    for command in &commands {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let run = sandbox.run(&arguments);
        assert_ne!(run.code, 2, "{command:?}: {}", run.err);
    }
    commands.len()
}

#[test]
fn commands_in_advice_about_worlds_run() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let name = "world/chunks/0.0.region.bin";
    let mut bytes = sandbox.bytes(name);
    // The payload of the first blob.
    bytes[4128 + 8..4128 + 400].fill(0x55);
    sandbox.file(name, &bytes);
    let verified = sandbox.run(&["verify", "world"]).ends(1);
    let mut followed = run_all(&sandbox, verified.text());
    // The header of another file.
    let name = "world/chunks/-1.0.region.bin";
    let mut bytes = sandbox.bytes(name);
    bytes[..32].fill(0);
    sandbox.file(name, &bytes);
    followed += run_all(&sandbox, sandbox.run(&["verify", "world"]).ends(1).text());
    followed += run_all(&sandbox, &sandbox.run(&["region", "info", name]).ends(1).err);
    followed += run_all(&sandbox, &sandbox.run(&["region", "info", "world"]).ends(2).err);
    sandbox.run(&["world", "create", "u", "a"]).ends(0);
    let none = "00000000-0000-0000-0000-000000000001";
    followed += run_all(&sandbox, &sandbox.run(&["player", "show", "u", none]).err);
    assert!(followed >= 5, "{followed} commands");
}
