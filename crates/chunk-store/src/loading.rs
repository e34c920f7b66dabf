//! The stages of a request: load, generate, tick.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;

use crate::error::LoadError;
use crate::events::RemoveReason;
use crate::executor::Lane;
use crate::flags::ChunkFlags;
use crate::generator::{ChunkGenerator, GenerateRequest, StillNeeded};
use crate::loaded_chunk::LoadedChunk;
use crate::request::{LoadState, Outcome};
use crate::shared::Shared;
use crate::store::ChunkStore;
use crate::sync::lock;

/// Without these there is no chunk. The game breaks later where others are missing; here what is
/// missing reads as the game makes it.
const REQUIRED: [&str; 2] = ["WorldChunk", "BlockChunk"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StageKind {
    Load,
    Generate,
    Tick,
}

/// A stage that has to be started, behind another if there is one.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) after: Option<Shared<Outcome>>,
    pub(crate) kind: StageKind,
    pub(crate) cell: Shared<Outcome>,
}

/// The generator, and what waits for there to be one.
#[derive(Debug)]
pub(crate) struct GeneratorSlot {
    generator: Option<Arc<dyn ChunkGenerator>>,
    waiting: Vec<(ChunkPos, Shared<Outcome>)>,
}

impl GeneratorSlot {
    pub(crate) fn new(generator: Option<Arc<dyn ChunkGenerator>>) -> Self {
        Self { generator, waiting: Vec::new() }
    }
}

impl ChunkStore {
    pub(crate) fn start_stage(&self, at: ChunkPos, start: Start) {
        let Start { after, kind, cell } = start;
        let Some(after) = after else { return self.begin(at, kind, cell) };
        let store = self.clone();
        after.when_done(move |outcome| match (kind, outcome) {
            (StageKind::Tick, Ok(Some(chunk))) => store.tick_then(Arc::clone(chunk), cell),
            // A failed load never gets here: what is stored must not be generated over.
            (StageKind::Load | StageKind::Generate, Ok(None)) => store.begin(at, kind, cell),
            _ => drop(cell.complete(outcome.clone())),
        });
    }

    fn begin(&self, at: ChunkPos, kind: StageKind, cell: Shared<Outcome>) {
        match kind {
            StageKind::Load => {
                let stage = Stage::new(self, at, cell);
                self.inner.executor.spawn(Lane::Load, Box::new(move || stage.load()));
            }
            StageKind::Generate => self.begin_generate(at, cell),
            // There is nothing that could tick.
            StageKind::Tick => drop(cell.complete(Ok(None))),
        }
    }

    fn begin_generate(&self, at: ChunkPos, cell: Shared<Outcome>) {
        let mut slot = lock(&self.inner.generator);
        let Some(generator) = slot.generator.clone() else {
            slot.waiting.push((at, cell));
            return;
        };
        drop(slot);
        let stage = Stage::new(self, at, cell);
        let request = GenerateRequest {
            at,
            seed: low_32_bits(self.inner.settings.seed),
            still_needed: Some(self.still_needed(at)),
        };
        let generate = move || {
            let made = if request.is_abandoned() { Ok(None) } else { generator.generate(&request) };
            stage.generated(made);
        };
        self.inner.executor.spawn(Lane::Load, Box::new(generate));
    }

    /// Returns whether it is worth generating a chunk: until the store is shut down, and if all who
    /// asked for it want it only as long as a viewer should see it, until none should.
    fn still_needed(&self, at: ChunkPos) -> StillNeeded {
        let store = self.clone();
        Arc::new(move || {
            let is_polled = || lock(&store.inner.states).get(&at).is_some_and(LoadState::is_polled);
            !store.is_shut_down() && (!is_polled() || lock(&store.inner.viewers).sees(at))
        })
    }

    /// Sets the generator, or replaces it. Requests that waited for one go on.
    pub fn set_generator(&self, generator: Arc<dyn ChunkGenerator>) {
        let mut slot = lock(&self.inner.generator);
        slot.generator = Some(generator);
        let waiting = mem::take(&mut slot.waiting);
        drop(slot);
        self.inner.counters.generator_replaced();
        for (at, cell) in waiting {
            self.begin_generate(at, cell);
        }
    }

    /// Ends the generator, and fails what still waits for one.
    pub(crate) fn shut_down_generator(&self) {
        let mut slot = lock(&self.inner.generator);
        let (generator, waiting) = (slot.generator.clone(), mem::take(&mut slot.waiting));
        drop(slot);
        if let Some(generator) = generator {
            generator.shut_down();
        }
        for (at, cell) in waiting {
            drop(Stage::new(self, at, cell));
        }
    }

    /// Lets a chunk tick from the world's queue, and answers then.
    pub(crate) fn tick_then(&self, chunk: Arc<LoadedChunk>, cell: Shared<Outcome>) {
        let store = self.clone();
        self.post(move || {
            store.start_ticking(&chunk);
            cell.complete(Ok(Some(chunk)));
        });
    }
}

