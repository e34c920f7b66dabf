//! The error type of this crate.

use std::io;
use std::path::{Path, PathBuf};

use hyworld_files::FileError;

use crate::damage::Damage;
use crate::layout::Slot;
use crate::limits::{BLOB_COUNT_MAX, IDENTITY_BYTES_MAX, SEGMENT_BYTES_MAX};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason an operation failed. Variants about a file include its path, and the slot if known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operating system call failed.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The attempted operation, as in "cannot *open*".
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The first bytes are not a valid header.
    #[error("{}: {problem}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong with the header or index table.
        problem: HeaderProblem,
    },
    /// The path is a directory, a device or another non-regular file.
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The slot number is out of range.
    #[error("{}: no slot {slot}: the file has slots 0 to {}", path.display(),
        blob_count.saturating_sub(1))]
    NoSuchSlot {
        /// The file.
        path: PathBuf,
        /// The requested slot.
        slot: Slot,
        /// The number of slots.
        blob_count: u32,
    },
    /// The blob in this slot cannot be read. Other slots are not affected.
    #[error("{}: slot {slot} is damaged: {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The slot.
        slot: Slot,
        /// The kind of damage.
        damage: Damage,
    },
    /// Another writer has the file locked.
    #[error(
        "{}: another program has this file open for writing; stop it or wait until it is done",
        path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A write on a handle that was opened for reading.
    #[error("{}: cannot write: the file was opened for reading only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A version 0 file was opened for writing while upgrading was disabled.
    #[error("{}: version 0 files can only be read; upgrade it to version 1 first", path.display())]
    NeedsUpgrade {
        /// The file.
        path: PathBuf,
    },
    /// `NAME.old` prevents an upgrade because it is not from an earlier upgrade.
    #[error(
        "{}: cannot upgrade: {} is not from an earlier upgrade; move it away first",
        path.display(),
        old.display()
    )]
    OldInTheWay {
        /// The file to upgrade.
        path: PathBuf,
        /// The file that prevents it.
        old: PathBuf,
    },
    /// The document to write exceeds the limit of this handle.
    #[error("{}: slot {slot}: {bytes} bytes exceed the limit of {max}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The slot to write.
        slot: Slot,
        /// The size of the document.
        bytes: u64,
        /// The limit; see [`OpenOptions::blob_bytes_max`](crate::OpenOptions::blob_bytes_max).
        max: u32,
    },
    /// All segment numbers are used.
    #[error("{}: cannot write slot {slot}: the file has no free segment numbers", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The slot to write.
        slot: Slot,
    },
    /// An earlier write or sync failed, so the state on disk is unknown.
    #[error(
        "{}: writing is disabled because an earlier write failed; close the file and open it again",
        path.display()
    )]
    Latched {
        /// The file.
        path: PathBuf,
    },
    /// The file changed after the plan was created.
    #[error("{}: the file changed since the plan was created; plan again", path.display())]
    PlanOutdated {
        /// The file.
        path: PathBuf,
    },
    /// Compacting would drop damaged slots.
    #[error(
        "{}: cannot compact: {damaged} damaged {} would be dropped; repair {} or allow it",
        path.display(),
        if *damaged == 1 { "slot" } else { "slots" },
        if *damaged == 1 { "it" } else { "them" }
    )]
    WouldDropDamaged {
        /// The file.
        path: PathBuf,
        /// The number of slots.
        damaged: usize,
    },
    /// The header is valid, so there is nothing to rebuild.
    #[error("{}: cannot rebuild the header: it is intact", path.display())]
    HeaderIntact {
        /// The file.
        path: PathBuf,
    },
    /// No blob can be read with the given geometry.
    #[error("{}: wrong geometry: none of its {damaged} blobs can be read; nothing was \
        written", path.display())]
    WrongGeometry {
        /// The file.
        path: PathBuf,
        /// The number of used slots.
        damaged: usize,
    },
    /// The file has damaged slots and is too large to be searched completely for orphaned blobs.
    #[error("{}: cannot compact: some slots are damaged, and the file is too large to be searched \
        for orphaned blobs that could replace them", path.display())]
    SearchUnfinished {
        /// The file.
        path: PathBuf,
    },
    /// A copied blob differs from its source. The source was not replaced.
    #[error("{}: slot {slot}: verification after writing failed; nothing was replaced",
        path.display())]
    VerifyFailed {
        /// The new file.
        path: PathBuf,
        /// The slot.
        slot: Slot,
    },
    /// No complete blob begins at this segment.
    #[error("{}: no complete blob begins at segment {segment}", path.display())]
    NothingToSalvage {
        /// The file.
        path: PathBuf,
        /// The segment.
        segment: u32,
    },
    /// The identity of a seal is too long.
    #[error("the identity of a seal has {bytes} bytes; at most {IDENTITY_BYTES_MAX} fit")]
    IdentityTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The bytes are not a valid compressed blob.
    #[error("not a compressed blob: {damage}")]
    NotABlob {
        /// What is wrong.
        damage: Damage,
    },
    /// zstd failed to compress.
    #[error("cannot compress {bytes} bytes: {reason}")]
    Compress {
        /// The size of the document.
        bytes: usize,
        /// The error reported by zstd.
        reason: &'static str,
    },
}

