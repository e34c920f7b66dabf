//! Reusable buffers for encoded documents.

use std::sync::Mutex;

use crate::sync::lock;

/// The memory kept for later documents. A batch of large chunks needs about 6 MiB.
const SPARE_BYTES_MAX: usize = 16 << 20;

/// Unused buffers. The operating system zeroes fresh memory page by page, which takes longer than
/// encoding a chunk.
#[derive(Debug, Default)]
pub(crate) struct SpareBuffers {
    spare: Mutex<Spare>,
}

#[derive(Debug, Default)]
struct Spare {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

impl SpareBuffers {
    /// Returns a kept buffer with arbitrary contents, or a new empty one.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut spare = lock(&self.spare);
        let buffer = spare.buffers.pop().unwrap_or_default();
        spare.bytes = spare.bytes.saturating_sub(buffer.capacity());
        buffer
    }

    /// Keeps a buffer for reuse, unless that would exceed the limit.
    pub(crate) fn put_back(&self, buffer: Vec<u8>) {
        let mut spare = lock(&self.spare);
        let bytes = spare.bytes.saturating_add(buffer.capacity());
        if bytes <= SPARE_BYTES_MAX {
            spare.bytes = bytes;
            spare.buffers.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_reused_up_to_the_limit() {
        let buffers = SpareBuffers::default();
        assert_eq!(buffers.take().capacity(), 0);
        for _ in 0..20 {
            buffers.put_back(Vec::with_capacity(1 << 20));
        }
        let kept = || (0..20).map(|_| buffers.take()).filter(|buffer| buffer.capacity() > 0);
        assert_eq!(kept().count(), 16);
        assert_eq!(kept().count(), 0);
        buffers.put_back(Vec::with_capacity(SPARE_BYTES_MAX + 1));
        assert_eq!(buffers.take().capacity(), 0);
    }
}
