use std::ops::Bound;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::error::Error;
use hyworld_documents::Problem;

fn column(k: u16) -> LocalColumn {
    LocalColumn::from_index(k).unwrap()
}

fn put(bytes: &mut Vec<u8>, words: &[i32]) {
    bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}

/// Returns a chunk with the list `7 A, 3 B` and these columns; the others have environment 7.
fn chunk_with(columns: &[(u16, &[i32])]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 2, 0, 0, 0, 7, 0, 1, b'A', 0, 0, 0, 3, 0, 1, b'B'];
    for k in 0..1024 {
        let special = columns.iter().find(|(column, _)| *column == k);
        put(&mut bytes, special.map_or(&[0, 7], |(_, words)| words));
    }
    bytes
}

/// Returns a chunk as in old worlds: the unlisted id 0 above and below the world.
fn old_style() -> Vec<u8> {
    chunk_with(&[(0, &[2, -1, 319, 0, 7, 0]), (33, &[3, -1, 60, 319, 0, 3, 7, 0])])
}

fn malformed(data: &[u8]) -> Malformed {
    match EnvironmentChunk::decode(data) {
        Err(Error::Malformed { source, .. }) => source,
        other => panic!("{other:?}"),
    }
}

fn stored(chunk: &EnvironmentChunk, k: u16) -> Vec<(RangeInclusive<i32>, i32)> {
    chunk.runs(column(k)).map(|run| (run.ys, run.id)).collect()
}

#[test]
fn golden_one_environment() {
    let name = "Env_OrbisGalactic_Spaceship";
    let mut bytes = vec![0, 0, 0, 1, 0, 0, 0, 0x7F, 0, 0x1B];
    bytes.extend(name.as_bytes());
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0x7F].repeat(1024));
    let chunk = EnvironmentChunk::decode(&bytes).unwrap();
    assert_eq!(chunk.list(), [ListedEnvironment { id: 127, name: name.to_owned() }]);
    for y in [i32::MIN, -1, 0, 319, i32::MAX] {
        assert_eq!(chunk.name(column(1023), y), name);
    }
    assert_eq!(chunk.names_used(), BTreeSet::from([name]));
    assert_eq!(chunk.encode(), bytes);

    // Only the id can differ.
    let made = EnvironmentChunk::uniform(name).unwrap().encode();
    let other_id: Vec<u8> = bytes.iter().map(|&byte| if byte == 0x7F { 1 } else { byte }).collect();
    assert_eq!(made, other_id);
}

#[test]
fn golden_runs() {
    let bytes = old_style();
    let chunk = EnvironmentChunk::decode(&bytes).unwrap();
    assert_eq!(chunk.encode(), bytes);
    let below = (i32::MIN..=-1, 0);
    let above = (320..=i32::MAX, 0);
    assert_eq!(stored(&chunk, 0), [below.clone(), (0..=319, 7), above.clone()]);
    assert_eq!(stored(&chunk, 33), [below, (0..=60, 3), (61..=319, 7), above]);
    assert_eq!(stored(&chunk, 34), [(i32::MIN..=i32::MAX, 7)]);
    let names = [-1, 0, 60, 61, 319, 320].map(|y| chunk.name(column(33), y));
    assert_eq!(names, ["Unknown", "B", "B", "A", "A", "Unknown"]);
    assert_eq!(chunk.names_used(), BTreeSet::from(["A", "B"]));
}

#[test]
fn unlisted_ids_are_unknown_and_the_last_entry_wins() {
    let mut bytes = chunk_with(&[(5, &[0, 99])]);
    let chunk = EnvironmentChunk::decode(&bytes).unwrap();
    assert_eq!(chunk.name(column(5), 64), UNKNOWN_ENVIRONMENT);
    assert_eq!(chunk.names_used(), BTreeSet::from(["A", "Unknown"]));
    bytes[14] = 7;
    let mut chunk = EnvironmentChunk::decode(&bytes).unwrap();
    assert_eq!(chunk.name(column(0), 64), "B");
    assert_eq!(chunk.names_used(), BTreeSet::from(["B", "Unknown"]));
    // The id of A now means B, so A gets another id.
    assert_eq!(chunk.set(column(0), .., "A"), Ok(true));
    assert_eq!(chunk.name(column(0), 64), "A");
    assert_eq!(chunk.name(column(1), 64), "B");
}

