//! Runs the commands in the README and the book, and compares their output with the text. Commands
//! that are not run must at least name a verb and options that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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

/// Splits a command at spaces outside of single quotes, as a shell does.
fn arguments(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, part) in command.split('\'').enumerate() {
        let is_quoted = index % 2 == 1;
        for (number, word) in part.split(|c| c == ' ' && !is_quoted).enumerate() {
            if number > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(word);
        }
    }
    words.retain(|word| !word.is_empty());
    words
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check(document: &str, count_min: usize) {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let commands = commands(&text);
    assert!(commands.len() >= count_min, "{document} shows {} commands", commands.len());
    let sandbox = Sandbox::new();
    sandbox.run(&["-q", "demo", "d"]).ok();
    for Shown { command, output } in commands {
        // Without the feature the program cannot run it.
        if !cfg!(feature = "rocksdb") && command.to_lowercase().contains("rocksdb") {
            continue;
        }
        let words = arguments(&command);
        let run = sandbox.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
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
fn the_page_about_recovery_shows_what_the_program_prints() {
    check("docs/recover.md", 6);
}

#[test]
fn the_tour_shows_what_the_program_prints() {
    check("docs/tour.md", 24);
}

#[test]
fn the_page_of_the_command_line_shows_what_the_program_prints() {
    check("docs/cli.md", 4);
}

#[test]
fn the_page_of_selections_shows_what_the_program_prints() {
    check("docs/select.md", 5);
}

#[test]
fn the_page_of_maps_shows_what_the_program_prints() {
    check("docs/map.md", 2);
}

/// The README, the pages of the book, and the READMEs of all crates.
fn documents() -> Vec<PathBuf> {
    let list = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let mut found = vec![root().join("README.md")];
    found.extend(list("docs"));
    found.extend(list("docs/format"));
    found.extend(list("crates").into_iter().map(|crate_folder| crate_folder.join("README.md")));
    found.retain(|path| path.extension().is_some_and(|end| end == "md") && path.is_file());
    found
}

/// Returns the commands in fenced lines and code spans, without `hyworld`, comments and pipes.
fn mentioned(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        let spans: Vec<&str> = if is_fenced {
            vec![line.strip_prefix("$ ").unwrap_or(line)]
        } else {
            line.split('`').skip(1).step_by(2).collect()
        };
        for command in spans.into_iter().filter_map(|span| span.strip_prefix("hyworld ")) {
            let end = [" | ", " > ", " # ", " = "].iter().filter_map(|end| command.find(end)).min();
            found.push(command.get(..end.unwrap_or(command.len())).unwrap().to_owned());
        }
    }
    found
}

/// The long options of a verb, from its help, each with its short form if it has one.
type Options = BTreeMap<String, Option<String>>;

fn options(help: &str) -> Options {
    let mut found = Options::new();
    for line in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
        let names = line.split(['<', '[']).next().unwrap_or_default();
        let names: Vec<&str> =
            names.split([' ', ',', '=']).filter(|name| !name.is_empty()).collect();
        // Other lines are sentences that begin with an option.
        if let Some((long, short)) = names.split_last()
            && names.iter().all(|name| name.starts_with('-') && !name.ends_with(':'))
        {
            found.insert((*long).to_owned(), short.first().map(|short| (*short).to_owned()));
        }
    }
    found
}

fn help(sandbox: &Sandbox, verb: &[&str]) -> String {
    sandbox.run(&[verb, &["--help"]].concat()).ok()
}

/// Returns the words of a command that name its verb, such as `region`, `ls`.
fn verb(words: &[String]) -> Vec<&str> {
    let groups = ["bench", "player", "region", "resource", "world"];
    let mut words = words.iter().map(String::as_str).skip_while(|word| word.starts_with('-'));
    let is_verb = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let first: Vec<&str> = words.next().filter(is_verb).into_iter().collect();
    let second = words.next().filter(is_verb).filter(|_| groups.contains(&first.concat().as_str()));
    first.into_iter().chain(second).collect()
}

#[test]
fn all_commands_in_the_documents_have_verbs_and_options_that_exist() {
    let (sandbox, mut count) = (Sandbox::new(), 0);
    for path in documents() {
        for command in mentioned(&fs::read_to_string(&path).unwrap()) {
            let words = arguments(&command);
            let known = options(&help(&sandbox, &verb(&words)));
            let used = words.iter().map(|word| word.trim_matches(['[', ']']));
            for option in used.filter(|word| word.starts_with("--") && *word != "--help") {
                let is_known = known.contains_key(option);
                assert!(is_known, "{}: `hyworld {command}`: no {option}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 150, "only {count} commands were found");
}

/// Returns the verbs that a section of `docs/cli.md` describes.
fn verbs(section: &str) -> Vec<Vec<&str>> {
    let of = |group: &'static str, verbs: &[&'static str]| {
        verbs.iter().map(|verb| vec![group, *verb]).collect()
    };
    match section {
        "Common to all verbs" => Vec::new(),
        "seal and unseal" => vec![vec!["seal"], vec!["unseal"]],
        "Completions and man pages" => vec![vec!["completions"], vec!["man"]],
        "player" => of("player", &["list", "show", "export", "import", "remove"]),
        "resource" => of("resource", &["list", "show"]),
        verb => vec![verb.split(' ').collect()],
    }
}

#[test]
fn the_page_of_the_command_line_has_every_option_of_every_verb() {
    let (sandbox, page) = (Sandbox::new(), fs::read_to_string(root().join("docs/cli.md")).unwrap());
    let common = options(&help(&sandbox, &[]));
    let mut described = BTreeSet::new();
    for section in page.split("\n## ").skip(1) {
        let (name, text) = section.split_once('\n').unwrap();
        let mut known = Options::new();
        for verb in verbs(name) {
            known.extend(options(&help(&sandbox, &verb)));
            described.insert(verb[0].to_owned());
        }
        known.retain(|option, _| !common.contains_key(option));
        for (option, short) in &known {
            let is_shown = |form: &str| {
                text.contains(&format!("{form} ")) || text.contains(&format!("{form}`"))
            };
            let is_described = is_shown(option) || short.as_deref().is_some_and(is_shown);
            assert!(is_described, "docs/cli.md: {name}: {option} is missing");
        }
        let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
        let words = cells.flat_map(|cell| cell.split(['`', ' ', ',', '[', ']']));
        for word in words.filter(|word| word.starts_with("--")) {
            let exists = known.contains_key(word) || common.contains_key(word);
            assert!(exists, "docs/cli.md: {name}: there is no {word}");
        }
    }
    let screen = help(&sandbox, &[]);
    let verbs = screen.lines().filter_map(|line| line.strip_prefix("  ")?.split("  ").next());
    let is_verb = |verb: &&str| verb.chars().all(|c| c.is_ascii_lowercase()) && *verb != "help";
    let missing: Vec<&str> = verbs
        .filter(is_verb)
        .filter(|verb| !verb.is_empty() && !described.contains(*verb))
        .collect();
    assert!(missing.is_empty(), "docs/cli.md does not describe {missing:?}");
}

#[test]
fn commands_are_split_like_in_a_shell() {
    assert_eq!(arguments("find d --item '*a b*'  x"), ["find", "d", "--item", "*a b*", "x"]);
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
