//! Style that no lint checks, as a test: what it finds is a failure like any other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LINE_CHARS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 500;

/// What the facade re-exports and the benchmarks measure.
const HYWORLD: &[&str] = &[
    "chunk",
    "chunk-store",
    "coords",
    "documents",
    "files",
    "indexed-storage",
    "maintenance",
    "providers",
    "s3",
    "world",
];

/// Which of our crates a crate may use, from the design. A crate that is not here is not drawn.
const ARROWS: [(&str, &[&str]); 14] = [
    ("chunk", &["coords", "documents"]),
    ("chunk-store", &["chunk", "coords", "providers"]),
    ("coords", &[]),
    ("documents", &[]),
    ("files", &[]),
    ("indexed-storage", &["files"]),
    ("providers", &["coords", "files", "indexed-storage"]),
    ("s3", &["coords", "files", "indexed-storage", "providers"]),
    ("world", &["coords", "documents", "files", "providers"]),
    ("maintenance", &["chunk", "coords", "files", "indexed-storage", "providers", "world"]),
    ("hyworld", HYWORLD),
    ("bench", HYWORLD),
    (
        "cli",
        &[
            "bench",
            "chunk",
            "chunk-store",
            "coords",
            "indexed-storage",
            "maintenance",
            "providers",
            "world",
        ],
    ),
    ("testkit", &[]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn walk(folder: &Path, wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            walk(&path, wanted, found);
        } else if wanted(&path) {
            found.push(path);
        }
    }
}

fn files(ending: &str) -> BTreeMap<PathBuf, String> {
    let mut found = Vec::new();
    let wanted = |path: &Path| path.to_string_lossy().ends_with(ending);
    for folder in ["crates", "fuzz/fuzz_targets", "docs"] {
        walk(&root().join(folder), &wanted, &mut found);
    }
    assert!(!found.is_empty(), "no {ending} files");
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn report(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn sources_are_short_ascii_and_finished() {
    // Spelled so that this file does not find itself.
    let markers = ["TO", "FIX", "XX", "HA"].into_iter().zip(["DO", "ME", "X:", "CK:"]);
    let markers: Vec<String> = markers.map(|(a, b)| format!("{a}{b}")).collect();
    let mut problems = Vec::new();
    for (path, text) in files(".rs") {
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            problems.push(format!("{}: {lines} lines", path.display()));
        }
        for (number, line) in (1..).zip(text.lines()) {
            let place = format!("{}:{number}", path.display());
            if line.chars().count() > LINE_CHARS_MAX {
                problems.push(format!("{place}: longer than {LINE_CHARS_MAX}"));
            }
            if !line.is_ascii() {
                problems.push(format!("{place}: not ASCII"));
            }
            if markers.iter().any(|marker| line.contains(marker)) {
                problems.push(format!("{place}: unfinished"));
            }
            let statement = line.trim_start();
            if statement.starts_with("matches!(") && statement.ends_with(");") {
                problems.push(format!("{place}: a matches! that nothing asserts"));
            }
        }
    }
    report(&problems);
}

/// A file that no `mod` names is never compiled.
#[test]
fn every_source_file_is_in_the_module_tree() {
    let sources = files(".rs");
    let mut problems = Vec::new();
    for path in sources.keys() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_module = path.components().any(|part| part.as_os_str() == "src");
        if !is_module || ["lib", "main"].contains(&stem.as_str()) {
            continue;
        }
        let folder = path.parent().unwrap();
        let parents = [
            folder.with_extension("rs"),
            folder.join("mod.rs"),
            folder.join("lib.rs"),
            folder.join("main.rs"),
        ];
        let declared = parents.iter().filter_map(|parent| sources.get(parent)).any(|text| {
            text.lines().any(|line| line.trim_end().ends_with(&format!("mod {stem};")))
        });
        if !declared {
            problems.push(format!("{}: no module declares it", path.display()));
        }
    }
    report(&problems);
}

/// No arrow between crates that the design does not draw.
#[test]
fn crates_use_only_those_below_them() {
    let mut problems = Vec::new();
    let arrows: BTreeMap<_, _> = ARROWS.into_iter().collect();
    for (path, text) in files("Cargo.toml") {
        let name = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let Some(allowed) = arrows.get(name.as_str()) else {
            problems.push(format!("{name}: not in the design; add it to ARROWS with its row"));
            continue;
        };
        let dependencies = text.split("\n[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for line in dependencies.lines().filter_map(|line| line.strip_prefix("hyworld-")) {
            let used = line.split(['.', ' ', '=']).next().unwrap();
            if !allowed.contains(&used) {
                problems.push(format!("{name} uses {used}, which the design does not draw"));
            }
        }
    }
    report(&problems);
}

/// A format that no source file mentions is described for nobody.
#[test]
fn every_format_page_is_named_by_the_code() {
    let sources = files(".rs");
    let mut problems = Vec::new();
    for path in files(".md").keys().filter(|path| path.parent().unwrap().ends_with("format")) {
        let name = format!("docs/format/{}", path.file_name().unwrap().to_string_lossy());
        if !sources.values().any(|text| text.contains(&name)) {
            problems.push(format!("{name}: no source refers to it"));
        }
    }
    report(&problems);
}
