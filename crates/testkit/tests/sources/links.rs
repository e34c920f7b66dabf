//! Every relative link in the documentation points at a file, and its anchor at a heading.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// Returns the Markdown files of a folder; of crates only their READMEs.
fn documents() -> Vec<PathBuf> {
    let mut folders = vec![root(), root().join("docs"), root().join("docs/format")];
    folders.extend(fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = files.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the text outside of fenced blocks.
fn prose(text: &str) -> String {
    text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n")
}

/// Returns the targets of links: `[text](target)`.
fn links(text: &str) -> Vec<&str> {
    let parts = text.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')').map(|(target, _)| target)).collect()
}

/// Returns the anchors of a document, as GitHub and mdBook form them from headings.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let slug = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(slug).collect()
}

/// Returns why a link of a document is broken, if it is.
fn broken(document: &Path, target: &str) -> Option<String> {
    let is_checked = !target.contains("://") && !target.starts_with("../../actions/");
    if !is_checked || target.is_empty() {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { document.into() } else { document.with_file_name(file) };
    let name = document.display();
    if !path.exists() {
        return Some(format!("{name}: {target}: no such file"));
    }
    let has_anchor = || anchors(&fs::read_to_string(&path).unwrap()).iter().any(|a| a == anchor);
    (!anchor.is_empty() && !has_anchor()).then(|| format!("{name}: {target}: no such heading"))
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut count = 0;
    let mut found = Vec::new();
    for document in documents() {
        let text = prose(&fs::read_to_string(&document).unwrap());
        let targets = links(&text);
        count += targets.len();
        found.extend(targets.into_iter().filter_map(|target| broken(&document, target)));
    }
    assert!(count > 100, "only {count} links were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn broken_links_are_noticed() {
    let readme = root().join("README.md");
    assert_eq!(broken(&readme, "docs/cli.md#info"), None);
    assert!(broken(&readme, "docs/none.md").is_some());
    assert!(broken(&readme, "docs/cli.md#no-such-verb").is_some());
    assert_eq!(anchors("# A b\n## `c-d`: e?"), ["a-b", "c-d-e"]);
    assert_eq!(links("[a](b.md) and [c](d#e)"), ["b.md", "d#e"]);
}
