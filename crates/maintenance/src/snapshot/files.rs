//! Folders and files that are copied as a whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hyworld_coords::RegionPos;
use hyworld_files::{FileError, open_regular};
use hyworld_world::LOCK_FILE;
use sha2::{Digest, Sha256};

use super::SnapshotError;
use super::stamp::Stamp;
use crate::finding::{Class, Finding};

/// The maximum depth of folders.
const DEPTH_MAX: usize = 32;

/// The size of the copy buffer.
const BUFFER_BYTES: usize = 256 << 10;

/// The file by which a database is recognised.
const DATABASE_FILE: &str = "CURRENT";
/// The folder of a world's database.
const DATABASE_FOLDER: &str = "db";

/// The folders and files of a source, as sorted relative paths.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) folders: Vec<PathBuf>,
    pub(super) regions: Vec<PathBuf>,
    pub(super) files: Vec<PathBuf>,
}

impl Tree {
    /// Lists a folder with all subfolders. Leaves out the lock and the unfinished copies of
    /// hyworld.
    pub(super) fn list(root: &Path) -> Result<Self, SnapshotError> {
        let mut tree = Self::default();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            if folder.components().count() > DEPTH_MAX {
                return Err(SnapshotError::TooDeep { path: folder, max: DEPTH_MAX });
            }
            let path = root.join(&folder);
            let failed = || FileError::at(&path, "list");
            for entry in fs::read_dir(&path).map_err(failed())? {
                let entry = entry.map_err(failed())?;
                let name = entry.file_name();
                let relative = folder.join(&name);
                // The file was removed after it was listed.
                let Ok(kind) = entry.file_type() else { continue };
                match name.to_str() {
                    Some(name) if is_left_out(name) => {}
                    _ if kind.is_dir() => {
                        check_database(root, &relative)?;
                        folders.push(relative);
                    }
                    _ if !kind.is_file() => {
                        return Err(SnapshotError::NotAFile { path: entry.path() });
                    }
                    Some(name) if RegionPos::from_file_name(name).is_some() => {
                        tree.regions.push(relative);
                    }
                    _ => tree.files.push(relative),
                }
            }
            if !folder.as_os_str().is_empty() {
                tree.folders.push(folder);
            }
        }
        tree.folders.sort();
        tree.regions.sort();
        tree.files.sort();
        Ok(tree)
    }

    pub(super) fn create_folders(&self, target: &Path) -> Result<(), FileError> {
        for folder in &self.folders {
            let path = target.join(folder);
            fs::create_dir_all(&path).map_err(FileError::at(&path, "create"))?;
        }
        Ok(())
    }
}

fn is_left_out(name: &str) -> bool {
    name == LOCK_FILE || name.contains(".hyworld-partial")
}

fn check_database(root: &Path, folder: &Path) -> Result<(), SnapshotError> {
    let path = root.join(folder);
    let is_database = folder.ends_with(DATABASE_FOLDER) && path.join(DATABASE_FILE).is_file();
    if is_database { Err(SnapshotError::Database { path }) } else { Ok(()) }
}

/// A file that was copied as a whole.
#[derive(Default)]
pub(super) struct FileCopy {
    /// The size of the copy.
    pub(super) bytes: u64,
    sha256: [u8; 32],
    /// The stamp before it was copied; `None` if a later change might not show in the stamp.
    stamp: Option<Stamp>,
    is_copied: bool,
}

impl FileCopy {
    /// Copies the file if it is new or changed. Returns whether it did.
    pub(super) fn update(&mut self, from: &Path, to: &Path) -> Result<bool, FileError> {
        let (stamp, is_reliable) = match Stamp::of(from) {
            Ok(found) => found,
            // It was removed after it was listed. The next pass removes the copy.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(FileError::at(from, "inspect")(error)),
        };
        if self.stamp == Some(stamp) {
            return Ok(false);
        }
        let (bytes, sha256) = match copy(from, to, stamp) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !from.exists() => {
                return Ok(true);
            }
            copied => copied.map_err(FileError::at(from, "copy"))?,
        };
        let is_changed = !self.is_copied || self.sha256 != sha256;
        let stamp = is_reliable.then_some(stamp);
        *self = Self { bytes, sha256, stamp, is_copied: true };
        Ok(is_changed)
    }

    /// Compares the copy with what was read. Returns a finding if it differs.
    pub(super) fn verify(&self, path: &Path) -> Result<Option<Finding>, FileError> {
        if !self.is_copied {
            return Ok(None);
        }
        let file = open_regular(path).map_err(FileError::at(path, "open"))?;
        let found = transfer(file, io::sink()).map_err(FileError::at(path, "read"))?;
        let is_same = found == (self.bytes, self.sha256);
        let message = "the copy differs from what was written";
        Ok((!is_same).then(|| Finding::new(Class::Verify, message)))
    }
}

/// Copies a file with its time. Returns its size and hash.
fn copy(from: &Path, to: &Path, stamp: Stamp) -> io::Result<(u64, [u8; 32])> {
    let source = open_regular(from)?;
    let mut target = File::create(to)?;
    let found = transfer(source, &mut target)?;
    target.set_modified(stamp.modified())?;
    target.sync_all()?;
    Ok(found)
}

fn transfer(mut from: impl Read, mut to: impl Write) -> io::Result<(u64, [u8; 32])> {
    let (mut bytes, mut hash) = (0_u64, Sha256::new());
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        let read = buffer.get(..count).unwrap_or_default();
        if read.is_empty() {
            return Ok((bytes, hash.finalize().into()));
        }
        hash.update(read);
        to.write_all(read)?;
        bytes = bytes.saturating_add(count as u64);
    }
}
