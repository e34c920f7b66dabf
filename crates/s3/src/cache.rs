//! Objects that were read once, in a local folder.
//!
//! An entry is never served without asking: a read sends the e-tag of what is here, and the
//! server either says that it is still that, in a few bytes, or sends what it is now. So a cache
//! saves bytes, not requests, and can never be stale.

mod entry;
mod index;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use hyworld_files::FileError;
use hyworld_providers::Result;
use sha2::{Digest, Sha256};

pub(crate) use entry::CacheEntry;
use index::Index;

/// What the names of our files end with. Others in the folder are left alone.
const FILE_END: &str = ".hywcache";
/// What they end with while they are written.
const PART_END: &str = ".hywpart";
/// A file that was being written so long ago is left over from a program that was killed.
const PART_AGE: Duration = Duration::from_hours(1);

/// What a cache has done since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct CacheStats {
    /// Reads that were answered from it, after the server had said that nothing changed.
    pub hits: u64,
    /// Files that were broken and were dropped.
    pub dropped: u64,
    /// Objects that could not be kept, for lack of space or otherwise. Reads do not mind.
    pub failed: u64,
    /// Files in it now.
    pub files: u64,
    /// Bytes that they take on disk, about.
    pub bytes: u64,
}

/// A folder with objects of one server, bucket and prefix, and perhaps of others.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// What tells our objects from those of other buckets.
    origin: String,
    index: Mutex<Index>,
    stats: Mutex<CacheStats>,
}

