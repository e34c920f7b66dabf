//! A store without threads, on a test clock, with a listener that records all events.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyworld_chunk::{AssetKey, Chunk, Holder};
use hyworld_chunk_store::{
    AddReason, BoxedError, ChunkGenerator, ChunkStore, EntityId, FlatGenerator, GenerateRequest,
    LoadError, LoadedChunk, Outcome, RemoveReason, RequestFlags, SaveDecision, SaveError,
    StepExecutor, StoreListener, StoreOptions, TestClock, UnloadDecision,
};
use hyworld_coords::{ChunkBlock, ChunkPos};
use hyworld_providers::conformance::{CountingStorage, FailingStorage};
use hyworld_providers::{ChunkStorage, MemoryStorage};

pub(crate) type Storage = CountingStorage<FailingStorage<MemoryStorage>>;

pub(crate) const HALF_SECOND: Duration = Duration::from_millis(500);

pub(crate) struct Rig {
    pub(crate) store: ChunkStore,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) storage: Arc<Storage>,
    pub(crate) events: Arc<Recorder>,
    pub(crate) generator: Arc<Generator>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    pub(crate) fn with(change: impl FnOnce(&mut StoreOptions)) -> Self {
        let storage = FailingStorage::new(MemoryStorage::new());
        let storage = Arc::new(CountingStorage::new(storage));
        let clock = Arc::new(TestClock::new());
        let events = Arc::new(Recorder::default());
        let generator = Arc::new(Generator::default());
        let mut options = StoreOptions {
            clock: Arc::clone(&clock) as _,
            executor: Some(Arc::new(StepExecutor::new())),
            listeners: vec![Arc::clone(&events) as _],
            generator: Some(Arc::clone(&generator) as _),
            seed: 0x1_0000_002A,
            ..StoreOptions::default()
        };
        change(&mut options);
        let store = ChunkStore::new(Arc::clone(&storage), options).unwrap();
        // Makes this thread the world's thread.
        store.step();
        Self { store, clock, storage, events, generator }
    }

    /// Writes a chunk directly to the storage.
    pub(crate) fn put(&self, at: ChunkPos) {
        let document = flat().encode();
        self.storage.inner().inner().write(at, &document).unwrap();
    }

    pub(crate) fn get(&self, at: ChunkPos, flags: RequestFlags) -> Outcome {
        self.store.get_now(at, flags)
    }

    pub(crate) fn load(&self, at: ChunkPos) -> Arc<LoadedChunk> {
        self.get(at, RequestFlags::NONE).unwrap().unwrap()
    }

    pub(crate) fn load_ticking(&self, at: ChunkPos) -> Arc<LoadedChunk> {
        self.get(at, RequestFlags::SET_TICKING).unwrap().unwrap()
    }

    /// Advances the world by half a second, without waiting for the jobs this starts.
    pub(crate) fn half_second(&self) {
        self.clock.advance(HALF_SECOND);
        self.store.tick(HALF_SECOND);
    }

    pub(crate) fn half_seconds(&self, count: u32) {
        for _ in 0..count {
            self.half_second();
            self.store.step_until_idle();
        }
    }

    /// Returns the block at height `y` of the stored chunk.
    pub(crate) fn stored_block(&self, at: ChunkPos, y: u16) -> Option<String> {
        let document = self.storage.inner().inner().read(at).unwrap()?;
        let chunk = Chunk::decode(document).unwrap();
        Some(chunk.block(cell(y)).unwrap().name().to_owned())
    }

    pub(crate) fn reads(&self) -> u64 {
        self.storage.counts().reads
    }

    pub(crate) fn writes(&self) -> u64 {
        self.storage.counts().writes
    }
}

pub(crate) fn pos(x: i32, z: i32) -> ChunkPos {
    ChunkPos::new(x, z)
}

pub(crate) fn flat() -> Chunk {
    let request = GenerateRequest { at: pos(0, 0), seed: 0, still_needed: None };
    let flat = FlatGenerator::meadow().unwrap();
    ChunkGenerator::generate(&flat, &request).unwrap().unwrap()
}

pub(crate) fn cell(y: u16) -> ChunkBlock {
    ChunkBlock::new(1, y, 2).unwrap()
}

