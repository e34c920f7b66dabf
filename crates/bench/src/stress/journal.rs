//! [`Journal`]: edits chunks and logs acknowledged saves.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use hyworld_chunk_store::{LoadError, LoadedChunk, SaveError, StoreListener};
use hyworld_coords::ChunkPos;

use super::mark::{self, MarkState};

/// The maximum number of findings that are kept.
const FINDINGS_MAX: usize = 20;

/// Edits chunks and, as a listener of the store, logs when they were saved.
///
/// The log has two kinds of lines, each written with one call: `edit X Z N` before number N is
/// written to a chunk, and `saved X Z N` after the storage acknowledged it and before the chunk is
/// edited again.
#[derive(Default)]
pub struct Journal {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    log: Option<Box<dyn Write + Send>>,
    log_error: Option<io::Error>,
    /// Edits whose save was not acknowledged yet.
    pending: HashMap<ChunkPos, u64>,
    /// The last number written to each chunk.
    known: HashMap<ChunkPos, u64>,
    /// Chunks that cannot be edited.
    uneditable: HashSet<ChunkPos>,
    counts: JournalCounts,
    findings: Vec<String>,
}

/// The counters of a journal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct JournalCounts {
    /// All edits.
    pub edits: u64,
    /// Edits whose save was acknowledged.
    pub acknowledged: u64,
    /// Chunks that could not be edited.
    pub uneditable: u64,
    /// Chunks with an unexpected number.
    pub mismatched: u64,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Journal({:?})", self.counts())
    }
}

/// Opens the file at `path` for appending.
pub(super) fn open_log(path: &Path) -> anyhow::Result<Box<dyn Write + Send>> {
    let file = File::options().append(true).create(true).open(path);
    Ok(Box::new(file.with_context(|| format!("{}: cannot open", path.display()))?))
}

impl Journal {
    /// Creates a journal that writes to `log`, one call per line.
    pub fn new(log: Option<Box<dyn Write + Send>>) -> Self {
        Self { inner: Mutex::new(Inner { log, ..Inner::default() }) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Edits a chunk. Returns false if its last edit is not saved yet, or if it cannot be edited.
    pub fn edit(&self, chunk: &LoadedChunk) -> bool {
        // Locked during the edit: a save that ends meanwhile must find the edit pending.
        let mut inner = self.inner();
        let at = chunk.at();
        if inner.pending.contains_key(&at) || inner.uneditable.contains(&at) {
            return false;
        }
        let Ok(found) = chunk.read(|view| mark::read(view, at)) else {
            inner.refuse(at, "blocks cannot be decoded");
            return false;
        };
        let number = inner.next_number(at, found);
        inner.write(format_args!("edit {} {} {number}\n", at.x, at.z));
        if inner.log_error.is_some() {
            return false;
        }
        match chunk.edit(|view| mark::write(view, at, number)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                inner.refuse(at, &error.to_string());
                return false;
            }
            // The chunk was unloaded meanwhile.
            Err(_) => return false,
        }
        inner.pending.insert(at, number);
        inner.known.insert(at, number);
        inner.counts.edits = inner.counts.edits.saturating_add(1);
        true
    }

    /// Returns the counters.
    pub fn counts(&self) -> JournalCounts {
        self.inner().counts
    }

    /// Returns the first findings as text.
    pub fn findings(&self) -> Vec<String> {
        self.inner().findings.clone()
    }

    /// Returns whether writing the log failed. No more edits are performed then.
    pub fn is_broken(&self) -> bool {
        self.inner().log_error.is_some()
    }

    /// Returns the error from writing the log, and clears it.
    pub fn take_log_error(&self) -> Option<io::Error> {
        self.inner().log_error.take()
    }
}

impl Inner {
    /// Returns the next number of a chunk. Adds a finding if its current number is not the last one
    /// written.
    fn next_number(&mut self, at: ChunkPos, found: MarkState) -> u64 {
        let known = self.known.get(&at).copied();
        let current = match found {
            MarkState::Missing => 0,
            MarkState::Complete(number) => number,
            MarkState::Mixed => {
                self.mismatched(format!(
                    "chunk {},{}: contains parts of different edits",
                    at.x, at.z
                ));
                known.unwrap_or(0)
            }
        };
        if let Some(known) = known.filter(|known| *known != current) {
            let ChunkPos { x, z } = at;
            self.mismatched(format!(
                "chunk {x},{z}: contains edit {current}, expected edit {known}"
            ));
        }
        current.max(known.unwrap_or(0)).saturating_add(1)
    }

    fn mismatched(&mut self, finding: String) {
        self.counts.mismatched = self.counts.mismatched.saturating_add(1);
        self.add_finding(finding);
    }

    fn refuse(&mut self, at: ChunkPos, reason: &str) {
        if self.uneditable.insert(at) {
            self.counts.uneditable = self.counts.uneditable.saturating_add(1);
            self.add_finding(format!("chunk {},{}: cannot be edited: {reason}", at.x, at.z));
        }
    }

    fn add_finding(&mut self, finding: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    fn write(&mut self, line: fmt::Arguments<'_>) {
        let Some(log) = &mut self.log else { return };
        // One call per line, so that a killed process leaves complete lines.
        let written = log.write_all(line.to_string().as_bytes()).and_then(|()| log.flush());
        if let Err(error) = written {
            self.log_error.get_or_insert(error);
        }
    }
}

impl StoreListener for Journal {
    fn saved(&self, chunk: &Arc<LoadedChunk>) {
        let mut inner = self.inner();
        // A chunk that was edited during the save is saved again.
        if chunk.is_dirty() {
            return;
        }
        let at = chunk.at();
        if let Some(number) = inner.pending.remove(&at) {
            inner.write(format_args!("saved {} {} {number}\n", at.x, at.z));
            inner.counts.acknowledged = inner.counts.acknowledged.saturating_add(1);
        }
    }

    fn load_failed(&self, _at: ChunkPos, error: &Arc<LoadError>) {
        self.inner().add_finding(error.to_string());
    }

    fn save_failed(&self, _chunk: &Arc<LoadedChunk>, error: &Arc<SaveError>) {
        self.inner().add_finding(error.to_string());
    }
}
