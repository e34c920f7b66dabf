//! A cache of read objects in a local folder.
//!
//! An entry is never returned without asking the server: a read sends the e-tag of the entry, and
//! the server either confirms it in a few bytes or sends the current object. So the cache saves
//! bytes, not requests, and is never stale.

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

/// Suffix of the cache files. Other files in the folder are left alone.
const FILE_END: &str = ".hywcache";
/// Suffix of cache files that are being written.
const PARTIAL_FILE_SUFFIX: &str = ".hywpart";
/// A partial file older than this was left by a killed program.
const PARTIAL_FILE_AGE_MAX: Duration = Duration::from_hours(1);

/// Statistics of a cache since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct CacheStats {
    /// Reads answered from the cache, after the server confirmed the entry.
    pub hits: u64,
    /// Damaged files that were dropped.
    pub dropped: u64,
    /// Objects that could not be cached, for lack of space or other reasons. Reads are not
    /// affected.
    pub failed: u64,
    /// Current number of files.
    pub files: u64,
    /// Approximate size of the files on disk.
    pub bytes: u64,
}

/// A cache folder. Several servers, buckets and prefixes may share it.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Distinguishes the objects of this storage from those of other servers and buckets.
    origin: String,
    index: Mutex<Index>,
    stats: Mutex<CacheStats>,
}

impl Cache {
    /// Opens a cache folder, creating it if it is missing.
    pub(crate) fn open(folder: &Path, bytes_max: u64, origin: String) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(FileError::at(folder, "create"))?;
        let index = scan(folder, bytes_max).map_err(FileError::at(folder, "list"))?;
        let (index, stats) = (Mutex::new(index), Mutex::default());
        let cache = Self { folder: folder.to_owned(), origin, index, stats };
        cache.evict(0);
        Ok(cache)
    }

    /// Returns the cached object of this name, which may be outdated.
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

    /// Caches an object. Failures are only counted.
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

    /// Removes an object from the cache.
    pub(crate) fn forget(&self, name: &str) {
        let id = self.id(name);
        // A missing file is fine.
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
        let mut part = tempfile::Builder::new().suffix(PARTIAL_FILE_SUFFIX).tempfile_in(folder)?;
        part.write_all(file)?;
        part.persist(&path)?;
        Ok(())
    }

    /// Removes files until there is room for this many bytes.
    fn evict(&self, bytes: u64) {
        while let Some(id) = self.index().pop_for(bytes) {
            drop(std::fs::remove_file(self.path(&id)));
        }
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}\n{name}", self.origin)
    }

    /// Returns the file name of an object, without suffix.
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

/// Lists the existing files, oldest first.
fn scan(folder: &Path, bytes_max: u64) -> std::io::Result<Index> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let is_cache_folder = path.is_dir() && path.file_name().is_some_and(|name| name.len() == 2);
        for entry in is_cache_folder.then(|| path.read_dir()).transpose()?.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Another program may remove the file at any time.
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if let Some(id) = name.strip_suffix(FILE_END) {
                files.push((modified, id.to_owned(), metadata.len()));
            } else if name.ends_with(PARTIAL_FILE_SUFFIX)
                && modified.elapsed().is_ok_and(|age| age > PARTIAL_FILE_AGE_MAX)
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

    fn entry(bytes: &[u8]) -> CacheEntry {
        let (e_tag, raw_bytes) = ("\"tag\"".to_owned(), Some(5));
        CacheEntry { e_tag, raw_bytes, bytes: bytes.to_vec() }
    }

    fn open(folder: &Path, bytes_max: u64) -> Cache {
        Cache::open(folder, bytes_max, "server bucket".to_owned()).unwrap()
    }

    #[test]
    fn entries_are_kept_until_they_are_forgotten() {
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
    fn the_least_recently_used_entries_are_evicted() {
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
    fn a_damaged_file_is_dropped_and_other_files_are_left_alone() {
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
    fn write_failures_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 1 << 20);
        let shard = cache.path(&cache.id("a")).parent().unwrap().to_owned();
        hyworld_testkit::write_file(&shard, b"a file where a folder should be");
        cache.store("a", &entry(b"one"));
        assert_eq!((cache.load("a"), cache.current_stats().failed), (None, 1));
    }
}
