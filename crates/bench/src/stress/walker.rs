//! A viewer that walks.

use std::time::{Duration, Instant};

use hyworld_chunk_store::{ChunkFuture, ChunkStore, RequestFlags, ViewerId};
use hyworld_coords::{ChunkPos, Circle};

use super::random::Random;

/// How long a viewer needs for a chunk: 128 blocks a second, faster than players are.
pub(super) const STEP_TIME: Duration = Duration::from_millis(250);

/// How often a direction is tried before a viewer has nowhere to go.
const TURNS_MAX: u32 = 8;

const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

#[derive(Debug)]
pub(super) struct Walker {
    id: ViewerId,
    at: ChunkPos,
    direction: (i32, i32),
    /// Chunks that it waits for: it does not walk into what is not there yet.
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

    /// Whether it is time for a step, and what it sees is there.
    pub(super) fn is_ready(&mut self, step_time: Duration) -> bool {
        self.open.retain(|future| future.peek().is_none());
        let is_time = self.last_step.is_none_or(|last| last.elapsed() >= step_time);
        is_time && self.open.is_empty()
    }

    /// Goes on, mostly straight ahead; whether there was ground.
    pub(super) fn step(
        &mut self,
        random: &mut Random,
        is_ground: impl Fn(ChunkPos) -> bool,
    ) -> bool {
        let turns_at_once = random.below(8) == 0;
        for turn in 0..TURNS_MAX {
            if (turns_at_once || turn > 0)
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

    /// Asks for all that it sees from where it is now.
    pub(super) fn look(&mut self, store: &ChunkStore, radius: u32, generates: bool) {
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
