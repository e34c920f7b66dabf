//! [`Changes`]: replaces files and chunks after their old bytes are durable in a bundle.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf, absolute};

use hyworld_coords::ChunkPos;
use hyworld_files::{FileError, follow_link, remove_if_present, rename, sync_parent, with_suffix};
use hyworld_providers::ChunkStorage;
use serde::{Deserialize, Serialize};

use super::crash::point;
use super::delta::{Digested, compare, hex};
use super::header::BundleHeader;
use super::path_text::text_of_relative;
use super::record::{Kind, described};
use super::region::OldBlobs;
use super::writer::{Writer, json};
use super::{Result, UndoError};

/// The suffix of a new file until it replaces the old one.
const PREPARED_SUFFIX: &str = ".hyworld.tmp";

/// Returns the name under which the new version of a file is prepared: in the same folder, so that
/// it can be renamed. For a symbolic link, the folder of its target.
///
/// # Errors
/// Returns an error if the link is broken.
pub fn prepared_path(path: &Path) -> Result<PathBuf> {
    Ok(with_suffix(&follow_link(path)?, PREPARED_SUFFIX))
}

/// The last record of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileRecord {
    /// The number of the file in the bundle.
    pub(super) file: u32,
    /// The path below the root, as text with `/` as separator.
    pub(super) path: String,
    /// The file before the change; `None` if it did not exist.
    pub(super) old: Option<Digested>,
    /// The file after the change; `None` if it was removed.
    pub(super) new: Option<Digested>,
    /// The number of range records.
    pub(super) ranges: u64,
    /// The number of blob records.
    pub(super) blobs: u64,
}

/// The old state of a slot or chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OldState {
    /// Its bytes follow.
    Stored,
    /// It was not stored.
    Missing,
    /// It could not be read.
    Damaged,
}

/// The description of the old document of a chunk.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChunkRecord {
    /// The name of the storage.
    pub(super) storage: String,
    pub(super) x: i32,
    pub(super) z: i32,
    pub(super) old: OldState,
    /// The hash of the new document; `None` if the chunk was removed.
    pub(super) new: Option<String>,
}

/// The last record of a bundle.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EndRecord {
    /// Files that have a record.
    pub(super) files: u64,
    /// Chunks that have a record.
    pub(super) chunks: u64,
    /// Whether the verb was finished; `false` if it failed.
    #[serde(rename = "finished")]
    pub(super) is_finished: bool,
}

/// Replaces files and chunks of a world and records their old bytes in an undo bundle.
///
/// The bundle is created by the first change. A change is made after its records are durable and
/// were read back. Dropping this value ends the bundle of a verb that failed.
#[derive(Debug)]
pub struct Changes {
    root: PathBuf,
    path: PathBuf,
    header: BundleHeader,
    writer: Option<Writer>,
    /// The number of the next file.
    next_file: u32,
    /// What is recorded so far.
    recorded: EndRecord,
    /// Whether old bytes are recorded.
    is_recording: bool,
}

impl Changes {
    /// Prepares changes of files below the folder `root`. `bundle` must not exist; see
    /// [`bundle_path`](super::bundle_path).
    ///
    /// # Errors
    /// Returns an error if the current folder cannot be determined.
    pub fn begin(root: &Path, bundle: &Path, verb: &str, time_ms: u64) -> Result<Self> {
        let root = absolute(root).map_err(FileError::at(root, "resolve"))?;
        let header = BundleHeader::new(verb, &root, time_ms);
        let (path, recorded) = (bundle.to_owned(), EndRecord::default());
        Ok(Self { root, path, header, writer: None, next_file: 0, recorded, is_recording: true })
    }

    /// Records the UUIDs of the worlds in the folder. An undo compares them.
    #[must_use]
    pub fn of_worlds(mut self, uuids: Vec<String>) -> Self {
        self.header.worlds = uuids;
        self
    }

    /// Records that the world is not in a folder: the URL of its object store.
    #[must_use]
    pub fn of_storage(mut self, url: String) -> Self {
        self.header.storage = Some(url);
        self
    }

    /// Records nothing: the changes cannot be undone.
    #[must_use]
    pub fn without_undo(mut self) -> Self {
        self.is_recording = false;
        self
    }

    /// Returns the path of the bundle.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether something was recorded: the bundle exists.
    pub fn is_begun(&self) -> bool {
        self.writer.is_some()
    }

    /// Returns whether old bytes are recorded.
    pub(super) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Replaces `path` by the file `prepared`, which must be complete and durable, under the name
    /// given by [`prepared_path`].
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded, or if renaming fails. The file is
    /// then unchanged.
    pub fn replace_with(&mut self, path: &Path, prepared: &Path) -> Result<()> {
        self.record_file(path, Some(prepared))?;
        point().map_err(FileError::at(path, "replace"))?;
        rename(prepared, &follow_link(path)?)?;
        Ok(sync_parent(path)?)
    }

    /// Replaces the contents of a file, or creates it.
    ///
    /// # Errors
    /// As for [`replace_with`](Self::replace_with).
    pub fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let prepared = prepared_path(path)?;
        let mut file = File::create(&prepared).map_err(FileError::at(&prepared, "create"))?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        written.map_err(FileError::at(&prepared, "write"))?;
        drop(file);
        self.replace_with(path, &prepared)
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded, or if the file cannot be removed.
    pub fn remove(&mut self, path: &Path) -> Result<()> {
        self.record_file(path, None)?;
        point().map_err(FileError::at(path, "remove"))?;
        remove_if_present(path)?;
        Ok(sync_parent(path)?)
    }

