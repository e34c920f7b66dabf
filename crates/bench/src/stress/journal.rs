//! [`Journal`]: edits chunks, and writes down what was stored.

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

/// How many findings are kept word for word.
const FINDINGS_MAX: usize = 20;

/// Edits chunks and, as a listener of the store, writes down when they were stored.
///
/// The log has two kinds of lines, each written with one call before anything else happens:
/// `edit X Z N` before a chunk gets the number N, `saved X Z N` after the storage has acknowledged
/// it and before the chunk is edited again.
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
    /// The last number that each chunk got.
    known: HashMap<ChunkPos, u64>,
    /// Chunks that cannot be edited.
    refused: HashSet<ChunkPos>,
    counts: JournalCounts,
    findings: Vec<String>,
}

/// What was done so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct JournalCounts {
    /// Edits.
    pub edits: u64,
    /// Edits whose save was acknowledged.
    pub acknowledged: u64,
    /// Chunks that could not be edited.
    pub refused: u64,
    /// Chunks that did not hold what they must.
    pub wrong: u64,
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
    /// A journal that writes to `log`, if there is one. Every line is one call of `write`.
    pub fn new(log: Option<Box<dyn Write + Send>>) -> Self {
        Self { inner: Mutex::new(Inner { log, ..Inner::default() }) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Edits a chunk, unless its last edit is not stored yet; whether it did.
    pub fn edit(&self, chunk: &LoadedChunk) -> bool {
        // Held during the edit: a save that ends meanwhile must find the edit pending.
        let mut inner = self.inner();
        let at = chunk.at();
        if inner.pending.contains_key(&at) || inner.refused.contains(&at) {
            return false;
        }
        let Ok(found) = chunk.read(|view| mark::read(view, at)) else {
            inner.refuse(at, "its blocks cannot be decoded");
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
            // Unloaded a moment ago.
            Err(_) => return false,
        }
        inner.pending.insert(at, number);
        inner.known.insert(at, number);
        inner.counts.edits = inner.counts.edits.saturating_add(1);
        true
    }

    /// What was done so far.
    pub fn counts(&self) -> JournalCounts {
        self.inner().counts
    }

    /// The first findings, in words.
    pub fn findings(&self) -> Vec<String> {
        self.inner().findings.clone()
    }

    /// Whether the log could not be written. There are no more edits then.
    pub fn is_broken(&self) -> bool {
        self.inner().log_error.is_some()
    }

    /// Why the log could not be written.
    pub fn take_log_error(&self) -> Option<io::Error> {
        self.inner().log_error.take()
    }
}

impl Inner {
    /// The number after the one that the chunk has, which must be the last that it got.
    fn next_number(&mut self, at: ChunkPos, found: MarkState) -> u64 {
        let known = self.known.get(&at).copied();
        let current = match found {
            MarkState::Absent => 0,
            MarkState::Whole(number) => number,
            MarkState::Mixed => {
                self.wrong(format!("chunk {},{}: holds parts of different edits", at.x, at.z));
                known.unwrap_or(0)
            }
        };
        if let Some(known) = known.filter(|known| *known != current) {
            let ChunkPos { x, z } = at;
            self.wrong(format!("chunk {x},{z}: holds edit {current}, but edit {known} was stored"));
        }
        current.max(known.unwrap_or(0)).saturating_add(1)
    }

    fn wrong(&mut self, problem: String) {
        self.counts.wrong = self.counts.wrong.saturating_add(1);
        self.problem(problem);
    }

    fn refuse(&mut self, at: ChunkPos, reason: &str) {
        if self.refused.insert(at) {
            self.counts.refused = self.counts.refused.saturating_add(1);
            self.problem(format!("chunk {},{}: cannot be edited: {reason}", at.x, at.z));
        }
    }

    fn problem(&mut self, problem: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(problem);
        }
    }

    fn write(&mut self, line: fmt::Arguments<'_>) {
        let Some(log) = &mut self.log else { return };
        // In one piece: whoever is killed leaves whole lines.
        let written = log.write_all(line.to_string().as_bytes()).and_then(|()| log.flush());
        if let Err(error) = written {
            self.log_error.get_or_insert(error);
        }
    }
}

impl StoreListener for Journal {
    fn saved(&self, chunk: &Arc<LoadedChunk>) {
        let mut inner = self.inner();
        // One that was edited during the save is saved again.
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
        self.inner().problem(error.to_string());
    }

    fn save_failed(&self, _chunk: &Arc<LoadedChunk>, error: &Arc<SaveError>) {
        self.inner().problem(error.to_string());
    }
}
