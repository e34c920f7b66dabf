use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use hyworld_chunk::Chunk;
use hyworld_chunk_store::{ChunkGenerator, FlatGenerator, GenerateRequest, StoreOptions};
use hyworld_coords::{ChunkBlock, Rect};
use hyworld_providers::{ChunkStorage, MemoryStorage};

use super::mark::MarkState;
use super::*;

const AT: ChunkPos = ChunkPos::new(3, -7);

fn chunk() -> Chunk {
    let request = GenerateRequest { at: AT, seed: 0, still_needed: None };
    FlatGenerator::meadow().unwrap().generate(&request).unwrap().unwrap()
}

#[test]
fn a_number_is_read_back_and_changed_cells_are_detected() {
    let mut chunk = chunk();
    assert_eq!(mark::read(&chunk, AT), MarkState::Missing);
    for number in [1, 2, u64::MAX, 0xDEAD_BEEF, 3] {
        mark::write(&mut chunk, AT, number).unwrap();
        assert_eq!(mark::read(&chunk, AT), MarkState::Complete(number));
    }
    assert_eq!(mark::read(&chunk, ChunkPos::new(3, -6)), MarkState::Mixed);
    for (x, y, z) in [(0, 1, 0), (31, 1, 1), (5, 318, 0), (31, 317, 31)] {
        let mut other = chunk.clone();
        let cell = ChunkBlock::new(x, y, z).unwrap();
        let is_stone = other.block(cell).unwrap().name() == "Rock_Stone";
        let name = if is_stone { "Soil_Dirt" } else { "Rock_Stone" };
        other.set_block(cell, name).unwrap();
        assert_eq!(mark::read(&other, AT), MarkState::Mixed, "{cell}");
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn options() -> StressOptions {
    StressOptions {
        time: Duration::from_millis(300),
        viewers: 2,
        radius: 2,
        edits_per_second: 1000.0,
        speed: 100.0,
        seed: 5,
        area: 4,
    }
}

#[test]
fn the_journal_matches_the_storage() {
    let storage = Arc::new(MemoryStorage::new());
    let lines = Lines::default();
    let journal = Arc::new(Journal::new(Some(Box::new(lines.clone()))));
    let store_options = StoreOptions {
        generator: Some(Arc::new(FlatGenerator::meadow().unwrap())),
        listeners: vec![Arc::clone(&journal) as _],
        ..StoreOptions::default()
    };
    let store = ChunkStore::new(Arc::clone(&storage), store_options).unwrap();
    let area = Rect::around(ChunkPos::new(0, 0), 4);
    let report = load(&store, &journal, &options(), &Ground::Generated(area), || false, |_| ());
    assert!(store.shut_down().is_complete());
    let counts = journal.counts();
    assert!(report.steps > 0 && counts.edits > 20, "{report:?} {counts:?}");
    assert_eq!((counts.acknowledged, counts.mismatched, counts.uneditable), (counts.edits, 0, 0));
    let mut last = std::collections::BTreeMap::new();
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (at, number) = ((words[1], words[2]), words[3].parse::<u64>().unwrap());
        let (edited, saved) = last.entry(at).or_insert((0, 0));
        match words[0] {
            "edit" => assert!(*edited == *saved && number == *saved + 1, "{line}"),
            _ => assert!(words[0] == "saved" && number == *edited, "{line}"),
        }
        *if words[0] == "edit" { edited } else { saved } = number;
    }
    for ((x, z), (_, number)) in last {
        let at = ChunkPos::new(x.parse().unwrap(), z.parse().unwrap());
        let chunk = Chunk::decode(storage.read(at).unwrap().unwrap()).unwrap();
        let found = mark::read(&chunk, at);
        assert_eq!(found, MarkState::Complete(number), "{at}");
    }
}

#[test]
fn without_a_generator_viewers_walk_on_stored_chunks_only() {
    let storage = Arc::new(MemoryStorage::new());
    let request = GenerateRequest { at: AT, seed: 0, still_needed: None };
    let chunk = FlatGenerator::meadow().unwrap().generate(&request).unwrap().unwrap();
    let stored = [AT, ChunkPos::new(4, -7), ChunkPos::new(90, 90)];
    for at in stored {
        storage.write(at, &chunk.encode()).unwrap();
    }
    let journal = Arc::new(Journal::new(None));
    let listeners = vec![Arc::clone(&journal) as _];
    let store_options = StoreOptions { listeners, ..StoreOptions::default() };
    let store = ChunkStore::new(Arc::clone(&storage), store_options).unwrap();
    let ground = Ground::Stored(stored.to_vec());
    load(&store, &journal, &options(), &ground, || false, |_| ());
    assert!(store.shut_down().is_complete());
    let metrics = store.metrics();
    assert!(metrics.loaded >= 3 && metrics.generated == 0, "{metrics:?}");
    assert!(journal.counts().acknowledged > 0);
    assert_eq!(storage.positions().count(), 3);
}

#[test]
fn a_log_that_cannot_be_written_stops_the_test() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let journal = Arc::new(Journal::new(Some(Box::new(Full))));
    let store_options = StoreOptions {
        generator: Some(Arc::new(FlatGenerator::meadow().unwrap())),
        listeners: vec![Arc::clone(&journal) as _],
        ..StoreOptions::default()
    };
    let store = ChunkStore::new(MemoryStorage::new(), store_options).unwrap();
    let area = Rect::around(ChunkPos::new(0, 0), 4);
    let options = StressOptions { time: Duration::from_mins(1), ..options() };
    let report = load(&store, &journal, &options, &Ground::Generated(area), || false, |_| ());
    assert!(report.ms.0 < Duration::from_secs(30) && journal.is_broken());
    assert_eq!(journal.counts().edits, 0);
    assert!(journal.take_log_error().is_some());
    assert!(store.shut_down().is_complete());
}
