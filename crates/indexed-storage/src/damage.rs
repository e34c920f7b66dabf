//! Damage to a single slot; the rest of the file is not affected.
//!
//! [`damage`](crate::IndexedStorageFile::damage) and [`verify`](crate::IndexedStorageFile::verify)
//! return it as data; reading a damaged slot returns it inside
//! [`Error::Damaged`](crate::Error::Damaged).

use crate::layout::Slot;

/// The kind of damage to the blob of one slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The index entry is negative.
    #[error("its index entry is {found}, which is not a segment number")]
    IndexNegative {
        /// The entry.
        found: i32,
    },
    /// The index entry points past the end of the file.
    #[error("its index entry points to byte {offset}, but the file ends at {file_bytes}")]
    PastEnd {
        /// Where the blob should begin.
        offset: u64,
        /// Length of the file.
        file_bytes: u64,
    },
    /// The compressed length is zero or negative.
    #[error("its compressed length is {found}, which must be positive")]
    CompressedLength {
        /// The stored number.
        found: i32,
    },
    /// The raw length is negative.
    #[error("its raw length is {found}, which must not be negative")]
    RawLengthNegative {
        /// The stored number.
        found: i32,
    },
    /// The raw or compressed length exceeds the limit of this handle.
    #[error("its length is {found} bytes, above the limit of {max}")]
    LengthLimit {
        /// The stored number.
        found: u32,
        /// The limit.
        max: u32,
    },
    /// The file ends inside the blob.
    #[error("it should end at byte {end}, but the file ends at {file_bytes}")]
    CutOff {
        /// Where the blob should end.
        end: u64,
        /// Length of the file.
        file_bytes: u64,
    },
    /// The operating system cannot read it.
    #[error("it cannot be read from disk: {kind}")]
    Unreadable {
        /// The error of the operating system.
        kind: std::io::ErrorKind,
    },
    /// Another program changed the blob since the file was opened.
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
        /// The error reported by zstd.
        reason: &'static str,
    },
    /// The document is longer than the raw length.
    #[error("its document is longer than the {expected} bytes in its header")]
    DocumentLonger {
        /// The raw length in the header.
        expected: u32,
    },
    /// The document is shorter than the raw length. Like the game, this crate reads the rest as
    /// zeros.
    #[error(
        "its document has {found} bytes, its header claims {expected}; the rest reads as zeros"
    )]
    DocumentShorter {
        /// The raw length in the header.
        expected: u32,
        /// The actual length.
        found: u32,
    },
    /// The seal does not match the blob.
    #[error("{0}")]
    Seal(SealDamage),
    /// Version 0: a link of the segment chain points outside the file.
    #[error("segment {segment} of its chain links to {link}, which is not in the file")]
    ChainBroken {
        /// The segment with the invalid link.
        segment: u32,
        /// The link.
        link: i32,
    },
    /// Version 0: the segment chain is a cycle.
    #[error("its segment chain returns to segment {segment}")]
    ChainCycle {
        /// A segment that the chain visits twice.
        segment: u32,
    },
    /// Version 0: the segment chain is too short for the blob.
    #[error("its segment chain ends after {found} of {expected} bytes")]
    ChainShort {
        /// Bytes claimed by the header.
        expected: u64,
        /// Bytes in the chain.
        found: u64,
    },
    /// Version 0: the segment chain continues after the last byte of the blob.
    #[error("its segment chain continues after its last byte, at segment {segment}")]
    ChainLong {
        /// The segment that should have been the last.
        segment: u32,
    },
}

/// How a seal disagrees with the blob that carries it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealDamage {
    /// The checksum over blob and seal does not match.
    #[error("the checksum of its seal does not match: blob or seal was changed")]
    Checksum,
    /// The seal belongs to another slot.
    #[error("its seal belongs to slot {found}")]
    Slot {
        /// The slot in the seal.
        found: Slot,
    },
    /// The document's length differs from the one in the seal.
    #[error("its document has {found} bytes, its seal claims {expected}")]
    Length {
        /// The length in the seal.
        expected: u32,
        /// The actual length.
        found: u32,
    },
    /// The document's SHA-256 differs from the one in the seal.
    #[error("the SHA-256 of its document differs from its seal")]
    Hash,
    /// The seal cannot be parsed.
    #[error("its seal is malformed")]
    Malformed,
}

impl Damage {
    /// Returns a short stable name for the kind of damage, for machine-readable reports.
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
            Self::DocumentLonger { .. } => "document-longer",
            Self::DocumentShorter { .. } => "document-shorter",
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

    /// Returns whether the document can be read in spite of the damage.
    pub fn is_readable(&self) -> bool {
        match self {
            Self::Overlap { .. } => true,
            // A document of only padding zeros counts as unreadable.
            Self::DocumentShorter { found, .. } => *found > 0,
            _ => false,
        }
    }
}

impl From<SealDamage> for Damage {
    fn from(damage: SealDamage) -> Self {
        Self::Seal(damage)
    }
}

/// A slot and its damage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlotDamage {
    /// The slot.
    pub slot: Slot,
    /// The kind of damage.
    pub damage: Damage,
}
