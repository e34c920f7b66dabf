//! The file operations this crate needs, as a trait that tests can implement.

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
/// This crate assumes of an implementation and the disk below it: after `sync` returns, everything
/// written before survives a power cut; a write that is not synced may survive completely,
/// partially or not at all, in any order with others; bytes outside the written range never change;
/// an aligned write of 4 bytes survives completely or not at all.
pub trait RawFile: Send + Sync + fmt::Debug {
    /// Returns the length in bytes.
    ///
    /// # Errors
    /// Returns an error of the operating system.
    fn len(&self) -> io::Result<u64>;

    /// Returns whether the file has no bytes.
    ///
    /// # Errors
    /// As for [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file.
    ///
    /// # Errors
    /// Returns an error of the operating system. Reading past the end is not an error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`, growing the file as needed.
    ///
    /// # Errors
    /// Returns an error of the operating system; some bytes may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Truncates the file, or extends it with zeros.
    ///
    /// # Errors
    /// Returns an error of the operating system.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// Returns an error of the operating system; it is then unknown what is durable.
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
