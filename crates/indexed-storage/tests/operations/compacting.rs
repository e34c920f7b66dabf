//! Compacting removes gaps, keeps frames, and keeps orphaned blobs if slots are damaged.

use std::fs;

use hyworld_indexed_storage::{
    BlobWrite, CompactOptions, Error, IndexedStorageFile, compact, plan_compact,
};
use hyworld_testkit::{Random, fixture, sample, write_file};

use super::{folder_with_file, slot, tag};

#[test]
fn compacting_drops_gaps_and_keeps_every_frame() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    for number in 0..60 {
        file.write(slot(number), &sample(number.into(), 9000)).unwrap();
    }
    for number in (0..60).step_by(3) {
        file.remove(slot(number)).unwrap();
        file.write(slot(900 - number), &Random::new(number.into()).bytes(5000)).unwrap();
    }
    let tag = tag(3);
    file.write_batch(&[BlobWrite { slot: slot(5), document: b"sealed", seal: Some(&tag) }])
        .unwrap();
    let frames = |file: &IndexedStorageFile| {
        let read = |slot| (slot, file.read_encoded(slot).unwrap());
        file.occupied().into_iter().map(read).collect::<Vec<_>>()
    };
    let before = frames(&file);
    let bytes_before = file.file_bytes().unwrap();
    file.close().unwrap();
    let report = compact(&path, CompactOptions::default()).unwrap();
    assert_eq!((report.bytes_before, report.blobs), (bytes_before, 60));
    let file = IndexedStorageFile::open(&path).unwrap();
    assert!(frames(&file) == before);
    let usage = file.usage().unwrap();
    assert_eq!((usage.orphaned_bytes, usage.file_bytes), (0, report.bytes_after));
    let mut segments = file.occupied().into_iter().map(|s| file.stat(s).unwrap().unwrap().segment);
    assert!(segments.by_ref().is_sorted());
    assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
}

#[test]
fn compacting_drops_a_damaged_slot_only_if_allowed() {
    let (folder, path) = folder_with_file();
    write_file(&path, &fixture("original/corrupt/index_past_eof.region.bin"));
    let before = fs::read(&path).unwrap();
    let refused = compact(&path, CompactOptions::default()).unwrap_err();
    assert!(matches!(refused, Error::WouldDropDamaged { damaged: 1, .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    let dropping = CompactOptions { drop_damaged: true, ..CompactOptions::default() };
    let report = compact(&path, dropping).unwrap();
    assert_eq!((report.blobs, report.dropped.len()), (7, 1));
    assert_eq!(IndexedStorageFile::open(&path).unwrap().damage(), []);
}

#[test]
fn compacting_a_damaged_file_keeps_orphans_by_default() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    file.write(slot(3), &sample(3, 9000)).unwrap();
    file.write(slot(4), &sample(4, 9000)).unwrap();
    // The old blob of slot 3 becomes an orphan with an intact header, as in a file of the game.
    let orphan = file.read_encoded(slot(3)).unwrap().unwrap();
    let offset = |number| {
        let segment = file.stat(slot(number)).unwrap().unwrap().segment;
        usize::try_from(file.geometry().segment_offset(segment)).unwrap()
    };
    let orphan_at = offset(3);
    file.write(slot(3), &sample(33, 9000)).unwrap();
    let newer_at = offset(3);
    file.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[orphan_at..orphan_at + 8].copy_from_slice(&orphan.stored()[..8]);
    let healthy = bytes.clone();
    // Flip bits of the newer blob so that it does not decode.
    bytes[newer_at + 8] ^= 0xFF;
    let kept = |bytes: &[u8], options| {
        write_file(&path, bytes);
        let planned = plan_compact(&IndexedStorageFile::open_read_only(&path).unwrap(), options);
        let report = compact(&path, options).unwrap();
        assert_eq!(planned.unwrap(), report);
        let file = IndexedStorageFile::open_read_only(&path).unwrap();
        let blobs = file.salvage().unwrap().blobs;
        assert_eq!(blobs.len() as u64, u64::from(report.orphans));
        blobs.iter().map(|blob| file.salvage_at(blob.segment).unwrap()).collect::<Vec<_>>()
    };
    let dropping = CompactOptions { drop_orphans: true, ..CompactOptions::default() };
    assert!(kept(&bytes, CompactOptions::default()).contains(&orphan));
    assert!(kept(&bytes, dropping).is_empty());
    assert!(kept(&healthy, CompactOptions::default()).is_empty());
}

#[test]
fn compacting_separates_overlapping_blobs_and_keeps_damaged_ones() {
    let (_folder, path) = folder_with_file();
    write_file(&path, &fixture("original/corrupt/crosslink_same_segment.region.bin"));
    compact(&path, CompactOptions::default()).unwrap();
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    assert_eq!((file.damage(), file.occupied().len()), (vec![], 8));
    drop(file);
    write_file(&path, &fixture("original/corrupt/payload_bitflip_detected.region.bin"));
    let broken = IndexedStorageFile::open_read_only(&path).unwrap();
    let stored = broken.read_encoded(slot(21)).unwrap();
    compact(&path, CompactOptions::default()).unwrap();
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    assert!(file.read_encoded(slot(21)).unwrap() == stored);
}

#[cfg(unix)]
#[test]
fn compacting_through_a_link_replaces_its_target() {
    let (folder, link) = folder_with_file();
    let path = folder.path().join("elsewhere");
    let file = IndexedStorageFile::create(&path).unwrap();
    for version in 0..3 {
        file.write(slot(1), &sample(version, 30_000)).unwrap();
    }
    file.close().unwrap();
    std::os::unix::fs::symlink("elsewhere", &link).unwrap();
    let report = compact(&link, CompactOptions::default()).unwrap();
    assert!(report.bytes_after < report.bytes_before);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(path.metadata().unwrap().len(), report.bytes_after);
    let names = folder.path().read_dir().unwrap().count();
    assert_eq!(names, 2, "the link and the file");
}
