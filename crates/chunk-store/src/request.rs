//! Requests: how a chunk is asked for.
//!
//! All requests for a chunk share its [`LoadState`]. The first starts a chain of stages; later ones
//! wait for the same chain, and make it longer if they allow more than it does. Each gets the end
//! of the chain as it is when it comes, so one that does not allow generating is not kept waiting
//! by one that does.

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

/// What a request leads to: the chunk, nothing, or why it failed.
pub type Outcome = Result<Option<Arc<LoadedChunk>>, Arc<LoadError>>;

/// What is known about a chunk that was asked for.
#[derive(Debug, Default)]
pub(crate) struct LoadState {
    /// The chunk, once it is in memory.
    pub(crate) chunk: Option<Arc<LoadedChunk>>,
    /// What the chain of stages does not do, and whether it ends with ticking.
    pub(crate) flags: RequestFlags,
    /// The end of the chain. One that ended with nothing stays: the chunk is known to be absent.
    pub(crate) future: Option<Shared<Outcome>>,
    error: Option<Arc<LoadError>>,
    failed_at: Duration,
    /// Only a chunk that is added sets it back.
    failures: u32,
}

impl LoadState {
    pub(crate) fn is_loaded(&self) -> bool {
        self.chunk.is_some()
    }

    /// Whether every request that allows generating wants the chunk only for viewers.
    pub(crate) fn is_polled(&self) -> bool {
        self.flags.contains(RequestFlags::POLL_STILL_NEEDED)
    }

    /// Whether forgetting it would cost no more than work.
    pub(crate) fn is_idle(&self) -> bool {
        let is_done = |future: &Shared<Outcome>| future.peek().is_some();
        self.chunk.is_none() && self.future.as_ref().is_none_or(is_done)
    }

    /// A stage failed: its chain is over.
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

    /// A chunk was added.
    pub(crate) fn add(&mut self, chunk: Arc<LoadedChunk>) -> Option<Arc<LoadedChunk>> {
        self.error = None;
        self.failures = 0;
        self.forget_chain();
        self.chunk.replace(chunk)
    }

    /// The error of the last failure, while it is too soon to try again.
    fn held_back(&mut self, now: Duration) -> Option<Arc<LoadError>> {
        let error = self.error.clone()?;
        if now.saturating_sub(self.failed_at) < back_off::after_load(self.failures) {
            return Some(error);
        }
        self.error = None;
        None
    }

    /// Makes the chain as long as the request needs it; what has to be started, in order.
    fn upgrade(&mut self, flags: RequestFlags) -> Vec<Start> {
        let is_new = self.future.is_none();
        let known = if is_new { flags } else { self.flags };
        let may = |flag| is_new || known.contains(flag);
        let mut kinds = Vec::new();
        if may(RequestFlags::NO_LOAD) && flags.allows_load() {
            kinds.push(StageKind::Load);
        }
        if may(RequestFlags::NO_GENERATE) && flags.allows_generate() {
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

/// How a request is answered once the lock is released.
enum Answer {
    Now(Outcome),
    Wait(Shared<Outcome>),
    /// It is loaded and has to tick.
    Tick(Arc<LoadedChunk>),
}

impl ChunkStore {
    /// Asks for a chunk. The future is shared with all who ask for the same chunk, so dropping it
    /// harms nobody.
    ///
    /// - A chunk that is in memory is there at once.
    /// - One that is stored is loaded; one that is not is generated, unless the flags say
    ///   otherwise.
    /// - A chunk that is stored but cannot be loaded is an error and is *never* generated. Until
    ///   n squared milliseconds after the n-th failure, 10 seconds at most, requests get the same
    ///   error.
    /// - That a chunk is absent is remembered: asked again with
    ///   [`NO_GENERATE`](RequestFlags::NO_GENERATE), the storage is not.
    /// - After [`shut_down`](Self::shut_down) there is nothing.
    pub fn get(&self, at: ChunkPos, flags: RequestFlags) -> ChunkFuture {
        if self.is_shut_down() {
            return ChunkFuture::ready(Ok(None));
        }
        let (answer, starts) = self.plan(at, flags);
        // Without the lock: a stage can end at once, and an executor may drop it.
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
        let only_looks = !flags.allows_load() && !flags.allows_generate();
        if only_looks && (!ticks || state.flags.contains(RequestFlags::SET_TICKING)) {
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
        if let Some(error) = state.held_back(self.now()) {
            return (Answer::Now(Err(error)), Vec::new());
        }
        let starts = state.upgrade(flags);
        match &state.future {
            Some(future) => (Answer::Wait(future.clone()), starts),
            None => nothing(),
        }
    }

    /// Lets a loaded chunk tick: at once on the world's thread, if the request allows it and nobody
    /// holds the chunk, and from the queue otherwise.
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

    /// Asks for a chunk and does the world's work on this thread until it is there. For programs
    /// that have one thread, and tools.
    ///
    /// # Errors
    /// Why it could not be loaded or generated.
    pub fn get_now(&self, at: ChunkPos, flags: RequestFlags) -> Outcome {
        self.drive(&self.get(at, flags))
    }

    /// Does the world's work on this thread until a request is answered. With an executor without
    /// threads, a request that waits for something from outside gives nothing.
    ///
    /// # Errors
    /// Why the chunk could not be loaded or generated.
    pub fn drive(&self, future: &ChunkFuture) -> Outcome {
        self.step_until(|| future.peek().is_some());
        future.peek().unwrap_or(Ok(None))
    }
}

/// A chunk, sooner or later.
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

    /// The answer, if it is there.
    pub fn peek(&self) -> Option<Outcome> {
        match &self.state {
            State::Ready(outcome) => Some(outcome.clone()),
            State::Waiting(waiting) => waiting.peek(),
        }
    }

    /// Blocks this thread until the answer is there. The world must run on another one.
    ///
    /// # Errors
    /// Why the chunk could not be loaded or generated.
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
