//! Runs the commands in the README and the tour, and compares their output with the text.

use std::fs;
use std::path::Path;

use crate::run::Sandbox;

/// A command in a document, and the output shown below it.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// Returns the commands in the fenced blocks of a document that begin with `$ hyworld`.
fn commands(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for block in text.split("\n```").filter(|block| block.starts_with("\n$ hyworld ")) {
        for line in block.lines().skip(1) {
            match line.strip_prefix("$ hyworld ") {
                Some(command) => {
                    found.push(Shown { command: command.to_owned(), output: Vec::new() });
                }
                None => found.last_mut().unwrap().output.push(line.to_owned()),
            }
        }
    }
    found
}

/// Replaces the parts that differ between runs: numbers, UUIDs, units of time, column widths.
fn normalized(line: &str) -> String {
    let word = |word: &str| {
        let is_uuid = word.len() == 36 && word.matches('-').count() == 4;
        match word.trim_matches(|c: char| !c.is_ascii_alphanumeric()) {
            "ms" | "us" | "s" => "time".to_owned(),
            _ if is_uuid => "uuid".to_owned(),
            _ => word.split(|c: char| c.is_ascii_digit() || ",.".contains(c)).collect(),
        }
    };
    line.split_whitespace().map(word).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Compares a line; a shown line that ends with `...` is only a prefix.
fn is_shown_as(line: &str, shown: &str) -> bool {
    match shown.strip_suffix("...") {
        Some(beginning) => line.starts_with(beginning),
        None => normalized(line) == normalized(shown),
    }
}

/// Compares lines; a shown line `...` matches any number of lines.
fn is_output(mut lines: &[&str], shown: &[String]) -> bool {
    let mut shown = shown.iter().peekable();
    while let Some(expected) = shown.next() {
        if expected == "..." {
            let Some(next) = shown.peek() else { return true };
            let rest = lines.iter().position(|line| is_shown_as(line, next));
            lines = lines.get(rest.unwrap_or(lines.len())..).unwrap_or_default();
        } else if let Some((first, rest)) = lines.split_first()
            && is_shown_as(first, expected)
        {
            lines = rest;
        } else {
            return false;
        }
    }
    lines.is_empty()
}

fn check(document: &str, count_min: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(document)).unwrap();
    let commands = commands(&text);
    assert!(commands.len() >= count_min, "{document} shows {} commands", commands.len());
    let sandbox = Sandbox::new();
    sandbox.run(&["-q", "demo", "d"]).ok();
    for Shown { command, output } in commands {
        // Without the feature the program cannot run it.
        if !cfg!(feature = "rocksdb") && command.to_lowercase().contains("rocksdb") {
            continue;
        }
        let run = sandbox.run(&command.split(' ').collect::<Vec<_>>());
        let printed = format!("{}{}", run.text(), run.err);
        let lines: Vec<&str> = printed.lines().collect();
        let expected = output.join("\n");
        assert!(
            is_output(&lines, &output),
            "{document} shows for `hyworld {command}`:\n{expected}\nbut it prints:\n{printed}"
        );
    }
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    check("README.md", 8);
}

#[test]
fn the_tour_shows_what_the_program_prints() {
    check("docs/tour.md", 24);
}

#[test]
fn outputs_are_compared_line_by_line() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(is_output(&["a 1", "b", "c"], &shown("a 23\n...\nc")));
    assert!(is_output(&["a", "took 3.5 ms"], &shown("a\ntook 1.2 s")));
    assert!(is_output(&["abcdef"], &shown("abc...")));
    for wrong in ["a\nb", "a", "a\nb\nc\nd", "a\n...\nd", "..."] {
        let all = wrong == "...";
        assert_eq!(is_output(&["a", "b", "c"], &shown(wrong)), all, "{wrong}");
    }
}