#[test]
fn unsorted_heights_are_read_and_kept() {
    let bytes = chunk_with(&[(1, &[3, 10, 5, 20, 1, 2, 3, 4]), (2, &[1, i32::MAX, 8, 9])]);
    let mut chunk = EnvironmentChunk::decode(&bytes).unwrap();
    let expected = [(i32::MIN..=10, 1), (11..=20, 3), (21..=i32::MAX, 4)];
    assert_eq!(stored(&chunk, 1), expected);
    for (ys, id) in expected {
        assert_eq!(chunk.id(column(1), *ys.start()), id);
        assert_eq!(chunk.id(column(1), *ys.end()), id);
    }
    assert_eq!(stored(&chunk, 2), [(i32::MIN..=i32::MAX, 8)]);
    assert_eq!(chunk.encode(), bytes);
    // A change normalizes this column and no other.
    assert_eq!(chunk.set(column(1), 15..=15, "B"), Ok(false), "id 3 means B");
    assert_eq!(chunk.encode(), bytes);
    assert_eq!(chunk.set(column(1), 15..=15, "A"), Ok(true));
    let words = [4, 10, 14, 15, 20, 1, 3, 7, 3, 4];
    let expected = chunk_with(&[(1, &words), (2, &[1, i32::MAX, 8, 9])]);
    assert_eq!(chunk.encode(), expected);
}

#[test]
fn sets_split_and_merge_runs() {
    let mut chunk = EnvironmentChunk::decode(&old_style()).unwrap();
    let mut set = |k, ys: RangeInclusive<i32>, name| {
        let changed = chunk.set(column(k), ys, name).unwrap();
        (changed, chunk.encode())
    };
    let with = |column_0: &[i32], column_33: &[i32]| chunk_with(&[(0, column_0), (33, column_33)]);
    let column_33 = [3, -1, 60, 319, 0, 3, 7, 0];
    let split = with(&[4, -1, 99, 109, 319, 0, 7, 3, 7, 0], &column_33);
    assert_eq!(set(0, 100..=109, "B"), (true, split.clone()));
    assert_eq!(set(0, 100..=109, "B"), (false, split.clone()));
    #[expect(clippy::reversed_empty_ranges, reason = "the test needs an empty range")]
    let empty = set(0, 9..=8, "B");
    assert_eq!(empty, (false, split));
    let joined = with(&[2, -1, 319, 0, 7, 0], &column_33);
    assert_eq!(set(0, 90..=120, "A"), (true, joined));
    assert_eq!(set(0, 0..=319, "B").1, with(&[2, -1, 319, 0, 3, 0], &column_33));
    assert_eq!(
        set(33, 50..=400, "A").1,
        with(&[2, -1, 319, 0, 3, 0], &[3, -1, 49, 400, 0, 3, 7, 0])
    );
    assert_eq!(set(33, i32::MIN..=49, "A").1, with(&[2, -1, 319, 0, 3, 0], &[1, 400, 7, 0]));
    assert_eq!(set(0, i32::MIN..=i32::MAX, "B").1, with(&[0, 3], &[1, 400, 7, 0]));
}

#[test]
fn unbounded_ranges_reach_the_ends_of_the_column() {
    let mut chunk = EnvironmentChunk::uniform("A").unwrap();
    assert_eq!(chunk.set(column(0), 100.., "B"), Ok(true));
    assert_eq!(chunk.set(column(0), ..10, "C"), Ok(true));
    let names = [i32::MIN, 9, 10, 99, 100, i32::MAX].map(|y| chunk.name(column(0), y));
    assert_eq!(names, ["C", "C", "A", "A", "B", "B"]);
    assert_eq!(chunk.set(column(0), ..i32::MIN, "D"), Ok(false));
    let after_all = (Bound::Excluded(i32::MAX), Bound::Unbounded);
    assert_eq!(chunk.set(column(0), after_all, "D"), Ok(false));
    assert_eq!(chunk.list().len(), 3, "unused names are not listed");
    assert_eq!(chunk.set(column(0), .., "A"), Ok(true));
    assert_eq!(stored(&chunk, 0), stored(&chunk, 1));
}

