use super::*;

fn cell(index: u16) -> LocalBlock {
    LocalBlock::from_index(index).unwrap()
}

fn key(name: &str) -> AssetKey {
    AssetKey::new(name).unwrap()
}

/// Returns a section as in a sample world: 28,283 cells without fluid and 4,485 of lava at level 1.
fn golden() -> Vec<u8> {
    let mut bytes = vec![1, 0, 2, 0, 0, 5];
    bytes.extend(b"Empty");
    bytes.extend([0x6e, 0x7b, 1, 0, 11]);
    bytes.extend(b"Lava_Source");
    bytes.extend([0x11, 0x85]);
    // The first lava cell has an odd index, and their number is odd.
    let has_lava = |index: usize| (1..=4485).contains(&index);
    let pack = |high: bool, low: bool| u8::from(high) << 4 | u8::from(low);
    bytes.extend((0..16_384).map(|at| pack(has_lava(2 * at), has_lava(2 * at + 1))));
    bytes.push(1);
    bytes.extend((0..16_384).map(|at| pack(has_lava(2 * at + 1), has_lava(2 * at))));
    bytes
}

#[test]
fn golden_bytes() {
    assert_eq!(FluidSection::decode(&[0, 0]), Ok(FluidSection::new()));
    assert_eq!(FluidSection::new().encode(), [0, 0]);
    let section = FluidSection::decode(&golden()).unwrap();
    assert_eq!(section.check(), []);
    assert!(section.encode() == golden());
    for index in [0, 1, 2, 4485, 4486, 32_767] {
        let has_lava = (1..=4485).contains(&index);
        let name = if has_lava { "Lava_Source" } else { "Empty" };
        assert_eq!(section.fluid(cell(index)), name, "cell {index}");
        assert_eq!(section.level(cell(index)), u8::from(has_lava), "cell {index}");
    }
}

#[test]
fn levels_have_the_even_cell_in_the_low_half() {
    let mut section = FluidSection::new();
    section.set(cell(0), key("Water"), 3).unwrap();
    section.set(cell(1), key("Water"), 8).unwrap();
    let bytes = section.encode();
    assert_eq!(bytes[bytes.len() - 16_384], 0x83);
    let section = FluidSection::decode(&bytes).unwrap();
    assert_eq!([0, 1, 2].map(|index| section.level(cell(index))), [3, 8, 0]);
}

#[test]
fn every_truncation_is_rejected() {
    let whole = golden();
    let levels = whole.len() - 16_384;
    let near = |at: usize| at - 30..at + 2;
    for len in (0..40).chain(near(levels)).chain(near(whole.len() - 2)).chain([whole.len() - 1]) {
        assert!(FluidSection::decode(&whole[..len]).is_err(), "{len} bytes");
    }
    assert!(FluidSection::decode(&[&whole[..], &[0]].concat()).is_err());
}

#[test]
fn every_flipped_bit_is_an_error_or_kept() {
    let whole = golden();
    let levels = whole.len() - 16_385;
    for at in (0..30).chain(levels - 1..levels + 2).chain([whole.len() - 1]) {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            if let Ok(section) = FluidSection::decode(&bytes) {
                assert!(section.encode() == bytes, "bit {bit} of byte {at}");
                assert!(section.check().len() < 40);
            }
        }
    }
}

#[test]
fn levels_are_checked() {
    let mut section = FluidSection::new();
    for (name, level) in [("Water", 0), ("Water", 16), ("Empty", 1)] {
        let error = section.set(cell(5), key(name), level).unwrap_err();
        assert!(matches!(error, EditError::Value { found, .. } if found == level), "{error}");
        assert!(section.fill(cell(5), cell(9), key(name), level).is_err());
    }
    assert_eq!(section, FluidSection::new());
    assert_eq!(section.set(cell(5), key("Water"), 8), Ok(true));
    assert_eq!(section.set(cell(5), key("Water"), 8), Ok(false));
    assert_eq!(section.set(cell(5), key("Water"), 7), Ok(true));
    assert_eq!(section.check(), []);
    assert_eq!(section.set(cell(5), AssetKey::EMPTY, 0), Ok(true));
    assert_eq!(section, FluidSection::new());
}

