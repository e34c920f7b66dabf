//! `EnvironmentChunk.Data` round-trips, and a change affects only its column and heights.
#![no_main]

use hyworld_chunk::EnvironmentChunk;
use hyworld_coords::LocalColumn;
use hyworld_fuzz::Choices;
use libfuzzer_sys::fuzz_target;

/// Heights at limits.
const HEIGHTS: [i32; 12] =
    [i32::MIN, i32::MIN + 1, -2, -1, 0, 1, 64, 318, 319, 320, i32::MAX - 1, i32::MAX];

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, field)) = hyworld_fuzz::split(data) else { return };
    let Ok(mut chunk) = EnvironmentChunk::decode(&field) else { return };
    assert!(chunk.encode() == field);
    let used: Vec<String> = chunk.names_used().into_iter().map(str::to_owned).collect();
    for column in LocalColumn::all().step_by(37) {
        check_runs(&chunk, column);
        assert!(
            (0..320).step_by(29).all(|y| used.iter().any(|name| chunk.name(column, y) == name))
        );
    }
    while !choices.is_empty() {
        check_set(&mut chunk, &mut choices);
    }
    let before = chunk.clone();
    chunk.remove_unused();
    for column in LocalColumn::all().step_by(41) {
        assert!(HEIGHTS.iter().all(|&y| chunk.name(column, y) == before.name(column, y)));
    }
    let renamed = chunk.rename("Fuzz", "Renamed").expect("short");
    assert!(renamed == chunk.list().len() || !chunk.list().is_empty());
    assert!(!chunk.list().iter().any(|entry| entry.name == "Fuzz"));
    assert!(EnvironmentChunk::decode(&chunk.encode()).expect("just encoded") == chunk);
});

/// Checks that runs cover every height once, and agree with single heights.
fn check_runs(chunk: &EnvironmentChunk, column: LocalColumn) {
    let mut next = i64::from(i32::MIN);
    for run in chunk.runs(column) {
        assert_eq!(i64::from(*run.ys.start()), next);
        assert!(run.ys.start() <= run.ys.end());
        next = i64::from(*run.ys.end()) + 1;
        assert_eq!(chunk.id(column, *run.ys.start()), run.id);
        assert_eq!(chunk.id(column, *run.ys.end()), run.id);
    }
    assert_eq!(next, i64::from(i32::MAX) + 1);
}

fn check_set(chunk: &mut EnvironmentChunk, choices: &mut Choices) {
    let before = chunk.clone();
    let (column, height, kind) = (choices.column(), choices.word(), choices.byte());
    let end = |choice: u16| match usize::from(choice % 16) {
        index if index < HEIGHTS.len() => HEIGHTS[index],
        _ => i32::from(choice / 16),
    };
    let ys = end(height & 0xff)..=end(height >> 8);
    let listed = before.list().get(usize::from(kind)).map_or("Fuzz", |entry| &entry.name);
    let changed = chunk.set(column, ys.clone(), listed).expect("not too long");
    assert_eq!(changed, *chunk != before);
    for other in [column, choices.column()] {
        check_runs(chunk, other);
        for y in HEIGHTS.into_iter().chain([*ys.start(), *ys.end()]) {
            let is_set = other == column && ys.contains(&y);
            let expected = if is_set { listed } else { before.name(other, y) };
            assert_eq!(chunk.name(other, y), expected, "height {y} of {other:?}");
        }
    }
}
