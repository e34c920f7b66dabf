//! Writes version 0 files for tests; the library itself only reads them.

/// A version 0 file in memory.
#[derive(Clone, Debug)]
pub struct V0Writer {
    blob_count: u32,
    segment_bytes: u32,
    /// The whole file.
    pub bytes: Vec<u8>,
}

impl V0Writer {
    /// Creates an empty file.
    pub fn new(blob_count: u32, segment_bytes: u32) -> Self {
        let mut bytes = b"HytaleIndexedStorage".to_vec();
        bytes.extend(0_u32.to_be_bytes());
        bytes.extend(blob_count.to_be_bytes());
        bytes.extend(segment_bytes.to_be_bytes());
        bytes.resize(32 + 8 * blob_count as usize, 0);
        Self { blob_count, segment_bytes, bytes }
    }

    /// Appends a blob to the file and sets its index entry.
    pub fn append(&mut self, slot: u32, document: &[u8]) {
        let mut blob = u32::try_from(document.len()).unwrap_or(0).to_be_bytes().to_vec();
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(document.len()));
        if zstd_safe::compress(&mut frame, document, 3).is_err() {
            crate::fixtures::fail("cannot compress");
        }
        blob.extend(u32::try_from(frame.len()).unwrap_or(0).to_be_bytes());
        blob.extend(frame);
        let first = self.segment_count() + 1;
        let parts: Vec<&[u8]> = blob.chunks(self.segment_bytes as usize - 4).collect();
        for (number, part) in (first..).zip(&parts) {
            let is_last = number as usize - first as usize + 1 == parts.len();
            let link = if is_last { 0x8000_0000 } else { number + 1 };
            self.bytes.resize(self.segment_offset(number), 0);
            self.bytes.extend(link.to_be_bytes());
            self.bytes.extend(*part);
        }
        self.set_index(slot, first);
    }

    /// Sets an entry of the index table.
    pub fn set_index(&mut self, slot: u32, segment: u32) {
        self.put(32 + 4 * slot as usize, segment);
    }

    /// Sets the link of a segment.
    pub fn set_link(&mut self, segment: u32, link: u32) {
        self.put(self.segment_offset(segment), link);
    }

    /// Returns the offset of a segment in the file.
    pub fn segment_offset(&self, segment: u32) -> usize {
        32 + 8 * self.blob_count as usize + (segment as usize - 1) * self.segment_bytes as usize
    }

    /// Returns the number of segments, including a partial last one.
    pub fn segment_count(&self) -> u32 {
        let bytes = self.bytes.len() - self.segment_offset(1);
        u32::try_from(bytes.div_ceil(self.segment_bytes as usize)).unwrap_or(u32::MAX)
    }

    fn put(&mut self, at: usize, value: u32) {
        if let Some(bytes) = self.bytes.get_mut(at..at + 4) {
            bytes.copy_from_slice(&value.to_be_bytes());
        }
    }
}
