//! Checks of the repository itself: style, words and links.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod links;
mod tidy;
mod words;

use std::path::{Path, PathBuf};

/// Returns the folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns all files in a folder and its subfolders, except build outputs and hidden folders.
fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !path.is_dir() {
            found.push(path);
        } else if name != "target" && !name.starts_with('.') {
            found.extend(files_under(&path));
        }
    }
    found
}
