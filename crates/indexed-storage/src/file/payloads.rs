//! Combines the payloads of adjacent runs into one write. A write that extends the file costs three
//! times as much as writing its bytes.

use std::borrow::Cow;

use super::IndexedStorageFile;
use crate::error::Result;
use crate::layout::SegmentRun;
use crate::limits::COMBINED_WRITE_BYTES_MAX;

pub(super) struct Payloads<'a> {
    file: &'a IndexedStorageFile,
    offset: u64,
    bytes: Cow<'a, [u8]>,
    /// File offset at which the segments of the last payload end.
    end: u64,
}

impl<'a> Payloads<'a> {
    pub(super) fn new(file: &'a IndexedStorageFile) -> Self {
        Self { file, offset: 0, bytes: Cow::default(), end: 0 }
    }

    /// Adds a payload for a run that no index entry refers to yet. The rest of the last segment
    /// before an adjacent payload is zeroed.
    pub(super) fn add(&mut self, run: SegmentRun, payload: &'a [u8]) -> Result<()> {
        let offset = self.file.segment_offset(run.start);
        let start = usize::try_from(offset.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let is_neighbour = offset == self.end && !self.bytes.is_empty();
        if is_neighbour && start.saturating_add(payload.len()) <= COMBINED_WRITE_BYTES_MAX {
            let bytes = self.bytes.to_mut();
            bytes.resize(start, 0);
            bytes.extend_from_slice(payload);
        } else {
            self.write()?;
            (self.offset, self.bytes) = (offset, Cow::Borrowed(payload));
        }
        let run_bytes =
            u64::from(run.count).saturating_mul(self.file.geometry.segment_bytes().into());
        self.end = offset.saturating_add(run_bytes);
        Ok(())
    }

    pub(super) fn write(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.raw.write_at(&bytes, self.offset).map_err(self.file.io_error("write"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::raw_file::{FaultPlan, FaultyFile};
    use crate::{BlobWrite, Geometry, OpenOptions, Slot};

    #[test]
    fn neighbours_are_written_at_once_with_zeros_between() {
        let disk = Arc::new(FaultyFile::new(Vec::new(), FaultPlan::default()));
        let options = OpenOptions::new().write(true).create(true);
        let geometry = Geometry::new(64, 512).unwrap();
        let file = options.geometry(geometry).open_raw(Box::new(Arc::clone(&disk)), "r").unwrap();
        let documents: Vec<Vec<u8>> = (0..40).map(|number| vec![number; 100]).collect();
        let blobs = documents.iter().zip(0..);
        let blobs = blobs.map(|(document, number)| BlobWrite {
            slot: Slot::new(number),
            document,
            seal: None,
        });
        let before = disk.operations();
        file.write_batch(&blobs.collect::<Vec<_>>()).unwrap();
        assert_eq!(disk.operations() - before, 1 + 40, "one write of payloads and 40 of entries");
        let bytes = disk.after_kill();
        for (document, number) in documents.iter().zip(0..) {
            let slot = Slot::new(number);
            assert_eq!(file.read(slot).unwrap().as_ref(), Some(document));
            let encoded = file.read_encoded(slot).unwrap().unwrap();
            let start = 32 + 64 * 4 + 512 * number as usize;
            let end = start + encoded.stored().len();
            assert_eq!(&bytes[start..end], encoded.stored());
            let slack = bytes.get(end..start + 512).unwrap_or_default();
            assert!(slack.iter().all(|byte| *byte == 0));
        }
    }
}
