//! Decoding and encoding, including anomalies.

use hyworld_testkit::Random;

use super::*;
use crate::Rotation;

const KINDS: [PaletteType; 3] = [PaletteType::HalfByte, PaletteType::Byte, PaletteType::Short];

/// Returns a palette with three values, whose ids are neither contiguous nor sorted.
fn sample(kind: PaletteType) -> Vec<u8> {
    let entries = [(9, 5, 10_923), (2, 0, 10_923), (15, 0x7c00, 10_922)];
    stored(kind, &entries, |index| [9, 2, 15][index % 3])
}

#[test]
fn golden_head_of_a_palette_of_names() {
    let mut bytes = vec![1, 0, 2, 0, 0, 5];
    bytes.extend(b"Empty");
    bytes.extend([0x6e, 0x7b, 1, 0, 11]);
    bytes.extend(b"Lava_Source");
    bytes.extend([0x11, 0x85]);
    // 28,283 cells of the first, 4,485 of the second: byte 14,141 has one of each.
    bytes.extend(std::iter::repeat_n(0, 14_141).chain([0x01]));
    bytes.extend(std::iter::repeat_n(0x11, 2242));
    let palette: Palette<AssetKey> = decode(&bytes).unwrap();
    assert_eq!(palette.check(), []);
    assert_eq!(palette.get(cell(28_282)), &AssetKey::EMPTY);
    assert_eq!(palette.get(cell(28_283)), "Lava_Source");
    assert_eq!(palette.stored_counts(), palette.exact_counts());
    assert_eq!(encode(&palette), bytes);
}

#[test]
fn each_key_type_has_its_own_width() {
    let head = |bytes: &[u8]| [bytes, &[0; 16_384]].concat();
    let rotations = head(&[1, 0, 1, 0, 9, 0x80, 0]);
    assert_eq!(decode::<Rotation>(&rotations).unwrap().get(cell(4)).index(), 9);
    assert_eq!(encode(&decode::<Rotation>(&rotations).unwrap()), rotations);
    let fillers = head(&[1, 0, 1, 0, 0x7c, 0, 0x80, 0]);
    assert_eq!(decode::<Filler>(&fillers).unwrap().get(cell(4)).y(), -1);
    assert!(decode::<Filler>(&rotations).is_err() && decode::<Rotation>(&fillers).is_err());
}

#[test]
fn an_empty_palette_is_one_byte() {
    assert_eq!(decode::<AssetKey>(&[0]), Ok(Palette::empty()));
    assert_eq!(encode(&Palette::<Filler>::empty()), [0]);
    assert_eq!(Palette::<AssetKey>::empty().get(cell(7)), &AssetKey::EMPTY);
    assert!(decode::<AssetKey>(&[]).is_err());
}

#[test]
fn round_trip_of_every_type() {
    for kind in KINDS {
        let palette: Palette<Filler> = decode(&sample(kind)).unwrap();
        assert_eq!((palette.kind(), palette.check()), (kind, vec![]));
        for index in [0, 1, 2, 3, 32_766, 32_767] {
            let expected = [5, 0, 0x7c00][usize::from(index % 3)];
            assert_eq!(palette.get(cell(index)), &filler(expected), "{kind:?} {index}");
        }
        assert!(encode(&palette) == sample(kind));
    }
}

