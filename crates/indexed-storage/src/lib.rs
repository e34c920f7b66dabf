//! Many compressed blobs in one file: the container of Hytale's region files.
//!
//! A file has a fixed number of *slots*, 1,024 for chunk regions. Each holds at most one *blob*:
//! opaque bytes, stored as zstd frames in consecutive *segments*. An index table says where each
//! begins. This crate reads and writes such files byte for byte as the game does, never loses a
//! blob to a crash, and never lets one damaged slot cost the others.
//!
//! It does not know what a blob is. Chunks, positions and directories are the business of the
//! crates above.
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
//! # Promises
//!
//! - A killed process leaves every slot exactly old or exactly new.
//! - A power cut does the same under [`Durability::EachWrite`]. Under [`Durability::Relaxed`] a
//!   slot that was written since the last sync may be damaged; everything older is intact, and
//!   the previous content of such a slot can be [salvaged](IndexedStorageFile::salvage). The
//!   damage is noticed as far as lengths and zstd can tell, and always for
//!   [sealed](IndexedStorageFile::write_sealed) blobs.
//! - Whatever the bytes of a file are, opening and reading it neither panics nor hangs nor
//!   allocates more than the [limits] allow.
//! - Opening for reading changes nothing.
//!
//! The format, our assumptions about the disk, and where we differ from the original are in
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
