//! Damaged chunks, in every binary field and in the document around them. Decoding, viewing,
//! fingerprinting, changing and encoding must not panic, and unchanged bytes must be kept.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::sync::Mutex;

use hyworld_chunk::bson::{Document, Value};
use hyworld_chunk::{BlockComponentChunk, Chunk, EntityChunk, Fingerprint, Holder};
use hyworld_coords::{ChunkBlock, SectionY};
use hyworld_indexed_storage::{MemoryFile, OpenOptions};
use hyworld_testkit::fixture;

const DATA_KEY: &str = "Data";

/// Returns the documents of all fixture chunks that the game's own code wrote.
fn documents() -> Vec<Vec<u8>> {
    let mut documents = Vec::new();
    for name in ["synthetic_v6", "synthetic_old_versions", "synthetic_migrations"] {
        let bytes = fixture(&format!("original/chunks/{name}.region.bin"));
        let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), name).unwrap();
        documents.extend(file.occupied().into_iter().map(|slot| file.read(slot).unwrap().unwrap()));
    }
    documents
}

/// How many chunks were damaged, and how reading them ended.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    flipped: usize,
    truncated: usize,
    /// Rejected with an error, and kept.
    refused: usize,
    /// Viewed, fingerprinted and changed.
    viewed: usize,
}

impl Tally {
    fn tried(&self) -> usize {
        self.flipped + self.truncated
    }

    fn add(&mut self, other: Self) {
        self.flipped += other.flipped;
        self.truncated += other.truncated;
        self.refused += other.refused;
        self.viewed += other.viewed;
    }

    /// Decodes, views, fingerprints, changes and encodes a document.
    fn send(&mut self, document: &[u8]) {
        let Ok(chunk) = Chunk::decode(document.to_vec()) else {
            assert!(Fingerprint::of(document.to_vec()).is_err());
            self.refused += 1;
            return;
        };
        assert!(chunk.encode() == document, "kept unchanged");
        if chunk.decode_blocks().is_err() {
            assert!(Fingerprint::of(document.to_vec()).is_err());
            self.refused += 1;
            return;
        }
        self.viewed += 1;
        // A fingerprint visits every cell; a sample is enough.
        if self.viewed.is_multiple_of(6) {
            // It also counts entities, which may be damaged.
            let blocks = chunk.get::<BlockComponentChunk>().is_ok();
            let is_whole = blocks && chunk.get::<EntityChunk>().is_ok();
            assert_eq!(Fingerprint::of(document.to_vec()).is_ok(), is_whole);
        }
        change(chunk, document);
    }
}

/// Checks that encoding gives the same bytes without a change, and a readable chunk with one.
fn change(mut chunk: Chunk, document: &[u8]) {
    assert!(chunk.encode() == document, "nothing was changed");
    let at = ChunkBlock::new(17, 70, 5).unwrap();
    // A section with a full palette rejects another block.
    match chunk.set_block(at, "Test_Glass") {
        Ok(outcome) if outcome.changed => {
            let again = Chunk::decode(chunk.encode()).unwrap();
            again.decode_blocks().unwrap();
            assert_eq!(again.block(at).unwrap().name(), "Test_Glass");
        }
        _ => assert!(chunk.encode() == document, "an edit that fails changes nothing"),
    }
}

/// A binary field of a chunk: the section it is in, if any, and the component.
#[derive(Clone, Copy, Debug)]
struct BinaryField<'a> {
    section: Option<SectionY>,
    component: &'a str,
}