#[test]
fn every_truncation_is_rejected() {
    for kind in KINDS {
        let whole = sample(kind);
        for len in (0..60).chain((60..whole.len()).step_by(997)).chain([whole.len() - 1]) {
            assert!(decode::<Filler>(&whole[..len]).is_err(), "{kind:?}, {len} bytes");
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_kept() {
    for kind in KINDS {
        let whole = sample(kind);
        let mut random = Random::new(3);
        let somewhere: Vec<usize> = (0..8).map(|_| random.below(16_000) as usize).collect();
        for at in (0..30).chain(somewhere).chain([whole.len() - 1]) {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                let Ok(mut palette) = decode::<Filler>(&bytes) else { continue };
                assert!(encode(&palette) == bytes, "{kind:?}, bit {bit} of byte {at}");
                if kind == PaletteType::HalfByte && at < 30 && bit % 4 == 0 {
                    check_change(&mut palette);
                }
            }
        }
    }
}

/// Checks that a change affects only its cell and leaves no anomalies.
fn check_change(palette: &mut Palette<Filler>) {
    let before = palette.clone();
    let mut expected = palette.to_array();
    expected[cell(77)] = filler(4321);
    palette.set(cell(77), filler(4321)).unwrap();
    assert_eq!(palette.check(), [], "{before:?}");
    assert!(palette.to_array() == expected, "{before:?}");
}

#[test]
fn invalid_types_and_counts_are_rejected() {
    let value = decode::<Filler>(&[4]).unwrap_err();
    assert_eq!(
        (value.at, value.to_string().as_str()),
        (0, "at byte 0: the type of a palette is 4; expected 0 to 3")
    );
    for count in [-1, i16::MIN, 100, i16::MAX] {
        let bytes = [&[2][..], &count.to_be_bytes(), &[0; 100]].concat();
        let error = decode::<Filler>(&bytes).unwrap_err();
        let problem = Problem::Count { found: count.into(), most: 20 };
        assert_eq!(error, Malformed { at: 3, problem });
    }
}

/// All anomalies at once: a wrong count, an unused entry, an unlisted id, a duplicate id, a
/// duplicate value, an id out of range.
#[test]
fn anomalies_are_kept_reported_and_repaired() {
    let listed = [(3, 7, 1), (5, 8, 0), (3, 9, 2), (6, 7, 100), (200, 7, 0), (4, 0, 32_568)];
    let id = |index: usize| match index {
        0..100 => 3,
        100..200 => 6,
        200..300 => 12,
        _ => 4,
    };
    let bytes = stored(PaletteType::HalfByte, &listed, id);
    let mut palette: Palette<Filler> = decode(&bytes).unwrap();
    assert!(encode(&palette) == bytes);
    let value = |index| palette.get(cell(index)).bits();
    assert_eq!([0, 100, 200, 300].map(value), [7, 7, 0, 0]);
    let found = [
        PaletteAnomaly::Count { internal_id: 3, listed: 1, cells: 100 },
        PaletteAnomaly::Unused { internal_id: 5 },
        PaletteAnomaly::DuplicateId { internal_id: 3 },
        PaletteAnomaly::DuplicateKey { first_id: 3, internal_id: 6 },
        PaletteAnomaly::IdOutOfRange { internal_id: 200 },
        PaletteAnomaly::Count { internal_id: 4, listed: 32_568, cells: 32_468 },
        PaletteAnomaly::Unlisted { internal_id: 12, cells: 100 },
    ];
    assert_eq!(palette.check(), found);
    assert_eq!(palette.exact_counts(), [(&filler(7), 200), (&filler(0), 32_568)]);
    // Without a change no byte differs.
    assert_eq!(palette.set(cell(250), filler(0)), Ok(false));
    assert_eq!(palette.set_many([(cell(0), filler(7)), (cell(150), filler(7))]), Ok(0));
    assert!(encode(&palette) == bytes);
    // The first id of a value is kept, and so is the order of the other entries.
    assert_eq!(palette.set(cell(0), filler(1)), Ok(true));
    let listed: Vec<u16> = palette.entries().iter().map(|entry| entry.internal_id).collect();
    assert_eq!(listed, [0, 3, 4]);
    assert_eq!(entries(&palette), [(0, 1, 1), (3, 7, 199), (4, 0, 32_568)]);
    check_change(&mut palette);
}

/// Cells without an entry need one for the default value if it is not listed.
#[test]
fn an_unlisted_default_gets_the_lowest_id_of_its_cells() {
    let id = |index: usize| u16::try_from(index % 4).unwrap() + 3;
    let bytes = stored(PaletteType::Byte, &[(5, 50, 8192)], id);
    let mut palette: Palette<Filler> = decode(&bytes).unwrap();
    assert_eq!([0, 1, 2, 3].map(|index| palette.get(cell(index)).bits()), [0, 0, 50, 0]);
    palette.set(cell(0), filler(50)).unwrap();
    // With this few entries the palette shrinks, and its ids are renumbered from 0.
    assert_eq!(palette.kind(), PaletteType::HalfByte);
    assert_eq!(entries(&palette), [(0, 50, 8193), (1, 0, 24_575)]);
    check_change(&mut palette);
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::new(11);
    for round in 0..24 {
        let kind = KINDS[round % 3];
        let listed: Vec<(u16, u16, u16)> = (0..random.below(40))
            .map(|_| {
                let mut any = |limit| u16::try_from(random.below(limit)).unwrap();
                (any(20), any(6), any(3))
            })
            .collect();
        let ids: Vec<u16> = (0..32_768).map(|_| u16::try_from(random.below(16)).unwrap()).collect();
        let bytes = stored(kind, &listed, |index| ids[index]);
        let mut palette: Palette<Filler> = decode(&bytes).unwrap();
        assert!(encode(&palette) == bytes);
        assert!(palette.rebuilt().unwrap().same_cells(&palette));
        assert_eq!(palette.exact_counts().iter().map(|(_, cells)| cells).sum::<u32>(), 32_768);
        check_change(&mut palette);
    }
}

#[test]
fn anomalies_are_displayed() {
    let count = PaletteAnomaly::Count { internal_id: 3, listed: 1, cells: 100 };
    assert_eq!(count.to_string(), "entry 3 has a count of 1, but 100 cells have it");
    let unlisted = PaletteAnomaly::Unlisted { internal_id: 12, cells: 9 };
    assert_eq!(unlisted.to_string(), "9 cells have id 12, which no entry has");
}