impl Cache {
    /// Opens a folder, which is made if it is not there.
    pub(crate) fn open(folder: &Path, bytes_max: u64, origin: String) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(FileError::at(folder, "make"))?;
        let index = scan(folder, bytes_max).map_err(FileError::at(folder, "list"))?;
        let (index, stats) = (Mutex::new(index), Mutex::default());
        let cache = Self { folder: folder.to_owned(), origin, index, stats };
        cache.evict(0);
        Ok(cache)
    }

    /// The object of this name, as it once was.
    pub(crate) fn load(&self, name: &str) -> Option<CacheEntry> {
        let id = self.id(name);
        let file = std::fs::read(self.path(&id)).ok()?;
        let Some(entry) = CacheEntry::decode(&file, &self.full_name(name)) else {
            self.forget(name);
            self.stats().dropped += 1;
            return None;
        };
        self.index().touch(&id);
        Some(entry)
    }

    /// Keeps an object. If that does not work, it is not kept.
    pub(crate) fn store(&self, name: &str, entry: &CacheEntry) {
        let Some(file) = entry.encode(&self.full_name(name)) else { return };
        let id = self.id(name);
        let bytes = u64::try_from(file.len()).unwrap_or(u64::MAX);
        self.evict(bytes);
        if self.index().fits(bytes) && self.write(&id, &file).is_ok() {
            self.index().insert(id, bytes);
        } else {
            self.stats().failed += 1;
        }
    }

    /// Does not keep an object any longer.
    pub(crate) fn forget(&self, name: &str) {
        let id = self.id(name);
        // It may not be there, which is what is wanted.
        drop(std::fs::remove_file(self.path(&id)));
        self.index().remove(&id);
    }

    pub(crate) fn count_hit(&self) {
        self.stats().hits += 1;
    }

    pub(crate) fn current_stats(&self) -> CacheStats {
        let index = self.index();
        CacheStats { files: index.files(), bytes: index.bytes(), ..*self.stats() }
    }

    fn write(&self, id: &str, file: &[u8]) -> std::io::Result<()> {
        let path = self.path(id);
        let folder = path.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(folder)?;
        let mut part = tempfile::Builder::new().suffix(PART_END).tempfile_in(folder)?;
        part.write_all(file)?;
        part.persist(&path)?;
        Ok(())
    }

    /// Makes room for so many bytes.
    fn evict(&self, bytes: u64) {
        while let Some(id) = self.index().pop_for(bytes) {
            drop(std::fs::remove_file(self.path(&id)));
        }
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}\n{name}", self.origin)
    }

    /// What the file of an object is called.
    fn id(&self, name: &str) -> String {
        let hash = Sha256::digest(self.full_name(name).as_bytes());
        let half = hash.first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes));
        format!("{half:032x}")
    }

    fn path(&self, id: &str) -> PathBuf {
        let folder = self.folder.join(id.get(..2).unwrap_or_default());
        folder.join(format!("{id}{FILE_END}"))
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stats(&self) -> MutexGuard<'_, CacheStats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files that are there, the oldest first.
fn scan(folder: &Path, bytes_max: u64) -> std::io::Result<Index> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let is_ours = path.is_dir() && path.file_name().is_some_and(|name| name.len() == 2);
        for entry in is_ours.then(|| path.read_dir()).transpose()?.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Another program may remove it at any moment.
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if let Some(id) = name.strip_suffix(FILE_END) {
                files.push((modified, id.to_owned(), metadata.len()));
            } else if name.ends_with(PART_END) && modified.elapsed().is_ok_and(|age| age > PART_AGE)
            {
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }
    files.sort_unstable();
    let mut index = Index::new(bytes_max);
    for (_, id, bytes) in files {
        index.insert(id, bytes);
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(content: &[u8]) -> CacheEntry {
        let (e_tag, raw_bytes) = ("\"tag\"".to_owned(), Some(5));
        CacheEntry { e_tag, raw_bytes, content: content.to_vec() }
    }

    fn open(folder: &Path, bytes_max: u64) -> Cache {
        Cache::open(folder, bytes_max, "server bucket".to_owned()).unwrap()
    }

    #[test]
    fn what_is_stored_is_there_until_it_is_forgotten_and_after_opening_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 1 << 20);
        assert_eq!(cache.load("a"), None);
        cache.store("a", &entry(b"one"));
        cache.store("b", &entry(b"two"));
        cache.store("a", &entry(b"three"));
        assert_eq!(cache.load("a"), Some(entry(b"three")));
        cache.forget("b");
        let cache = open(folder.path(), 1 << 20);
        assert_eq!((cache.load("a"), cache.load("b")), (Some(entry(b"three")), None));
        assert_eq!(cache.current_stats().files, 1);
        let elsewhere = Cache::open(folder.path(), 1 << 20, "other".to_owned()).unwrap();
        assert_eq!(elsewhere.load("a"), None);
    }

    #[test]
    fn it_stays_below_its_limit_and_keeps_what_was_used_last() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 5 * 4096);
        for name in ["a", "b", "c", "d", "e"] {
            cache.store(name, &entry(b"x"));
        }
        assert!(cache.load("a").is_some());
        cache.store("f", &entry(b"x"));
        let kept = ["a", "b", "c", "d", "e", "f"].map(|name| cache.load(name).is_some());
        assert_eq!(kept, [true, false, true, true, true, true]);
        cache.store("huge", &entry(&vec![0; 5 * 4096]));
        assert_eq!(cache.load("huge"), None);
        let stats = cache.current_stats();
        assert!(stats.bytes <= 5 * 4096 && stats.failed == 1, "{stats:?}");
        let smaller = open(folder.path(), 2 * 4096);
        assert!(smaller.current_stats().files <= 2);
    }

    #[test]
    fn a_broken_file_is_dropped_and_others_in_the_folder_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 1 << 20);
        cache.store("a", &entry(b"one"));
        let path = cache.path(&cache.id("a"));
        hyworld_testkit::write_file(&path, b"hyworld-cache-1\nbroken");
        let other = path.with_file_name("mine.txt");
        hyworld_testkit::write_file(&other, b"keep");
        assert_eq!(cache.load("a"), None);
        assert!(!path.exists() && other.exists());
        assert_eq!(cache.current_stats().dropped, 1);
        drop(open(folder.path(), 0));
        assert!(other.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_only_means_that_nothing_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 1 << 20);
        let shard = cache.path(&cache.id("a")).parent().unwrap().to_owned();
        hyworld_testkit::write_file(&shard, b"a file where a folder should be");
        cache.store("a", &entry(b"one"));
        assert_eq!((cache.load("a"), cache.current_stats().failed), (None, 1));
    }
}