/// The game gives its generator an int.
fn low_32_bits(seed: i64) -> i32 {
    let [a, b, c, d, ..] = seed.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// A load or a generation under way. One that is dropped half-way has failed, so that nobody waits
/// for ever.
struct Stage {
    store: ChunkStore,
    at: ChunkPos,
    cell: Shared<Outcome>,
    started: Duration,
    is_open: bool,
}

impl Stage {
    fn new(store: &ChunkStore, at: ChunkPos, cell: Shared<Outcome>) -> Self {
        store.inner.counters.stage_started();
        Self { store: store.clone(), at, cell, started: store.now(), is_open: true }
    }

    /// On a worker.
    fn load(self) {
        let at = self.at;
        if self.store.is_shut_down() {
            return self.finish(Ok(None));
        }
        match self.store.inner.storage.read(at) {
            Err(source) => self.fail(LoadError::Storage { at, source }),
            Ok(None) => self.finish(Ok(None)),
            Ok(Some(document)) => match Chunk::decode(document) {
                Err(source) => self.fail(LoadError::Malformed { at, source }),
                Ok(chunk) => self.pre_load(chunk, false),
            },
        }
    }

    /// On a worker.
    fn generated(self, made: Result<Option<Chunk>, crate::error::BoxedError>) {
        let at = self.at;
        match made {
            Err(source) => self.fail(LoadError::Generator { at, source }),
            Ok(None) => {
                // Given up because no viewer wants it. The next request starts anew.
                if let Some(state) = lock(&self.store.inner.states).get_mut(&at) {
                    state.forget_chain();
                }
                self.finish(Ok(None));
            }
            Ok(Some(chunk)) => self.pre_load(chunk, true),
        }
    }

    /// On a worker: checks the chunk and shows it to the listeners.
    fn pre_load(self, mut chunk: Chunk, is_generated: bool) {
        let at = self.at;
        let missing = REQUIRED.into_iter().find(|id| !chunk.holder().contains(id));
        if let Some(component) = missing {
            return self.fail(LoadError::MissingComponent { at, component });
        }
        self.store.listeners().each(|one| one.pre_load(at, &mut chunk, is_generated));
        let store = self.store.clone();
        store.post(move || self.post_load(chunk, is_generated));
    }

    /// On the world's thread: adds the chunk to the store.
    fn post_load(self, chunk: Chunk, is_generated: bool) {
        let inner = &self.store.inner;
        if inner.settings.is_closed.load(Ordering::SeqCst) {
            // Everything was saved already, and what is added now would not be.
            return self.finish(Ok(None));
        }
        let mut flags = ChunkFlags::START_INIT;
        if is_generated {
            flags = flags | ChunkFlags::NEWLY_GENERATED;
        }
        let is_dirty = is_generated && inner.settings.save_new_chunks.load(Ordering::SeqCst);
        let context = Arc::clone(&inner.context);
        let chunk = Arc::new(LoadedChunk::new(self.at, chunk, flags, is_dirty, context));
        let replaced = lock(&inner.states).entry(self.at).or_default().add(Arc::clone(&chunk));
        if let Some(replaced) = replaced {
            self.store.discard(&replaced);
        }
        chunk.set_flag(ChunkFlags::INIT, true);
        self.store.welcome_entities(&chunk);
        let time = self.store.now().saturating_sub(self.started);
        inner.counters.chunk_added(is_generated, time);
        self.store.listeners().each(|one| one.loaded(&chunk));
        self.finish(Ok(Some(chunk)));
    }

    fn finish(mut self, outcome: Outcome) {
        self.is_open = false;
        self.cell.complete(outcome);
    }

    fn fail(mut self, error: LoadError) {
        self.close_with(error);
    }

    fn close_with(&mut self, error: LoadError) {
        self.is_open = false;
        let (store, at, error) = (self.store.clone(), self.at, Arc::new(error));
        let now = store.now();
        lock(&store.inner.states).entry(at).or_default().fail(Arc::clone(&error), now);
        store.inner.counters.load_failed();
        let told = Arc::clone(&error);
        self.store.post(move || store.listeners().each(|one| one.load_failed(at, &told)));
        self.cell.complete(Err(error));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.is_open {
            self.close_with(LoadError::Abandoned { at: self.at });
        }
        self.store.inner.counters.stage_ended();
    }
}

impl ChunkStore {
    /// A chunk was replaced: it is gone for good, with what was not saved of it.
    fn discard(&self, chunk: &Arc<LoadedChunk>) {
        let was_ticking = chunk.is_ticking();
        let entities = chunk.discard();
        if was_ticking {
            self.listeners().each(|one| one.ticking_changed(chunk, false));
        }
        for (id, holder) in &entities {
            self.listeners().each(|one| one.entity_removed(*id, holder, RemoveReason::Remove));
        }
        self.listeners().each(|one| one.removed(chunk, RemoveReason::Remove));
    }
}
