//! Tests with real chunks, if available.

use hyworld_coords::RegionPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFiles, RocksDbStorage};
use hyworld_testkit::{WORLDS, region_files};

use crate::world;

/// Copies real chunks from region files to a database and compares every document.
#[test]
fn real_chunks_are_copied_unchanged() {
    for name in WORLDS {
        let Some(paths) = region_files(name) else { return };
        let smallest = paths.iter().min_by_key(|path| path.metadata().unwrap().len()).unwrap();
        let regions = RegionFiles::open_read_only(smallest.parent().unwrap()).unwrap();
        let file_name = smallest.file_name().unwrap().to_str().unwrap();
        let mut chunks = regions.chunks_of(RegionPos::from_file_name(file_name).unwrap()).unwrap();
        assert!(!chunks.is_empty());
        let (_world, folder) = world();
        let storage = RocksDbStorage::open(&folder).unwrap();
        for group in chunks.chunks(100) {
            let documents = regions.read_all(group).unwrap();
            let documents: Vec<_> = group.iter().copied().zip(documents).collect();
            let documents: Vec<_> =
                documents.iter().map(|(at, found)| (*at, found.as_deref().unwrap())).collect();
            storage.write_all(&documents).unwrap();
        }
        storage.compact().unwrap();
        drop(storage);
        let storage = RocksDbStorage::open_read_only(&folder).unwrap();
        chunks.sort_unstable();
        assert_eq!(storage.all_positions().unwrap(), chunks);
        for at in chunks {
            let expected = regions.read(at).unwrap();
            assert!(storage.read(at).unwrap() == expected, "{name} {at}");
            assert_eq!(storage.size(at).unwrap().unwrap().raw, expected.unwrap().len() as u64);
        }
    }
}
