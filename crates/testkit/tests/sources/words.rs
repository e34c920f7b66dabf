//! Reports phrases that had to be read twice, so that they do not come into the sources again.
//! CONTRIBUTING.md has the rules and the glossary. A word fails no test: the report is for review.

use std::fs;
use std::path::PathBuf;

use crate::{files_under, root};

/// Words that hide who does something, and phrases that readers stumbled over. Compared in lower
/// case, as whole words.
const RIDDLES: [&str; 24] = [
    "nobody",
    "somebody",
    "anybody",
    "whoever",
    "of ours",
    "that which",
    "goes on",
    "go on",
    "comes back",
    "gives up",
    "compressed anew",
    "made anew",
    "entity that lives off the list",
    "what is not counted but looked up",
    "the chunk that a key is of",
    "which that is",
    "says how far it has got",
    "not as they must be",
    "other content",
    "blob index",
    "all the same",
    "give back",
    "gives back",
    "given back",
];

/// Names that the glossary replaced. Compared in lower case, anywhere in a line.
const OLD_NAMES: [&str; 17] = [
    "blobindex",
    "blob_index",
    "is_empty_key",
    "baseplace",
    "storageplace",
    "containerplace",
    "unreferenced",
    "contentlonger",
    "contentshorter",
    "content-longer",
    "content-shorter",
    "seal_content",
    "starts_content",
    "mod content;",
    "problems()",
    "\"problems\"",
    "\"problem\"",
];

/// Variables, fields and functions with one of these names, such as `content: &[u8]`, hide whether
/// they hold a document, a blob or the bytes of a file, or where something is.
const VAGUE_NAMES: [&str; 2] = ["content", "place"];

/// Returns whether `phrase` stands in `line` between characters that are not part of a word.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + phrase.len()..]);
        !is_word(before.chars().next_back()) && !is_word(after.chars().next())
    })
}

/// Returns whether a line declares a variable, a field, a parameter or a function with this name.
fn declares(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let declared = [
        format!("let {name} ="),
        format!("let mut {name} ="),
        format!("fn {name}("),
        format!("{name}: "),
        format!("|{name}|"),
    ];
    declared.iter().any(|text| {
        code.match_indices(text.as_str()).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "_\"".contains(c))
        })
    })
}

/// Returns the lines with one of the phrases, with file and number. In sources only comments and
/// texts count: names join words with underscores.
fn lines_with(paths: &[PathBuf], phrases: &[&str]) -> Vec<String> {
    lines_where(paths, phrases, has_phrase)
}

/// Returns the lines for which `matches` is true, in lower case, for one of the phrases.
fn lines_where(
    paths: &[PathBuf],
    phrases: &[&str],
    matches: impl Fn(&str, &str) -> bool,
) -> Vec<String> {
    let mut found = Vec::new();
    for path in paths {
        // Pictures are not text.
        if path.extension().is_some_and(|ending| ending == "png") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            for phrase in phrases.iter().filter(|phrase| matches(&lower, phrase)) {
                let number = number + 1;
                found.push(format!("{}:{number}: \"{phrase}\": {}", path.display(), line.trim()));
            }
        }
    }
    found
}

fn sources() -> Vec<PathBuf> {
    let members = fs::read_dir(root().join("crates")).unwrap();
    members.flat_map(|member| files_under(&member.unwrap().path().join("src"))).collect()
}

fn documents() -> Vec<PathBuf> {
    let mut found = files_under(&root().join("docs"));
    found.extend(["README.md", "CHANGELOG.md", "SECURITY.md"].map(|name| root().join(name)));
    found
}

/// Prints the lines for a reviewer: `cargo nextest run -p hyworld-testkit words --no-capture`.
#[expect(clippy::print_stdout, reason = "a report")]
fn show(found: &[String]) {
    if !found.is_empty() {
        println!("REPORT: {} lines to read again:\n{}", found.len(), found.join("\n"));
    }
}

#[test]
fn sources_and_documents_have_no_riddles() {
    let found = lines_with(&[sources(), documents()].concat(), &RIDDLES);
    show(&found);
}

#[test]
fn old_names_are_gone() {
    let mut paths = sources();
    paths.extend(files_under(&root().join("fuzz/src")));
    paths.extend(files_under(&root().join("fuzz/fuzz_targets")));
    paths.extend(files_under(&root().join("docs")));
    let found = lines_where(&paths, &OLD_NAMES, |line, name| line.contains(name));
    show(&found);
}

#[test]
fn names_say_what_they_hold() {
    let found = lines_where(&sources(), &VAGUE_NAMES, declares);
    show(&found);
}

#[test]
fn phrases_are_found_as_whole_words() {
    assert!(has_phrase("the loop goes on.", "goes on") && !has_phrase("goes once", "goes on"));
    assert!(declares("    content: &[u8],", "content") && declares("let place = 1;", "place"));
    assert!(!declares("frame_content: u8", "content") && !declares("// place: x", "place"));
    assert!(!has_phrase("fn goes_on()", "on") && !has_phrase("a list of hours", "of ours"));
}
