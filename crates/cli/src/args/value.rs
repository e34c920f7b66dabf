//! Parsers for argument values: slots, areas, components, geometries, numbers.

use std::str::FromStr;

use hyworld_coords::{ChunkRect, RegionSlot};
use hyworld_indexed_storage::limits::{BLOB_COUNT_MAX, SEGMENT_BYTES_MAX};
use hyworld_indexed_storage::{Geometry, Slot};

/// A slot as written on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SlotArg {
    /// `33`: the number of the slot.
    Number(Slot),
    /// `1,1`: x and z of a chunk inside its region. Valid only for files with 1,024 slots.
    Local(RegionSlot),
}

impl FromStr for SlotArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a number such as 33, or x,z with both from 0 to 31".to_owned();
        match text.split_once(',') {
            None => {
                let number = text.parse().map_err(|_| wrong())?;
                Ok(Self::Number(Slot::new(number)))
            }
            Some((x, z)) => {
                let local = x.trim().parse().ok().zip(z.trim().parse().ok());
                let slot = local.and_then(|(x, z)| RegionSlot::new(x, z));
                slot.map(Self::Local).ok_or_else(wrong)
            }
        }
    }
}

/// Parses a rectangle of chunks, given by two opposite corners.
pub(super) fn area(text: &str) -> Result<ChunkRect, String> {
    let corners = text.split_once(':').and_then(|(corner, opposite)| {
        Some(ChunkRect::new(corner.parse().ok()?, opposite.parse().ok()?))
    });
    corners.ok_or_else(|| "expected two corners in chunk coordinates, such as -3,7:0,9".to_owned())
}

/// A component of a chunk or of one of its sections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ComponentArg {
    /// The number of the section; `None` for the chunk itself.
    pub(crate) section: Option<usize>,
    /// The id of the component.
    pub(crate) id: String,
}

impl FromStr for ComponentArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // An id can contain a slash.
        let in_section = text.split_once('/').and_then(|(number, id)| {
            let section = number.parse().ok().filter(|_| !number.starts_with('+'))?;
            Some(Self { section: Some(section), id: id.to_owned() })
        });
        let component = in_section.unwrap_or_else(|| Self { section: None, id: text.to_owned() });
        match component.id.as_str() {
            "" => Err("expected an id such as BlockChunk, or 3/Block for one in section 3".into()),
            _ => Ok(component),
        }
    }
}

/// Parses `1024x4096`: number of slots, size of segments.
pub(super) fn geometry(text: &str) -> Result<Geometry, String> {
    let (slots, segment_bytes) = text
        .split_once('x')
        .and_then(|(slots, bytes)| slots.parse().ok().zip(bytes.parse().ok()))
        .ok_or_else(|| "expected SLOTSxBYTES, such as 1024x4096".to_owned())?;
    Geometry::new(slots, segment_bytes).ok_or_else(|| {
        let (slots, bytes) = (BLOB_COUNT_MAX, SEGMENT_BYTES_MAX);
        format!("expected 1 to {slots} slots and segments of 1 to {bytes} bytes")
    })
}

/// Parses a time in seconds, up to a year.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    const YEAR: f64 = 365.0 * 86_400.0;
    in_range(text, 0.0, YEAR)
}

/// Parses a factor for the speed of time.
pub(super) fn speed(text: &str) -> Result<f64, String> {
    in_range(text, 0.001, 1000.0)
}

/// Parses a number of events per second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    in_range(text, 0.0, 1_000_000.0)
}

fn in_range(text: &str, min: f64, max: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("expected a number from {min} to {max}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_numbers_or_local_positions() {
        let number = |n| Ok(SlotArg::Number(Slot::new(n)));
        assert_eq!("0".parse(), number(0));
        assert_eq!("1048575".parse(), number(1_048_575));
        let local = RegionSlot::new(31, 2).unwrap();
        assert_eq!("31,2".parse(), Ok(SlotArg::Local(local)));
        for wrong in ["", "-1", "32,0", "0,32", "1,2,3", "a,b", ",", "1;2", "4294967296"] {
            assert!(wrong.parse::<SlotArg>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn components_are_ids_or_ids_in_a_section() {
        let parsed = |text: &str| text.parse::<ComponentArg>().map(|c| (c.section, c.id));
        assert_eq!(parsed("BlockChunk"), Ok((None, "BlockChunk".to_owned())));
        assert_eq!(parsed("3/Block"), Ok((Some(3), "Block".to_owned())));
        assert_eq!(parsed("12/a/b"), Ok((Some(12), "a/b".to_owned())));
        assert_eq!(parsed("mod:a/b"), Ok((None, "mod:a/b".to_owned())));
        assert!(parsed("").is_err() && parsed("3/").is_err());
    }

    #[test]
    fn numbers_have_ends() {
        assert_eq!((seconds("0.5"), rate("0"), speed("50")), (Ok(0.5), Ok(0.0), Ok(50.0)));
        for wrong in ["", "-1", "NaN", "inf", "1e300", "two"] {
            assert!(seconds(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
        assert!(speed("0").is_err());
    }

    #[test]
    fn geometries_are_two_numbers_within_the_limits() {
        assert_eq!(geometry("1024x4096"), Ok(Geometry::REGION));
        for wrong in ["", "1024", "x", "0x1", "1x0", "4294967295x1", "1x1073741825", "1x2x3"] {
            assert!(geometry(wrong).is_err(), "{wrong}");
        }
    }
}
