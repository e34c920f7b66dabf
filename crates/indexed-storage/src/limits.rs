//! Every maximum in one place, each with its reason.
//!
//! A number that a file can claim is checked against one of these before anything is allocated
//! or computed from it.

use std::time::Duration;

/// Most slots that a file may have, 65,536. An open file keeps some 60 bytes for each, so a short
/// file that claims the most costs 4 MB.
///
/// The game always uses 1,024.
pub const BLOB_COUNT_MAX: u32 = 1 << 16;

/// Largest segment size. The game always uses 4,096; with this bound every position in a file
/// stays below 2^62, so that 64-bit arithmetic cannot overflow.
pub const SEGMENT_BYTES_MAX: u32 = 1 << 30;

/// Highest segment number: the index table holds signed 32-bit numbers.
pub const SEGMENT_INDEX_MAX: u32 = i32::MAX as u32;

/// Default for the largest decompressed blob that is read or written, 256 MiB.
///
/// The largest chunk seen in real worlds has 665,146 bytes. A damaged length field could ask for
/// 2 GiB; with this bound it costs nobody that much memory. [`OpenOptions::blob_bytes_max`] moves
/// it.
///
/// [`OpenOptions::blob_bytes_max`]: crate::OpenOptions::blob_bytes_max
pub const BLOB_BYTES_MAX: u32 = 1 << 28;

/// Default for how much released space may wait for a sync under
/// [`Durability::Relaxed`](crate::Durability::Relaxed), 16 MiB: most of a full region of natural
/// terrain.
///
/// Past it a write syncs by itself, so that rewriting cannot grow a file without bound.
pub const RELEASED_BYTES_MAX: u64 = 16 << 20;

/// Longest identity in a seal, in bytes.
pub const IDENTITY_BYTES_MAX: usize = 64;

/// A thread keeps its scratch buffers between calls up to this size, 4 MiB; larger ones are given
/// back after use, so that one huge blob does not stay in memory for ever.
pub const SCRATCH_BYTES_KEPT: usize = 4 << 20;

/// How often a read-only handle follows a slot that another program moves while it reads.
pub const STALE_RETRIES_MAX: u32 = 3;

/// A read that takes longer is repeated by a handle that only reads, as often as that. The game
/// saves a chunk at most every half second, so in less than half of that no blob moves away and
/// back.
pub const READ_TIME_MAX: Duration = Duration::from_millis(250);

/// Most segments that salvage looks at in one file, 2^24: a region of 64 GiB at the game's
/// segment size. A file that claims more, by tiny segments or by being sparse, is searched up to
/// here.
pub const SALVAGE_SEGMENTS_MAX: u32 = 1 << 24;

/// Salvage reads at most this many times the length of a file in all, plus 16 MiB. An honest
/// file needs one; a crafted one could make every segment look like a huge blob.
pub const SALVAGE_READ_FACTOR: u64 = 16;

/// Payloads of neighbours that are written at once, 128 KiB: 32 of the smallest blobs.
pub const WRITTEN_TOGETHER_MAX: usize = 128 << 10;
