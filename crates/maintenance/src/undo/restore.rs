//! Undoing the changes that a bundle records.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hyworld_coords::ChunkPos;
use hyworld_files::{FileError, follow_link, open_regular, remove_if_present};
use hyworld_providers::ChunkStorage;

use super::bundle::Bundle;
use super::changes::{Changes, ChunkRecord, FileRecord, OldState, prepared_path};
use super::delta::Digested;
use super::entries::{Description, FileEntry, Part};
use super::inside::UndoRoot;
use super::{Result, UndoError};
use crate::finding::{Class, Finding, Findings};
use crate::progress::Progress;

/// The state of a file or chunk whose old version is in a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FileState {
    /// Unchanged after the verb: it can be restored exactly.
    New,
    /// Already equal to the old version: nothing has to be done.
    Old,
    /// A region file that was changed after the verb: its other slots can still be restored one by
    /// one.
    ChangedRegion,
    /// Changed after the verb: it is left unchanged.
    Changed,
    /// Part of its old bytes in the bundle is damaged: slots whose blob is intact can be restored
    /// one by one.
    Incomplete,
}

/// A file or chunk whose old version is in a bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndoItem {
    /// The path below the root; for a chunk, the location of its storage.
    pub name: String,
    /// The chunk; `None` for a file.
    pub chunk: Option<ChunkPos>,
    /// The current state.
    pub state: FileState,
    /// The length before the change; `None` if the file did not exist.
    pub bytes: Option<u64>,
    /// Whether the file has exactly the bytes that the verb wrote, which only a copy of the world
    /// can have.
    pub is_proof: bool,
}

/// What undoing a bundle would do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UndoPlan {
    /// The files and chunks, last change first.
    pub items: Vec<UndoItem>,
}

impl UndoPlan {
    /// Returns the number of items in a state.
    pub fn count(&self, state: FileState) -> usize {
        self.items.iter().filter(|item| item.state == state).count()
    }
}

/// The result of undoing a bundle.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UndoReport {
    /// Files that have their old bytes again.
    pub files: u64,
    /// Chunks that have their old document again: in region files that were changed after the
    /// verb, in databases and in object stores.
    pub chunks: u64,
    /// Files and chunks that were equal to the old version already.
    pub unchanged: u64,
    /// Damage of the bundle, and files and chunks that were changed after the verb and are left
    /// unchanged. Empty if everything that the verb changed is as before.
    pub findings: Findings,
    /// The bundle that undoes this undo; `None` if nothing was changed, and until it is complete.
    pub bundle: Option<PathBuf>,
}

/// Opens the storage at a location that a bundle names.
pub type OpenStorage<'a> = &'a dyn Fn(&str) -> Result<Box<dyn ChunkStorage>>;

impl Bundle {
    /// Compares the files and chunks of the bundle with those in a folder.
    ///
    /// # Errors
    /// Returns an error if a file or storage cannot be read, or if the bundle names one outside of
    /// the folder.
    pub fn plan(&self, root: &UndoRoot, open: OpenStorage<'_>) -> Result<UndoPlan> {
        let mut plan = UndoPlan::default();
        let mut storages = Storages { open, opened: Vec::new() };
        for (chunk, part) in self.chunks.iter().rev() {
            let at = ChunkPos::new(chunk.x, chunk.z);
            let state = self.chunk_state(storages.get(&chunk.storage)?, chunk, *part)?;
            let (name, chunk) = (chunk.storage.clone(), Some(at));
            plan.items.push(UndoItem { name, chunk, state, bytes: None, is_proof: false });
        }
        for entry in self.files.iter().rev() {
            let path = root.path_of(&entry.name, self.path())?;
            let state = self.file_state(&path, entry)?;
            let (name, bytes) = (entry.name.clone(), entry.old_bytes());
            let is_proof = state == FileState::New && is_proof(entry);
            plan.items.push(UndoItem { name, chunk: None, state, bytes, is_proof });
        }
        Ok(plan)
    }

