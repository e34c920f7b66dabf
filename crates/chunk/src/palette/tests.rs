mod bulk;
mod edit;
mod model;
mod stored;

use hyworld_coords::LocalBlock;

use super::*;
use crate::Filler;

fn cell(index: u16) -> LocalBlock {
    LocalBlock::from_index(index).unwrap()
}

fn key(name: &str) -> AssetKey {
    AssetKey::new(name).unwrap()
}

fn filler(bits: u16) -> Filler {
    Filler::from_bits(bits)
}

fn decode<K: Wire>(bytes: &[u8]) -> Result<Palette<K>, Malformed> {
    let mut reader = Reader::new(bytes);
    let palette = Palette::decode(&mut reader)?;
    reader.finish()?;
    Ok(palette)
}

fn encode<K: Wire>(palette: &Palette<K>) -> Vec<u8> {
    let mut out = Vec::new();
    palette.encode(&mut out);
    out
}

/// Returns the stored bytes of a palette of fillers, written without the code under test.
fn stored(kind: PaletteType, entries: &[(u16, u16, u16)], id: impl Fn(usize) -> u16) -> Vec<u8> {
    let mut bytes = vec![kind.code()];
    bytes.extend(u16::try_from(entries.len()).unwrap().to_be_bytes());
    for (id, key, count) in entries {
        let id = id.to_be_bytes();
        bytes.extend(if kind == PaletteType::Short { &id[..] } else { &id[1..] });
        bytes.extend(key.to_be_bytes());
        bytes.extend(count.to_be_bytes());
    }
    let low = |index| id(index).to_be_bytes()[1];
    match kind {
        PaletteType::Empty => {}
        PaletteType::HalfByte => {
            bytes.extend((0..16_384).map(|at| low(2 * at) << 4 | low(2 * at + 1)));
        }
        PaletteType::Byte => bytes.extend((0..32_768).map(low)),
        PaletteType::Short => bytes.extend((0..32_768).flat_map(|at| id(at).to_be_bytes())),
    }
    bytes
}

/// Returns the id, value and count of the entries, sorted by id.
fn entries(palette: &Palette<Filler>) -> Vec<(u16, u16, u16)> {
    let entry = |entry: &PaletteEntry<Filler>| (entry.internal_id, entry.key.bits(), entry.count);
    let mut entries: Vec<_> = palette.entries().iter().map(entry).collect();
    entries.sort_unstable();
    entries
}
