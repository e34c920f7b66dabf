//! [`FolderSink`]: tiles as files of a folder, for static web servers and `file://`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hyworld_files::{FileError, remove_if_present, with_suffix};

use super::Sink;
use crate::error::MapError;
use crate::pyramid::TilePos;

/// The prefix of files that are not complete.
const PARTIAL_PREFIX: &str = ".hyworld-partial-";

/// The suffix of other files of a map that are not complete.
pub const PARTIAL_SUFFIX: &str = ".hyworld-partial";

/// How often a file is created again if its folder is removed meanwhile.
const ATTEMPTS_MAX: u32 = 100;

/// A folder of tiles: `LAYER/LEVEL/X/Z.ENDING`.
#[derive(Debug)]
pub struct FolderSink {
    folder: PathBuf,
    ending: String,
}

/// The number of the next file that is not complete. All sinks share it, because several of them
/// may write to the same folder.
static NEXT_PARTIAL: AtomicU64 = AtomicU64::new(0);

impl FolderSink {
    /// Creates a sink in a folder, which need not exist.
    pub fn new(folder: &Path, ending: &str) -> Self {
        Self { folder: folder.to_owned(), ending: ending.to_owned() }
    }

    /// Returns the path of a tile.
    pub fn path(&self, layer: &str, at: TilePos) -> PathBuf {
        let TilePos { level, x, z } = at;
        self.folder.join(format!("{layer}/{level}/{x}/{z}.{}", self.ending))
    }
}

impl Sink for FolderSink {
    fn has(&self, layer: &str, at: TilePos, bytes: u64) -> bool {
        fs::metadata(self.path(layer, at)).is_ok_and(|found| found.len() == bytes)
    }

    fn read(&self, layer: &str, at: TilePos) -> Result<Option<Vec<u8>>, MapError> {
        let path = self.path(layer, at);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::at(&path, "read")(error).into()),
        }
    }

    fn write(&self, layer: &str, at: TilePos, bytes: &[u8]) -> Result<(), MapError> {
        let number = NEXT_PARTIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PARTIAL_PREFIX}{}-{number}", std::process::id());
        write_with(&self.path(layer, at), &self.folder.join(name), bytes)
    }

    fn remove(&self, layer: &str, at: TilePos) -> Result<(), MapError> {
        let path = self.path(layer, at);
        remove_if_present(&path)?;
        // Fails if other tiles are in the folder, which then stays.
        let _is_removed = path.parent().is_some_and(|folder| fs::remove_dir(folder).is_ok());
        Ok(())
    }
}

/// Replaces a file of a map completely or not at all, unless the power fails: it is not synced. The
/// next run finds files of the wrong length and writes them again.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write_map_file(path: &Path, bytes: &[u8]) -> Result<(), MapError> {
    write_with(path, &with_suffix(path, PARTIAL_SUFFIX), bytes)
}

#[expect(clippy::disallowed_methods, reason = "the file is renamed, and can be drawn again")]
fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

/// Writes a file under another name first. Creates missing folders.
fn write_with(path: &Path, partial: &Path, bytes: &[u8]) -> Result<(), MapError> {
    let written = in_folder(partial, || write_unsynced(partial, bytes));
    written.map_err(FileError::at(partial, "write"))?;
    let renamed = in_folder(path, || fs::rename(partial, path));
    Ok(renamed.map_err(FileError::at(path, "replace"))?)
}

/// Creates a file, and its folder if it is missing. Tries again if another thread removes the
/// folder meanwhile, because it removes the last tile in it.
fn in_folder(path: &Path, create: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let mut result = create();
    for _ in 0..ATTEMPTS_MAX {
        let error = result.as_ref().err().map(io::Error::kind);
        if !matches!(error, Some(ErrorKind::NotFound | ErrorKind::AlreadyExists)) {
            break;
        }
        result = fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| create());
    }
    result
}

impl FolderSink {
    /// Removes files that a killed process left.
    ///
    /// # Errors
    /// Returns an error if a file cannot be removed.
    pub fn remove_partial_files(&self) -> Result<(), MapError> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Ok(()) };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(PARTIAL_PREFIX) {
                let path = entry.path();
                fs::remove_file(&path).map_err(FileError::at(&path, "remove"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_files() {
        let folder = tempfile::tempdir().unwrap();
        let sink = FolderSink::new(&folder.path().join("world"), "webp");
        let at = TilePos::new(2, -3, 4);
        assert_eq!(sink.read("surface", at).unwrap(), None);
        sink.remove("surface", at).unwrap();
        sink.write("surface", at, b"one").unwrap();
        sink.write("surface", at, b"three").unwrap();
        assert!(folder.path().join("world/surface/2/-3/4.webp").is_file());
        assert_eq!(sink.read("surface", at).unwrap().unwrap(), b"three");
        assert!(sink.has("surface", at, 5) && !sink.has("surface", at, 3));
        hyworld_testkit::write_file(&folder.path().join("world/.hyworld-partial-1-2"), b"");
        sink.remove_partial_files().unwrap();
        sink.remove("surface", at).unwrap();
        assert!(!folder.path().join("world/surface/2/-3").exists());
        assert_eq!(fs::read_dir(folder.path().join("world")).unwrap().count(), 1);
    }

    /// Removing the last tile of a folder removes the folder too.
    #[test]
    fn a_tile_is_written_while_another_one_of_its_folder_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let sink = FolderSink::new(folder.path(), "webp");
        std::thread::scope(|scope| {
            for z in 0..2 {
                let (sink, at) = (&sink, TilePos::new(0, 0, z));
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        sink.write("surface", at, b"tile").unwrap();
                        assert!(sink.has("surface", at, 4));
                        sink.remove("surface", at).unwrap();
                    }
                });
            }
        });
        assert!(!folder.path().join("surface/0/0").exists());
    }

    #[test]
    fn two_sinks_of_one_folder_do_not_mix_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let sinks = ["webp", "js"].map(|ending| FolderSink::new(folder.path(), ending));
        std::thread::scope(|scope| {
            for sink in &sinks {
                let at = |number| TilePos::new(0, number, 0);
                let write = move |number| {
                    sink.write("info", at(number), sink.ending.as_bytes()).unwrap();
                };
                scope.spawn(move || (0..2_000).for_each(write));
            }
        });
        for (sink, number) in sinks.iter().flat_map(|sink| (0..2_000).map(move |i| (sink, i))) {
            let found = sink.read("info", TilePos::new(0, number, 0)).unwrap();
            assert_eq!(found.unwrap(), sink.ending.as_bytes());
        }
    }
}