/// Columns use id 0, which means unknown although it is not listed.
#[test]
fn new_names_get_unused_ids() {
    let mut chunk = EnvironmentChunk::decode(&old_style()).unwrap();
    for name in ["C", "D", "E"] {
        assert_eq!(chunk.set(column(9), 5..6, name), Ok(true));
    }
    let ids: Vec<i32> = chunk.list().iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [7, 3, 1, 2, 4]);
    assert_eq!(chunk.name(column(0), -1), UNKNOWN_ENVIRONMENT);
    // The game also lists unknown under 0.
    assert_eq!(chunk.set(column(9), 5..6, UNKNOWN_ENVIRONMENT), Ok(true));
    assert_eq!(chunk.list().last().map(|entry| entry.id), Some(0));
}

#[test]
fn unlisted_ids_in_use_are_not_assigned() {
    let mut chunk = EnvironmentChunk::decode(&chunk_with(&[(5, &[1, 9, 1, 2])])).unwrap();
    assert_eq!(chunk.set(column(9), 5..6, "C"), Ok(true));
    assert_eq!(chunk.list().last().map(|entry| entry.id), Some(4));
    assert_eq!(chunk.name(column(5), 9), UNKNOWN_ENVIRONMENT);
    assert_eq!(chunk.name(column(5), 10), UNKNOWN_ENVIRONMENT);
}

#[test]
fn unknown_gets_another_id_if_0_is_listed() {
    let mut chunk = EnvironmentChunk::decode(&old_style()).unwrap();
    chunk.list.push(ListedEnvironment { id: 0, name: "Zero".to_owned() });
    assert_eq!(chunk.set(column(9), 5..6, UNKNOWN_ENVIRONMENT), Ok(true));
    assert_eq!(chunk.name(column(9), 5), UNKNOWN_ENVIRONMENT);
    assert_eq!(chunk.name(column(0), -1), "Zero");
}

/// A bug searched the list again for each entry with the name.
#[test]
fn a_long_list_takes_linear_time() {
    let count = 300_000;
    let mut bytes = Vec::new();
    put(&mut bytes, &[2 * count]);
    for (id, name) in (0..count).map(|id| (id, b'a')).chain((0..count).map(|id| (id, b'b'))) {
        put(&mut bytes, &[id]);
        bytes.extend([0, 1, name]);
    }
    put(&mut bytes, &[0, 7].repeat(1024));
    let mut chunk = EnvironmentChunk::decode(&bytes).unwrap();
    assert_eq!(chunk.set(column(0), .., "b"), Ok(false));
    assert_eq!(chunk.set(column(0), .., "a"), Ok(true));
    assert_eq!((chunk.name(column(0), 5), chunk.id(column(0), 5)), ("a", count));
}

#[test]
fn listed_environments_are_renamed_and_removed() {
    let mut chunk = EnvironmentChunk::decode(&old_style()).unwrap();
    assert_eq!(chunk.rename("B", "Env_New"), Ok(1));
    assert_eq!(chunk.rename("B", "Env_Other"), Ok(0));
    assert_eq!(chunk.name(column(33), 5), "Env_New");
    assert_eq!(chunk.remove_unused(), 0);
    assert_eq!(chunk.set(column(33), .., "A"), Ok(true));
    assert_eq!(chunk.list().len(), 2, "a change does not remove unused names");
    assert_eq!(chunk.remove_unused(), 1);
    assert_eq!(chunk.list(), [ListedEnvironment { id: 7, name: "A".to_owned() }]);
}

#[test]
fn names_that_are_too_long_are_rejected() {
    let longest = "x".repeat(21_844);
    let mut chunk = EnvironmentChunk::uniform(&longest).unwrap();
    assert_eq!(EnvironmentChunk::decode(&chunk.encode()), Ok(chunk.clone()));
    let too_long = "x".repeat(21_845);
    let what = "the length of the name of an environment";
    let expected = "at most 21844 characters";
    let problem = Problem::Value { what, found: 21_845, expected };
    let error = Error::from(Malformed { at: 0, problem });
    assert_eq!(EnvironmentChunk::uniform(&too_long), Err(error.clone()));
    assert_eq!(chunk.set(column(0), .., &too_long), Err(error.clone()));
    assert_eq!(chunk.rename(&longest, &too_long), Err(error));
    assert_eq!(chunk.list().len(), 1);
}

