//! Damage to the BSON of a chunk.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unnecessary_wraps,
    reason = "a test fails by panicking, and all rows have the same signature"
)]

use std::path::Path;

use super::world::{edit_any_chunk, region_and_slot};
use super::{Bson, DamageLocation, Level, Row};

pub(super) const ROWS: &[Row] = &[
    ("document length wrong", "document", Level::Error, |world| {
        change(world, |document| document[0] ^= 1)
    }),
    ("bytes after the document", "document", Level::Error, |world| {
        change(world, |document| document.extend([0; 3]))
    }),
    ("document cut off", "document", Level::Error, |world| {
        change(world, |document| document.truncate(document.len() / 2))
    }),
    ("element of an unknown type", "document", Level::Error, |world| {
        change(world, |document| {
            let at = document.windows(12).position(|bytes| bytes == b"\x03WorldChunk\0").unwrap();
            document[at] = 0x66;
        })
    }),
    ("key that is not UTF-8", "document", Level::Error, |world| {
        change(world, |document| {
            let at = document.windows(6).position(|bytes| bytes == b"\x03Block").unwrap();
            document[at + 2] = 0xFF;
        })
    }),
    ("length of a nested document wrong", "document", Level::Error, |world| {
        change(world, |document| {
            let at = document.windows(12).position(|bytes| bytes == b"ChunkColumn\0").unwrap();
            document[at + 12] ^= 4;
        })
    }),
    ("components missing", "document", Level::Error, |world| {
        change(world, |document| document[5..15].copy_from_slice(b"Camponents"))
    }),
    ("further key beside the components", "anomaly", Level::Warning, |world| {
        edit_any_chunk(world, |document, _| {
            document.fields_mut().unwrap().push(("Extra".to_owned(), Bson::int32(1)));
            true
        })
    }),
];

/// Changes the bytes of a document.
fn change(world: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Option<DamageLocation> {
    let (mut file, slot) = region_and_slot(world);
    let mut document = file.document(slot);
    change(&mut document);
    file.set_document(slot, &document);
    file.save();
    Some(file.blob_location(slot))
}
