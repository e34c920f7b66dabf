use hyworld_testkit::Random;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn column(k: usize) -> LocalColumn {
    LocalColumn::from_index(u16::try_from(k).unwrap()).unwrap()
}

fn decode<K: ColumnKey>(bytes: &[u8]) -> Result<ColumnPalette<K>, Malformed> {
    let mut reader = Reader::new(bytes);
    let palette = ColumnPalette::decode(&mut reader)?;
    reader.finish()?;
    Ok(palette)
}

fn encode<K: ColumnKey>(palette: &ColumnPalette<K>) -> Vec<u8> {
    let mut out = Vec::new();
    palette.encode(&mut out);
    out
}

/// Returns the keys 0, 70 and -2, and non-zero indices in columns 0, 1 and 4.
fn three_heights() -> Vec<u8> {
    let mut bytes = vec![3, 0, 0, 0, 70, 0, 0xFE, 0xFF, 0, 5, 0, 0];
    let start = bytes.len();
    bytes.resize(start + 1280, 0);
    bytes[start] = 1;
    bytes[start + 1] = 2 << 2;
    bytes[start + 5] = 2;
    bytes
}

#[test]
fn golden_single_height() {
    let mut bytes = vec![1, 0, 0, 0, 0, 5, 0, 0];
    bytes.resize(8 + 1280, 0);
    assert_eq!(encode(&HeightMap::default()), bytes);
    assert_eq!(decode(&bytes), Ok(HeightMap::uniform(0)));
}

#[test]
fn golden_three_heights() {
    let bytes = three_heights();
    let palette: HeightMap = decode(&bytes).unwrap();
    assert_eq!(palette.keys(), [0, 70, -2]);
    let expected = [70, -2, 0, 0, -2, 0];
    for (k, value) in expected.into_iter().enumerate() {
        assert_eq!(palette.value(column(k)), value, "column {k}");
    }
    let values = palette.values();
    assert_eq!(values.values().take(6).copied().collect::<Vec<_>>(), expected);
    assert_eq!(encode(&palette), bytes);
}

#[test]
fn tints_have_keys_of_four_bytes() {
    let mut bytes = vec![1, 0, 0x28, 0x9E, 0x5B, 0xFF, 0, 5, 0, 0];
    bytes.resize(10 + 1280, 0);
    let palette: TintMap = decode(&bytes).unwrap();
    assert_eq!(palette.value(column(1023)).cast_unsigned(), 0xFF5B_9E28);
    assert_eq!(encode(&palette), bytes);
}

#[test]
fn a_new_palette_begins_with_an_unused_zero() {
    let palette = TintMap::uniform(-1);
    assert_eq!(palette.keys(), [0, -1]);
    assert_eq!(palette.value(column(0)), -1);
    assert_eq!(palette.values(), ColumnArray::filled(-1));
}

/// The indices are ignored until the first change.
#[test]
fn no_keys_mean_zero_everywhere() {
    let mut bytes = vec![0, 0, 0, 5, 0, 0];
    bytes.extend(Random::new(1).bytes(1280));
    let mut palette: HeightMap = decode(&bytes).unwrap();
    assert_eq!(palette.values(), ColumnArray::filled(0));
    assert_eq!(palette.value(column(500)), 0);
    assert!(!palette.set(column(3), 0));
    assert_eq!(encode(&palette), bytes, "kept as read");

    assert!(palette.set(column(3), 9));
    assert_eq!(palette.keys(), [0, 9]);
    let mut expected = ColumnArray::filled(0);
    expected[column(3)] = 9;
    assert_eq!(palette.values(), expected);
}

#[test]
fn unused_keys_stay_and_known_ones_are_found() {
    let mut palette: HeightMap = decode(&three_heights()).unwrap();
    assert!(palette.set(column(0), 5));
    assert!(palette.set(column(9), 70));
    assert!(!palette.set(column(9), 70));
    assert_eq!(palette.keys(), [0, 70, -2, 5]);
    assert!(palette.set(column(9), -2));
    assert_eq!(palette.keys(), [0, 70, -2, 5]);
}

#[test]
fn a_full_list_is_rebuilt_in_column_order() {
    let mut palette = HeightMap::default();
    for height in 1..=1023 {
        assert!(palette.set(column(5), height));
    }
    assert_eq!(palette.keys().len(), 1024);
    assert!(palette.set(column(7), -1));
    assert_eq!(palette.keys(), [0, 1023, -1]);
    let value = |k| palette.value(column(k));
    assert_eq!([4, 5, 6, 7, 8].map(value), [0, 1023, 0, -1, 0]);
}

#[test]
fn every_column_can_have_its_own_value() {
    let values = ColumnArray::from_fn(|column| i32::from(column.index()) + 1);
    let mut palette = TintMap::from_values(&values);
    assert_eq!(palette.keys().len(), 1024, "no room for the unused zero");
    assert_eq!(palette.values(), values);
    assert!(palette.set(column(0), -7));
    assert_eq!(palette.value(column(0)), -7);
    assert_eq!(palette.keys().len(), 1024);
}

