//! A walking viewer.

use std::time::{Duration, Instant};

use hyworld_chunk_store::{ChunkFuture, ChunkStore, RequestFlags, ViewerId};
use hyworld_coords::{ChunkPos, Circle};

use super::random::Random;

/// The time per chunk: 128 blocks per second, faster than a player.
pub(super) const STEP_TIME: Duration = Duration::from_millis(250);

/// How many directions a viewer tries before it is stuck.
const TURNS_MAX: u32 = 8;

const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

#[derive(Debug)]
pub(super) struct Walker {
    id: ViewerId,
    at: ChunkPos,
    direction: (i32, i32),
    /// Requested chunks that are not loaded yet. The viewer waits for them before its next step.
    open: Vec<ChunkFuture>,
    last_step: Option<Instant>,
}

impl Walker {
    pub(super) fn new(store: &ChunkStore, at: ChunkPos, radius: u32) -> Self {
        let id = store.add_viewer(at, radius);
        Self { id, at, direction: (1, 0), open: Vec::new(), last_step: None }
    }

    pub(super) fn at(&self) -> ChunkPos {
        self.at
    }

    /// Returns whether the step time has passed and all chunks in view are loaded.
    pub(super) fn is_ready(&mut self, step_time: Duration) -> bool {
        self.open.retain(|future| future.peek().is_none());
        let is_due = self.last_step.is_none_or(|last| last.elapsed() >= step_time);
        is_due && self.open.is_empty()
    }

    /// Moves by one chunk, mostly straight ahead. Returns false if the viewer is stuck.
    pub(super) fn step(
        &mut self,
        random: &mut Random,
        is_ground: impl Fn(ChunkPos) -> bool,
    ) -> bool {
        let turns_first = random.below(8) == 0;
        for turn in 0..TURNS_MAX {
            if (turns_first || turn > 0)
                && let Some(direction) = random.one_of(&DIRECTIONS)
            {
                self.direction = direction;
            }
            let (x, z) = self.direction;
            let next = ChunkPos::new(self.at.x.saturating_add(x), self.at.z.saturating_add(z));
            if is_ground(next) {
                self.at = next;
                return true;
            }
        }
        false
    }

    pub(super) fn jump(&mut self, at: ChunkPos) {
        self.at = at;
    }

    /// Requests all chunks in view of the current position.
    pub(super) fn request_view(&mut self, store: &ChunkStore, radius: u32, generates: bool) {
        store.move_viewer(self.id, self.at, radius);
        let flags =
            if generates { RequestFlags::POLL_STILL_NEEDED } else { RequestFlags::NO_GENERATE };
        let seen = Circle::new(self.at, radius).in_rows().map(|at| store.get(at, flags));
        self.open = seen.filter(|future| future.peek().is_none()).collect();
        self.last_step = Some(Instant::now());
    }

    pub(super) fn leave(&self, store: &ChunkStore) {
        store.remove_viewer(self.id);
    }
}