    /// Restores the old bytes. Files and chunks that were changed after the verb are left unchanged
    /// and are reported. `changes` records what this call replaces.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written, or if the bundle names one outside of
    /// the folder. Each file is then old or new, and the same call continues.
    pub fn undo(
        &self,
        root: &UndoRoot,
        open: OpenStorage<'_>,
        changes: &mut Changes,
        progress: &dyn Progress,
    ) -> Result<UndoReport> {
        let mut report = UndoReport { findings: self.findings(), ..UndoReport::default() };
        let mut storages = Storages { open, opened: Vec::new() };
        for (chunk, part) in self.chunks.iter().rev() {
            let storage = storages.get(&chunk.storage)?;
            self.undo_chunk(storage, chunk, *part, changes, &mut report)?;
            progress.advance(1);
        }
        for (_, storage) in &storages.opened {
            storage.sync()?;
        }
        for entry in self.files.iter().rev() {
            // Checked again for each file: links may have changed since the plan was made.
            let path = root.path_of(&entry.name, self.path())?;
            self.undo_file(&path, entry, changes, &mut report)?;
            progress.advance(1);
        }
        Ok(report)
    }

    fn chunk_state(
        &self,
        storage: &dyn ChunkStorage,
        chunk: &ChunkRecord,
        part: Part,
    ) -> Result<FileState> {
        let current = storage.read(ChunkPos::new(chunk.x, chunk.z))?;
        let current = current.map(|document| Digested::of_bytes(&document).sha256);
        if current == chunk.new {
            return Ok(FileState::New);
        }
        let old = match chunk.old {
            OldState::Stored => Some(Digested::of_bytes(&self.read(part)?).sha256),
            _ => None,
        };
        Ok(if current == old { FileState::Old } else { FileState::Changed })
    }

    fn undo_chunk(
        &self,
        storage: &dyn ChunkStorage,
        chunk: &ChunkRecord,
        part: Part,
        changes: &mut Changes,
        report: &mut UndoReport,
    ) -> Result<()> {
        let at = ChunkPos::new(chunk.x, chunk.z);
        match self.chunk_state(storage, chunk, part)? {
            FileState::Old => report.unchanged = report.unchanged.saturating_add(1),
            FileState::New => {
                let old = match chunk.old {
                    OldState::Stored => Some(self.read(part)?),
                    _ => None,
                };
                changes.write_chunks(storage, &chunk.storage, &[(at, old.as_deref())])?;
                report.chunks = report.chunks.saturating_add(1);
            }
            _ => report.findings.add(Finding::at(Class::Conflict, at, SINCE)),
        }
        Ok(())
    }

    fn undo_file(
        &self,
        path: &Path,
        entry: &FileEntry,
        changes: &mut Changes,
        report: &mut UndoReport,
    ) -> Result<()> {
        match self.file_state(path, entry)? {
            FileState::Old => report.unchanged = report.unchanged.saturating_add(1),
            FileState::New => {
                self.restore_file(path, entry, changes)?;
                report.files = report.files.saturating_add(1);
            }
            FileState::ChangedRegion => self.undo_slots(path, entry, changes, report)?,
            FileState::Incomplete => {
                let finding = Finding::new(Class::Bundle, INCOMPLETE);
                report.findings.add(Finding { file: Some(path.to_owned()), ..finding });
                self.undo_slots(path, entry, changes, report)?;
            }
            FileState::Changed => {
                let finding = Finding::new(Class::Conflict, SINCE);
                report.findings.add(Finding { file: Some(path.to_owned()), ..finding });
            }
        }
        Ok(())
    }

