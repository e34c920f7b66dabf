//! Invariants of height and tint maps.

use hyworld_chunk::{ColumnKey, ColumnPalette};
use hyworld_coords::LocalColumn;

/// Sets the value of a column, and checks that only this column changes.
pub fn check_set<K: ColumnKey>(palette: &mut ColumnPalette<K>, column: LocalColumn, value: K) {
    let mut expected = palette.values();
    let before = palette.clone();
    let is_change = expected[column] != value;
    expected[column] = value;
    assert_eq!(palette.set(column, value), is_change);
    assert!(is_change || *palette == before);
    assert!(palette.values() == expected);
    assert!(LocalColumn::all().all(|column| palette.value(column) == expected[column]));
    assert!(ColumnPalette::from_values(&expected).values() == expected);
}
