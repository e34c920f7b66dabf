//! [`Changes`]: replaces files and chunks after their old bytes are durable in a bundle.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Component, Path, PathBuf, absolute};

use hyworld_coords::ChunkPos;
use hyworld_files::{FileError, follow_link, remove_if_present, rename, sync_parent, with_suffix};
use hyworld_providers::ChunkStorage;
use serde::{Deserialize, Serialize};

use super::bundle::BundleHeader;
use super::delta::{Digested, compare, hex};
use super::record::{self, Kind, MAGIC, described};
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
    /// The path below the root, with `/` as separator.
    pub(super) path: String,
    /// The file before the change; `None` if it did not exist.
    pub(super) old: Option<Digested>,
    /// The file after the change; `None` if it was removed.
    pub(super) new: Option<Digested>,
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
    /// The location of the storage.
    pub(super) storage: String,
    pub(super) x: i32,
    pub(super) z: i32,
    pub(super) old: OldState,
    /// The hash of the new document; `None` if the chunk was removed.
    pub(super) new: Option<String>,
}

/// Replaces files and chunks of a world and records their old bytes in an undo bundle.
///
/// The bundle is created by the first change. A change is made after its record is durable.
#[derive(Debug)]
pub struct Changes {
    root: PathBuf,
    path: PathBuf,
    header: BundleHeader,
    writer: Option<Writer>,
}

#[derive(Debug)]
struct Writer {
    file: BufWriter<File>,
    number: u64,
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
        Ok(Self { root, path: bundle.to_owned(), header, writer: None })
    }

    /// Replaces `path` by the file `prepared`, which must be complete and durable, under the name
    /// given by [`prepared_path`].
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded, or if renaming fails. The file is
    /// then unchanged.
    pub fn replace_with(&mut self, path: &Path, prepared: &Path) -> Result<()> {
        self.record_file(path, Some(prepared))?;
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
        remove_if_present(path)?;
        Ok(sync_parent(path)?)
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
        for (at, new) in chunks {
            let old = storage.read(*at)?;
            let new = new.map(|new| Digested::of_bytes(new).sha256);
            let (x, z) = (at.x, at.z);
            let state = if old.is_some() { OldState::Stored } else { OldState::Missing };
            let chunk = ChunkRecord { storage: location.to_owned(), x, z, old: state, new };
            let payload = described(&json(&chunk), old.as_deref().unwrap_or_default());
            self.add(Kind::Chunk, &payload)?;
        }
        self.commit()?;
        for (at, new) in chunks {
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
        self.add(Kind::End, &[])?;
        self.commit()?;
        Ok(Some(self.path))
    }

    fn record_file(&mut self, path: &Path, new: Option<&Path>) -> Result<()> {
        let name = self.name_of(path)?;
        let real = if path.exists() { follow_link(path)? } else { path.to_owned() };
        let compared = compare(&real, new, |offset, bytes| {
            self.add(Kind::Range, &[&offset.to_be_bytes(), bytes].concat())
        })?;
        let file = FileRecord { path: name, old: compared.old, new: compared.new };
        self.add(Kind::File, &json(&file))?;
        self.commit()
    }

    /// Returns the path of a file below the root, with `/` as separator.
    fn name_of(&self, path: &Path) -> Result<String> {
        let full = absolute(path).map_err(FileError::at(path, "resolve"))?;
        let outside = || UndoError::Outside { path: full.clone(), root: self.root.clone() };
        let inside = full.strip_prefix(&self.root).map_err(|_| outside())?;
        let parts = inside.components().map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        Ok(parts.collect::<Option<Vec<_>>>().ok_or_else(outside)?.join("/"))
    }

    /// Appends a record to the bundle, which is created with the first one.
    pub(super) fn add(&mut self, kind: Kind, payload: &[u8]) -> Result<()> {
        let failed = |error| FileError::at(&self.path, "write")(error);
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let create = File::options().write(true).create_new(true).open(&self.path);
                let mut file = BufWriter::new(create.map_err(FileError::at(&self.path, "create"))?);
                let header = json(&self.header);
                file.write_all(MAGIC)
                    .and_then(|()| record::write(&mut file, 0, Kind::Header, &header))
                    .map_err(failed)?;
                none.insert(Writer { file, number: 1 })
            }
        };
        record::write(&mut writer.file, writer.number, kind, payload).map_err(failed)?;
        writer.number = writer.number.saturating_add(1);
        Ok(())
    }

    /// Makes the records so far durable.
    fn commit(&mut self) -> Result<()> {
        if let Some(writer) = &mut self.writer {
            let synced = writer.file.flush().and_then(|()| writer.file.get_ref().sync_all());
            synced.map_err(FileError::at(&self.path, "sync"))?;
            sync_parent(&self.path)?;
        }
        Ok(())
    }
}

/// Serializes a description; types of this module cannot fail to serialize.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Returns the hash of the stored bytes of a blob.
pub(super) fn blob_hash(stored: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(stored))
}
