use hyworld_testkit::Random;

use super::*;
use crate::light::{LightTree, LightValue};

fn cell(index: u16) -> LocalBlock {
    LocalBlock::from_index(index).unwrap()
}

fn key(name: &str) -> AssetKey {
    AssetKey::new(name).unwrap()
}

/// Parses hexadecimal digits and ignores spaces.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// Returns a section with data in every field.
fn sample(version: i32) -> BlockSection {
    let mut section = BlockSection::new(11);
    let mut random = Random::new(7);
    for index in (0..32_768).step_by(5) {
        let name = format!("Block_{}", random.below(6));
        let rotation = Rotation::from_index(u8::try_from(random.below(4)).unwrap());
        let filler = Filler::from_bits(u16::try_from(random.below(3)).unwrap());
        section.set_block(cell(index), key(&name), rotation, filler).unwrap();
    }
    section.set_ticking(cell(70), true);
    let values = hyworld_coords::SectionArray::from_fn(|cell| {
        LightValue::from_bits(u16::from(cell.y()) << 12 | u16::from(cell.x() / 16))
    });
    section.local_light = Light { change_id: 5, tree: Some(LightTree::from_values(&values)) };
    let sky = LightTree::filled(LightValue::from_bits(0xf000));
    section.global_light = Light { change_id: 6, tree: Some(sky) };
    section.version = version;
    if version < 6 {
        section.migration_version = 0;
    }
    if version < 5 {
        section.rotations = Palette::empty();
    }
    if version < 4 {
        section.fillers = Palette::empty();
    }
    section
}

#[test]
fn golden_section_of_air() {
    let bytes = hex("0000000b 00 00 00 000000 000000 0000 0000");
    assert_eq!(bytes.len(), 17);
    assert_eq!(BlockSection::new(11).encode(), bytes);
    assert_eq!(BlockSection::decode(6, &bytes), Ok(BlockSection::new(11)));
    assert_eq!(BlockSection::new(11).check(), []);
}

#[test]
fn golden_section_under_the_open_sky() {
    let light = "01 00000011 00 f000 f000 f000 f000 f000 f000 f000 f000";
    let bytes = hex(&format!("0000000b 00 00 00 0010 {light} 0042 {light} 0010 0042"));
    assert_eq!(bytes.len(), 59);
    let section = BlockSection::decode(6, &bytes).unwrap();
    assert_eq!((section.local_change_counter, section.global_change_counter), (0x10, 0x42));
    for (light, counter) in [(&section.local_light, 0x10), (&section.global_light, 0x42)] {
        assert!(light.is_current(counter));
        let uniform = light.tree.as_ref().and_then(LightTree::uniform);
        assert_eq!(uniform, LightValue::new(0, 0, 0, 15));
    }
    assert_eq!(section.encode(), bytes);
}

#[test]
fn every_version_has_its_fields() {
    for (version, text) in [
        (6, "0000000c 00 00 00 000000 000000 0001 0002"),
        (5, "00 00 00 000000 000000 0001 0002"),
        (4, "00 00 000000 000000 0001 0002"),
        (3, "00 000000 000000 0001 0002"),
        (0, "00 000000 000000 0001 0002"),
    ] {
        let section = BlockSection::decode(version, &hex(text)).unwrap();
        assert_eq!((section.local_change_counter, section.global_change_counter), (1, 2));
        assert_eq!(section.migration_version(), if version == 6 { 12 } else { 0 });
        assert_eq!(section.encode(), hex(text), "version {version}");
    }
    for version in 0..=6 {
        let section = sample(version);
        assert_eq!(BlockSection::decode(version, &section.encode()), Ok(section));
    }
}

#[test]
fn unknown_versions_are_rejected() {
    let bytes = BlockSection::new(0).encode();
    let newer = Error::Newer { path: String::new(), found: 7, known: 6 };
    assert_eq!(BlockSection::decode(7, &bytes), Err(newer));
    let error = BlockSection::decode(-1, &bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "at byte 0: the version of a block section is -1; expected 0 to 6"
    );
    // Decoding with the wrong version fails at the end of the bytes, if not before.
    assert!(BlockSection::decode(5, &bytes).is_err() && BlockSection::decode(4, &bytes).is_err());
}