/// An index can only address the first 1024 keys.
#[test]
fn unreachable_keys_are_kept_but_not_used() {
    let mut bytes = 1100_i16.to_le_bytes().to_vec();
    bytes.extend((0..1100_i16).flat_map(i16::to_le_bytes));
    bytes.extend(1280_i32.to_le_bytes());
    bytes.extend([0xFF; 1280]);
    let mut palette: HeightMap = decode(&bytes).unwrap();
    assert_eq!(palette.values(), ColumnArray::filled(1023));
    assert_eq!(encode(&palette), bytes);
    assert!(palette.set(column(2), 1050));
    assert_eq!(palette.keys(), [1023, 1050]);
    assert_eq!(palette.value(column(2)), 1050);
}

#[test]
fn an_index_without_a_key_is_rejected() {
    let mut bytes = three_heights();
    // The index of column 1023 is in the last ten bits.
    bytes[12 + 1279] = 0b1100_0000;
    let what = "the index of a column";
    let problem = Problem::Value { what, found: 768, expected: "one of the keys" };
    assert_eq!(decode::<i16>(&bytes), Err(Malformed { at: 12 + 1278, problem }));
}

#[test]
fn wrong_counts_and_lengths_are_rejected() {
    let mut bytes = three_heights();
    bytes[1] = 0x80;
    let problem = Problem::Count { found: -32765, most: 645 };
    assert_eq!(decode::<i16>(&bytes), Err(Malformed { at: 2, problem }));
    for length in [0, 1279, 1281, -1, i32::MAX, i32::MIN] {
        let mut bytes = three_heights();
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        let what = "the length of the column indices";
        let found = length.into();
        let problem = Problem::Value { what, found, expected: "1280 bytes" };
        assert_eq!(decode::<i16>(&bytes), Err(Malformed { at: 8, problem }));
    }
}

#[test]
fn truncations_are_detected() {
    let bytes = three_heights();
    for len in 0..bytes.len() {
        assert!(decode::<i16>(&bytes[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn bit_flips_are_errors_or_kept() {
    let good = three_heights();
    let mut kept = 0;
    for position in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[position] ^= 1 << bit;
            if let Ok(palette) = decode::<i16>(&bytes) {
                assert_eq!(encode(&palette), bytes, "byte {position} bit {bit}");
                kept += 1;
            }
        }
    }
    assert!(kept > 1000, "{kept}");
}

#[test]
fn only_an_unused_last_key_is_removed() {
    let mut palette = HeightMap::default();
    palette.set(column(1), 7);
    palette.set(column(2), 9);
    let before = palette.clone();
    palette.forget_last(9);
    palette.forget_last(7);
    assert_eq!(palette, before, "both are in use");
    palette.set(column(1), 9);
    palette.forget_last(7);
    assert_eq!(palette.keys(), [0, 7, 9], "not the last");
    palette.set(column(1), 7);
    palette.set(column(2), 7);
    palette.forget_last(0);
    assert_eq!(palette.keys(), [0, 7, 9], "not the last");
    palette.forget_last(9);
    assert_eq!(palette.keys(), [0, 7]);
    let mut single = HeightMap::default();
    single.forget_last(0);
    assert_eq!(single, HeightMap::default());
}

/// Values that need few keys, many keys, or more than fit.
fn values() -> impl Strategy<Value = Vec<i16>> {
    (1..2000_i16).prop_flat_map(|limit| prop::collection::vec(-3..limit, 1024))
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2026),
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn from_values_equals_setting_one_by_one(values in values()) {
        let values = ColumnArray::from_vec(values).unwrap();
        let palette = HeightMap::from_values(&values);
        prop_assert_eq!(&palette.values(), &values);
        prop_assert_eq!(decode(&encode(&palette)), Ok(palette.clone()));
        let mut one_by_one = HeightMap::default();
        for (column, &value) in values.cells() {
            one_by_one.set(column, value);
        }
        prop_assert_eq!(one_by_one, palette);
    }

    #[test]
    fn sets_match_an_array(
        start in values(),
        sets in prop::collection::vec((0..1024_usize, -3..2000_i16), 1..1500),
    ) {
        let mut expected = ColumnArray::from_vec(start).unwrap();
        let mut palette = HeightMap::from_values(&expected);
        for (k, value) in sets {
            let changed = expected[column(k)] != value;
            expected[column(k)] = value;
            prop_assert_eq!(palette.set(column(k), value), changed);
            prop_assert!(palette.keys().len() <= 1024);
        }
        prop_assert_eq!(&palette.values(), &expected);
        for (column, &value) in expected.cells() {
            prop_assert_eq!(palette.value(column), value);
        }
        prop_assert_eq!(decode(&encode(&palette)), Ok(palette));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1400)) {
        if let Ok(palette) = decode::<i32>(&bytes) {
            prop_assert_eq!(encode(&palette), bytes);
        }
    }
}
