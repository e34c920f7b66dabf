//! The text form of positions.
//!
//! `Display` and `Debug` write the coordinates in parentheses: `(3, -2)`. Parsing does not require
//! the parentheses and spaces: `3,-2`.

use std::fmt;

use crate::ParsePosError;

/// Implements `Display` and `Debug`, which write the coordinates. `Debug` is the same as `Display`
/// to keep lists of positions in failed tests and log lines short.
macro_rules! display_coordinates {
    ($type:ty, |$value:ident| $coordinates:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = *self;
                $crate::text::write_coordinates(f, &$coordinates)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(crate) use display_coordinates;

/// Implements `FromStr` for a type with public coordinates, in the order in which they are listed.
macro_rules! parse_coordinates {
    ($type:ident { $($field:ident),+ }) => {
        /// Parses coordinates separated by commas, with or without parentheses and spaces.
        impl std::str::FromStr for $type {
            type Err = $crate::ParsePosError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let names = [$(stringify!($field)),+];
                let [$($field),+] = $crate::text::read_coordinates(text, names)?;
                Ok(Self { $($field),+ })
            }
        }
    };
}
pub(crate) use parse_coordinates;

/// Writes `(a, b, ...)`.
pub(crate) fn write_coordinates(
    f: &mut fmt::Formatter<'_>,
    coordinates: &[impl fmt::Display],
) -> fmt::Result {
    f.write_str("(")?;
    for (index, coordinate) in coordinates.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        write!(f, "{separator}{coordinate}")?;
    }
    f.write_str(")")
}

/// Parses one integer for each of `names`, which are only used in errors.
pub(crate) fn read_coordinates<const N: usize>(
    text: &str,
    names: [&'static str; N],
) -> Result<[i32; N], ParsePosError> {
    let found = text.split(',').count();
    if found != N {
        return Err(ParsePosError::CoordinateCount { text: text.to_owned(), expected: N, found });
    }
    let mut coordinates = [0; N];
    let parts = without_parentheses(text).split(',');
    for ((coordinate, name), part) in coordinates.iter_mut().zip(names).zip(parts) {
        let part = part.trim();
        *coordinate = part.parse().map_err(|source| ParsePosError::Coordinate {
            name,
            text: part.to_owned(),
            source,
        })?;
    }
    Ok(coordinates)
}

/// Removes parentheses only in pairs, so that a single one is reported with its coordinate.
fn without_parentheses(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::testing::coordinate;
    use crate::{BlockPos, ChunkPos, ColumnPos, ParsePosError, RegionPos};

    #[test]
    fn positions_are_displayed_as_tuples() {
        assert_eq!(ChunkPos::new(3, -2).to_string(), "(3, -2)");
        assert_eq!(RegionPos::new(0, i32::MIN).to_string(), "(0, -2147483648)");
        assert_eq!(BlockPos::new(1, 64, -7).to_string(), "(1, 64, -7)");
        assert_eq!(format!("{:?}", [ChunkPos::new(3, -2)]), "[(3, -2)]");
    }

    #[test]
    fn parsing_accepts_common_forms() {
        for text in ["3,-2", "3, -2", " 3 , -2 ", "(3,-2)", "( 3, -2 )", "+3,-02"] {
            assert_eq!(text.parse(), Ok(ChunkPos::new(3, -2)), "{text:?}");
        }
        assert_eq!("1,64,-7".parse(), Ok(BlockPos::new(1, 64, -7)));
    }

    #[test]
    fn parsing_rejects_other_forms() {
        for text in ["", "3", "3 -2", "3,", ",", "3,-2,", "3,-2,1", "(3,-2", "3,-2)", "((3,-2))"] {
            assert!(text.parse::<ChunkPos>().is_err(), "{text:?}");
        }
        for text in ["3.0,1", "0x3,1", "3,2147483648", "-2147483649,0", "3,1_000", "- 3,1"] {
            assert!(text.parse::<RegionPos>().is_err(), "{text:?}");
        }
        assert!("1,-7".parse::<BlockPos>().is_err());
    }

    #[test]
    fn errors_have_a_reason() {
        let message = |text: &str| text.parse::<ChunkPos>().unwrap_err().to_string();
        assert_eq!(message("1,2,3"), "expected 2 numbers separated by commas, found 3 in `1,2,3`");
        assert_eq!(message("1, b"), "z must be a 32-bit integer, not `b`");
        assert_eq!(message("(1,2"), "x must be a 32-bit integer, not `(1`");
    }

    #[test]
    fn errors_have_a_source() {
        use std::error::Error;

        let number = "1,99999999999".parse::<ChunkPos>().unwrap_err();
        assert!(number.source().unwrap().to_string().contains("too large"));
        let count = "1".parse::<ChunkPos>().unwrap_err();
        assert!(matches!(count, ParsePosError::CoordinateCount { expected: 2, found: 1, .. }));
        assert!(count.source().is_none());
    }

    proptest! {
        #[test]
        fn displayed_positions_parse(x in coordinate(), y in coordinate(), z in coordinate()) {
            let block = BlockPos::new(x, y, z);
            prop_assert_eq!(block.to_string().parse(), Ok(block));
            let column = ColumnPos::new(x, z);
            prop_assert_eq!(column.to_string().parse(), Ok(column));
            let chunk = ChunkPos::new(x, z);
            prop_assert_eq!(chunk.to_string().parse(), Ok(chunk));
            let region = RegionPos::new(x, z);
            prop_assert_eq!(format!("{x},{z}").parse(), Ok(region));
        }

        #[test]
        fn parsing_never_panics(text in "[(), 0-9+-]{0,24}|\\PC{0,12}") {
            if let Ok(pos) = text.parse::<ChunkPos>() {
                prop_assert_eq!(pos.to_string().parse(), Ok(pos));
            }
        }
    }
}