#[test]
fn every_truncation_is_rejected() {
    let whole = sample(6).encode();
    let lens = (0..400).chain((400..whole.len() - 400).step_by(97));
    for len in lens.chain(whole.len() - 400..whole.len()) {
        assert!(BlockSection::decode(6, &whole[..len]).is_err(), "{len} bytes");
    }
    assert!(BlockSection::decode(6, &[&whole[..], &[0]].concat()).is_err());
}

#[test]
fn every_flipped_bit_is_an_error_or_kept() {
    let whole = sample(6).encode();
    let mut random = Random::new(1);
    let somewhere: Vec<usize> =
        (0..400).map(|_| random.below(u32::try_from(whole.len()).unwrap()) as usize).collect();
    for at in (0..200).chain(somewhere).chain(whole.len() - 200..whole.len()) {
        for flip in [1, 2, 0x40, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            if let Ok(section) = BlockSection::decode(6, &bytes) {
                assert!(section.encode() == bytes, "byte {at} ^ {flip}");
            }
        }
    }
}

#[test]
fn blocks_are_set_and_read() {
    let mut section = BlockSection::new(0);
    let (rotation, filler) = (Rotation::from_index(3), Filler::from_bits(1024));
    assert_eq!(section.set_block(cell(5), key("Door"), rotation, filler), Ok(true));
    assert_eq!(section.set_block(cell(5), key("Door"), rotation, filler), Ok(false));
    assert_eq!((section.block(cell(5)).as_str(), section.rotation(cell(5))), ("Door", rotation));
    assert_eq!((section.filler(cell(5)), section.filler(cell(6))), (filler, Filler::BASE));
    // Changing the name, the rotation or the filler counts as a change.
    assert_eq!(section.set_block(cell(5), key("Gate"), rotation, filler), Ok(true));
    assert_eq!(section.set_block(cell(5), key("Gate"), Rotation::NONE, filler), Ok(true));
    assert_eq!(section.set_block(cell(5), key("Gate"), Rotation::NONE, Filler::BASE), Ok(true));
    assert_eq!((section.local_change_counter, section.global_change_counter), (4, 4));
    assert_eq!(section.rotations(), &Palette::empty());
}

#[test]
fn counters_wrap_around() {
    let mut section = BlockSection::new(0);
    (section.local_change_counter, section.global_change_counter) = (u16::MAX, 9);
    section.set_block(cell(0), key("A"), Rotation::NONE, Filler::BASE).unwrap();
    assert_eq!((section.local_change_counter, section.global_change_counter), (0, 10));
}

#[test]
fn removed_light_is_not_current() {
    let mut section = sample(6);
    (section.local_change_counter, section.global_change_counter) = (u16::MAX, 6);
    section.forget_light();
    assert_eq!(
        (section.local_light.tree.as_ref(), section.global_light.tree.as_ref()),
        (None, None)
    );
    assert!(!section.local_light.is_current(section.local_change_counter));
    assert!(!section.global_light.is_current(section.global_change_counter));
}

#[test]
fn a_box_is_one_change() {
    let mut section = BlockSection::new(0);
    let fill = |section: &mut BlockSection, name| {
        section.fill_blocks(cell(0), cell(32_767), key(name), Rotation::NONE, Filler::BASE)
    };
    assert_eq!(fill(&mut section, "Rock_Stone"), Ok(true));
    assert_eq!(fill(&mut section, "Rock_Stone"), Ok(false));
    assert_eq!(section.local_change_counter, 1);
    assert_eq!(section.blocks().uniform(), Some(&key("Rock_Stone")));
}

#[test]
fn ticking_is_cleared_with_the_last_block() {
    let mut section = BlockSection::new(0);
    assert!(!section.set_ticking(cell(9), true));
    section.set_block(cell(9), key("Crop"), Rotation::NONE, Filler::BASE).unwrap();
    assert!(section.set_ticking(cell(9), true) && section.set_ticking(cell(8), true));
    section.set_block(cell(9), key("Crop2"), Rotation::NONE, Filler::BASE).unwrap();
    assert!(section.ticking().contains(cell(9)));
    section.set_block(cell(9), AssetKey::EMPTY, Rotation::NONE, Filler::BASE).unwrap();
    assert!(section.ticking().is_empty());
    assert_eq!(section.encode().len(), 17);
}

