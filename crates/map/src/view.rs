//! [`View`]: a chunk with its neighbours.

use hyworld_coords::{CHUNK_SIDE_BLOCKS, LocalColumn};

use crate::column::{Column, ColumnTile};

/// The columns of a chunk, and the eight chunks around it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    tile: &'a ColumnTile,
    /// By row, from north-west to south-east. The middle is not used.
    around: [Option<&'a ColumnTile>; 9],
}

impl<'a> View<'a> {
    /// Creates the view of a chunk. `neighbour` returns the chunk at an offset of x and z; `None`
    /// if it is missing or cannot be read.
    pub fn new(
        tile: &'a ColumnTile,
        neighbour: impl Fn(i32, i32) -> Option<&'a ColumnTile>,
    ) -> Self {
        let mut around = [None; 9];
        let offsets = (-1..=1).flat_map(|dz| (-1..=1).map(move |dx| (dx, dz)));
        for (slot, (dx, dz)) in around.iter_mut().zip(offsets) {
            *slot = neighbour(dx, dz);
        }
        Self { tile, around }
    }

    /// Returns the chunk itself.
    pub fn tile(&self) -> &'a ColumnTile {
        self.tile
    }

    /// Returns a column of the chunk.
    pub fn column(&self, at: LocalColumn) -> Column {
        self.tile.columns[at]
    }

    /// Returns the height of a column of the chunk or of a column beside it, with coordinates from
    /// -1 to 32. A missing chunk has height 0.
    ///
    /// As on the game's map, the two samples beyond the northern corners are exchanged: the one in
    /// the north-west is read from the chunk in the north-east, at the same local position, and
    /// vice versa.
    pub(crate) fn height(&self, x: i32, z: i32) -> i16 {
        let side = CHUNK_SIDE_BLOCKS;
        let (mut dx, dz) = (x.div_euclid(side), z.div_euclid(side));
        if dz < 0 {
            dx = -dx;
        }
        let tile = if (dx, dz) == (0, 0) { Some(self.tile) } else { self.around(dx, dz) };
        let local = |value: i32| u8::try_from(value.rem_euclid(side)).ok();
        let at = local(x).zip(local(z)).and_then(|(x, z)| LocalColumn::new(x, z));
        tile.zip(at).map_or(0, |(tile, at)| tile.columns[at].height)
    }

    fn around(&self, dx: i32, dz: i32) -> Option<&'a ColumnTile> {
        let index = (dz + 1) * 3 + (dx + 1);
        *self.around.get(usize::try_from(index).ok()?)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ColumnArray;

    /// A chunk whose heights are 1,100 times `number`, plus the index of the column.
    fn tile(number: i16) -> ColumnTile {
        let height = |at: LocalColumn| 1_100 * number + i16::try_from(at.index()).unwrap();
        let column = |at| Column { height: height(at), ..Column::default() };
        ColumnTile { columns: ColumnArray::from_fn(column), environments: Vec::new(), changes: 0 }
    }

    #[test]
    fn samples_beyond_a_border_come_from_the_neighbour() {
        let tiles: Vec<ColumnTile> = (0..9).map(tile).collect();
        let neighbour = |dx: i32, dz: i32| tiles.get(usize::try_from(dz * 3 + dx + 4).unwrap());
        let view = View::new(&tiles[4], neighbour);
        let local = |x: i16, z: i16| z * 32 + x;
        assert_eq!(view.height(5, 6), 4_400 + local(5, 6));
        assert_eq!(view.height(5, -1), 1_100 + local(5, 31), "north");
        assert_eq!(view.height(5, 32), 7 * 1_100 + local(5, 0), "south");
        assert_eq!(view.height(-1, 6), 3 * 1_100 + local(31, 6), "west");
        assert_eq!(view.height(32, 6), 5 * 1_100 + local(0, 6), "east");
        assert_eq!(view.height(-1, 32), 6 * 1_100 + local(31, 0), "south-west");
        assert_eq!(view.height(32, 32), 8 * 1_100 + local(0, 0), "south-east");
        assert_eq!(view.height(-1, -1), 2 * 1_100 + local(31, 31), "north-west is exchanged");
        assert_eq!(view.height(32, -1), local(0, 31), "north-east is exchanged");
    }

    #[test]
    fn a_missing_neighbour_has_height_0() {
        let alone = tile(3);
        let view = View::new(&alone, |_, _| None);
        assert_eq!(view.height(-1, 4), 0);
        assert_eq!(view.height(32, 32), 0);
        assert_eq!(view.height(0, 0), 3_300);
    }
}
