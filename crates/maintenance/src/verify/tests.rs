use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_testkit::{Random, WORLDS, fixture, region_files, write_file};

use super::*;

mod old_games;

const AT: ChunkPos = ChunkPos::new(0, 0);

/// Returns the findings about a document, with or without recognising it in place.
fn findings(document: &[u8], plain: Option<PlainChunk>) -> Vec<Finding> {
    let mut checked = Checked::default();
    Checks::run(AT, document.to_vec(), plain, &Fillers::default(), &mut checked);
    checked.findings
}

/// Changes random bytes of a document, and checks that every document that is recognised in place
/// has the same findings if it is decoded. Returns how many were recognised.
fn compare(document: &[u8], flips: u32, random: &mut Random) -> u32 {
    let mut recognised = 0;
    for number in 0..=flips {
        let mut changed = document.to_vec();
        if number > 0 {
            let at = random.below(u32::try_from(document.len()).unwrap()) as usize;
            changed[at] ^= 1 << random.below(8);
        }
        let plain = PlainChunk::recognize(&changed);
        if plain.is_some() {
            recognised += 1;
            assert_eq!(findings(&changed, plain), findings(&changed, None), "change {number}");
        }
    }
    recognised
}

fn documents(path: &std::path::Path) -> Vec<Vec<u8>> {
    let file = IndexedStorageFile::open_read_only(path).unwrap();
    file.occupied().into_iter().map(|slot| file.read(slot).unwrap().unwrap()).collect()
}

#[test]
fn recognised_fixtures_have_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.0.region.bin");
    write_file(&path, &fixture("original/chunks/synthetic_v6.region.bin"));
    let mut random = Random::new(3);
    for document in documents(&path) {
        compare(&document, 200, &mut random);
    }
    let new = hyworld_chunk::Chunk::new().encode();
    assert!(compare(&new, 2000, &mut random) > 0);
}

#[test]
fn recognised_real_chunks_have_the_same_findings() {
    let mut random = Random::new(4);
    for world in WORLDS {
        let Some(files) = region_files(world) else { return };
        let (mut chunks, mut recognised) = (0, 0);
        for document in files.iter().flat_map(|path| documents(path)).step_by(37) {
            chunks += 1;
            recognised += u32::from(PlainChunk::recognize(&document).is_some());
            compare(&document, 10, &mut random);
        }
        assert!(recognised * 10 >= chunks * 9, "{world}: {recognised} of {chunks}");
    }
}