#[test]
fn old_versions_are_not_changed() {
    for version in 0..6 {
        let mut section = sample(version);
        let error = EditError::OldVersion { version };
        let set = section.set_block(cell(0), key("A"), Rotation::NONE, Filler::BASE);
        assert_eq!(set, Err(error.clone()));
        assert_eq!(section.set_migration_version(3), Err(error));
        assert_eq!(section, sample(version));
    }
}

#[test]
fn a_full_filler_palette_changes_nothing() {
    let mut section = BlockSection::new(0);
    let fillers =
        hyworld_coords::SectionArray::from_fn(|cell| Filler::from_bits(cell.index() % 32_767));
    section.fillers = Palette::from_array(&fillers).unwrap();
    let before = section.clone();
    let filler = Filler::from_bits(40_000);
    let set = section.set_block(cell(0), key("A"), Rotation::NONE, filler);
    assert_eq!(set, Err(EditError::PaletteFull));
    assert!(section == before);
    assert_eq!(section.set_block(cell(1), key("A"), Rotation::NONE, filler), Ok(true));
}

#[test]
fn renaming_blocks_keeps_the_light() {
    let mut section = sample(6);
    let (counter, anomalies) = (section.local_change_counter, section.check());
    assert!(section.rename_blocks(|name| (*name == "Block_1").then(|| key("Block_2"))));
    assert!(!section.rename_blocks(|_| None));
    section.set_migration_version(12).unwrap();
    assert_eq!((section.migration_version(), section.local_change_counter), (12, counter));
    let names: Vec<&str> =
        section.blocks().exact_counts().iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"Block_2") && !names.contains(&"Block_1"));
    assert_eq!(section.check(), anomalies, "stale light stays stale");
}

#[test]
fn equal_cells_are_equal_in_any_stored_form() {
    let section = sample(6);
    let mut other = section.clone();
    other.blocks = other.blocks.rebuilt().unwrap();
    other.forget_light();
    assert!(section.same_cells(&other) && section != other);
    let changes: [fn(&mut BlockSection); 4] = [
        |section| _ = section.set_ticking(cell(1), true),
        |section| _ = section.blocks.set(cell(1), key("X")),
        |section| _ = section.fillers.set(cell(1), Filler::from_bits(9)),
        |section| _ = section.rotations.set(cell(1), Rotation::from_index(9)),
    ];
    for change in changes {
        let mut other = section.clone();
        change(&mut other);
        assert!(!section.same_cells(&other));
    }
}

#[test]
fn anomalies_are_reported() {
    let head = "00000000 01 0001 00 0001 41 8000";
    let rotations = "01 0001 00 40 8000";
    let cells = vec![0; 16_384];
    let ticking = "0009 0002 0000000000000001 0000000000000000";
    let tail = "000000 000000 0000 0000";
    let bytes =
        [hex(head), cells.clone(), hex(ticking), hex("00"), hex(rotations), cells, hex(tail)]
            .concat();
    let section = BlockSection::decode(6, &bytes).unwrap();
    assert!(section.encode() == bytes);
    let found = [
        SectionAnomaly::TickingCount { listed: 9, cells: 1 },
        SectionAnomaly::TickingWords { idle: 1 },
        SectionAnomaly::Rotation { index: 64 },
    ];
    assert_eq!(section.check(), found);
    assert_eq!(found[0].to_string(), "the stored ticking count is 9, but 1 blocks tick");
}

#[test]
fn a_section_is_built_from_blocks() {
    let section = BlockSection::from_blocks(11, Palette::filled(key("Rock_Stone")));
    assert_eq!(section.block(cell(77)), "Rock_Stone");
    assert_eq!((section.version(), section.migration_version()), (6, 11));
    // The light is not current, so the game computes it.
    assert_ne!(section.local_light.change_id, section.local_change_counter);
    assert_ne!(section.global_light.change_id, section.global_change_counter);
    assert_eq!(BlockSection::decode(6, &section.encode()).unwrap(), section);
}
