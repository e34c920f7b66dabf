//! Generated completions and man pages, and the manual that must match the options.

use std::fs;
use std::path::Path;

use crate::run::Sandbox;

const VERBS: [&str; 10] =
    ["info", "ls", "get", "put", "rm", "verify", "salvage", "compact", "upgrade", "seal"];

fn manual() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    fs::read_to_string(path).unwrap()
}

#[test]
fn completions_contain_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&["completions", shell]).ok();
        for verb in VERBS {
            assert!(script.contains(verb), "{shell}: {verb}");
        }
        assert!(script.contains("rebuild-index"), "{shell}");
    }
    sandbox.run(&["completions", "cobol"]).ends(2);
}

#[test]
fn man_pages_are_generated() {
    let sandbox = Sandbox::new();
    let page = sandbox.run(&["man"]).ok();
    assert!(page.contains(".TH hyworld 1"), "{page}");
    let run = sandbox.run(&["man", "pages"]).ends(0);
    assert_eq!(run.text(), "");
    for verb in VERBS {
        let page = fs::read_to_string(sandbox.path(&format!("pages/hyworld-region-{verb}.1")));
        assert!(page.unwrap().contains("SYNOPSIS"), "{verb}");
    }
    let main = fs::read_to_string(sandbox.path("pages/hyworld.1")).unwrap();
    let options = |page: &str| page.split(".SH SUBCOMMANDS").next().unwrap().to_owned();
    assert_eq!(options(&main), options(&page));
}

/// Options that every command has.
const GLOBAL: [&str; 5] = ["--jobs", "--quiet", "--verbose", "--world", "--help"];

/// Commands of one word.
const PLAIN: [&str; 18] = [
    "info", "saves", "chunk", "dump", "block", "select", "find", "stats", "diff", "trim", "demo",
    "ls", "verify", "convert", "migrate", "upgrade", "pregen", "stress",
];

/// Returns the section of the manual about one command.
fn section<'a>(manual: &'a str, heading: &str) -> &'a str {
    let after = manual.split_once(&format!("\n{heading}\n"));
    let after = after.unwrap_or_else(|| unreachable!("the manual has no {heading:?}")).1;
    after.split("\n## ").next().unwrap()
}

#[test]
fn the_manual_has_every_option_and_refers_to_the_json() {
    let sandbox = Sandbox::new();
    let manual = manual();
    let benches = ["region", "chunk", "providers", "store", "verify", "query", "change"];
    let benches = benches.map(|verb| ["bench", verb]);
    let of_worlds = ["list", "create", "copy", "delete"].map(|verb| ["world", verb]);
    let commands = VERBS.map(|verb| ["region", verb]).into_iter().chain(benches).chain(of_worlds);
    let commands = commands.map(|words| words.to_vec());
    let plain = PLAIN.map(|verb| vec![verb]);
    for words in commands.chain(plain) {
        let verb = words.join(" ");
        let help = sandbox.run(&[&words[..], &["--help"]].concat()).ok();
        let about = section(&manual, &format!("## {verb}"));
        let words = help.split([' ', ',', '\n', '[', ']', '`']);
        let options = words.filter(|word| word.starts_with("--") && word.len() > 2);
        for option in options {
            let option = option.trim_end_matches([':', '.', ';']);
            let is_global = GLOBAL.contains(&option);
            assert!(is_global || about.contains(option), "{verb} {option}");
        }
        assert!(about.contains("json.md#"), "{verb} documents its JSON");
    }
}

#[test]
fn help_and_version_are_printed() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["--help"]).ok();
    assert!(help.contains("Exit codes:"), "{help}");
    for group in [
        "\nInspect:\n  info  ",
        "\nSearch and compare:\n  find  ",
        "\nCheck and repair:\n  verify  ",
        "\nChange:\n  world  ",
        "\nConvert:\n  convert  ",
        "\nMeasure and try out:\n  bench  ",
    ] {
        assert!(help.contains(group), "{help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    let version = sandbox.run(&["--version"]).ok();
    assert_eq!(version, format!("hyworld {}\n", env!("CARGO_PKG_VERSION")));
}
