//! Memory for documents on their way to the storage, used again and again.

use std::sync::Mutex;

use crate::sync::lock;

/// How much memory is kept for the next documents. A batch of large chunks needs about 6 MiB.
const SPARE_BYTES_MAX: usize = 16 << 20;

/// Buffers that nobody uses at the moment. The system gives fresh memory page by page and zeroes
/// each, which takes longer than to encode a chunk.
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
    /// A buffer with any content, or an empty one.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut spare = lock(&self.spare);
        let buffer = spare.buffers.pop().unwrap_or_default();
        spare.bytes = spare.bytes.saturating_sub(buffer.capacity());
        buffer
    }

    /// Keeps a buffer, if there are not enough.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
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
    fn buffers_come_back_and_only_so_much_is_kept() {
        let buffers = SpareBuffers::default();
        assert_eq!(buffers.take().capacity(), 0);
        for _ in 0..20 {
            buffers.give(Vec::with_capacity(1 << 20));
        }
        let kept = || (0..20).map(|_| buffers.take()).filter(|buffer| buffer.capacity() > 0);
        assert_eq!(kept().count(), 16);
        assert_eq!(kept().count(), 0);
        buffers.give(Vec::with_capacity(SPARE_BYTES_MAX + 1));
        assert_eq!(buffers.take().capacity(), 0);
    }
}