    /// Restores a file that is as the verb left it.
    fn restore_file(&self, path: &Path, entry: &FileEntry, changes: &mut Changes) -> Result<()> {
        match &entry.record {
            Some(Description::Patch(record)) => self.undo_patch(path, entry, record, changes),
            Some(Description::Whole(FileRecord { old: Some(old), .. })) => {
                self.replace_by_old(path, entry, old, changes)
            }
            Some(Description::Whole(_)) | None => changes.remove(path),
        }
    }

    /// Builds the old file from the current one and the recorded differences.
    fn replace_by_old(
        &self,
        path: &Path,
        entry: &FileEntry,
        old: &Digested,
        changes: &mut Changes,
    ) -> Result<()> {
        let prepared = prepared_path(path)?;
        let built = self.build_old(path, &prepared, entry, old.bytes);
        let replaced = built.and_then(|()| {
            if Digested::of_file(&prepared)?.as_ref() != Some(old) {
                return Err(UndoError::Changed { path: path.to_owned() });
            }
            changes.replace_with(path, &prepared)
        });
        if replaced.is_err() {
            remove_if_present(&prepared)?;
        }
        replaced
    }

    fn build_old(&self, path: &Path, to: &Path, entry: &FileEntry, bytes: u64) -> Result<()> {
        remove_if_present(to)?;
        if path.exists() {
            open_regular(path).map_err(FileError::at(path, "open"))?;
            fs::copy(follow_link(path)?, to).map_err(FileError::at(path, "copy"))?;
        } else if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(FileError::at(folder, "create"))?;
        }
        let failed = |error| FileError::at(to, "write")(error);
        let options = File::options().write(true).create(true).truncate(false).open(to);
        let mut file = options.map_err(failed)?;
        file.set_len(bytes).map_err(failed)?;
        for (offset, part) in &entry.ranges {
            let old = self.read(*part)?;
            file.seek(SeekFrom::Start(*offset)).map_err(failed)?;
            file.write_all(&old).map_err(failed)?;
        }
        Ok(file.sync_all().map_err(failed)?)
    }
}

/// Why a file or chunk is not restored.
const SINCE: &str = "changed since; it is left as it is";

/// Why a file is restored in part or not at all.
const INCOMPLETE: &str = "the bundle has only a part of its old bytes; only intact slots are \
    restored";

impl Bundle {
    fn file_state(&self, path: &Path, entry: &FileEntry) -> Result<FileState> {
        let record = match &entry.record {
            None => return Ok(FileState::Incomplete),
            Some(Description::Patch(record)) => return self.patch_state(path, entry, record),
            Some(Description::Whole(record)) => record,
        };
        let current = Digested::of_file(path)?;
        Ok(if current == record.old {
            FileState::Old
        } else if !entry.is_whole {
            FileState::Incomplete
        } else if current == record.new {
            FileState::New
        } else if !entry.blobs.is_empty() && current.is_some() {
            FileState::ChangedRegion
        } else {
            FileState::Changed
        })
    }
}

/// Returns whether only a copy of the world can have the bytes that the verb wrote.
fn is_proof(entry: &FileEntry) -> bool {
    match &entry.record {
        Some(Description::Whole(record)) => record.new.as_ref().is_some_and(|new| new.bytes > 0),
        Some(Description::Patch(patch)) => patch.is_proof(),
        None => false,
    }
}

/// The storages of a bundle, opened on first use.
struct Storages<'a> {
    open: OpenStorage<'a>,
    opened: Vec<(String, Box<dyn ChunkStorage>)>,
}

impl Storages<'_> {
    fn get(&mut self, location: &str) -> Result<&dyn ChunkStorage> {
        if !self.opened.iter().any(|(name, _)| name == location) {
            self.opened.push((location.to_owned(), (self.open)(location)?));
        }
        let known = self.opened.iter().find(|(name, _)| name == location);
        let storage = known.map(|(_, storage)| &**storage);
        storage.ok_or_else(|| UndoError::Bundle {
            path: PathBuf::from(location),
            reason: "its storage is not open".to_owned(),
        })
    }
}
