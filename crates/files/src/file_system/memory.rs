//! A file system in memory for crash tests. It stops working at a given step, and lists the states
//! that a disk may have after a power cut.
//!
//! Names and file contents are separate, as on a disk. A created, renamed or removed name is
//! durable after `sync_folder`; before that, a power cut keeps a prefix of the name changes, in
//! order. Contents are durable after `sync`; before that, a power cut leaves nothing, half or all
//! of them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{FileSystem, FolderEntry};

/// A file system in memory.
#[derive(Debug, Default)]
pub struct MemoryFileSystem {
    state: Mutex<State>,
}

#[derive(Clone, Debug, Default)]
struct State {
    files: Vec<File>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Name changes since the last sync of a folder.
    changes: Vec<Change>,
    steps_left: Option<u32>,
    steps: u32,
}

#[derive(Clone, Debug)]
struct File {
    bytes: Vec<u8>,
    is_synced: bool,
}

#[derive(Clone, Debug)]
enum Change {
    Create(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Create(path, file) => {
                names.insert(path.clone(), *file);
            }
            Self::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
            Self::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

/// The part of an unsynced file that survives a power cut.
type Survivor = fn(&[u8]) -> &[u8];

const SURVIVORS: [Survivor; 3] =
    [|_| &[], |all| all.get(..all.len() / 2).unwrap_or_default(), |all| all];

impl MemoryFileSystem {
    /// Creates an empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows only this many more changes; all later ones fail, as if the process had been killed.
    pub fn stop_after(&self, steps: u32) {
        self.lock().steps_left = Some(steps);
    }

    /// Returns the number of changes made.
    pub fn steps(&self) -> u32 {
        self.lock().steps
    }

    /// Returns the file system as another process finds it after this one was killed.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let state = State { steps_left: None, ..self.lock().clone() };
        Self { state: Mutex::new(state) }
    }

    /// Returns all states that a disk may have after a power cut at this point.
    pub fn after_power_cut(&self) -> Vec<Self> {
        let state = self.lock().clone();
        let mut states = Vec::new();
        let mut names = state.durable_names.clone();
        for count in 0..=state.changes.len() {
            for survivor in SURVIVORS {
                states.push(Self::durable(&names, &state.files, survivor));
            }
            if let Some(change) = state.changes.get(count) {
                change.apply(&mut names);
            }
        }
        states
    }

    fn durable(names: &BTreeMap<PathBuf, usize>, files: &[File], survivor: Survivor) -> Self {
        let survived = |file: &File| {
            let bytes = if file.is_synced { &file.bytes } else { survivor(&file.bytes) };
            File { bytes: bytes.to_vec(), is_synced: true }
        };
        let files = files.iter().map(survived).collect();
        let (names, durable_names) = (names.clone(), names.clone());
        Self { state: Mutex::new(State { files, names, durable_names, ..State::default() }) }
    }

    /// Ignores poisoning: the state is consistent at all times.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.lock();
        if let Some(left) = state.steps_left {
            let left = left.checked_sub(1).ok_or_else(|| io::Error::other("stopped on purpose"))?;
            state.steps_left = Some(left);
        }
        state.steps = state.steps.saturating_add(1);
        change(&mut state)
    }
}

impl State {
    fn file_index(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change_names(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.changes.push(change);
    }
}

impl FileSystem for MemoryFileSystem {
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        let state = self.lock();
        let file = state.files.get(state.file_index(path)?);
        let bytes = file.map(|file| file.bytes.clone()).unwrap_or_default();
        if bytes.len() as u64 > bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change(|state| {
            // Always creates a new file instead of truncating an old one: a power cut leaves the
            // same states in both cases.
            let index = state.files.len();
            state.files.push(File { bytes: bytes.to_vec(), is_synced: false });
            state.change_names(Change::Create(path.to_owned(), index));
            Ok(())
        })
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.change(|state| {
            let index = state.file_index(path)?;
            if let Some(file) = state.files.get_mut(index) {
                file.is_synced = true;
            }
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|state| {
            state.file_index(from)?;
            state.change_names(Change::Rename(from.to_owned(), to.to_owned()));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(|state| {
            state.file_index(path)?;
            state.change_names(Change::Remove(path.to_owned()));
            Ok(())
        })
    }

    fn create_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let state = self.lock();
        let inside = state.names.keys().filter_map(|path| path.strip_prefix(folder).ok());
        let mut entries: Vec<_> = inside
            .filter_map(|path| {
                let mut parts = path.components();
                let name = parts.next()?.as_os_str().to_str()?.to_owned();
                Some(FolderEntry { name, is_folder: parts.next().is_some() })
            })
            .collect();
        entries.dedup();
        Ok(entries)
    }

    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        self.change(|state| {
            state.durable_names = state.names.clone();
            state.changes.clear();
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &MemoryFileSystem, path: &str) -> Option<String> {
        let bytes = files.read(Path::new(path), 100).ok()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_power_cut_loses_unsynced_changes() {
        let files = MemoryFileSystem::new();
        let (a, b) = (Path::new("d/a"), Path::new("d/b"));
        files.write(a, b"1234").unwrap();
        let found = files.after_power_cut().iter().map(|f| read(f, "d/a")).collect::<Vec<_>>();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(found, [None, None, None, text(""), text("12"), text("1234")]);
        files.sync(a).unwrap();
        files.rename(a, b).unwrap();
        files.sync_folder(Path::new("d")).unwrap();
        for state in files.after_power_cut() {
            assert_eq!((read(&state, "d/a"), read(&state, "d/b")), (None, text("1234")));
        }
    }

    #[test]
    fn changes_fail_after_the_last_step() {
        let files = MemoryFileSystem::new();
        files.stop_after(1);
        files.write(Path::new("a"), b"1").unwrap();
        assert!(files.write(Path::new("b"), b"1").is_err());
        assert!(files.rename(Path::new("a"), Path::new("c")).is_err());
        let after = files.after_kill();
        assert_eq!((read(&after, "a"), read(&after, "b")), (Some("1".to_owned()), None));
        after.remove(Path::new("a")).unwrap();
        assert_eq!(files.steps(), 1);
    }

    #[test]
    fn folders_are_derived_from_file_paths() {
        let files = MemoryFileSystem::new();
        for path in ["d/a", "d/e/f", "d/e/g", "x"] {
            files.write(Path::new(path), b"").unwrap();
        }
        let names = files.list(Path::new("d")).unwrap();
        let names: Vec<_> = names.iter().map(|e| (e.name.as_str(), e.is_folder)).collect();
        assert_eq!(names, [("a", false), ("e", true)]);
    }
}
