//! What can go wrong, by meaning.

use std::io;
use std::path::PathBuf;

use hyworld_files::FileError;

use crate::damage::Damage;
use crate::layout::Slot;
use crate::limits::{BLOB_COUNT_MAX, IDENTITY_BYTES_MAX, SEGMENT_BYTES_MAX};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed. Every variant names the file, and the slot where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried, as in "cannot *open*".
        action: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file does not begin like one of ours.
    #[error("{}: {problem}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong with its first 32 bytes.
        problem: HeaderProblem,
    },
    /// The path names a directory, a device or something else that cannot hold blobs.
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file has no such slot.
    #[error("{}: there is no slot {slot}; this file has slots 0 to {}", path.display(),
        blob_count.saturating_sub(1))]
    NoSuchSlot {
        /// The file.
        path: PathBuf,
        /// The slot that was asked for.
        slot: Slot,
        /// How many there are.
        blob_count: u32,
    },
    /// The blob in this slot cannot be read. The other slots are not affected.
    #[error("{}: slot {slot} is damaged: {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The slot.
        slot: Slot,
        /// What is wrong with it.
        damage: Damage,
    },
    /// Another writer holds the file.
    #[error(
        "{}: another program has this file open for writing; stop it or wait until it is done",
        path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A write on a handle that was opened for reading.
    #[error("{}: the file was opened for reading only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A version 0 file was opened for writing and upgrading was switched off.
    #[error("{}: version 0 files can only be read; upgrade it to version 1 first", path.display())]
    NeedsUpgrade {
        /// The file.
        path: PathBuf,
    },
    /// `NAME.old` is in the way of an upgrade and is not a left-over of one.
    #[error(
        "{}: cannot upgrade: {} exists and holds something else; move it away first",
        path.display(),
        old.display()
    )]
    OldInTheWay {
        /// The file to upgrade.
        path: PathBuf,
        /// The file in the way.
        old: PathBuf,
    },
    /// The content to write is larger than the limit of this handle.
    #[error("{}: slot {slot}: {bytes} bytes are more than the limit of {max}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The slot to write.
        slot: Slot,
        /// The size of the content.
        bytes: u64,
        /// The limit, see [`OpenOptions::blob_bytes_max`](crate::OpenOptions::blob_bytes_max).
        max: u32,
    },
    /// No run of segments is left that the index table could name.
    #[error("{}: the file is full: no segment number is left for slot {slot}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The slot to write.
        slot: Slot,
    },
    /// An earlier write or sync failed, so what is on disk is not known any more.
    #[error(
        "{}: an earlier write failed, so nothing more is written; close the file and open it again",
        path.display()
    )]
    Latched {
        /// The file.
        path: PathBuf,
    },
    /// The file is not as it was when the plan was made.
    #[error("{}: the file changed since the plan was made; make it again", path.display())]
    PlanOutdated {
        /// The file.
        path: PathBuf,
    },
    /// The operation would lose the damaged slots.
    #[error(
        "{}: damaged slots would be lost ({damaged}); repair them or say that they may be dropped",
        path.display()
    )]
    WouldDropDamaged {
        /// The file.
        path: PathBuf,
        /// How many slots.
        damaged: usize,
    },
    /// The header is not destroyed.
    #[error("{}: its header is whole", path.display())]
    HeaderIsWhole {
        /// The file.
        path: PathBuf,
    },
    /// The geometry that was given is not that of the file.
    #[error("{}: none of its {damaged} blobs can be read with this geometry; nothing was written",
        path.display())]
    WrongGeometry {
        /// The file.
        path: PathBuf,
        /// How many slots are in use.
        damaged: usize,
    },
    /// A file with damaged slots is too large to be searched for blobs that must be kept.
    #[error("{}: it has damaged slots and is too large to be searched for blobs that no slot \
        refers to, which could be all that is left of them", path.display())]
    SearchUnfinished {
        /// The file.
        path: PathBuf,
    },
    /// What was written does not read back; the source was left alone.
    #[error("{}: slot {slot} does not read back as it was written; nothing was replaced",
        path.display())]
    VerifyFailed {
        /// The new file.
        path: PathBuf,
        /// The slot.
        slot: Slot,
    },
    /// No blob begins at this segment.
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
    /// Bytes that were offered as a compressed blob are not one.
    #[error("not a compressed blob: {damage}")]
    NotABlob {
        /// What is wrong with them.
        damage: Damage,
    },
    /// zstd refused to compress.
    #[error("cannot compress {bytes} bytes: {reason}")]
    Compress {
        /// The size of the content.
        bytes: usize,
        /// What zstd said.
        reason: &'static str,
    },
}

/// What is wrong with the beginning of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// No bytes at all.
    #[error("the file is empty")]
    Empty,
    /// Shorter than a header.
    #[error("not a region file: {file_bytes} bytes are too short for the 32-byte header")]
    TooShort {
        /// Length of the file.
        file_bytes: usize,
    },
    /// Other first bytes.
    #[error("not a region file: it does not begin with \"HytaleIndexedStorage\"")]
    Magic,
    /// A version we do not know.
    #[error("format version {found} is not known; versions 0 and 1 are")]
    Version {
        /// The number in the header.
        found: i32,
    },
    /// Numbers outside the limits.
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
    /// The file ends inside its index table, so all blobs, which come behind it, are lost. The game
    /// takes the entries that are missing for empty slots and makes new chunks there.
    #[error(
        "it ends at byte {file_bytes}, inside its index table, which should end at byte {end}: the \
         blobs behind it are lost; restore it from a backup, or delete it if there is none"
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
