//! Who looks at the world, from where, and how far.

use std::collections::BTreeMap;

use hyworld_coords::{ChunkPos, Circle};

use crate::store::ChunkStore;
use crate::sync::lock;

/// Chunks this near to a viewer are hot.
const HOT_RADIUS: u32 = 8;

/// What a viewer sees at least, however short its sight.
const VIEW_RADIUS_MIN: u32 = 2;

/// Names a viewer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ViewerId(u64);

/// How much a chunk is wanted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Visibility {
    /// Nobody sees it.
    None,
    /// Somebody sees it from afar.
    Cold,
    /// Somebody is near.
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

/// Viewers: usually players. What they see stays in memory.
impl ChunkStore {
    /// Adds a viewer who sees this many chunks far.
    pub fn add_viewer(&self, at: ChunkPos, radius: u32) -> ViewerId {
        let mut viewers = lock(&self.inner.viewers);
        viewers.last_id = viewers.last_id.wrapping_add(1);
        let id = ViewerId(viewers.last_id);
        viewers.viewers.insert(id, (at, radius));
        id
    }

    /// Moves a viewer, or changes how far it sees; whether there is such a viewer.
    pub fn move_viewer(&self, id: ViewerId, at: ChunkPos, radius: u32) -> bool {
        let mut viewers = lock(&self.inner.viewers);
        let viewer = viewers.viewers.get_mut(&id);
        viewer.map(|viewer| *viewer = (at, radius)).is_some()
    }

    /// Removes a viewer; whether there was one.
    pub fn remove_viewer(&self, id: ViewerId) -> bool {
        lock(&self.inner.viewers).viewers.remove(&id).is_some()
    }

    /// How much a chunk is wanted.
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
    fn near_is_hot_as_far_as_one_sees() {
        assert_eq!(visibility(&[], 0), NONE);
        let far = |x| visibility(&[(0, 20)], x);
        let found = [0, 8, 9, 20, 21].map(far);
        assert_eq!(found, [HOT, HOT, COLD, COLD, NONE]);
        let short = |x| visibility(&[(0, 0)], x);
        assert_eq!([2, -2, 3].map(short), [HOT, HOT, NONE]);
        assert_eq!(visibility(&[(0, 20), (20, 4)], 19), HOT, "the nearest viewer counts");
    }
}
