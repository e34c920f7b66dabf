//! What can be wrong with one slot, while the rest of the file is fine.
//!
//! Damage is data, not only an error: [`damage`](crate::IndexedStorageFile::damage) and
//! [`verify`](crate::IndexedStorageFile::verify) list it, and reading a damaged slot returns it
//! inside [`Error::Damaged`](crate::Error::Damaged).

use crate::layout::Slot;

/// What is wrong with the blob of one slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The index entry is negative.
    #[error("its index entry is {found}, which is no segment number")]
    IndexNegative {
        /// The entry.
        found: i32,
    },
    /// The index entry names a place past the end of the file.
    #[error("its index entry points at byte {offset}, but the file ends at {file_bytes}")]
    PastEnd {
        /// Where the blob should begin.
        offset: u64,
        /// Length of the file.
        file_bytes: u64,
    },
    /// The compressed length is zero or negative.
    #[error("its compressed length is {found}")]
    CompressedLength {
        /// The stored number.
        found: i32,
    },
    /// The raw length is negative.
    #[error("its raw length is {found}")]
    RawLengthNegative {
        /// The stored number.
        found: i32,
    },
    /// The raw or the compressed length is above the limit of this handle.
    #[error("its length is {found}, more than the limit of {max}")]
    LengthLimit {
        /// The stored number.
        found: u32,
        /// The limit.
        max: u32,
    },
    /// The file ends inside the blob.
    #[error("it would end at byte {end}, but the file ends at {file_bytes}")]
    CutOff {
        /// Where the blob should end.
        end: u64,
        /// Length of the file.
        file_bytes: u64,
    },
    /// The disk cannot read it.
    #[error("the disk cannot read it: {kind}")]
    Unreadable {
        /// What the operating system reports.
        kind: std::io::ErrorKind,
    },
    /// Its header on disk is not the one that was there when the file was opened.
    #[error("another program changed it while the file was open")]
    Changed,
    /// Another slot claims some of the same segments. The blob may still be readable.
    #[error("it shares segments with slot {other}")]
    Overlap {
        /// The other slot.
        other: Slot,
    },
    /// zstd cannot decode it.
    #[error("zstd: {reason}")]
    Frame {
        /// What zstd said.
        reason: &'static str,
    },
    /// It decodes to more bytes than its raw length.
    #[error("it holds more than the {expected} bytes that its header claims")]
    ContentLonger {
        /// The raw length of its header.
        expected: u32,
    },
    /// It decodes to fewer bytes than its raw length. The game fills the rest with zeros and goes
    /// on, and so do we; the blob is readable.
    #[error("it holds {found} bytes, its header claims {expected}; the rest is read as zeros")]
    ContentShorter {
        /// The raw length of its header.
        expected: u32,
        /// What is there.
        found: u32,
    },
    /// Its seal contradicts it.
    #[error("{0}")]
    Seal(SealDamage),
    /// Version 0: a link of its chain of segments leads nowhere.
    #[error("segment {segment} of its chain links to {link}, which the file does not have")]
    ChainBroken {
        /// The segment with the bad link.
        segment: u32,
        /// The link.
        link: i32,
    },
    /// Version 0: its chain of segments runs in a circle.
    #[error("its chain of segments comes back to segment {segment}")]
    ChainCycle {
        /// A segment that was met twice.
        segment: u32,
    },
    /// Version 0: its chain ends before its bytes do.
    #[error("its chain of segments ends after {found} of {expected} bytes")]
    ChainShort {
        /// Bytes that its header claims.
        expected: u64,
        /// Bytes that the chain holds.
        found: u64,
    },
    /// Version 0: all bytes are there, but the chain goes on after them.
    #[error("its chain of segments goes on after its last byte, at segment {segment}")]
    ChainLong {
        /// The segment that should have been the last.
        segment: u32,
    },
}

/// How a seal contradicts the blob that carries it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealDamage {
    /// The seal's own checksum over blob and seal does not match.
    #[error("the checksum of its seal does not match: blob or seal were changed")]
    Checksum,
    /// The seal says that the blob belongs to another slot.
    #[error("its seal says that it belongs to slot {found}")]
    Slot {
        /// The slot in the seal.
        found: Slot,
    },
    /// The document's length differs from the one in the seal.
    #[error("its seal claims {expected} bytes, it holds {found}")]
    Length {
        /// The length in the seal.
        expected: u32,
        /// What is there.
        found: u32,
    },
    /// The document's SHA-256 differs from the one in the seal.
    #[error("its content does not have the SHA-256 of its seal")]
    Hash,
    /// The seal cannot be parsed.
    #[error("its seal is malformed")]
    Malformed,
}

impl Damage {
    /// A short stable name of the kind of damage, for reports that programs read.
    pub fn class(&self) -> &'static str {
        match self {
            Self::IndexNegative { .. } => "index-negative",
            Self::PastEnd { .. } => "index-past-end",
            Self::CompressedLength { .. } => "compressed-length",
            Self::RawLengthNegative { .. } => "raw-length-negative",
            Self::LengthLimit { .. } => "length-limit",
            Self::CutOff { .. } => "cut-off",
            Self::Unreadable { .. } => "unreadable",
            Self::Changed => "changed",
            Self::Overlap { .. } => "overlap",
            Self::Frame { .. } => "frame",
            Self::ContentLonger { .. } => "content-longer",
            Self::ContentShorter { .. } => "content-shorter",
            Self::Seal(SealDamage::Checksum) => "seal-checksum",
            Self::Seal(SealDamage::Slot { .. }) => "seal-slot",
            Self::Seal(SealDamage::Length { .. }) => "seal-length",
            Self::Seal(SealDamage::Hash) => "seal-hash",
            Self::Seal(SealDamage::Malformed) => "seal-malformed",
            Self::ChainBroken { .. } => "chain-broken",
            Self::ChainCycle { .. } => "chain-cycle",
            Self::ChainShort { .. } => "chain-short",
            Self::ChainLong { .. } => "chain-long",
        }
    }

    /// Whether the blob's content can be had in spite of it.
    pub fn is_readable(&self) -> bool {
        match self {
            Self::Overlap { .. } => true,
            // Nothing but zeros is not content.
            Self::ContentShorter { found, .. } => *found > 0,
            _ => false,
        }
    }
}

impl From<SealDamage> for Damage {
    fn from(damage: SealDamage) -> Self {
        Self::Seal(damage)
    }
}

/// One damaged slot in a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlotDamage {
    /// The slot.
    pub slot: Slot,
    /// What is wrong with it.
    pub damage: Damage,
}
