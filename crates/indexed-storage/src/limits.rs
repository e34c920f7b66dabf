//! All size limits of this crate, each with its reason.
//!
//! Every number read from a file is checked against a limit before anything is allocated or
//! computed from it.

use std::time::Duration;

/// Maximum number of slots in a file, 65,536. An open file uses about 60 bytes of memory per slot,
/// so a short file that claims the maximum costs 4 MB.
///
/// The game always uses 1,024.
pub const BLOB_COUNT_MAX: u32 = 1 << 16;

/// Maximum segment size in bytes. The game always uses 4,096. With this bound every offset in a
/// file is below 2^62, so 64-bit arithmetic cannot overflow.
pub const SEGMENT_BYTES_MAX: u32 = 1 << 30;

/// Highest segment number: the index table stores signed 32-bit numbers.
pub const SEGMENT_INDEX_MAX: u32 = i32::MAX as u32;

/// Default limit for the decompressed size of a blob that is read or written, 256 MiB.
///
/// The largest chunk seen in real worlds has 665,146 bytes. A damaged length field could claim 2
/// GiB; this bound prevents such an allocation. Set it with [`OpenOptions::blob_bytes_max`].
///
/// [`OpenOptions::blob_bytes_max`]: crate::OpenOptions::blob_bytes_max
pub const BLOB_BYTES_MAX: u32 = 1 << 28;

/// Default limit for released space that waits for a sync under
/// [`Durability::Relaxed`](crate::Durability::Relaxed), 16 MiB: most of a full region of natural
/// terrain.
///
/// A write that exceeds it syncs, so repeated rewriting cannot grow a file without bound.
pub const RELEASED_BYTES_MAX: u64 = 16 << 20;

/// Maximum length of the identity in a seal, in bytes.
pub const IDENTITY_BYTES_MAX: usize = 64;

/// Maximum size of the scratch buffers that a thread keeps between calls, 4 MiB. Larger buffers are
/// freed after use, so one huge blob does not stay in memory.
pub const SCRATCH_BYTES_KEPT: usize = 4 << 20;

/// How often a read-only handle retries a slot that another program moves during the read.
pub const STALE_RETRIES_MAX: u32 = 3;

/// A read-only handle reads a blob a second time if the first read took longer than this, 50
/// microseconds. In less time no program writes the four blobs that it takes to move a blob away,
/// another one into its segments, and both back: a program compresses each of them first. A read
/// of a blob in the page cache takes less than 20 microseconds.
pub const READ_TIME_MAX: Duration = Duration::from_micros(50);

/// Maximum number of segments that salvage searches in one file, 2^22: a region of 16 GiB at the
/// game's segment size. A file that claims more, by tiny segments or by being sparse, is searched
/// only up to this limit.
pub const SALVAGE_SEGMENTS_MAX: u32 = 1 << 22;

/// Salvage reads at most this many times the length of a file in total, plus 16 MiB. An undamaged
/// file needs one pass; a crafted file could make every segment look like a huge blob.
pub const SALVAGE_READ_FACTOR: u64 = 16;

/// Adjacent payloads are combined into writes of at most this size, 128 KiB: 32 of the smallest
/// blobs.
pub const COMBINED_WRITE_BYTES_MAX: usize = 128 << 10;
