//! A file system in memory that stops working at a given step, and can say what a disk may hold
//! after a power cut.
//!
//! The model: names and contents are separate, as on a disk. A name that was made, changed or
//! removed is durable after `sync_folder`; before that, a power cut leaves the changes of names up
//! to some moment, in their order. A content is durable after `sync`; before that, a power cut
//! leaves nothing, half or all of it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{FileSystem, FolderEntry};

/// Files in memory.
#[derive(Debug, Default)]
pub struct MemoryFileSystem {
    state: Mutex<State>,
}

#[derive(Clone, Debug, Default)]
struct State {
    contents: Vec<Content>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Changes of names since the last sync of a folder.
    changes: Vec<Change>,
    steps_left: Option<u32>,
    steps: u32,
}

#[derive(Clone, Debug)]
struct Content {
    bytes: Vec<u8>,
    is_synced: bool,
}

#[derive(Clone, Debug)]
enum Change {
    Make(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Make(path, content) => {
                names.insert(path.clone(), *content);
            }
            Self::Rename(from, to) => {
                if let Some(content) = names.remove(from) {
                    names.insert(to.clone(), content);
                }
            }
            Self::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

/// What a power cut leaves of a content that was not synced.
type LeftOver = fn(&[u8]) -> &[u8];

const LEFT_OVER: [LeftOver; 3] =
    [|_| &[], |all| all.get(..all.len() / 2).unwrap_or_default(), |all| all];

impl MemoryFileSystem {
    /// Without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets only this many more changes happen, after which everything fails: the process was
    /// killed there.
    pub fn stop_after(&self, steps: u32) {
        self.lock().steps_left = Some(steps);
    }

    /// How many changes were made.
    pub fn steps(&self) -> u32 {
        self.lock().steps
    }

    /// What another process finds after this one was killed: everything that was done.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let state = State { steps_left: None, ..self.lock().clone() };
        Self { state: Mutex::new(state) }
    }

    /// Everything that a disk may hold after a power cut now.
    pub fn after_power_cut(&self) -> Vec<Self> {
        let state = self.lock().clone();
        let mut outcomes = Vec::new();
        let mut names = state.durable_names.clone();
        for count in 0..=state.changes.len() {
            for left_over in LEFT_OVER {
                outcomes.push(Self::durable(&names, &state.contents, left_over));
            }
            if let Some(change) = state.changes.get(count) {
                change.apply(&mut names);
            }
        }
        outcomes
    }

    fn durable(
        names: &BTreeMap<PathBuf, usize>,
        contents: &[Content],
        left_over: LeftOver,
    ) -> Self {
        let survived = |content: &Content| {
            let bytes = &content.bytes;
            let bytes = if content.is_synced { bytes } else { left_over(bytes) };
            Content { bytes: bytes.to_vec(), is_synced: true }
        };
        let contents = contents.iter().map(survived).collect();
        let (names, durable_names) = (names.clone(), names.clone());
        Self { state: Mutex::new(State { contents, names, durable_names, ..State::default() }) }
    }

    /// What is guarded is whole at any moment, so a thread that panicked elsewhere does no harm.
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
    fn number(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn rename_all(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.changes.push(change);
    }
}

impl FileSystem for MemoryFileSystem {
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        let state = self.lock();
        let content = state.contents.get(state.number(path)?);
        let bytes = content.map(|content| content.bytes.clone()).unwrap_or_default();
        if bytes.len() as u64 > bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change(|state| {
            // A content of its own: that an old one is cut off in place is one of the outcomes
            // that the left-overs of a new one cover, since nothing is written over in place.
            let number = state.contents.len();
            state.contents.push(Content { bytes: bytes.to_vec(), is_synced: false });
            state.rename_all(Change::Make(path.to_owned(), number));
            Ok(())
        })
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.change(|state| {
            let number = state.number(path)?;
            if let Some(content) = state.contents.get_mut(number) {
                content.is_synced = true;
            }
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|state| {
            state.number(from)?;
            state.rename_all(Change::Rename(from.to_owned(), to.to_owned()));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(|state| {
            state.number(path)?;
            state.rename_all(Change::Remove(path.to_owned()));
            Ok(())
        })
    }

    fn make_folder(&self, _path: &Path) -> io::Result<()> {
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
    fn a_power_cut_takes_what_was_not_synced() {
        let files = MemoryFileSystem::new();
        let (a, b) = (Path::new("d/a"), Path::new("d/b"));
        files.write(a, b"1234").unwrap();
        let found = files.after_power_cut().iter().map(|f| read(f, "d/a")).collect::<Vec<_>>();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(found, [None, None, None, text(""), text("12"), text("1234")]);
        files.sync(a).unwrap();
        files.rename(a, b).unwrap();
        files.sync_folder(Path::new("d")).unwrap();
        for outcome in files.after_power_cut() {
            assert_eq!((read(&outcome, "d/a"), read(&outcome, "d/b")), (None, text("1234")));
        }
    }

    #[test]
    fn after_the_last_step_nothing_happens() {
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
    fn folders_are_where_files_are() {
        let files = MemoryFileSystem::new();
        for path in ["d/a", "d/e/f", "d/e/g", "x"] {
            files.write(Path::new(path), b"").unwrap();
        }
        let names = files.list(Path::new("d")).unwrap();
        let names: Vec<_> = names.iter().map(|e| (e.name.as_str(), e.is_folder)).collect();
        assert_eq!(names, [("a", false), ("e", true)]);
    }
}
