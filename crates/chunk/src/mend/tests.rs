use super::*;
use crate::bson::RawDocument;
use crate::light::{LightTree, LightValue};
use crate::palette::{AssetKey, Palette};
use hyworld_coords::{ChunkBlock, LocalBlock};

fn at(x: u8, y: u16, z: u8) -> ChunkBlock {
    ChunkBlock::new(x, y, z).unwrap()
}

/// A chunk with blocks, fluids, light and a block entity.
fn sample() -> Chunk {
    let mut chunk = Chunk::new();
    for x in 0..32 {
        chunk.set_block(at(x, 40, 3), "Rock_Stone").unwrap();
        chunk.set_block(at(x, 100, 3), "Soil_Grass").unwrap();
        chunk.set_fluid(at(x, 41, 3), "Water", 3).unwrap();
    }
    let y = SectionY::new(1).unwrap();
    let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    section.local_light.tree = Some(LightTree::filled(LightValue::default()));
    chunk.put_in(y, &section).unwrap();
    Chunk::decode(chunk.encode()).unwrap()
}

fn is_intact(document: &[u8]) -> bool {
    RawDocument::new(document).and_then(RawDocument::check).is_ok()
}

fn mended(document: &[u8]) -> (Chunk, Vec<String>) {
    let mended = Chunk::mend(document).unwrap();
    assert!(is_intact(&mended.document));
    let again = Chunk::mend(&mended.document).unwrap();
    assert_eq!(again.lost, [""; 0], "nothing more is lost the second time");
    assert_eq!(again.document, mended.document);
    (Chunk::decode(mended.document).unwrap(), mended.lost)
}

fn block(chunk: &Chunk, at: ChunkBlock) -> String {
    chunk.block(at).unwrap().name().to_owned()
}

#[test]
fn an_intact_chunk_stays_as_it_is() {
    let document = sample().encode();
    assert_eq!(Chunk::mend(&document).unwrap(), Mended { document, lost: Vec::new() });
}

#[test]
fn wrong_counts_cost_nothing() {
    let mut chunk = sample();
    let y = SectionY::new(1).unwrap();
    let holder = chunk.section_holder(y).unwrap();
    let mut document = holder.raw(BlockSection::ID).unwrap().as_bytes().to_vec();
    let name = b"Rock_Stone";
    let found = document.windows(name.len()).position(|bytes| bytes == name).unwrap();
    document[found + name.len()] ^= 0x11;
    chunk.section_mut(y).set_raw(BlockSection::ID, &document).unwrap();
    let wrong = chunk.encode();
    assert!(!Chunk::decode(wrong.clone()).unwrap().section(y).blocks().unwrap().check().is_empty());
    let (chunk, lost) = mended(&wrong);
    assert_eq!(lost, [""; 0]);
    let anomalies = chunk.section(y).blocks().unwrap().check();
    assert!(anomalies.iter().all(crate::SectionAnomaly::is_natural), "{anomalies:?}");
    assert_eq!(block(&chunk, at(7, 40, 3)), "Rock_Stone");
}

#[test]
fn a_section_keeps_the_blocks_before_the_damage() {
    let mut chunk = sample();
    let y = SectionY::new(1).unwrap();
    let section = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    let light = section.encode().len() - 20;
    for (cut, expected) in [(light, "light"), (100, "blocks")] {
        let mut data = section.encode();
        data.truncate(cut);
        let mut writer = hyworld_documents::DocumentWriter::new();
        writer.int32("Version", 6);
        writer.binary("Data", 0, &data);
        chunk.section_mut(y).set_raw(BlockSection::ID, &writer.finish()).unwrap();
        let (chunk, lost) = mended(&chunk.encode());
        assert!(lost[0].starts_with("section 1: ") && lost[0].ends_with(expected), "{lost:?}");
        let expected = if cut == light { "Rock_Stone" } else { "Empty" };
        assert_eq!(block(&chunk, at(7, 40, 3)), expected);
        assert_eq!(block(&chunk, at(7, 100, 3)), "Soil_Grass");
        let fluid = chunk.block(at(7, 41, 3)).unwrap().fluid().unwrap().unwrap();
        assert_eq!((fluid.name(), fluid.level()), ("Water", 3));
    }
}

#[test]
fn lost_heights_are_derived_from_the_blocks() {
    let mut chunk = sample();
    chunk.set_raw(BlockChunk::ID, &[5, 0, 0, 0, 0]).unwrap();
    let (chunk, lost) = mended(&chunk.encode());
    assert_eq!(lost, ["tints"]);
    assert_eq!(chunk.height(at(7, 0, 3).column()).unwrap(), 100);
    assert_eq!(chunk.tint(at(7, 0, 3).column()).unwrap(), DEFAULT_TINT);
}

#[test]
fn every_truncation_and_flip_gives_a_chunk_or_nothing() {
    let document = sample().encode();
    let mut kept = 0;
    for cut in (0..document.len()).step_by(97) {
        if let Some(mended) = Chunk::mend(&document[..cut]) {
            assert!(is_intact(&mended.document), "cut at {cut}");
            kept += usize::from(mended.lost.len() < 15);
        }
        let mut flipped = document.clone();
        flipped[cut] ^= 0x40;
        if let Some(mended) = Chunk::mend(&flipped) {
            assert!(is_intact(&mended.document), "flip at {cut}");
            Chunk::decode(mended.document).unwrap();
        }
    }
    assert!(kept > 100, "{kept}");
    assert_eq!(Chunk::mend(b""), None);
    assert_eq!(Chunk::mend(b"not a document"), None);
}

#[test]
fn levels_follow_the_fluids() {
    let cell = |x| LocalBlock::from_index(x).unwrap();
    let mut fluids = Palette::empty();
    fluids.set(cell(3), AssetKey::new("Water").unwrap()).unwrap();
    let wrong = FluidSection::from_parts(fluids, &vec![2; 32768]);
    assert!(!wrong.check().is_empty());
    let mended = wrong.mended();
    assert_eq!(mended.check(), []);
    assert_eq!((mended.level(cell(3)), mended.level(cell(4))), (2, 0));
}
