//! A file in memory.

use std::io;
use std::sync::{PoisonError, RwLock};

use super::RawFile;

/// A file in memory, for tests and for regions read from an archive or the network.
#[derive(Debug, Default)]
pub struct MemoryFile {
    bytes: RwLock<Vec<u8>>,
}

impl MemoryFile {
    /// Creates a file with these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: RwLock::new(bytes) }
    }

    /// Returns a copy of the current bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with_mut<T>(&self, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        change(&mut self.bytes.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Copies the bytes at `offset` into `buffer` and returns their number.
pub(super) fn copy_out(bytes: &[u8], buffer: &mut [u8], offset: u64) -> usize {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let available = bytes.get(start..).unwrap_or_default();
    let count = available.len().min(buffer.len());
    if let (Some(to), Some(from)) = (buffer.get_mut(..count), available.get(..count)) {
        to.copy_from_slice(from);
    }
    count
}

/// Copies `new` into `bytes` at `offset`, extending it with zeros if needed.
pub(super) fn copy_in(bytes: &mut Vec<u8>, new: &[u8], offset: u64) -> io::Result<()> {
    let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let end = start.checked_add(new.len()).ok_or(io::ErrorKind::FileTooLarge)?;
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(target) = bytes.get_mut(start..end) {
        target.copy_from_slice(new);
    }
    Ok(())
}

impl RawFile for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        Ok(bytes.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        Ok(copy_out(&bytes, buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.with_mut(|all| copy_in(all, bytes, offset))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.with_mut(|all| all.resize(len, 0));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_end_with_the_file() {
        let file = MemoryFile::new(vec![1, 2, 3]);
        let mut buffer = [0; 4];
        assert_eq!(file.read_at(&mut buffer, 1).unwrap(), 2);
        assert_eq!(buffer, [2, 3, 0, 0]);
        assert_eq!(file.read_at(&mut buffer, 3).unwrap(), 0);
        assert_eq!(file.read_at(&mut buffer, u64::MAX).unwrap(), 0);
    }

    #[test]
    fn writes_past_the_end_leave_zeros() {
        let file = MemoryFile::default();
        file.write_at(&[7], 3).unwrap();
        assert_eq!(file.to_vec(), [0, 0, 0, 7]);
        file.set_len(2).unwrap();
        assert_eq!(file.len().unwrap(), 2);
    }
}
