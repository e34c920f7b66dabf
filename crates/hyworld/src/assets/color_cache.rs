//! Colours in the user's cache folder, so that archives of assets are read only once.
//!
//! A cached table is used while the archives have the same paths, lengths and times. Folders are
//! always read, because a changed file does not change the time of its folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use hyworld_assets::Colors;
use hyworld_files::{read_regular_text, replace};
use hyworld_maintenance::ShortHash;

/// The variable that names another cache folder.
const VARIABLE: &str = "HYWORLD_CACHE";

/// The maximum size of a table. That of the game has about half a megabyte.
const TABLE_BYTES_MAX: u64 = 64 << 20;

/// Returns the file for the colours of some archives; `None` if they cannot be cached.
pub(super) fn file_for(assets: &Path, mods: &[PathBuf]) -> Option<PathBuf> {
    let mut key = String::new();
    for path in std::iter::once(assets).chain(mods.iter().map(PathBuf::as_path)) {
        let metadata = path.metadata().ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let path = path.canonicalize().ok()?;
        let line = format!("{} {} {modified:?}\n", path.display(), metadata.len());
        key.push_str(&line);
    }
    let version = env!("CARGO_PKG_VERSION");
    let hash = ShortHash::of(format!("{version}\n{key}").as_bytes());
    Some(folder()?.join(format!("colours-{hash}.txt")))
}

/// Returns the user's cache folder.
fn folder() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = variable(VARIABLE) {
        return Some(folder.into());
    }
    let home = || variable("HOME").map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        let xdg = variable("XDG_CACHE_HOME").map(PathBuf::from);
        xdg.or_else(|| home().map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("hyworld"))
}

/// Reads a table. Returns `None` if there is none or it is damaged.
pub(super) fn read(file: &Path) -> Option<Colors> {
    let text = read_regular_text(file, TABLE_BYTES_MAX).ok();
    Colors::from_table(&text?)
}

/// Writes a table. It is not an error if the cache cannot be written: the assets are then read
/// again.
pub(super) fn write(file: &Path, colors: &Colors) {
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    let _is_written = folder.is_ok() && replace(file, colors.to_table().as_bytes()).is_ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_archive_has_another_table() {
        let folder = tempfile::tempdir().unwrap();
        let (zip, other) = (folder.path().join("a.zip"), folder.path().join("b.zip"));
        hyworld_testkit::write_file(&zip, b"1");
        hyworld_testkit::write_file(&other, b"1");
        let first = file_for(&zip, &[]).unwrap();
        assert_eq!(file_for(&zip, &[]), Some(first.clone()));
        assert_ne!(file_for(&zip, std::slice::from_ref(&other)), Some(first.clone()));
        hyworld_testkit::write_file(&zip, b"12");
        assert_ne!(file_for(&zip, &[]), Some(first));
        assert_eq!(file_for(folder.path(), &[]), None, "folders are always read");
        assert_eq!(file_for(&zip, &[folder.path().to_owned()]), None);
    }

    #[test]
    fn damaged_tables_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/colours.txt");
        assert_eq!(read(&file), None);
        write(&file, &Colors::default());
        assert_eq!(read(&file), Some(Colors::default()));
        hyworld_testkit::write_file(&file, b"\xff");
        assert_eq!(read(&file), None);
    }
}
