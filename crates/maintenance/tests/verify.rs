//! Verification: clean storages have no findings, and each kind of damage is found.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroUsize;

use hyworld_chunk::Chunk;
use hyworld_chunk::bson::DocumentWriter;
use hyworld_coords::{ChunkPos, SectionY};
use hyworld_maintenance::{
    Class, Finding, NoProgress, ScanOptions, Severity, VerifyReport, verify,
};
use hyworld_providers::conformance::FailingStorage;
use hyworld_providers::{ChunkStorage, MemoryStorage, RegionFiles};
use hyworld_testkit::{CONVERTED_WORLDS, WORLDS, fixture, region_files, write_file};

fn check(storage: &dyn ChunkStorage) -> (VerifyReport, Vec<Finding>) {
    let mut found = Vec::new();
    let options = ScanOptions::new().jobs(NonZeroUsize::new(3).unwrap());
    let report = verify(
        storage,
        &options,
        &mut |finding: &Finding| found.push(finding.clone()),
        &NoProgress,
    );
    (report, found)
}

fn stored(document: &[u8]) -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.write(ChunkPos::new(4, -5), document).unwrap();
    storage
}

fn only_finding(document: &[u8]) -> Finding {
    let (report, mut found) = check(&stored(document));
    assert_eq!(found.len(), 1, "{found:?}");
    let finding = found.remove(0);
    assert_eq!(report.findings.by_class(), &[(finding.class, 1)].into());
    assert_eq!(finding.chunk, Some(ChunkPos::new(4, -5)));
    finding
}

#[test]
fn a_new_chunk_is_clean() {
    let (report, found) = check(&stored(&Chunk::new().encode()));
    assert_eq!(found, []);
    assert!(report.is_clean() && report.chunks == 1 && report.raw_bytes > 1000);
}

#[test]
fn bytes_that_are_not_a_document_are_found() {
    let finding = only_finding(b"not a document");
    assert_eq!((finding.class, finding.severity), (Class::Document, Severity::Error));
    let mut bytes = Chunk::new().encode();
    bytes.truncate(500);
    assert_eq!(only_finding(&bytes).class, Class::Document);
    assert_eq!(only_finding(b"").class, Class::Document);
}

#[test]
fn a_missing_component_is_found() {
    let mut chunk = Chunk::new();
    chunk.remove("EntityChunk");
    let finding = only_finding(&chunk.encode());
    assert_eq!(finding.class, Class::Missing);
    assert_eq!(finding.message, "required component EntityChunk is missing");
}

fn with_block(version: i32, data: &[u8]) -> Vec<u8> {
    let mut chunk = Chunk::new();
    let mut block = DocumentWriter::new();
    block.int32("Version", version);
    block.binary("Data", 0, data);
    let section = chunk.section_mut(SectionY::new(2).unwrap());
    section.set_raw("Block", &block.finish()).unwrap();
    chunk.encode()
}

#[test]
fn components_that_cannot_be_decoded_are_found() {
    let finding = only_finding(&with_block(6, &[0, 0, 0, 0, 9]));
    assert_eq!(finding.class, Class::Component);
    let start = "ChunkColumn.Sections.2.Block.Data: at byte 4";
    assert!(finding.message.starts_with(start), "{}", finding.message);
    let finding = only_finding(&with_block(7, &[]));
    assert_eq!((finding.class, finding.severity), (Class::Newer, Severity::Warning));
}

#[test]
fn anomalies_are_warnings() {
    // A half-byte palette of one block with a wrong count: 5 instead of 32,768.
    let mut data = vec![0, 0, 0, 0, 1, 0, 1, 0, 0, 4];
    data.extend(b"Rock\x00\x05");
    data.extend([0; 16_384]);
    data.extend([0, 0, 0, 0]);
    data.extend([0, 0]);
    data.extend([0, 0, 0, 0, 0, 0]);
    data.extend([0, 0, 0, 0]);
    let (report, found) = check(&stored(&with_block(6, &data)));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].class, Class::Anomaly);
    assert!(found[0].message.starts_with("section 2: "), "{}", found[0].message);
    assert!(report.is_clean() && report.findings.count(Severity::Warning) == 1);
}

