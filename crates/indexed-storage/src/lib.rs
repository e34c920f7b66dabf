//! Stores many compressed blobs in one file: the container format of Hytale's region files.
//!
//! A file has a fixed number of *slots*, 1,024 for chunk regions. Each slot holds at most one
//! *blob*: opaque bytes, stored as zstd frames in consecutive *segments*. An index table holds the
//! first segment of each blob. This crate reads and writes such files byte for byte as the game
//! does. A crash does not lose blobs, and a damaged slot does not affect the others.
//!
//! This crate does not interpret blobs. Chunks, positions and directories belong to the crates
//! above.
//!
//! ```
//! use hyworld_indexed_storage::{Slot, Durability, OpenOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("0.0.region.bin");
//! let file = OpenOptions::new()
//!     .write(true)
//!     .create(true)
//!     .durability(Durability::EachWrite)
//!     .open(&path)?;
//! file.write(Slot::new(0), b"a document")?;
//! assert_eq!(file.read(Slot::new(0))?.unwrap(), b"a document");
//! assert_eq!(file.occupied(), [Slot::new(0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - After a process is killed, every slot holds either its old or its new blob.
//! - Under [`Durability::EachWrite`] the same holds after a power cut. Under
//!   [`Durability::Relaxed`] a slot written since the last sync may be damaged; everything older is
//!   intact, and the previous blob of such a slot can be [salvaged](IndexedStorageFile::salvage).
//!   Damage is detected through lengths and zstd errors, and always in
//!   [sealed](IndexedStorageFile::write_sealed) blobs.
//! - Opening and reading a file never panics or hangs, whatever its bytes are, and never allocates
//!   more than the [limits] allow.
//! - Opening for reading changes nothing.
//!
//! The format, the assumptions about the disk, and the differences from the game are in
//! `docs/format/container.md`.

mod allocator;
mod blob;
mod blob_header;
mod compact;
mod compression;
mod damage;
mod error;
mod file;
mod file_tables;
mod frame;
mod header;
mod index_table;
mod layout;
pub mod limits;
mod raw_file;
mod rebuild;
mod rewrite;
mod salvage;
mod seal;
mod slot;
mod v0;

pub use blob::EncodedBlob;
pub use blob_header::{BLOB_HEADER_BYTES, BlobHeader};
pub use compact::{CompactOptions, CompactReport, compact, plan_compact};
pub use compression::DEFAULT_LEVEL;
pub use damage::{Damage, SealDamage, SlotDamage};
pub use error::{Error, HeaderProblem, Result};
pub use file::{
    BlobStat, BlobWrite, Durability, IndexedStorageFile, OpenOptions, Usage, Verified,
    remove_unfinished,
};
pub use header::{FormatVersion, MAGIC};
pub use layout::{Geometry, SegmentIndex, SegmentRun, Slot};
#[cfg(any(test, feature = "testing"))]
pub use raw_file::{FaultPlan, FaultyFile};
pub use raw_file::{MemoryFile, OsFile, RawFile};
pub use rebuild::{RebuildChange, RebuildPlan, apply_rebuild, rebuild_header};
pub use salvage::{SalvageReport, SalvagedBlob};
pub use seal::{Seal, SealTag};
pub use v0::InterruptedWrite;
pub use v0::upgrade::{UpgradeReport, plan_upgrade, upgrade};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
