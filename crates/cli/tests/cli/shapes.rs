//! `docs/json.md` and the man pages contain the shape of each command's JSON output.
//!
//! `HYWORLD_WRITE_DOCS=1 cargo nextest run -p hyworld-cli shapes` updates the shapes.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod samples;
mod shape;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::Sandbox;
use shape::Shape;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md")
}

/// Returns the blocks of a command: one for each documented shape, with a line for each value of
/// `type`.
fn blocks(samples: &[Vec<Value>]) -> Vec<String> {
    let block = |values: &Vec<Value>| {
        let mut kinds: Vec<(&Value, Vec<Value>)> = Vec::new();
        for value in values {
            let kind = value.get("type").unwrap_or(&Value::Null);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, values)) => values.push(value.clone()),
                None => kinds.push((kind, vec![value.clone()])),
            }
        }
        let lines = kinds.iter().map(|(kind, values)| {
            let lines = Shape::of(values).lines();
            match kind.as_str() {
                Some(kind) => lines.replacen("\"type\": text", &format!("\"type\": \"{kind}\""), 1),
                None => lines,
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    samples.iter().map(block).collect()
}

/// Returns the section of a command with its blocks replaced.
fn filled(section: &str, blocks: &[String]) -> String {
    let mut parts = section.split("```");
    let mut filled = parts.next().unwrap().to_owned();
    for block in blocks {
        assert!(parts.next().is_some(), "a block is missing in: {section}");
        filled.extend(["```\n", block, "\n```", parts.next().unwrap()]);
    }
    assert!(parts.next().is_none(), "too many blocks in: {section}");
    filled
}

#[test]
fn documented_shapes_match_the_output() {
    let text = fs::read_to_string(page()).unwrap();
    let samples = samples::all();
    let mut written = text.split("\n## ").next().unwrap().to_owned();
    let mut verbs = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let verb = section.lines().next().unwrap();
        let samples = samples.iter().find(|(name, _)| *name == verb);
        let (verb, samples) = samples.unwrap_or_else(|| unreachable!("no sample of {verb:?}"));
        verbs.push(*verb);
        written.push_str("\n## ");
        written.push_str(&filled(section, &blocks(samples)));
    }
    let all: Vec<_> = samples.iter().map(|(verb, _)| *verb).collect();
    assert_eq!(verbs, all);
    if std::env::var_os("HYWORLD_WRITE_DOCS").is_some() {
        hyworld_testkit::write_file(&page(), written.as_bytes());
    } else {
        assert_eq!(text, written, "see the head of crates/cli/tests/cli/shapes.rs");
    }
}

#[test]
fn man_pages_have_the_shapes_and_the_help_refers_to_them() {
    let (sandbox, text) = (Sandbox::new(), fs::read_to_string(page()).unwrap());
    sandbox.run(&["man", "pages"]).ends(0);
    for section in text.split("\n## ").skip(1) {
        let verb = section.lines().next().unwrap();
        let words: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = sandbox.run(&words).ok();
        assert!(help.contains("`hyworld man DIR`"), "{verb}: {help}");
        let page = format!("pages/hyworld-{}.1", verb.replace(' ', "-"));
        let page = fs::read_to_string(sandbox.path(&page)).unwrap().replace('\\', "");
        for line in section.split("```").skip(1).step_by(2).flat_map(str::lines) {
            assert!(page.contains(line), "{verb}: {line}\n{page}");
            assert!(line.len() < 20 || !help.contains(line), "{verb}: {line}\n{help}");
        }
    }
}
