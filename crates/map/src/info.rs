//! [`InfoTile`]: heights, blocks and environments of the columns of a tile, for viewers.
//!
//! Pages that are opened from a folder may load pictures and scripts, but cannot read the pixels of
//! a picture. So this data is a script that calls a function with JSON. The numbers are deflated
//! and written as base 64: heights as differences from the column before, then the numbers of
//! blocks and of environments, each as 16 bits, the low byte first.

use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use crate::column::{ColumnTile, NO_NAME};
use crate::error::MapError;
use crate::pyramid::{TILE_PIXELS, TileGrid, TilePos};
use crate::rows::SIDE;

/// The height of a column that is not stored.
const NO_HEIGHT: i16 = i16::MIN;

/// The maximum number of names of one kind in a tile.
const NAMES_MAX: usize = 1 << 14;

/// Heights, blocks and environments of the columns of a tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InfoTile {
    /// The number of columns on each side.
    side: usize,
    heights: Vec<i16>,
    blocks: Vec<u16>,
    environments: Vec<u16>,
    block_names: Names,
    environment_names: Names,
}

/// Names in the order in which they were added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Names {
    list: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl Names {
    fn number(&mut self, name: &str) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u16::try_from(self.list.len()).ok().filter(|_| self.list.len() < NAMES_MAX);
        let Some(number) = number else { return NO_NAME };
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

#[derive(Serialize)]
struct Script<'a> {
    side: usize,
    blocks: &'a [String],
    environments: &'a [String],
    data: String,
}

impl InfoTile {
    pub(crate) fn new(grid: TileGrid) -> Self {
        let side = TILE_PIXELS as usize / usize::from(grid.scale().max(1));
        let columns = side.saturating_mul(side);
        Self {
            side,
            heights: vec![NO_HEIGHT; columns],
            blocks: vec![NO_NAME; columns],
            environments: vec![NO_NAME; columns],
            block_names: Names::default(),
            environment_names: Names::default(),
        }
    }

    /// Adds the columns of a chunk, whose first column is at x and z.
    pub(crate) fn add(&mut self, chunk: &ColumnTile, x: u32, z: u32) {
        let blocks: Vec<u16> =
            chunk.blocks.iter().map(|name| self.block_names.number(name)).collect();
        let environments: Vec<u16> =
            chunk.environments.iter().map(|name| self.environment_names.number(name)).collect();
        let number =
            |list: &[u16], local: u16| list.get(usize::from(local)).copied().unwrap_or(NO_NAME);
        let rows = chunk.columns.values().as_slice().chunks(SIDE as usize);
        for (row, columns) in (z as usize..).zip(rows) {
            let start = row.saturating_mul(self.side).saturating_add(x as usize);
            for (index, column) in (start..).zip(columns) {
                let put = |list: &mut [u16], value: u16| {
                    list.get_mut(index).into_iter().for_each(|slot| *slot = value);
                };
                put(&mut self.blocks, number(&blocks, column.block));
                put(&mut self.environments, number(&environments, column.environment));
                if let Some(slot) = self.heights.get_mut(index) {
                    *slot = column.height;
                }
            }
        }
    }

    /// Writes the script that calls `function` with the coordinates of the tile and its data.
    ///
    /// # Errors
    /// Returns an error if the data cannot be compressed.
    pub fn script(&self, function: &str, at: TilePos) -> Result<Vec<u8>, MapError> {
        let mut previous = 0_i16;
        let differences = self.heights.iter().map(|height| {
            let difference = height.wrapping_sub(previous);
            previous = *height;
            difference.to_le_bytes()
        });
        let mut bytes: Vec<u8> = differences.flatten().collect();
        for list in [&self.blocks, &self.environments] {
            bytes.extend(list.iter().flat_map(|number| number.to_le_bytes()));
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(&bytes)?;
        let script = Script {
            side: self.side,
            blocks: &self.block_names.list,
            environments: &self.environment_names.list,
            data: base64(&encoder.finish()?),
        };
        let json = serde_json::to_string(&script).map_err(std::io::Error::other)?;
        Ok(format!("{function}({},{},{json})\n", at.x, at.z).into_bytes())
    }
}

/// Encodes bytes as base 64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut three = [0; 3];
        three.iter_mut().zip(group).for_each(|(to, from)| *to = *from);
        let [a, b, c] = three.map(u32::from);
        let bits = (a << 16) | (b << 8) | c;
        for number in 0..4_usize {
            let index = (bits >> (18 - 6 * number)) & 63;
            let digit = DIGITS.get(index as usize).copied().unwrap_or(b'=');
            text.push(if number <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::{ColumnArray, LocalColumn};

    use crate::column::Column;

    #[test]
    fn base64_pads_the_last_group() {
        let texts = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), "/+++");
    }

    #[test]
    fn columns_are_where_their_chunk_is() {
        let grid = TileGrid::new(4).unwrap();
        let mut info = InfoTile::new(grid);
        let column = |at: LocalColumn| Column {
            height: i16::from(at.x()),
            block: 1,
            environment: 0,
            ..Column::default()
        };
        let tile = ColumnTile {
            columns: ColumnArray::from_fn(column),
            blocks: vec!["a".to_owned(), "b".to_owned()],
            environments: vec!["e".to_owned()],
            ..ColumnTile::default()
        };
        info.add(&tile, 32, 64);
        let at = |x: usize, z: usize| z * 128 + x;
        assert_eq!(info.heights[at(32 + 5, 64)], 5);
        assert_eq!(info.heights[at(31, 64)], NO_HEIGHT);
        assert_eq!((info.blocks[at(33, 95)], info.environments[at(33, 95)]), (1, 0));
        let script = info.script("f", TilePos::new(0, -3, 4)).unwrap();
        let text = String::from_utf8(script).unwrap();
        let start = r#"f(-3,4,{"side":128,"blocks":["a","b"],"environments":["e"],"data":""#;
        assert!(text.starts_with(start), "{}", &text[..100]);
    }
}
