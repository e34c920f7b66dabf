//! What a request asks for, and what is known about a chunk in memory.

use std::fmt;
use std::ops::BitOr;

/// What to do for a request, as the game's bits. [`RequestFlags::NONE`] loads a chunk, or
/// generates it if it is not stored.
///
/// ```
/// use hyworld_chunk_store::RequestFlags;
///
/// let regenerate = RequestFlags::NO_LOAD | RequestFlags::BYPASS_LOADED;
/// assert_eq!(regenerate.bits(), 9);
/// assert!(regenerate.contains(RequestFlags::NO_LOAD));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestFlags(u32);

impl RequestFlags {
    /// Load, or generate what is not stored.
    pub const NONE: Self = Self(0);
    /// Do not read the storage.
    pub const NO_LOAD: Self = Self(1);
    /// Do not generate.
    pub const NO_GENERATE: Self = Self(2);
    /// Let the chunk tick once it is there.
    pub const SET_TICKING: Self = Self(4);
    /// Load or generate again what is in memory, and replace it. Unsaved changes of the chunk
    /// that is replaced are given up.
    pub const BYPASS_LOADED: Self = Self(8);
    /// Generate only as long as a viewer should see the chunk. If all requests for a chunk say so
    /// and the last viewer leaves, the generation is dropped from the queue, or the generator gives
    /// up.
    pub const POLL_STILL_NEEDED: Self = Self(16);
    /// Never let the chunk tick before the request returns, only from the world's queue.
    pub const NO_SET_TICKING_SYNC: Self = Self(0x8000_0000);

    /// The flags with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn allows_load(self) -> bool {
        !self.contains(Self::NO_LOAD)
    }

    pub(crate) const fn allows_generate(self) -> bool {
        !self.contains(Self::NO_GENERATE)
    }
}

impl BitOr for RequestFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for RequestFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(RequestFlags, &str); 6] = [
            (RequestFlags::NO_LOAD, "NO_LOAD"),
            (RequestFlags::NO_GENERATE, "NO_GENERATE"),
            (RequestFlags::SET_TICKING, "SET_TICKING"),
            (RequestFlags::BYPASS_LOADED, "BYPASS_LOADED"),
            (RequestFlags::POLL_STILL_NEEDED, "POLL_STILL_NEEDED"),
            (RequestFlags::NO_SET_TICKING_SYNC, "NO_SET_TICKING_SYNC"),
        ];
        let names = NAMES.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, name)| *name);
        write!(f, "RequestFlags({})", names.collect::<Vec<_>>().join(" | "))
    }
}

/// What is known about a chunk in memory. None of it is stored with the chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ChunkFlags(u8);

impl ChunkFlags {
    /// It is about to be added to the store.
    pub const START_INIT: Self = Self(1);
    /// It was added to the store. Set last.
    pub const INIT: Self = Self(2);
    /// It was generated, not loaded. Saving does not change that.
    pub const NEWLY_GENERATED: Self = Self(4);
    /// It was saved since it came into memory. Being loaded is not enough.
    pub const ON_DISK: Self = Self(8);
    /// It ticks, and its entities live.
    pub const TICKING: Self = Self(16);

    /// The flags with these bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for ChunkFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_game() {
        let common = [
            (RequestFlags::NONE, 0),
            (RequestFlags::NO_GENERATE, 2),
            (RequestFlags::SET_TICKING, 4),
            (RequestFlags::NO_LOAD | RequestFlags::BYPASS_LOADED, 9),
            (RequestFlags::POLL_STILL_NEEDED, 16),
            (RequestFlags::NO_SET_TICKING_SYNC, 0x8000_0000),
        ];
        assert!(common.iter().all(|(flags, bits)| flags.bits() == *bits));
        let chunk = [
            ChunkFlags::START_INIT,
            ChunkFlags::INIT,
            ChunkFlags::NEWLY_GENERATED,
            ChunkFlags::ON_DISK,
            ChunkFlags::TICKING,
        ];
        assert_eq!(chunk.map(ChunkFlags::bits), [1, 2, 4, 8, 16]);
    }

    #[test]
    fn they_show_their_names() {
        let flags = RequestFlags::NO_LOAD | RequestFlags::SET_TICKING;
        assert_eq!(format!("{flags:?}"), "RequestFlags(NO_LOAD | SET_TICKING)");
        assert_eq!(flags.without(RequestFlags::NO_LOAD), RequestFlags::SET_TICKING);
    }
}