/// A half-byte palette of one block, and rotations of one value, for all cells.
fn with_name_and_rotation(name: &str, rotation: u8) -> Vec<u8> {
    let mut data = vec![0, 0, 0, 0, 1, 0, 1, 0];
    data.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
    data.extend(name.as_bytes());
    data.extend([0x80, 0]);
    data.extend([0; 16_384]);
    data.extend([0, 0, 0, 0, 0]);
    data.extend([1, 0, 1, 0, rotation, 0x80, 0]);
    data.extend(vec![0; 16_384 + 10]);
    data
}

#[test]
fn data_that_the_game_can_read_but_not_save_is_a_warning() {
    let name = "x".repeat(21_845);
    let chunk = with_block(6, &with_name_and_rotation(&name, 0));
    let finding = only_finding(&chunk);
    assert_eq!((finding.class, finding.severity), (Class::Unsavable, Severity::Warning));
    let expected = "section 2: blocks: a name has 21845 characters: the game can read the chunk \
                    but cannot save it again, because names are limited to 21844 characters";
    assert_eq!(finding.message, expected);
    let (report, found) = check(&stored(&with_block(6, &with_name_and_rotation(&name[1..], 0))));
    assert!(report.is_clean() && found.is_empty(), "{found:?}");

    let finding = only_finding(&with_block(6, &with_name_and_rotation("Rock", 64)));
    assert_eq!(finding.severity, Severity::Warning);
    let expected = "section 2: rotation 64 is invalid; the game accepts 0 to 63";
    assert_eq!(finding.message, expected);

    let mut chunk = Chunk::new();
    let mut data = vec![0, 0, 0, 1, 0, 0, 0, 5, 0x55, 0x55];
    data.extend(name.as_bytes());
    (0..1024).for_each(|_| data.extend([0, 0, 0, 0, 0, 0, 0, 5]));
    let mut environments = DocumentWriter::new();
    environments.binary("Data", 0, &data);
    chunk.set_raw("EnvironmentChunk", &environments.finish()).unwrap();
    let finding = only_finding(&chunk.encode());
    assert_eq!(finding.class, Class::Unsavable);
    assert!(finding.message.starts_with("EnvironmentChunk: a name has 21845 characters: the game"));
}

#[test]
fn chunks_and_regions_that_cannot_be_read_are_found() {
    let folder = tempfile::tempdir().unwrap();
    write_file(
        &folder.path().join("0.0.region.bin"),
        b"this is not a region file, but long enough",
    );
    write_file(
        &folder.path().join("1.0.region.bin"),
        &fixture("original/chunks/synthetic_v6.region.bin"),
    );
    let storage = RegionFiles::open_read_only(folder.path()).unwrap();
    let (report, mut found) = check(&storage);
    // The fixture has invented heights and tints.
    found.retain(|finding| finding.severity == Severity::Error);
    assert_eq!((report.chunks, found.len()), (3, 1));
    assert_eq!((found[0].class, found[0].chunk), (Class::Storage, None));
    assert!(found[0].message.contains("0.0.region.bin"), "{}", found[0].message);

    let failing = FailingStorage::new(stored(&Chunk::new().encode()));
    // The first operations list the chunk and return its size, the third reads it.
    failing.fail_every(3);
    let (_, found) = check(&failing);
    assert_eq!(found.iter().map(|finding| finding.class).collect::<Vec<_>>(), [Class::Unreadable]);
}

#[test]
fn real_worlds_are_clean() {
    for world in WORLDS {
        let Some(files) = region_files(world) else { return };
        let mut folders: Vec<_> = files.iter().map(|file| file.parent().unwrap()).collect();
        folders.dedup();
        for folder in folders {
            let (report, found) = check(&RegionFiles::open_read_only(folder).unwrap());
            let serious = found.iter().find(|finding| finding.severity != Severity::Note);
            assert_eq!(serious, None, "{}", folder.display());
            assert!(report.chunks > 0);
        }
    }
}

/// Chunks written by another program may have anomalies but no errors.
#[test]
fn converted_worlds_have_no_errors() {
    let mut chunks = 0;
    for world in CONVERTED_WORLDS {
        let Some(files) = region_files(world) else { return };
        let (report, found) =
            check(&RegionFiles::open_read_only(files[0].parent().unwrap()).unwrap());
        assert!(report.is_clean(), "{world}: {:?}", found.first());
        chunks += report.chunks;
    }
    assert_eq!(chunks, 1_679);
}
