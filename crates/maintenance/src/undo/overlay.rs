//! [`Overlay`]: a file whose writes are collected, so that the old bytes can be recorded before the
//! writes are made.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyworld_indexed_storage::{OsFile, RawFile};

use super::crash::point;

/// The unit in which changed bytes are kept and compared.
pub(super) const PAGE_BYTES: u64 = 4096;

/// A write, in the order in which it was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Operation {
    Write { offset: u64, bytes: Vec<u8> },
    SetLength(u64),
    Sync,
}

/// A file as it will be after the collected writes.
pub(super) struct Overlay {
    file: OsFile,
    old_bytes: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bytes: u64,
    /// Changed pages by number.
    pages: BTreeMap<u64, Vec<u8>>,
    operations: Vec<Operation>,
}

impl Overlay {
    pub(super) fn new(file: OsFile) -> io::Result<Self> {
        let old_bytes = file.len()?;
        let state = Mutex::new(State { bytes: old_bytes, ..State::default() });
        Ok(Self { file, old_bytes, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the length of the file now.
    pub(super) fn old_bytes(&self) -> u64 {
        self.old_bytes
    }

    /// Returns whether nothing is to be written.
    pub(super) fn is_unchanged(&self) -> bool {
        self.state().operations.iter().all(|operation| *operation == Operation::Sync)
    }

    /// Returns the ranges of bytes that are written, sorted and without overlaps.
    pub(super) fn ranges(&self) -> Vec<(u64, u64)> {
        let mut writes: Vec<(u64, u64)> = Vec::new();
        let state = self.state();
        for operation in &state.operations {
            match operation {
                Operation::Write { offset, bytes } => {
                    writes.push((*offset, offset.saturating_add(bytes.len() as u64)));
                }
                // What is cut off is lost.
                Operation::SetLength(length) if *length < self.old_bytes => {
                    writes.push((*length, self.old_bytes));
                }
                Operation::SetLength(_) | Operation::Sync => {}
            }
        }
        writes.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (start, end) in writes {
            match ranges.last_mut() {
                Some((_, last)) if start <= *last => *last = end.max(*last),
                _ => ranges.push((start, end)),
            }
        }
        ranges
    }

    /// Reads bytes of the file as it is now; fewer at its end.
    pub(super) fn read_old(&self, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        read(&self.file, offset, bytes)
    }

    /// Reads bytes of the file as it will be; fewer at its end.
    pub(super) fn read_new(&self, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        read(self, offset, bytes)
    }

    /// Makes the collected writes in their order. Writes to the index table, which lies before
    /// `table_end`, do not depend on each other and share a sync.
    pub(super) fn write(&self, table_end: u64) -> io::Result<()> {
        let state = self.state();
        let is_entry = |operation: Option<&Operation>| match operation {
            Some(Operation::Write { offset, .. }) => *offset < table_end,
            _ => false,
        };
        let mut is_synced = true;
        for (index, operation) in state.operations.iter().enumerate() {
            point()?;
            match operation {
                Operation::Write { offset, bytes } => self.file.write_at(bytes, *offset)?,
                Operation::SetLength(length) => self.file.set_len(*length)?,
                Operation::Sync => {
                    let before = index.checked_sub(1).and_then(|last| state.operations.get(last));
                    let after = state.operations.get(index.saturating_add(1));
                    if !(is_synced || is_entry(before) && is_entry(after)) {
                        self.file.sync()?;
                        is_synced = true;
                    }
                    continue;
                }
            }
            is_synced = false;
        }
        if is_synced { Ok(()) } else { self.file.sync() }
    }
}

/// Copies as many bytes as both have.
fn copy(to: &mut [u8], from: &[u8]) {
    let count = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..count), from.get(..count)) {
        to.copy_from_slice(from);
    }
}

/// Reads up to `bytes` bytes.
pub(super) fn read(file: &dyn RawFile, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let end = file.len()?.min(offset.saturating_add(bytes));
    let count = usize::try_from(end.saturating_sub(offset)).map_err(io::Error::other)?;
    let mut buffer = vec![0; count];
    let count = file.read_at(&mut buffer, offset)?;
    buffer.truncate(count);
    Ok(buffer)
}

impl RawFile for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().bytes)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state();
        let left = state.bytes.saturating_sub(offset);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let Some(buffer) = buffer.get_mut(..count) else { return Ok(0) };
        buffer.fill(0);
        self.file.read_at(buffer, offset)?;
        let end = offset.saturating_add(count as u64);
        let first = offset / PAGE_BYTES;
        for (number, page) in state.pages.range(first..=end / PAGE_BYTES) {
            let start = number.saturating_mul(PAGE_BYTES);
            let skipped = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
            let into = usize::try_from(start.saturating_sub(offset)).unwrap_or(usize::MAX);
            let from = page.get(skipped..).unwrap_or_default();
            let to = buffer.get_mut(into..).unwrap_or_default();
            copy(to, from);
        }
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(bytes.len() as u64);
        let mut state = self.state();
        for number in offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES) {
            let start = number.saturating_mul(PAGE_BYTES);
            let page = match state.pages.entry(number) {
                Entry::Occupied(page) => page.into_mut(),
                Entry::Vacant(missing) => {
                    let mut page = read(&self.file, start, PAGE_BYTES)?;
                    page.resize(usize::try_from(PAGE_BYTES).unwrap_or(usize::MAX), 0);
                    missing.insert(page)
                }
            };
            let skipped = usize::try_from(start.saturating_sub(offset)).unwrap_or(usize::MAX);
            let into = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
            let from = bytes.get(skipped..).unwrap_or_default();
            let to = page.get_mut(into..).unwrap_or_default();
            copy(to, from);
        }
        state.bytes = state.bytes.max(end);
        state.operations.push(Operation::Write { offset, bytes: bytes.to_vec() });
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state();
        if state.bytes != len {
            state.bytes = len;
            state.operations.push(Operation::SetLength(len));
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.state().operations.push(Operation::Sync);
        Ok(())
    }
}

impl fmt::Debug for Overlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlay").field("file", &self.file).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_see_the_collected_writes_and_the_file_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let old: Vec<u8> = (0..10_000_u32).map(|at| (at % 251) as u8).collect();
        hyworld_testkit::write_file(&path, &old);
        let overlay = Overlay::new(OsFile::open_locked(&path).unwrap()).unwrap();
        let mut new = old.clone();
        for (offset, bytes) in [(4090, 20), (9_990, 500), (0, 3), (12_000, 4), (4100, 4)] {
            overlay.write_at(&vec![0xAA; bytes], offset as u64).unwrap();
            new.resize(new.len().max(offset + bytes), 0);
            new[offset..offset + bytes].fill(0xAA);
        }
        let parts: [(usize, usize); 5] =
            [(0, 20_000), (4089, 2), (4096, 4096), (11_990, 100), (30_000, 9)];
        for (offset, bytes) in parts {
            let read = overlay.read_new(offset as u64, bytes as u64).unwrap();
            let end = (offset + bytes).min(new.len());
            let expected = new.get(offset..end).unwrap_or_default();
            assert_eq!(read, expected, "{bytes} bytes at {offset}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), old);
        assert_eq!(overlay.ranges(), [(0, 3), (4090, 4110), (9_990, 10_490), (12_000, 12_004)]);
        overlay.write(0).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), new);
    }
}