/// Sets the block at height `y`.
pub(crate) fn edit(chunk: &LoadedChunk, y: u16, name: &str) {
    let name = AssetKey::new(name).unwrap();
    chunk.edit(|chunk| chunk.set_block(cell(y), name)).unwrap().unwrap();
}

pub(crate) fn block(chunk: &LoadedChunk, y: u16) -> String {
    chunk.read(|chunk| chunk.block(cell(y)).unwrap().name().to_owned()).unwrap()
}

/// Generates flat chunks with gold at height 100, and counts its calls.
#[derive(Debug, Default)]
pub(crate) struct Generator {
    pub(crate) calls: AtomicU64,
    pub(crate) fails: AtomicBool,
    pub(crate) last_seed: Mutex<Option<i32>>,
    /// The result of `still_needed` in the last request.
    pub(crate) last_poll: Mutex<Option<bool>>,
    pub(crate) returns_none: AtomicBool,
}

impl Generator {
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

impl ChunkGenerator for Generator {
    fn generate(&self, request: &GenerateRequest) -> Result<Option<Chunk>, BoxedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        *self.last_seed.lock().unwrap() = Some(request.seed);
        let poll = request.still_needed.as_ref().map(|is_needed| is_needed());
        *self.last_poll.lock().unwrap() = poll;
        if self.fails.load(Ordering::SeqCst) {
            return Err("injected failure".into());
        }
        if self.returns_none.load(Ordering::SeqCst) || request.is_abandoned() {
            return Ok(None);
        }
        let mut chunk = flat();
        chunk.set_block(cell(100), "Ore_Gold_Stone")?;
        Ok(Some(chunk))
    }
}

/// Records all events, and vetoes saves and unloads as configured.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    seen: Mutex<Vec<String>>,
    pub(crate) cancels_saves: AtomicBool,
    pub(crate) unload: Mutex<Option<UnloadDecision>>,
}

impl Recorder {
    fn add(&self, event: String) {
        self.seen.lock().unwrap().push(event);
    }

    /// Returns the events since the last call, without arguments.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    pub(crate) fn count(&self, event: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| *seen == event).count()
    }
}

impl StoreListener for Recorder {
    fn pre_load(&self, _: ChunkPos, _: &mut Chunk, is_generated: bool) {
        self.add(format!("pre_load {}", if is_generated { "generated" } else { "loaded" }));
    }

    fn loaded(&self, _: &Arc<LoadedChunk>) {
        self.add("loaded".to_owned());
    }

    fn load_failed(&self, _: ChunkPos, _: &Arc<LoadError>) {
        self.add("load_failed".to_owned());
    }

    fn before_save(&self, _: &Arc<LoadedChunk>) -> SaveDecision {
        self.add("before_save".to_owned());
        if self.cancels_saves.load(Ordering::SeqCst) {
            return SaveDecision::Cancel;
        }
        SaveDecision::Save
    }

    fn saved(&self, _: &Arc<LoadedChunk>) {
        self.add("saved".to_owned());
    }

    fn save_failed(&self, _: &Arc<LoadedChunk>, _: &Arc<SaveError>) {
        self.add("save_failed".to_owned());
    }

    fn sync_failed(&self, _: &Arc<hyworld_providers::Error>) {
        self.add("sync_failed".to_owned());
    }

    fn before_unload(&self, _: &Arc<LoadedChunk>) -> UnloadDecision {
        self.add("before_unload".to_owned());
        self.unload.lock().unwrap().unwrap_or(UnloadDecision::Unload)
    }

    fn removed(&self, _: &Arc<LoadedChunk>, reason: RemoveReason) {
        self.add(format!("removed {reason:?}"));
    }

    fn ticking_changed(&self, _: &Arc<LoadedChunk>, is_ticking: bool) {
        self.add(format!("ticking {is_ticking}"));
    }

    fn entity_added(&self, _: EntityId, _: &Holder, reason: AddReason) {
        self.add(format!("entity_added {reason:?}"));
    }

    fn entity_removed(&self, _: EntityId, _: &Holder, reason: RemoveReason) {
        self.add(format!("entity_removed {reason:?}"));
    }
}
