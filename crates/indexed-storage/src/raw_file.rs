//! The disk as this crate sees it: five operations, so that tests can put anything below them.

mod memory;
mod os;

#[cfg(any(test, feature = "testing"))]
mod faulty;

use std::fmt;
use std::io;

#[cfg(any(test, feature = "testing"))]
pub use faulty::{FaultPlan, FaultyFile};
pub(crate) use hyworld_files::{
    is_same_file, link_or_rename, remove_if_present, rename, sync_parent, with_suffix,
};
pub use memory::MemoryFile;
pub(crate) use os::Access;
pub use os::OsFile;

/// A file of bytes with positional access from any thread.
///
/// What this crate assumes of an implementation (and of the disk below it): after `sync` returns,
/// everything written before it survives a power cut; a write that is not synced may survive
/// whole, in parts, or not at all, in any order with others; bytes outside the written range are
/// never changed; an aligned write of 4 bytes survives whole or not at all.
pub trait RawFile: Send + Sync + fmt::Debug {
    /// Length in bytes.
    ///
    /// # Errors
    /// What the operating system reports.
    fn len(&self) -> io::Result<u64>;

    /// Whether it has no bytes.
    ///
    /// # Errors
    /// As for [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file.
    ///
    /// # Errors
    /// What the operating system reports. The end of the file is not an error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`, growing the file as needed.
    ///
    /// # Errors
    /// What the operating system reports; some of the bytes may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Cuts the file off, or extends it with zeros.
    ///
    /// # Errors
    /// What the operating system reports.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// What the operating system reports; what is durable is then unknown.
    fn sync(&self) -> io::Result<()>;
}

impl<F: RawFile + ?Sized> RawFile for std::sync::Arc<F> {
    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        (**self).read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        (**self).write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        (**self).set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        (**self).sync()
    }
}