#[test]
fn impossible_counts_are_rejected() {
    for count in [-1, i32::MAX, i32::MIN] {
        let mut bytes = old_style();
        let most = (bytes.len() - 4) / 6;
        bytes[..4].copy_from_slice(&count.to_be_bytes());
        let problem = Problem::Count { found: count, most };
        assert_eq!(malformed(&bytes), Malformed { at: 4, problem });

        let bytes = chunk_with(&[(1023, &[count, 7])]);
        let problem = Problem::Count { found: count, most: 0 };
        assert_eq!(malformed(&bytes), Malformed { at: bytes.len() - 4, problem });
    }
    let bytes = chunk_with(&[(1023, &[1, 5, 7])]);
    let problem = Problem::Truncated { needed: 12, left: 8 };
    assert_eq!(malformed(&bytes), Malformed { at: bytes.len() - 8, problem });
    let mut bytes = old_style();
    bytes.push(0);
    let problem = Problem::Trailing { bytes: 1 };
    assert_eq!(malformed(&bytes), Malformed { at: bytes.len() - 1, problem });
}

#[test]
fn truncations_are_detected() {
    let bytes = old_style();
    for len in 0..bytes.len() {
        assert!(EnvironmentChunk::decode(&bytes[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn bit_flips_are_errors_or_kept() {
    let good = old_style();
    let mut kept = 0;
    for position in 0..good.len() {
        let mut bytes = good.clone();
        bytes[position] ^= 1 << (position % 8);
        if let Ok(chunk) = EnvironmentChunk::decode(&bytes) {
            assert_eq!(chunk.encode(), bytes, "byte {position}");
            kept += 1;
        }
    }
    assert!(kept > 4000, "{kept}");
}

/// Few different columns, heights and names, so that changes overlap.
fn sets() -> impl Strategy<Value = Vec<(u16, i32, i32, usize)>> {
    let set = (0..4_u16, -40..360, -5..120, 0..5_usize);
    let set = set.prop_map(|(k, first, len, name)| (k * 341, first, first + len, name));
    prop::collection::vec(set, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2026),
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn sets_match_an_array(sets in sets()) {
        const NAMES: [&str; 5] = ["A", "B", "Unknown", "Env_C", "Env_D"];
        let mut chunk = EnvironmentChunk::decode(&old_style()).unwrap();
        let heights = -60..500;
        // The columns that are set, and some between them.
        let columns = [0, 1, 33, 340, 341, 342, 682, 1022, 1023];
        let mut expected: BTreeMap<u16, Vec<String>> = BTreeMap::new();
        for k in columns {
            let names = heights.clone().map(|y| chunk.name(column(k), y).to_owned());
            expected.insert(k, names.collect());
        }
        for (k, first, last, name) in sets {
            let mut changed = false;
            for (y, expected_name) in heights.clone().zip(expected.get_mut(&k).unwrap()) {
                if (first..=last).contains(&y) && expected_name != NAMES[name] {
                    NAMES[name].clone_into(expected_name);
                    changed = true;
                }
            }
            prop_assert_eq!(chunk.set(column(k), first..=last, NAMES[name]), Ok(changed));
            let runs = stored(&chunk, k);
            prop_assert!(runs.is_sorted_by(|low, high| low.1 != high.1));
        }
        for (k, expected) in expected {
            for (y, name) in heights.clone().zip(expected) {
                prop_assert_eq!(chunk.name(column(k), y), name);
            }
        }
        prop_assert_eq!(EnvironmentChunk::decode(&chunk.encode()), Ok(chunk));
    }

    #[test]
    fn no_bytes_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..9000),
        small in any::<bool>(),
    ) {
        if small {
            for word in bytes.chunks_mut(4) {
                let len = word.len().min(3);
                word[..len].fill(0);
            }
        }
        if let Ok(chunk) = EnvironmentChunk::decode(&bytes) {
            prop_assert_eq!(chunk.encode(), bytes);
        }
    }
}

#[test]
fn a_chunk_is_built_from_columns() {
    let is_deep = |column: LocalColumn| column.x() > 20;
    let chunk = EnvironmentChunk::from_columns(|column| match column.index() {
        0 => Vec::new(),
        _ if is_deep(column) => vec![(40, "Caves"), (0, "Plains")],
        _ => vec![(0, "Plains")],
    });
    let chunk = chunk.unwrap();
    assert_eq!(EnvironmentChunk::decode(&chunk.encode()).unwrap(), chunk);
    for column in LocalColumn::all().skip(1) {
        let low = if is_deep(column) { "Caves" } else { "Plains" };
        let found = [0, 40, 41, 319].map(|y| chunk.name(column, y));
        assert_eq!(found, [low, low, "Plains", "Plains"]);
    }
    assert_eq!(chunk.name(LocalColumn::from_index(0).unwrap(), 7), UNKNOWN_ENVIRONMENT);
}
