//! Damage to region files: every row of the tables of damaged files in `docs/format/container.md`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unnecessary_wraps,
    reason = "a test fails by panicking, and all rows have the same signature"
)]

use std::path::Path;

use sha2::{Digest, Sha256};

use super::world::{region, region_and_slot};
use super::{DamageLocation, Level, RegionBytes, Row};

type Applied = Option<DamageLocation>;

pub(super) const ROWS: &[Row] = &[
    ("index entry negative", "index-negative", Level::Error, |world| entry(world, -5)),
    ("index entry past the end", "index-past-end", Level::Error, |world| entry(world, 900_000)),
    ("compressed length 0", "compressed-length", Level::Error, |world| length(world, 4, 0)),
    ("compressed length negative", "compressed-length", Level::Error, |world| length(world, 4, -9)),
    ("compressed length past the end", "cut-off", Level::Error, |world| {
        length(world, 4, 0x3000_0000)
    }),
    ("compressed length overflows", "cut-off", Level::Error, |world| {
        length(world, 4, i32::MAX - 3)
    }),
    ("compressed length too small", "frame", Level::Error, shorter_frame),
    ("compressed length too large", "frame", Level::Error, longer_frame),
    ("raw length negative", "raw-length-negative", Level::Error, |world| length(world, 0, -1)),
    ("raw length too small", "document-longer", Level::Error, |world| raw_length(world, -1)),
    ("raw length too large", "document-shorter", Level::Warning, |world| raw_length(world, 7)),
    ("frame overwritten", "frame", Level::Error, frame_overwritten),
    ("blob of zeros", "compressed-length", Level::Error, blob_of_zeros),
    ("two slots with one blob", "overlap", Level::Error, shared_blob),
    ("file truncated inside a blob", "cut-off", Level::Error, truncated_blob),
    ("file truncated before a blob", "index-past-end", Level::Error, truncated_header),
    ("seal with a wrong checksum", "seal-checksum", Level::Error, |world| {
        sealed(world, |seal| seal[25] ^= 1, |slot| slot)
    }),
    ("seal of another slot", "seal-slot", Level::Error, |world| {
        sealed(world, |_| (), |slot| slot ^ 1)
    }),
    ("file truncated inside the index table", "storage", Level::Error, |world| {
        whole(world, |file| file.bytes.truncate(4100))
    }),
    ("file truncated inside the header", "storage", Level::Error, |world| {
        whole(world, |file| file.bytes.truncate(20))
    }),
    ("empty file", "storage", Level::Error, |world| whole(world, |file| file.bytes.clear())),
    ("magic damaged", "storage", Level::Error, |world| whole(world, |file| file.bytes[3] = b'X')),
    ("version unknown", "storage", Level::Error, |world| {
        whole(world, |file| file.set_number(20, 77))
    }),
    ("blob count 0", "storage", Level::Error, |world| whole(world, |file| file.set_number(24, 0))),
    ("segment size 0", "storage", Level::Error, |world| {
        whole(world, |file| file.set_number(28, 0))
    }),
    ("header of zeros", "storage", Level::Error, |world| {
        whole(world, |file| file.bytes[..32].fill(0))
    }),
];

/// Sets an index entry.
fn entry(world: &Path, value: i32) -> Applied {
    let (mut file, slot) = region_and_slot(world);
    file.set_number(RegionBytes::entry_offset(slot), value);
    file.save();
    Some(file.entry_location(slot))
}

/// Sets one of the two lengths of a blob; `at` is its offset in the blob.
fn length(world: &Path, at: usize, value: i32) -> Applied {
    let (mut file, slot) = region_and_slot(world);
    let location = file.blob_location(slot);
    let at = file.blob_offset(slot) + at;
    file.set_number(at, value);
    file.save();
    Some(location)
}

fn raw_length(world: &Path, difference: i32) -> Applied {
    let (file, slot) = region_and_slot(world);
    length(world, 0, file.raw_bytes(slot) + difference)
}

