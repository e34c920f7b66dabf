//! Flags of requests and of chunks in memory.

use std::fmt;
use std::ops::BitOr;

/// The flags of a request, with the game's bit values. [`RequestFlags::NONE`] loads a chunk, or
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
    /// Load the chunk, or generate it if it is not stored.
    pub const NONE: Self = Self(0);
    /// Do not read the storage.
    pub const NO_LOAD: Self = Self(1);
    /// Do not generate.
    pub const NO_GENERATE: Self = Self(2);
    /// Start ticking the chunk once it is loaded.
    pub const SET_TICKING: Self = Self(4);
    /// Load or generate the chunk again even if it is in memory, and replace it. Unsaved changes of
    /// the replaced chunk are lost.
    pub const BYPASS_LOADED: Self = Self(8);
    /// Generate only while a viewer is in range of the chunk. If all requests for a chunk have this
    /// flag and the last viewer leaves, the generation is cancelled.
    pub const POLL_STILL_NEEDED: Self = Self(16);
    /// Never start ticking before the request returns, only from the world's queue.
    pub const NO_SET_TICKING_SYNC: Self = Self(0x8000_0000);

    /// Creates flags from their bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags without those of `other`.
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

/// The state of a chunk in memory. It is not stored with the chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ChunkFlags(u8);

impl ChunkFlags {
    /// The chunk is about to be added to the store.
    pub const START_INIT: Self = Self(1);
    /// The chunk was added to the store. Set after all other steps.
    pub const INIT: Self = Self(2);
    /// The chunk was generated in this session. Saving does not clear the flag.
    pub const NEWLY_GENERATED: Self = Self(4);
    /// The chunk was saved since it was added. Loading does not set the flag.
    pub const ON_DISK: Self = Self(8);
    /// The chunk ticks, and its entities are live.
    pub const TICKING: Self = Self(16);

    /// Creates flags from their bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns whether all flags of `other` are set.
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
    fn bits_equal_those_of_the_game() {
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
    fn debug_shows_flag_names() {
        let flags = RequestFlags::NO_LOAD | RequestFlags::SET_TICKING;
        assert_eq!(format!("{flags:?}"), "RequestFlags(NO_LOAD | SET_TICKING)");
        assert_eq!(flags.without(RequestFlags::NO_LOAD), RequestFlags::SET_TICKING);
    }
}