impl Error {
    /// Returns the same error about another file, for an operation on a copy of that file.
    #[must_use]
    pub fn at(mut self, file: &Path) -> Self {
        match &mut self {
            Self::Io { path, .. }
            | Self::Header { path, .. }
            | Self::NotAFile { path, .. }
            | Self::NoSuchSlot { path, .. }
            | Self::Damaged { path, .. }
            | Self::Locked { path, .. }
            | Self::ReadOnly { path, .. }
            | Self::NeedsUpgrade { path, .. }
            | Self::OldInTheWay { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Full { path, .. }
            | Self::Latched { path, .. }
            | Self::PlanOutdated { path, .. }
            | Self::WouldDropDamaged { path, .. }
            | Self::HeaderIntact { path, .. }
            | Self::WrongGeometry { path, .. }
            | Self::SearchUnfinished { path, .. }
            | Self::VerifyFailed { path, .. }
            | Self::NothingToSalvage { path, .. } => file.clone_into(path),
            Self::IdentityTooLong { .. } | Self::NotABlob { .. } | Self::Compress { .. } => {}
        }
        self
    }
}

/// What is wrong with the header or index table of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The file is shorter than a header.
    #[error("not a region file: {file_bytes} bytes, shorter than the 32-byte header")]
    TooShort {
        /// Length of the file.
        file_bytes: usize,
    },
    /// The magic number is different.
    #[error("not a region file: it does not begin with \"HytaleIndexedStorage\"")]
    Magic,
    /// The format version is not supported.
    #[error("unsupported format version {found}; supported are 0 and 1")]
    Version {
        /// The number in the header.
        found: i32,
    },
    /// The number of slots or the segment size is outside the limits.
    #[error(
        "the header claims {blob_count} slots and segments of {segment_bytes} bytes; \
         allowed are 1 to {BLOB_COUNT_MAX} slots and 1 to {SEGMENT_BYTES_MAX} bytes"
    )]
    Geometry {
        /// The claimed number of slots.
        blob_count: i32,
        /// The claimed segment size.
        segment_bytes: i32,
    },
    /// The file ends inside its index table, so all blobs are lost. The game treats the missing
    /// entries as empty slots and generates new chunks there.
    #[error(
        "the file is cut off at byte {file_bytes}, inside its index table, which ends at {end}: \
         all its blobs are lost; restore it from a backup, or delete it if there is none"
    )]
    TableCutOff {
        /// Length of the file.
        file_bytes: u64,
        /// Where the table should end.
        end: u64,
    },
}

impl From<FileError> for Error {
    fn from(FileError { path, action, source }: FileError) -> Self {
        Self::Io { path, action, source }
    }
}