fn shorter_frame(world: &Path) -> Applied {
    let (file, slot) = region_and_slot(world);
    length(world, 4, i32::try_from(file.compressed_bytes(slot) / 2).unwrap())
}

/// Makes a blob extend into the next one.
fn longer_frame(world: &Path) -> Applied {
    let (file, slot) = region_and_slot(world);
    length(world, 4, i32::try_from(file.compressed_bytes(slot) + 5000).unwrap())
}

fn frame_overwritten(world: &Path) -> Applied {
    let (mut file, slot) = region_and_slot(world);
    let at = file.blob_offset(slot) + 8;
    file.bytes[at..at + 6].fill(0xFF);
    file.save();
    Some(file.blob_location(slot))
}

/// What remains if the index entry reached the disk before a power cut, and the blob did not.
fn blob_of_zeros(world: &Path) -> Applied {
    let (mut file, slot) = region_and_slot(world);
    let (at, len) = (file.blob_offset(slot), file.compressed_bytes(slot));
    file.bytes[at..at + 8 + len].fill(0);
    file.save();
    Some(file.blob_location(slot))
}

/// Lets an index entry refer to the blob of an earlier slot. The finding names the earlier one.
fn shared_blob(world: &Path) -> Applied {
    let mut file = region(world);
    let slots = file.slots();
    let (first, second) = (slots[slots.len() / 3], slots[slots.len() / 2]);
    file.set_number(RegionBytes::entry_offset(second), file.entry(first));
    file.save();
    Some(file.blob_location(first))
}

fn truncated_blob(world: &Path) -> Applied {
    let mut file = region(world);
    let slot = file.last_slot();
    let location = file.blob_location(slot);
    file.bytes.truncate(file.blob_offset(slot) + 8 + file.compressed_bytes(slot) / 2);
    file.save();
    Some(location)
}

fn truncated_header(world: &Path) -> Applied {
    let mut file = region(world);
    let slot = file.last_slot();
    file.bytes.truncate(file.blob_offset(slot) + 4);
    file.save();
    Some(file.entry_location(slot))
}

/// Changes a whole file. No chunk of it can be read afterwards.
fn whole(world: &Path, change: impl FnOnce(&mut RegionBytes)) -> Applied {
    let mut file = region(world);
    change(&mut file);
    file.save();
    Some(DamageLocation::file(&file.path))
}

/// Seals a blob for the slot that `slot_of` returns, and changes the seal.
fn sealed(world: &Path, change: impl Fn(&mut [u8]), slot_of: impl Fn(u32) -> u32) -> Applied {
    let (mut file, slot) = region_and_slot(world);
    let document = file.document(slot);
    let mut frames = checksummed(&document);
    let mut seal = seal(slot_of(slot), &document, &frames);
    change(&mut seal);
    frames.extend(seal);
    file.set_frames(slot, document.len(), &frames);
    file.save();
    Some(file.blob_location(slot))
}

/// Compresses a document into a frame with a checksum.
fn checksummed(document: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(document.len()));
    let mut zstd = zstd_safe::CCtx::create();
    zstd.set_parameter(zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
    zstd.compress2(&mut frame, document).unwrap();
    frame
}

/// Returns the seal of a frame, without an identity.
fn seal(slot: u32, document: &[u8], frame: &[u8]) -> Vec<u8> {
    let mut seal = 0x184D_2A5E_u32.to_le_bytes().to_vec();
    seal.extend(84_u32.to_le_bytes());
    seal.extend(b"HYWSEAL\0\0\x01\0\0");
    seal.extend(slot.to_be_bytes());
    seal.extend([0; 16]);
    seal.extend(u32::try_from(document.len()).unwrap().to_be_bytes());
    seal.extend(Sha256::digest(document));
    let mut hash = Sha256::new();
    hash.update(frame);
    hash.update(&seal);
    seal.extend(&hash.finalize()[..16]);
    seal
}
