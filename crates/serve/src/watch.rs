//! [`Watch`]: whether the region files of a world were written.
//!
//! The game writes a blob, and then changes the index table through a mapping of the file, which
//! raises no event of the file system. So the tables are compared instead. Worlds in other storages
//! are drawn again once a minute.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hyworld::Location;
use hyworld_maintenance::RegionRecord;

/// How often worlds without region files are drawn again.
const OTHER_STORAGES: Duration = Duration::from_mins(1);

/// The state of the region files at the last call.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    files: BTreeMap<PathBuf, Option<RegionRecord>>,
    last: Option<Instant>,
}

impl Watch {
    /// Returns whether files changed since the last call. The first call returns true.
    pub(crate) fn has_changed(&mut self, location: &Location) -> bool {
        let Ok(files) = location.region_files() else { return false };
        let records = files.into_iter().map(|(_, path)| {
            let record = RegionRecord::of(&path);
            (path, record)
        });
        let records: BTreeMap<_, _> = records.collect();
        let is_due = match self.last {
            None => true,
            Some(last) => records.is_empty() && last.elapsed() > OTHER_STORAGES,
        };
        if is_due || records != self.files {
            (self.files, self.last) = (records, Some(Instant::now()));
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ChunkPos;
    use hyworld_providers::{ChunkStorage, RegionFiles};

    #[test]
    fn written_and_removed_chunks_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let storage = RegionFiles::open(folder.path()).unwrap();
        storage.write(ChunkPos::new(0, 0), b"one").unwrap();
        let location = Location::source(folder.path()).unwrap();
        let mut watch = Watch::default();
        assert!(watch.has_changed(&location));
        assert!(!watch.has_changed(&location));
        storage.write(ChunkPos::new(1, 0), b"two").unwrap();
        assert!(watch.has_changed(&location));
        storage.remove(ChunkPos::new(0, 0)).unwrap();
        assert!(watch.has_changed(&location));
        storage.write(ChunkPos::new(40, 0), b"in another region").unwrap();
        assert!(watch.has_changed(&location));
        assert!(!watch.has_changed(&location));
    }
}
