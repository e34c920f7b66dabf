//! A region file as bytes, with just enough structure to damage it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};

use super::DamageLocation;
use crate::fixtures::write_file;

const HEADER_BYTES: usize = 32;
const SLOTS: usize = 1024;
const SEGMENT_BYTES: usize = 4096;
/// Where segment 1 begins.
const BASE: usize = HEADER_BYTES + 4 * SLOTS;

/// A version 1 region file of 1,024 slots in memory.
#[derive(Clone, Debug)]
pub struct RegionBytes {
    /// The path of the file.
    pub path: PathBuf,
    /// All of its bytes.
    pub bytes: Vec<u8>,
}

impl RegionBytes {
    /// Reads a file.
    ///
    /// # Panics
    /// Panics if it cannot be read.
    pub fn open(path: &Path) -> Self {
        Self { path: path.to_owned(), bytes: std::fs::read(path).unwrap() }
    }

    /// Writes the bytes back.
    pub fn save(&self) {
        write_file(&self.path, &self.bytes);
    }

    fn number(&self, at: usize) -> i32 {
        i32::from_be_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    /// Sets the big-endian integer at an offset.
    pub fn set_number(&mut self, at: usize, value: i32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    /// Returns the slots with a blob.
    pub fn slots(&self) -> Vec<u32> {
        (0..1024).filter(|slot| self.entry(*slot) != 0).collect()
    }

    /// Returns the offset of the index entry of a slot.
    pub fn entry_offset(slot: u32) -> usize {
        HEADER_BYTES + 4 * slot as usize
    }

    /// Returns the index entry of a slot.
    pub fn entry(&self, slot: u32) -> i32 {
        self.number(Self::entry_offset(slot))
    }

    /// Returns the offset of the blob of a slot: its two lengths, then its frame.
    pub fn blob_offset(&self, slot: u32) -> usize {
        BASE + (usize::try_from(self.entry(slot)).unwrap() - 1) * SEGMENT_BYTES
    }

    /// Returns the compressed length of a blob.
    pub fn compressed_bytes(&self, slot: u32) -> usize {
        usize::try_from(self.number(self.blob_offset(slot) + 4)).unwrap()
    }

    /// Returns the raw length of a blob.
    pub fn raw_bytes(&self, slot: u32) -> i32 {
        self.number(self.blob_offset(slot))
    }

    /// Decompresses the document of a slot.
    pub fn document(&self, slot: u32) -> Vec<u8> {
        let at = self.blob_offset(slot) + 8;
        let frame = &self.bytes[at..at + self.compressed_bytes(slot)];
        let mut document = Vec::with_capacity(usize::try_from(self.raw_bytes(slot)).unwrap());
        zstd_safe::decompress(&mut document, frame).unwrap();
        document
    }

    /// Compresses a document and stores it after the last blob.
    pub fn set_document(&mut self, slot: u32, document: &[u8]) {
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(document.len()));
        zstd_safe::compress(&mut frame, document, 3).unwrap();
        self.set_frames(slot, document.len(), &frame);
    }

    /// Stores frames after the last blob.
    pub fn set_frames(&mut self, slot: u32, raw_bytes: usize, frames: &[u8]) {
        let segments = (self.bytes.len() - BASE).div_ceil(SEGMENT_BYTES);
        self.bytes.resize(BASE + segments * SEGMENT_BYTES, 0);
        self.bytes.extend(u32::try_from(raw_bytes).unwrap().to_be_bytes());
        self.bytes.extend(u32::try_from(frames.len()).unwrap().to_be_bytes());
        self.bytes.extend(frames);
        self.set_number(Self::entry_offset(slot), i32::try_from(segments + 1).unwrap());
    }

    /// Returns the slot whose blob is the last in the file.
    pub fn last_slot(&self) -> u32 {
        self.slots().into_iter().max_by_key(|slot| self.entry(*slot)).unwrap()
    }

    /// Returns the position of the chunk of a slot.
    pub fn chunk(&self, slot: u32) -> (i32, i32) {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        let mut parts = name.split('.').map(|part| part.parse::<i32>().unwrap_or(0));
        let (x, z) = (parts.next().unwrap(), parts.next().unwrap());
        let slot = i32::try_from(slot).unwrap();
        (x * 32 + slot % 32, z * 32 + slot / 32)
    }

    /// Returns the location of a slot without an offset.
    pub fn location(&self, slot: u32) -> DamageLocation {
        DamageLocation {
            file: Some(self.path.clone()),
            chunk: Some(self.chunk(slot)),
            slot: Some(slot),
            offset: None,
        }
    }

    /// Returns the location of a slot's index entry.
    pub fn entry_location(&self, slot: u32) -> DamageLocation {
        let offset = Some(Self::entry_offset(slot) as u64);
        DamageLocation { offset, ..self.location(slot) }
    }

    /// Returns the location of a slot's blob.
    pub fn blob_location(&self, slot: u32) -> DamageLocation {
        let offset = Some(self.blob_offset(slot) as u64);
        DamageLocation { offset, ..self.location(slot) }
    }
}
