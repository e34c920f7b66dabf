//! Requests for chunks.
//!
//! All requests for a chunk share its [`LoadState`]. The first request starts a chain of stages.
//! Later ones wait for the same chain, and extend it if they allow more stages. Each request waits
//! for the end of the chain at the time of the request, so one that does not allow generating never
//! waits for generation.

use std::collections::hash_map::Entry;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyworld_coords::ChunkPos;

use crate::back_off;
use crate::error::LoadError;
use crate::flags::RequestFlags;
use crate::loaded_chunk::LoadedChunk;
use crate::loading::{StageKind, Start};
use crate::shared::{Awaiting, Shared, park_until};
use crate::store::ChunkStore;
use crate::sync::lock;

/// The result of a request: a chunk, or `None` if there is none, or an error.
pub type Outcome = Result<Option<Arc<LoadedChunk>>, Arc<LoadError>>;

/// The state of a requested chunk.
#[derive(Debug, Default)]
pub(crate) struct LoadState {
    pub(crate) chunk: Option<Arc<LoadedChunk>>,
    /// The stages that the chain leaves out, and whether it ends with ticking.
    pub(crate) flags: RequestFlags,
    /// The end of the chain. It is kept if it resolved to `None`: the chunk is known to be missing.
    pub(crate) future: Option<Shared<Outcome>>,
    error: Option<Arc<LoadError>>,
    failed_at: Duration,
    /// The number of failed attempts. Reset only when the chunk is added to the store.
    failures: u32,
}

impl LoadState {
    pub(crate) fn is_loaded(&self) -> bool {
        self.chunk.is_some()
    }

    /// Returns whether all requests that allow generating have `POLL_STILL_NEEDED`.
    pub(crate) fn is_polled(&self) -> bool {
        self.flags.contains(RequestFlags::POLL_STILL_NEEDED)
    }

    /// Returns whether the state can be dropped; a later request may repeat work.
    pub(crate) fn is_idle(&self) -> bool {
        let is_done = |future: &Shared<Outcome>| future.peek().is_some();
        self.chunk.is_none() && self.future.as_ref().is_none_or(is_done)
    }

    /// Ends the chain after a failed stage.
    pub(crate) fn fail(&mut self, error: Arc<LoadError>, now: Duration) {
        self.error = Some(error);
        self.failed_at = now;
        self.failures = self.failures.saturating_add(1);
        self.forget_chain();
    }

    pub(crate) fn forget_chain(&mut self) {
        self.flags = RequestFlags::NONE;
        self.future = None;
    }

    /// Sets the chunk, and returns the one it replaces.
    pub(crate) fn add(&mut self, chunk: Arc<LoadedChunk>) -> Option<Arc<LoadedChunk>> {
        self.error = None;
        self.failures = 0;
        self.forget_chain();
        self.chunk.replace(chunk)
    }

    /// Returns the last error while it is too soon to retry.
    fn error_before_retry(&mut self, now: Duration) -> Option<Arc<LoadError>> {
        let error = self.error.clone()?;
        if now.saturating_sub(self.failed_at) < back_off::after_load(self.failures) {
            return Some(error);
        }
        self.error = None;
        None
    }

    /// Extends the chain by the stages that the request needs, and returns them in order.
    fn upgrade(&mut self, flags: RequestFlags) -> Vec<Start> {
        let is_new = self.future.is_none();
        let known = if is_new { flags } else { self.flags };
        let lacks = |flag| is_new || known.contains(flag);
        let mut kinds = Vec::new();
        if lacks(RequestFlags::NO_LOAD) && flags.allows_load() {
            kinds.push(StageKind::Load);
        }
        if lacks(RequestFlags::NO_GENERATE) && flags.allows_generate() {
            kinds.push(StageKind::Generate);
        }
        let ticks = is_new || !known.contains(RequestFlags::SET_TICKING);
        let has_chain = !is_new || !kinds.is_empty();
        if flags.contains(RequestFlags::SET_TICKING) && ticks && has_chain {
            kinds.push(StageKind::Tick);
        }
        let allowed = |flag, is_allowed: bool| if is_allowed { flag } else { RequestFlags::NONE };
        self.flags = known
            .without(allowed(RequestFlags::NO_LOAD, flags.allows_load()))
            .without(allowed(RequestFlags::NO_GENERATE, flags.allows_generate()));
        if flags.contains(RequestFlags::SET_TICKING) {
            self.flags = self.flags | RequestFlags::SET_TICKING;
        }
        if flags.allows_generate() && !flags.contains(RequestFlags::POLL_STILL_NEEDED) {
            self.flags = self.flags.without(RequestFlags::POLL_STILL_NEEDED);
        }
        let append = |kind| {
            let (after, cell) = (self.future.take(), Shared::new());
            self.future = Some(cell.clone());
            Start { after, kind, cell }
        };
        kinds.into_iter().map(append).collect()
    }
}

/// The answer to a request, given after the lock is released.
enum Answer {
    Now(Outcome),
    Wait(Shared<Outcome>),
    /// The chunk is loaded and must start ticking.
    Tick(Arc<LoadedChunk>),
}

