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

/// Components that every chunk must have. Any other missing component has the game's default values
/// here, although the game fails later without it.
const REQUIRED: [&str; 2] = ["WorldChunk", "BlockChunk"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StageKind {
    Load,
    Generate,
    Tick,
}

/// A stage to start once the stage `after` has finished.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) after: Option<Shared<Outcome>>,
    pub(crate) kind: StageKind,
    pub(crate) cell: Shared<Outcome>,
}

/// The generator, and the requests that wait until one is set.
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
            // A failed load never gets here: a stored chunk must not be replaced by a generated
            // one.
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
            // No chunk to tick.
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
            let generated =
                if request.is_abandoned() { Ok(None) } else { generator.generate(&request) };
            stage.generated(generated);
        };
        self.inner.executor.spawn(Lane::Load, Box::new(generate));
    }

    /// Returns a check that a chunk is still needed: the store is not shut down, and a viewer is in
    /// range or at least one request has no `POLL_STILL_NEEDED`.
    fn still_needed(&self, at: ChunkPos) -> StillNeeded {
        let store = self.clone();
        Arc::new(move || {
            let is_polled = || lock(&store.inner.states).get(&at).is_some_and(LoadState::is_polled);
            !store.is_shut_down() && (!is_polled() || lock(&store.inner.viewers).sees(at))
        })
    }

    /// Sets or replaces the generator, and starts the requests that waited for one.
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

    /// Shuts down the generator, and fails the requests that still wait for one.
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

    /// Starts ticking the chunk from the world's queue, then answers the request.
    pub(crate) fn tick_then(&self, chunk: Arc<LoadedChunk>, cell: Shared<Outcome>) {
        let store = self.clone();
        self.post(move || {
            store.start_ticking(&chunk);
            cell.complete(Ok(Some(chunk)));
        });
    }
}

/// The game passes its generator an `int`.
fn low_32_bits(seed: i64) -> i32 {
    let [a, b, c, d, ..] = seed.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// A load or generation in progress. Dropping it before it ends fails the request, so that callers
/// do not wait forever.
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

    /// Runs on a worker.
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

    /// Runs on a worker.
    fn generated(self, result: Result<Option<Chunk>, crate::error::BoxedError>) {
        let at = self.at;
        match result {
            Err(source) => self.fail(LoadError::Generator { at, source }),
            Ok(None) => {
                // The generator stopped because the chunk is not needed. The next request starts
                // over.
                if let Some(state) = lock(&self.store.inner.states).get_mut(&at) {
                    state.forget_chain();
                }
                self.finish(Ok(None));
            }
            Ok(Some(chunk)) => self.pre_load(chunk, true),
        }
    }

    /// Runs on a worker: checks the chunk and calls the listeners.
    fn pre_load(self, mut chunk: Chunk, is_generated: bool) {
        let at = self.at;
        let missing = REQUIRED.into_iter().find(|id| !chunk.holder().contains(id));
        if let Some(component) = missing {
            return self.fail(LoadError::MissingComponent { at, component });
        }
        self.store.listeners().each(|listener| listener.pre_load(at, &mut chunk, is_generated));
        let store = self.store.clone();
        store.post_result(Lane::Load, move || self.post_load(chunk, is_generated));
    }

    /// Runs on the world's thread: adds the chunk to the store.
    fn post_load(self, chunk: Chunk, is_generated: bool) {
        let inner = &self.store.inner;
        if inner.settings.is_closed.load(Ordering::SeqCst) {
            // The last save is over; changes to a chunk added now would be lost.
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
        self.store.adopt_stray_entities(&chunk);
        let time = self.store.now().saturating_sub(self.started);
        inner.counters.chunk_added(is_generated, time);
        self.store.listeners().each(|listener| listener.loaded(&chunk));
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
        let reported = Arc::clone(&error);
        self.store
            .post(move || store.listeners().each(|listener| listener.load_failed(at, &reported)));
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
    /// Removes a replaced chunk with its unsaved changes.
    fn discard(&self, chunk: &Arc<LoadedChunk>) {
        let was_ticking = chunk.is_ticking();
        let entities = chunk.discard();
        if was_ticking {
            self.listeners().each(|listener| listener.ticking_changed(chunk, false));
        }
        for (id, holder) in &entities {
            self.listeners()
                .each(|listener| listener.entity_removed(*id, holder, RemoveReason::Remove));
        }
        self.listeners().each(|listener| listener.removed(chunk, RemoveReason::Remove));
    }
}
