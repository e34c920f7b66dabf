//! The provider `Migration`: several storages to read from, one to write to.

use std::collections::HashSet;

use hyworld_coords::ChunkPos;

use crate::error::Result;
use crate::storage::{
    BatchStorage, ChunkSize, ChunkStorage, ChunkStorageExt, Positions, RegionFilter,
};

/// Reads from several storages in order and writes to one.
///
/// A chunk is read from the first loader that has it. Unlike the game, this storage reports the
/// error of a loader: a damaged chunk must not count as missing, because a new chunk would then be
/// generated over it. Written chunks go to the saver and are read back only if the saver is also a
/// loader, as in the game.
#[derive(Debug)]
pub struct MigrationStorage {
    /// `None` means the saver.
    loaders: Vec<Option<Box<dyn ChunkStorage>>>,
    saver: Box<dyn ChunkStorage>,
}

impl MigrationStorage {
    /// Creates a storage that reads from `loaders` in order and writes to `saver`. `None` among the
    /// loaders means the saver.
    pub fn new(loaders: Vec<Option<Box<dyn ChunkStorage>>>, saver: Box<dyn ChunkStorage>) -> Self {
        Self { loaders, saver }
    }

    fn loaders(&self) -> impl Iterator<Item = &dyn ChunkStorage> {
        self.loaders.iter().map(|loader| loader.as_deref().unwrap_or(&*self.saver))
    }

    /// Asks each loader in order until one returns a value.
    fn first<T>(&self, ask: impl Fn(&dyn ChunkStorage) -> Result<Option<T>>) -> Result<Option<T>> {
        for loader in self.loaders() {
            if let Some(found) = ask(loader)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

#[deny(clippy::missing_trait_methods)]
impl ChunkStorage for MigrationStorage {
    fn location(&self) -> String {
        let loaders: Vec<_> = self.loaders().map(ChunkStorage::location).collect();
        format!("{} -> {}", loaders.join(" + "), self.saver.location())
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        self.first(|loader| loader.read(at))
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        self.saver.write(at, document)
    }

    fn remove(&self, at: ChunkPos) -> Result<bool> {
        self.saver.remove(at)
    }

    fn positions(&self) -> Positions<'_> {
        self.positions_in(&|_| true)
    }

    fn positions_in<'a>(&'a self, is_wanted: &'a RegionFilter<'a>) -> Positions<'a> {
        // With a single loader positions are unique and need not be remembered.
        let mut seen = HashSet::new();
        let is_single = self.loaders.len() == 1;
        let all = self.loaders().flat_map(|loader| loader.positions_in(is_wanted));
        Box::new(all.filter(move |found| match found {
            Ok(at) => is_single || seen.insert(*at),
            Err(_) => true,
        }))
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        self.first(|loader| loader.size(at))
    }

    fn sync(&self) -> Result<()> {
        self.saver.sync()
    }

    fn batches(&self) -> Option<&dyn BatchStorage> {
        Some(self)
    }
}

impl BatchStorage for MigrationStorage {
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        let mut results: Vec<_> = positions.iter().map(|_| Ok(None)).collect();
        for loader in self.loaders() {
            let is_missing = |result: &Result<Option<_>>| matches!(result, Ok(None));
            let missing = positions.iter().zip(&results).filter(|(_, result)| is_missing(result));
            let missing: Vec<_> = missing.map(|(at, _)| *at).collect();
            if missing.is_empty() {
                break;
            }
            let missing_results = results.iter_mut().filter(|result| is_missing(result));
            for (result, found) in missing_results.zip(loader.read_many(&missing)) {
                *result = found;
            }
        }
        results
    }

    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        self.saver.write_many(chunks)
    }

    fn shares_writes(&self) -> bool {
        self.saver.shares_writes()
    }

    fn knows_sizes(&self) -> bool {
        self.loaders().all(ChunkStorageExt::knows_sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::FailingStorage;
    use crate::empty::EmptyStorage;
    use crate::memory::MemoryStorage;

    fn at(x: i32) -> ChunkPos {
        ChunkPos::new(x, 0)
    }

    fn memory(chunks: &[(i32, &[u8])]) -> Box<dyn ChunkStorage> {
        let storage = MemoryStorage::new();
        for (x, document) in chunks {
            storage.write(at(*x), document).unwrap();
        }
        Box::new(storage)
    }

    #[test]
    fn a_chunk_is_read_from_the_first_loader_that_has_it() {
        let loaders =
            vec![Some(memory(&[(1, b"a"), (2, b"b")])), Some(memory(&[(2, b"x"), (3, b"c")]))];
        let storage = MigrationStorage::new(loaders, Box::new(MemoryStorage::new()));
        let expected = [None, Some(b"a".to_vec()), Some(b"b".to_vec()), Some(b"c".to_vec())];
        for (x, document) in (0..).zip(&expected) {
            assert_eq!(storage.read(at(x)).unwrap(), *document);
            assert_eq!(storage.contains(at(x)).unwrap(), document.is_some());
        }
        assert_eq!(storage.read_all(&[at(0), at(1), at(2), at(3)]).unwrap(), expected);
        assert_eq!(storage.all_positions().unwrap(), [at(1), at(2), at(3)]);
    }

    #[test]
    fn chunks_are_written_only_to_the_saver() {
        let loaders = vec![Some(memory(&[(1, b"old")])), None];
        let storage = MigrationStorage::new(loaders, Box::new(MemoryStorage::new()));
        storage.write(at(5), b"new").unwrap();
        assert_eq!(storage.read(at(5)).unwrap().unwrap(), b"new", "the saver is a loader too");
        storage.write(at(1), b"new").unwrap();
        assert_eq!(storage.read(at(1)).unwrap().unwrap(), b"old", "but comes after the first");
        assert!(storage.remove(at(1)).unwrap() && !storage.remove(at(1)).unwrap());
        assert_eq!(storage.read(at(1)).unwrap().unwrap(), b"old");
    }

    #[test]
    fn with_an_empty_saver_the_world_is_read_only() {
        let storage =
            MigrationStorage::new(vec![Some(memory(&[(1, b"a")]))], Box::new(EmptyStorage));
        storage.write(at(1), b"changed").unwrap();
        storage.write(at(2), b"new").unwrap();
        assert!(!storage.remove(at(1)).unwrap());
        assert_eq!(storage.read(at(1)).unwrap().unwrap(), b"a");
        assert_eq!(storage.all_positions().unwrap(), [at(1)]);
    }

    #[test]
    fn an_error_of_a_loader_is_never_a_missing_chunk() {
        let failing = FailingStorage::new(MemoryStorage::new());
        failing.fail_reads(true);
        let loaders = vec![Some(Box::new(failing) as _), Some(memory(&[(1, b"older")]))];
        let storage = MigrationStorage::new(loaders, Box::new(MemoryStorage::new()));
        for x in [1, 2] {
            assert!(storage.read(at(x)).is_err(), "{x}");
            assert!(ChunkStorageExt::read_many(&storage, &[at(x)]).remove(0).is_err(), "{x}");
        }
    }
}