    /// Renames a file. A file with the new name is replaced.
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded, or if renaming fails.
    pub fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        self.record_file(to, Some(from))?;
        self.record_file(from, None)?;
        point().map_err(FileError::at(from, "rename"))?;
        rename(from, to)?;
        Ok(sync_parent(to)?)
    }

    /// Writes or removes chunks of a storage that is not region files. `location` is the name under
    /// which the storage can be opened again.
    ///
    /// # Errors
    /// Returns an error if an old document cannot be read or recorded, or if a chunk cannot be
    /// written. Each chunk is then old or new.
    pub fn write_chunks(
        &mut self,
        storage: &dyn ChunkStorage,
        location: &str,
        chunks: &[(ChunkPos, Option<&[u8]>)],
    ) -> Result<()> {
        let recorded = if self.is_recording { chunks } else { &[] };
        for (at, new) in recorded {
            let old = storage.read(*at)?;
            let new = new.map(|new| Digested::of_bytes(new).sha256);
            let (x, z) = (at.x, at.z);
            let state = if old.is_some() { OldState::Stored } else { OldState::Missing };
            let chunk = ChunkRecord { storage: location.to_owned(), x, z, old: state, new };
            let payload = described(&json(&chunk)?, old.as_deref().unwrap_or_default());
            self.add(Kind::Chunk, &payload)?;
            self.recorded.chunks = self.recorded.chunks.saturating_add(1);
        }
        self.commit()?;
        for (at, new) in chunks {
            point().map_err(FileError::at(&self.path, "write chunks after"))?;
            match new {
                Some(document) => storage.write(*at, document)?,
                None => drop(storage.remove(*at)?),
            }
        }
        Ok(())
    }

    /// Completes the bundle. Returns its path; `None` if nothing was changed.
    ///
    /// # Errors
    /// Returns an error if the last record cannot be written. All changes were made.
    pub fn finish(mut self) -> Result<Option<PathBuf>> {
        if self.writer.is_none() {
            return Ok(None);
        }
        self.recorded.is_finished = true;
        let ended = self.end();
        // A failed end is not tried again when this value is dropped.
        self.writer = None;
        ended.map(|()| Some(self.path.clone()))
    }

    fn end(&mut self) -> Result<()> {
        let end = json(&self.recorded)?;
        self.add(Kind::End, &end)?;
        self.commit()
    }

    fn record_file(&mut self, path: &Path, new: Option<&Path>) -> Result<()> {
        if !self.is_recording {
            return Ok(());
        }
        let name = self.name_of(path)?;
        let file = self.take_file_number();
        let real = if path.exists() { follow_link(path)? } else { path.to_owned() };
        let mut spans = Vec::new();
        let compared = compare(&real, new, |offset, bytes| {
            spans.push((offset, bytes.len() as u64));
            self.add_range(file, offset, bytes)
        })?;
        let blobs = OldBlobs { file, name: &name, spans: &spans };
        let blobs = self.record_blobs(&blobs, &real, new)?;
        let ranges = spans.len() as u64;
        let (old, new) = (compared.old, compared.new);
        let record = FileRecord { file, path: name, old, new, ranges, blobs };
        self.add_file(Kind::File, &json(&record)?)?;
        self.commit()
    }

    /// Returns the number of the next file.
    pub(super) fn take_file_number(&mut self) -> u32 {
        let file = self.next_file;
        self.next_file = file.saturating_add(1);
        file
    }

    /// Records old bytes of a file.
    pub(super) fn add_range(&mut self, file: u32, offset: u64, bytes: &[u8]) -> Result<()> {
        let head = [&file.to_be_bytes()[..], &offset.to_be_bytes()].concat();
        self.add(Kind::Range, &[&head, bytes].concat())
    }

    /// Adds the last record of a file. The file may be changed after [`commit`](Self::commit).
    pub(super) fn add_file(&mut self, kind: Kind, description: &[u8]) -> Result<()> {
        self.add(kind, description)?;
        self.recorded.files = self.recorded.files.saturating_add(1);
        Ok(())
    }

    /// Returns the path of a file below the root, as text.
    pub(super) fn name_of(&self, path: &Path) -> Result<String> {
        let full = absolute(path).map_err(FileError::at(path, "resolve"))?;
        let inside = match full.strip_prefix(&self.root) {
            Ok(inside) => text_of_relative(inside),
            // The path or the root may lead through a link.
            Err(_) => self.real_path_inside(&full).as_deref().and_then(text_of_relative),
        };
        inside.ok_or_else(|| UndoError::Outside { path: full.clone(), root: self.root.clone() })
    }

    fn real_path_inside(&self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent()?.canonicalize().ok()?;
        let root = self.root.canonicalize().ok()?;
        Some(folder.strip_prefix(root).ok()?.join(path.file_name()?))
    }

    /// Appends a record to the bundle, which is created with the first one.
    pub(super) fn add(&mut self, kind: Kind, payload: &[u8]) -> Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::create(&self.path, &self.header)?),
        };
        writer.add(kind, payload)
    }

    /// Makes the records so far durable and reads them back.
    pub(super) fn commit(&mut self) -> Result<()> {
        self.writer.as_mut().map_or(Ok(()), Writer::commit)
    }
}

impl Drop for Changes {
    /// Ends the bundle of a verb that failed: all changes that were made are in it.
    fn drop(&mut self) {
        if self.writer.is_some() {
            // Without its end, the bundle counts as one that was interrupted.
            self.end().unwrap_or_default();
        }
    }
}

/// Returns the hash of the stored bytes of a blob.
pub(super) fn blob_hash(stored: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(stored))
}
