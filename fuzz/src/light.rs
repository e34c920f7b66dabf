//! A direct implementation of the light tree specification, to compare with.

/// The number of cells in a section.
const CELLS: usize = 32_768;

/// Returns the light of every cell, or `None` unless the bytes are one tree of at most five levels.
pub fn expand(bytes: &[u8]) -> Option<Vec<u16>> {
    let mut rest = bytes;
    let mut values = Vec::new();
    node(&mut rest, CELLS, &mut values)?;
    rest.is_empty().then_some(values)
}

/// Reads a mask and, for each of its bits, a node or one value for all cells of that eighth.
fn node(rest: &mut &[u8], cells: usize, values: &mut Vec<u16>) -> Option<()> {
    let (&mask, after) = rest.split_first()?;
    *rest = after;
    let eighth = cells / 8;
    for child in 0..8 {
        if mask >> child & 1 == 0 {
            let (&value, after) = rest.split_first_chunk()?;
            *rest = after;
            values.resize(values.len() + eighth, u16::from_be_bytes(value));
        } else if eighth == 1 {
            return None;
        } else {
            node(rest, eighth, values)?;
        }
    }
    Some(())
}
