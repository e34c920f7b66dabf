//! The provider `Empty`: stores nothing.

use hyworld_coords::ChunkPos;

use crate::error::Result;
use crate::storage::{ChunkSize, ChunkStorage, Positions};

/// A storage that holds nothing and discards writes without an error. A world with this provider is
/// generated anew each time. A migration that writes to it is read-only in effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EmptyStorage;

impl ChunkStorage for EmptyStorage {
    fn location(&self) -> String {
        "nowhere".to_owned()
    }

    fn read(&self, _at: ChunkPos) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn write(&self, _at: ChunkPos, _document: &[u8]) -> Result<()> {
        Ok(())
    }

    fn remove(&self, _at: ChunkPos) -> Result<bool> {
        Ok(false)
    }

    fn positions(&self) -> Positions<'_> {
        Box::new(std::iter::empty())
    }

    fn size(&self, _at: ChunkPos) -> Result<Option<ChunkSize>> {
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::ChunkStorageExt;

    #[test]
    fn writes_are_discarded_without_an_error() {
        let at = ChunkPos::new(3, -4);
        let storage = EmptyStorage;
        storage.write(at, b"gone").unwrap();
        assert!(storage.write_many(&[(at, b"gone")]).into_iter().all(|written| written.is_ok()));
        assert_eq!(storage.read(at).unwrap(), None);
        assert_eq!(storage.read_all(&[at, at]).unwrap(), [None, None]);
        assert!(!storage.remove(at).unwrap() && !storage.contains(at).unwrap());
        assert!(storage.all_positions().unwrap().is_empty());
        storage.sync().unwrap();
    }
}
