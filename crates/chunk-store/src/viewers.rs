//! Viewers, which keep the chunks around them in memory.

use std::collections::BTreeMap;

use hyworld_coords::{ChunkPos, Circle};

use crate::store::ChunkStore;
use crate::sync::lock;

/// Chunks within this distance of a viewer are hot.
const HOT_RADIUS: u32 = 8;

/// The minimum view radius.
const VIEW_RADIUS_MIN: u32 = 2;

/// Identifies a viewer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ViewerId(u64);

/// How close a chunk is to a viewer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Visibility {
    /// Outside the view radius of all viewers.
    None,
    /// Inside a view radius, more than 8 chunks from the viewer.
    Cold,
    /// Inside a view radius, at most 8 chunks from the viewer.
    Hot,
}

#[derive(Debug, Default)]
pub(crate) struct Viewers {
    last_id: u64,
    viewers: BTreeMap<ViewerId, (ChunkPos, u32)>,
}

impl Viewers {
    pub(crate) fn visibility(&self, at: ChunkPos) -> Visibility {
        let seen = self.viewers.values().map(|&(center, radius)| {
            let radius = radius.max(VIEW_RADIUS_MIN);
            let is_in = |radius| Circle::new(center, radius).contains(at);
            match is_in(radius) {
                true if is_in(HOT_RADIUS) => Visibility::Hot,
                true => Visibility::Cold,
                false => Visibility::None,
            }
        });
        seen.max().unwrap_or(Visibility::None)
    }

    pub(crate) fn sees(&self, at: ChunkPos) -> bool {
        self.visibility(at) > Visibility::None
    }
}

/// Viewers, usually players. Chunks in their view radius stay in memory.
impl ChunkStore {
    /// Adds a viewer with a view radius in chunks.
    pub fn add_viewer(&self, at: ChunkPos, radius: u32) -> ViewerId {
        let mut viewers = lock(&self.inner.viewers);
        viewers.last_id = viewers.last_id.wrapping_add(1);
        let id = ViewerId(viewers.last_id);
        viewers.viewers.insert(id, (at, radius));
        id
    }

    /// Moves a viewer or changes its view radius. Returns false if there is no such viewer.
    pub fn move_viewer(&self, id: ViewerId, at: ChunkPos, radius: u32) -> bool {
        let mut viewers = lock(&self.inner.viewers);
        let viewer = viewers.viewers.get_mut(&id);
        viewer.map(|viewer| *viewer = (at, radius)).is_some()
    }

    /// Removes a viewer. Returns false if there is no such viewer.
    pub fn remove_viewer(&self, id: ViewerId) -> bool {
        lock(&self.inner.viewers).viewers.remove(&id).is_some()
    }

    /// Returns how close a chunk is to a viewer.
    pub fn visibility(&self, at: ChunkPos) -> Visibility {
        lock(&self.inner.viewers).visibility(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visibility(viewers: &[(i32, u32)], x: i32) -> Visibility {
        let viewers = (1..)
            .map(ViewerId)
            .zip(viewers.iter().map(|&(x, radius)| (ChunkPos::new(x, 0), radius)));
        let viewers = Viewers { last_id: 9, viewers: viewers.collect() };
        viewers.visibility(ChunkPos::new(x, 0))
    }

    const NONE: Visibility = Visibility::None;
    const COLD: Visibility = Visibility::Cold;
    const HOT: Visibility = Visibility::Hot;

    #[test]
    fn near_chunks_in_view_are_hot() {
        assert_eq!(visibility(&[], 0), NONE);
        let far = |x| visibility(&[(0, 20)], x);
        let found = [0, 8, 9, 20, 21].map(far);
        assert_eq!(found, [HOT, HOT, COLD, COLD, NONE]);
        let short = |x| visibility(&[(0, 0)], x);
        assert_eq!([2, -2, 3].map(short), [HOT, HOT, NONE]);
        assert_eq!(visibility(&[(0, 20), (20, 4)], 19), HOT, "the nearest viewer counts");
    }
}