impl ChunkStore {
    /// Requests a chunk. Requests for the same chunk share its loading, so a future can be dropped
    /// without affecting others.
    ///
    /// - If the chunk is in memory, the future is ready immediately.
    /// - A stored chunk is loaded; a missing one is generated, unless the flags forbid it.
    /// - A stored chunk that cannot be loaded is an error and is *never* generated. After the n-th
    ///   failure, requests return the same error for n squared milliseconds, at most 10 seconds.
    /// - Missing chunks are remembered: another request with
    ///   [`NO_GENERATE`](RequestFlags::NO_GENERATE) does not read the storage.
    /// - After [`shut_down`](Self::shut_down) the result is `Ok(None)`.
    pub fn get(&self, at: ChunkPos, flags: RequestFlags) -> ChunkFuture {
        if self.is_shut_down() {
            return ChunkFuture::ready(Ok(None));
        }
        let (answer, starts) = self.plan(at, flags);
        // After the lock is released: a stage can end immediately, or the executor may drop it.
        for start in starts {
            self.start_stage(at, start);
        }
        match answer {
            Answer::Now(outcome) => ChunkFuture::ready(outcome),
            Answer::Wait(shared) => ChunkFuture { state: State::Waiting(shared.wait()) },
            Answer::Tick(chunk) => self.answer_with_ticking(chunk, flags),
        }
    }

    fn plan(&self, at: ChunkPos, flags: RequestFlags) -> (Answer, Vec<Start>) {
        let nothing = || (Answer::Now(Ok(None)), Vec::new());
        let ticks = flags.contains(RequestFlags::SET_TICKING);
        let mut states = lock(&self.inner.states);
        let state = match states.entry(at) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) if !flags.allows_load() && !flags.allows_generate() => {
                return nothing();
            }
            Entry::Vacant(entry) => entry.insert(LoadState::default()),
        };
        let only_peeks = !flags.allows_load() && !flags.allows_generate();
        if only_peeks && (!ticks || state.flags.contains(RequestFlags::SET_TICKING)) {
            return match (&state.chunk, &state.future) {
                (Some(chunk), _) => (Answer::Now(Ok(Some(Arc::clone(chunk)))), Vec::new()),
                (None, Some(future)) => (Answer::Wait(future.clone()), Vec::new()),
                (None, None) => nothing(),
            };
        }
        let is_bypassed = flags.contains(RequestFlags::BYPASS_LOADED);
        if let (Some(chunk), None, false) = (&state.chunk, &state.future, is_bypassed) {
            let chunk = Arc::clone(chunk);
            let answer = if ticks { Answer::Tick(chunk) } else { Answer::Now(Ok(Some(chunk))) };
            return (answer, Vec::new());
        }
        if let Some(error) = state.error_before_retry(self.now()) {
            return (Answer::Now(Err(error)), Vec::new());
        }
        let starts = state.upgrade(flags);
        match &state.future {
            Some(future) => (Answer::Wait(future.clone()), starts),
            None => nothing(),
        }
    }

    /// Starts ticking a loaded chunk: immediately if this is the world's thread, the request allows
    /// it and the chunk is not locked; otherwise from the world's queue.
    fn answer_with_ticking(&self, chunk: Arc<LoadedChunk>, flags: RequestFlags) -> ChunkFuture {
        let is_inline = !flags.contains(RequestFlags::NO_SET_TICKING_SYNC)
            && self.inner.world.is_world_thread();
        if chunk.is_ticking() || (is_inline && self.try_start_ticking(&chunk)) {
            return ChunkFuture::ready(Ok(Some(chunk)));
        }
        let cell = Shared::new();
        let future = ChunkFuture { state: State::Waiting(cell.wait()) };
        self.tick_then(chunk, cell);
        future
    }

    /// Requests a chunk and runs the world's work on this thread until the request is answered. For
    /// tools and single-threaded programs.
    ///
    /// # Errors
    /// Returns an error if the chunk cannot be loaded or generated.
    pub fn get_now(&self, at: ChunkPos, flags: RequestFlags) -> Outcome {
        self.drive(&self.get(at, flags))
    }

    /// Runs the world's work on this thread until a request is answered. With an executor without
    /// threads, returns `Ok(None)` if there is no work left and the request is still open.
    ///
    /// # Errors
    /// Returns an error if the chunk cannot be loaded or generated.
    pub fn drive(&self, future: &ChunkFuture) -> Outcome {
        self.step_until(|| future.peek().is_some());
        future.peek().unwrap_or(Ok(None))
    }
}

/// A future that resolves to a chunk.
pub struct ChunkFuture {
    state: State,
}

enum State {
    Ready(Outcome),
    Waiting(Awaiting<Outcome>),
}

impl ChunkFuture {
    fn ready(outcome: Outcome) -> Self {
        Self { state: State::Ready(outcome) }
    }

    /// Returns the result if the request is answered.
    pub fn peek(&self) -> Option<Outcome> {
        match &self.state {
            State::Ready(outcome) => Some(outcome.clone()),
            State::Waiting(waiting) => waiting.peek(),
        }
    }

    /// Blocks this thread until the request is answered. The world must run on another thread.
    ///
    /// # Errors
    /// Returns an error if the chunk cannot be loaded or generated.
    pub fn wait(self) -> Outcome {
        park_until(self)
    }
}

impl Future for ChunkFuture {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        match &mut self.state {
            State::Ready(outcome) => Poll::Ready(outcome.clone()),
            State::Waiting(waiting) => Pin::new(waiting).poll(context),
        }
    }
}

impl fmt::Debug for ChunkFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChunkFuture").field(&self.peek()).finish()
    }
}