impl BinaryField<'_> {
    fn holder<'c>(&self, chunk: &'c Chunk) -> Option<&'c Holder> {
        self.section.map_or(Some(chunk.holder()), |y| chunk.section_holder(y))
    }

    fn component(&self, chunk: &Chunk) -> Option<Document> {
        let raw = self.holder(chunk)?.raw(self.component)?;
        Document::from_raw(raw).ok()
    }

    fn bytes(&self, chunk: &Chunk) -> Option<Vec<u8>> {
        match self.component(chunk)?.get(DATA_KEY) {
            Some(Value::Binary { bytes, .. }) => Some(bytes.clone()),
            _ => None,
        }
    }

    /// Returns the chunk's document with other bytes in the field.
    fn with(&self, chunk: &Chunk, bytes: &[u8]) -> Vec<u8> {
        let mut component = self.component(chunk).unwrap();
        component.set(DATA_KEY, Value::Binary { subtype: 0, bytes: bytes.to_vec() });
        let (mut chunk, document) = (chunk.clone(), component.to_bytes());
        match self.section {
            Some(y) => chunk.section_mut(y).set_raw(self.component, &document).unwrap(),
            None => chunk.set_raw(self.component, &document).unwrap(),
        }
        chunk.encode()
    }
}

fn binary_fields() -> Vec<BinaryField<'static>> {
    let root = ["BlockChunk", "EnvironmentChunk", "BlockHealthChunk"];
    let root = root.map(|component| BinaryField { section: None, component });
    let sections = SectionY::all().flat_map(|y| {
        ["Block", "Fluid", "BlockPhysics"]
            .map(|component| BinaryField { section: Some(y), component })
    });
    root.into_iter().chain(sections).collect()
}

/// Returns positions in `len` bytes: the first and the last `ends`, where the structure is, and
/// `between` positions spread over the rest.
fn positions(len: usize, ends: usize, between: usize) -> Vec<usize> {
    let spread = (0..between).map(|number| number * len / between);
    let mut positions: Vec<usize> =
        (0..ends).chain(spread).chain(len.saturating_sub(ends)..len).collect();
    positions.retain(|position| *position < len);
    positions.sort_unstable();
    positions.dedup();
    positions
}

fn flipped(bytes: &[u8], position: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    // One bit or all of them, alternately.
    let flip = if position.is_multiple_of(2) { 0xff } else { 1 << (position / 2 % 8) };
    *bytes.get_mut(position).unwrap() ^= flip;
    bytes
}

/// Flips and truncates every binary field of a chunk. Most sections of a chunk are the same, so
/// fields with bytes in `seen` are skipped.
fn damage_fields(document: &[u8], seen: &Mutex<HashSet<Vec<u8>>>) -> Tally {
    let mut tally = Tally::default();
    let chunk = Chunk::decode(document.to_vec()).unwrap();
    for field in binary_fields() {
        let Some(bytes) = field.bytes(&chunk) else { continue };
        if !seen.lock().unwrap().insert(bytes.clone()) {
            continue;
        }
        for position in positions(bytes.len(), 20, 20) {
            tally.flipped += 1;
            tally.send(&field.with(&chunk, &flipped(&bytes, position)));
        }
        for len in positions(bytes.len(), 6, 8) {
            tally.truncated += 1;
            let refused = tally.refused;
            tally.send(&field.with(&chunk, bytes.get(..len).unwrap()));
            assert_eq!(tally.refused, refused + 1, "{field:?} cut to {len} bytes");
        }
    }
    tally
}

/// Flips and truncates the document itself.
fn damage_document(document: &[u8]) -> Tally {
    let mut tally = Tally::default();
    for position in positions(document.len(), 20, 30) {
        tally.flipped += 1;
        tally.send(&flipped(document, position));
        tally.truncated += 1;
        tally.send(document.get(..position).unwrap());
    }
    tally
}

#[test]
fn damaged_chunks_are_rejected_or_read_and_always_kept() {
    let documents = documents();
    assert_eq!(documents.len(), 15);
    let (seen, queue) = (Mutex::new(HashSet::new()), Mutex::new(documents));
    let total = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(document) = queue.lock().unwrap().pop() else { break };
                    let mut tally = damage_fields(&document, &seen);
                    tally.add(damage_document(&document));
                    total.lock().unwrap().add(tally);
                }
            });
        }
    });
    let total = total.into_inner().unwrap();
    let fields = seen.into_inner().unwrap().len();
    println!("{} damaged chunks, {fields} fields: {total:?}", total.tried());
    assert_eq!(total.tried(), total.refused + total.viewed);
    assert!(total.refused > 1000 && total.viewed > 1000, "{total:?}");
}