#[test]
fn boxes_are_filled_and_emptied() {
    let mut section = FluidSection::new();
    let corner = LocalBlock::new(3, 4, 5).unwrap();
    let opposite = LocalBlock::new(1, 9, 30).unwrap();
    assert_eq!(section.fill(corner, opposite, key("Water"), 2), Ok(true));
    assert_eq!(section.fill(corner, opposite, key("Water"), 2), Ok(false));
    assert_eq!(section.fill(corner, opposite, key("Water"), 3), Ok(true));
    let mut cells = 0;
    for cell in LocalBlock::all() {
        let (x, y, z) = (1..=3, 4..=9, 5..=30);
        let inside = x.contains(&cell.x()) && y.contains(&cell.y()) && z.contains(&cell.z());
        assert_eq!(section.level(cell), if inside { 3 } else { 0 }, "{cell}");
        cells += u32::from(inside);
    }
    assert_eq!(section.fluids().exact_counts()[1], (&key("Water"), cells));
    assert_eq!(section.check(), []);
    assert_eq!(section.fill(cell(0), cell(32_767), AssetKey::EMPTY, 0), Ok(true));
    assert_eq!(section.encode(), [0, 0]);
}

#[test]
fn anomalies_are_kept_and_reported() {
    // Levels without a fluid.
    let mut bytes = vec![0, 9];
    bytes.extend([0x21; 16_384]);
    let mut section = FluidSection::decode(&bytes).unwrap();
    assert!(section.encode() == bytes);
    assert_eq!(section.check(), [SectionAnomaly::FluidLevels { cells: 32_768 }]);
    assert!(!section.is_empty());
    assert_eq!([0, 1].map(|index| section.level(cell(index))), [1, 2]);
    assert_eq!(section.set(cell(0), AssetKey::EMPTY, 0), Ok(true));
    assert_eq!(section.encode(), [0, 0]);
    // A fluid without levels, and levels that are all 0.
    let water = |levels: &[u8]| {
        let palette = Palette::filled(key("Water"));
        let mut bytes = Vec::new();
        palette.encode(&mut bytes);
        FluidSection::decode(&[&bytes, levels].concat()).unwrap()
    };
    let without = water(&[0]);
    assert_eq!(without.check(), [SectionAnomaly::FluidLevels { cells: 32_768 }]);
    let idle = water(&[&[1][..], &[0; 16_384]].concat());
    assert_eq!(idle.check().last(), Some(&SectionAnomaly::FluidLevelsIdle));
    assert!(without.same_cells(&idle) && idle != without);
}

#[test]
fn overlay_copies_cells_with_fluid() {
    let mut section = FluidSection::new();
    section.set(cell(1), key("Water"), 4).unwrap();
    section.set(cell(2), key("Water"), 4).unwrap();
    let mut other = FluidSection::new();
    other.set(cell(2), key("Lava"), 7).unwrap();
    other.set(cell(3), key("Lava_Source"), 1).unwrap();
    section.overlay(&other).unwrap();
    let found = [0, 1, 2, 3].map(|index| section.fluid(cell(index)).to_string());
    assert_eq!(found, ["Empty", "Water", "Lava", "Lava_Source"]);
    assert_eq!([0, 1, 2, 3].map(|index| section.level(cell(index))), [0, 4, 7, 1]);
}

#[test]
fn a_section_is_built_from_parts() {
    let mut levels = vec![0; 32_768];
    (levels[6], levels[7]) = (2, 9);
    let mut palette = Palette::empty();
    palette.set(cell(6), key("Water")).unwrap();
    palette.set(cell(7), key("Water")).unwrap();
    let section = FluidSection::from_parts(palette, &levels);
    assert_eq!([5, 6, 7, 8].map(|index| section.level(cell(index))), [0, 2, 9, 0]);
    assert_eq!(section.check(), []);
    assert_eq!(FluidSection::from_parts(Palette::empty(), &vec![0; 32_768]).encode(), [0, 0]);
}

#[test]
fn a_section_is_built_from_fluids() {
    let lava = |cell: LocalBlock| cell.y() < 3 && cell.x() != 4;
    let names = [AssetKey::EMPTY, key("Lava_Source")];
    let indices = hyworld_coords::SectionArray::from_fn(|cell| u16::from(lava(cell)));
    let section =
        |level| FluidSection::from_fluids(Palette::from_indices(&names, &indices).unwrap(), level);
    let found = section(1).unwrap();
    let mut expected = FluidSection::new();
    for cell in LocalBlock::all().filter(|cell| lava(*cell)) {
        expected.set(cell, key("Lava_Source"), 1).unwrap();
    }
    assert!(found.same_cells(&expected) && found.check().is_empty());
    assert!(section(0).is_err() && section(16).is_err());
    let empty = FluidSection::from_fluids(Palette::empty(), 1).unwrap();
    assert_eq!(empty, FluidSection::new());
}
