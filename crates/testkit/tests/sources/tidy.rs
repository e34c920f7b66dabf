//! Style rules that no lint checks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{files_under, root};

const LINE_CHARS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 500;

/// The crates that `hyworld` re-exports and that the benchmarks use.
const HYWORLD: &[&str] = &[
    "assets",
    "chunk",
    "chunk-store",
    "coords",
    "documents",
    "files",
    "indexed-storage",
    "maintenance",
    "map",
    "providers",
    "s3",
    "world",
];

/// The hyworld crates that each crate may use. Every crate must be listed.
const DEPENDENCIES: [(&str, &[&str]); 17] = [
    ("assets", &[]),
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
    ("map", &["assets", "chunk", "coords", "files"]),
    ("hyworld", HYWORLD),
    ("bench", HYWORLD),
    ("serve", &["assets", "coords", "hyworld", "maintenance", "map"]),
    (
        "cli",
        &[
            "assets",
            "bench",
            "chunk",
            "chunk-store",
            "coords",
            "indexed-storage",
            "maintenance",
            "map",
            "providers",
            "serve",
            "world",
        ],
    ),
    ("testkit", &[]),
];

fn files(ending: &str) -> BTreeMap<PathBuf, String> {
    let folders = ["crates", "fuzz/fuzz_targets", "docs"].map(|folder| root().join(folder));
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| files_under(folder)).collect();
    found.retain(|path| path.to_string_lossy().ends_with(ending));
    assert!(!found.is_empty(), "no {ending} files");
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn report(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

#[test]
fn sources_are_short_ascii_and_finished() {
    // Split, so that this file does not contain them.
    let markers = ["TO", "FIX", "XX", "HA"].into_iter().zip(["DO", "ME", "X:", "CK:"]);
    let markers: Vec<String> = markers.map(|(a, b)| format!("{a}{b}")).collect();
    let mut findings = Vec::new();
    for (path, text) in files(".rs") {
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            findings.push(format!("{}: {lines} lines", path.display()));
        }
        for (number, line) in (1..).zip(text.lines()) {
            let location = format!("{}:{number}", path.display());
            if line.chars().count() > LINE_CHARS_MAX {
                findings.push(format!("{location}: longer than {LINE_CHARS_MAX}"));
            }
            if !line.is_ascii() {
                findings.push(format!("{location}: not ASCII"));
            }
            if markers.iter().any(|marker| line.contains(marker)) {
                findings.push(format!("{location}: unfinished"));
            }
            let statement = line.trim_start();
            if statement.starts_with("matches!(") && statement.ends_with(");") {
                findings.push(format!("{location}: the result of matches! is not asserted"));
            }
        }
    }
    report(&findings);
}

/// A file without a `mod` declaration is never compiled.
#[test]
fn every_source_file_is_in_the_module_tree() {
    let sources = files(".rs");
    let mut findings = Vec::new();
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
            findings.push(format!("{}: not declared by any module", path.display()));
        }
    }
    report(&findings);
}

#[test]
fn crates_use_only_those_below_them() {
    let mut findings = Vec::new();
    let dependencies_of: BTreeMap<_, _> = DEPENDENCIES.into_iter().collect();
    for (path, text) in files("Cargo.toml") {
        let name = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let Some(allowed) = dependencies_of.get(name.as_str()) else {
            findings.push(format!(
                "{name}: not listed; add it to DEPENDENCIES and to docs/ARCHITECTURE.md"
            ));
            continue;
        };
        let dependencies = text.split("\n[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for line in dependencies.lines().filter_map(|line| line.strip_prefix("hyworld-")) {
            let used = line.split(['.', ' ', '=']).next().unwrap();
            if !allowed.contains(&used) {
                findings.push(format!("{name} must not use {used}; see DEPENDENCIES"));
            }
        }
    }
    report(&findings);
}

/// Every page of docs/format must be mentioned by a source file.
#[test]
fn every_format_page_is_mentioned_by_a_source_file() {
    let sources = files(".rs");
    let mut findings = Vec::new();
    for path in files(".md").keys().filter(|path| path.parent().unwrap().ends_with("format")) {
        let name = format!("docs/format/{}", path.file_name().unwrap().to_string_lossy());
        if !sources.values().any(|text| text.contains(&name)) {
            findings.push(format!("{name}: not mentioned by any source file"));
        }
    }
    report(&findings);
}

/// Where the permit to write a world is taken: by the crate that defines it, for folders that are
/// open for writing, and by the gate of changes. Every other call goes through one of them.
const PERMITS: [&str; 5] = [
    "world/src/gate.rs",
    "world/src/world.rs",
    "world/src/provider_switch.rs",
    "world/src/universe.rs",
    "hyworld/src/change/gate.rs",
];

/// Other ways to change a world, which are gone.
const GONE: [&str; 5] =
    ["is_plan: bool", "struct Subject", "struct WriteGuard", "fn guard(", "open_for_write("];

#[test]
fn the_permit_to_write_is_taken_at_the_gate() {
    let mut findings = Vec::new();
    for (path, text) in files(".rs") {
        let name = path.to_string_lossy().replace('\\', "/");
        let is_source = name.contains("/src/") && !name.contains("/testkit/");
        if !is_source || PERMITS.iter().any(|known| name.ends_with(known)) {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for found in ["WritePermit::of_", ".permit("].iter().chain(&GONE) {
            if code.contains(found) {
                findings.push(format!("{name}: {found}"));
            }
        }
    }
    report(&findings);
}
