//! Manifests: what is reported after a world changed.

use std::path::Path;

use hyworld::ManifestUse;
use hyworld::coords::ChunkPos;
use hyworld::maintenance::{Class, Finding, Manifest, NoProgress, ScanOptions, Severity};
use hyworld::open_for_check;
use hyworld::providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::damage::edit_any_chunk;
use hyworld_testkit::write_file;

use super::built;

/// Returns the number of chunks that were read, the findings, and the new manifest.
fn check(world: &Path, usage: ManifestUse<'_>) -> (u64, Vec<Finding>, Manifest) {
    let mut found = Vec::new();
    let mut add = |finding: &Finding| found.push(finding.clone());
    let opened = open_for_check(world).unwrap();
    let (report, manifest) =
        opened.verify_manifest(usage, &ScanOptions::new(), &mut add, &NoProgress);
    assert_eq!(report.findings.total(), found.len() as u64);
    (report.chunks, found, manifest.unwrap())
}

fn summary(findings: &[Finding]) -> Vec<(Class, Severity, Option<ChunkPos>)> {
    findings.iter().map(|one| (one.class, one.severity, one.chunk)).collect()
}

/// Changes the colour of a chunk, which no other check can find. Returns the chunk.
fn recolour(world: &Path) -> ChunkPos {
    let location = edit_any_chunk(world, |document, _| {
        let value = document.at("Components.BlockChunk.Data").unwrap();
        let mut data = value.data().unwrap().to_vec();
        let keys = usize::from(u16::from_le_bytes([data[1], data[2]]));
        let tints = 1 + 2 + 2 * keys + 4 + 1280 + 2;
        data[tints..tints + 4].copy_from_slice(&[1, 2, 3, 0xFF]);
        *value = hyworld_testkit::damage::Bson::binary(&data);
        true
    });
    let (x, z) = location.unwrap().chunk.unwrap();
    ChunkPos::new(x, z)
}

#[test]
fn every_difference_from_a_manifest_is_reported() {
    let save = built::save();
    let world = save.path().join("universe/worlds/built");
    let (chunks, found, old) = check(&world, ManifestUse::Create);
    assert_eq!((chunks, found.len(), old.chunks.len(), old.regions.len()), (9, 0, 9, 1));
    assert!(old.files.contains_key("config.json"));
    assert_eq!(check(&world, ManifestUse::Compare(&old)).1, []);
    assert_eq!(check(&world, ManifestUse::Since(&old)).0, 0);

    let changed = recolour(&world);
    let storage = RegionFiles::open(&world.join("chunks")).unwrap();
    let (removed, added) = (ChunkPos::new(4, 5), ChunkPos::new(100, 100));
    let document = storage.read(removed).unwrap().unwrap();
    storage.write(added, &hyworld::chunk::Chunk::new().encode()).unwrap();
    assert!(storage.remove(removed).unwrap());
    drop(storage);
    write_file(&world.join("config.json"), b"{\"Version\": 4}");
    let (_, found, _) = check(&world, ManifestUse::Compare(&old));
    let expected = [
        (Class::Changed, Severity::Error, Some(changed)),
        (Class::Added, Severity::Warning, Some(added)),
        (Class::Removed, Severity::Error, Some(removed)),
        (Class::Changed, Severity::Error, None),
    ];
    let sorted = |mut list: Vec<_>| {
        list.sort_unstable();
        list
    };
    assert_eq!(sorted(summary(&found)), sorted(expected.to_vec()));

    let (_, found, new) = check(&world, ManifestUse::Update(&old));
    assert!(found.iter().all(|finding| finding.severity == Severity::Note));
    assert_eq!(check(&world, ManifestUse::Compare(&new)).1, []);
    let (chunks, found, since) = check(&world, ManifestUse::Since(&old));
    assert_eq!((chunks, found), (2, Vec::new()));
    assert_eq!(
        (&since.chunks, &since.files, &since.regions),
        (&new.chunks, &new.files, &new.regions)
    );

    RegionFiles::open(&world.join("chunks")).unwrap().write(removed, &document).unwrap();
    assert_eq!(check(&world, ManifestUse::Since(&new)).0, 1);
}
