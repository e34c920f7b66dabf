//! Hytale world storage in Rust: positions, region files, and what is built on them.
//!
//! This crate has no code of its own. It gives the crates of the project one name and one
//! version, so that a program needs a single dependency:
//!
//! | module | what it answers |
//! |---|---|
//! | [`chunk`] | What is in a chunk, and how do I change it without losing the rest? |
//! | [`coords`] | In which chunk, region file and slot is this block? |
//! | [`indexed_storage`] | How do I read, write, check and rescue the blobs of a region file? |
//!
//! A world is stored as region files. Each covers 32 x 32 chunks and holds every chunk as one
//! compressed blob in the slot that belongs to its place. So reading a chunk takes a position from
//! `coords` and a file from `indexed_storage`:
//!
//! ```
//! use hyworld::coords::BlockPos;
//! use hyworld::indexed_storage::{BlobIndex, IndexedStorageFile};
//!
//! // Where is the chunk that holds this block?
//! let chunk = BlockPos::new(100, 64, -200).chunk();
//! let slot = BlobIndex::new(chunk.slot().index().into());
//! # let folder = tempfile::tempdir()?;
//! # let chunks = folder.path();
//! let path = chunks.join(chunk.region().file_name());
//! assert!(path.ends_with("0.-1.region.bin"));
//!
//! // Store a document there. The file is made if it is missing.
//! let file = IndexedStorageFile::create(&path)?;
//! file.write(slot, b"the chunk's document")?;
//! file.close()?;
//!
//! // Read it back. Opening for reading changes nothing, whatever the file holds.
//! let file = IndexedStorageFile::open_read_only(&path)?;
//! assert_eq!(file.read(slot)?.as_deref(), Some(b"the chunk's document".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a document means is the business of `chunk`: blobs are opaque bytes to a region file. The
//! command line, `hyworld`, is the package `hyworld-cli`.

pub use hyworld_chunk as chunk;
pub use hyworld_coords as coords;
pub use hyworld_indexed_storage as indexed_storage;
