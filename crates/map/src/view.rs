//! [`View`]: a chunk with its neighbours.

use hyworld_coords::{CHUNK_SIDE_BLOCKS, LocalColumn};

use crate::column::{Column, ColumnTile};

/// The rows and columns of heights: those of the chunk, and one more on each side.
const SIDE: usize = CHUNK_SIDE_BLOCKS.unsigned_abs() as usize + 2;

/// The columns of a chunk, and the heights around it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    tile: &'a ColumnTile,
    /// By z, then by x, each from -1 to 32.
    heights: Box<[[i16; SIDE]; SIDE]>,
}

impl<'a> View<'a> {
    /// Creates the view of a chunk. `neighbour` returns the chunk at an offset of x and z; `None`
    /// if it is missing or cannot be read. A missing chunk has height 0.
    ///
    /// As on the game's map, the two samples beyond the northern corners are exchanged: the one in
    /// the north-west is read from the chunk in the north-east, at the same local position, and
    /// vice versa.
    pub fn new(
        tile: &'a ColumnTile,
        neighbour: impl Fn(i32, i32) -> Option<&'a ColumnTile>,
    ) -> Self {
        let mut heights = Box::new([[0; SIDE]; SIDE]);
        let mut columns = tile.columns.values().map(|column| column.height);
        for row in heights.iter_mut().skip(1).take(SIDE - 2) {
            for (height, stored) in row.iter_mut().skip(1).zip(columns.by_ref().take(SIDE - 2)) {
                *height = stored;
            }
        }
        let mut view = Self { tile, heights };
        let [north, south] = [-1, 1].map(|dz| neighbour(0, dz));
        let [west, east] = [-1, 1].map(|dx| neighbour(dx, 0));
        let last = CHUNK_SIDE_BLOCKS;
        for along in 0..last {
            view.sample(along, -1, north);
            view.sample(along, last, south);
            view.sample(-1, along, west);
            view.sample(last, along, east);
        }
        view.sample(-1, -1, neighbour(1, -1));
        view.sample(last, -1, neighbour(-1, -1));
        view.sample(-1, last, neighbour(-1, 1));
        view.sample(last, last, neighbour(1, 1));
        view
    }

    /// Reads one height beyond the border from a neighbour.
    fn sample(&mut self, x: i32, z: i32, neighbour: Option<&ColumnTile>) {
        let local = |value: i32| u8::try_from(value.rem_euclid(CHUNK_SIDE_BLOCKS)).ok();
        let at = local(x).zip(local(z)).and_then(|(x, z)| LocalColumn::new(x, z));
        let height = neighbour.zip(at).map_or(0, |(tile, at)| tile.columns[at].height);
        let index = |value: i32| usize::try_from(value.saturating_add(1)).unwrap_or(SIDE);
        let row = self.heights.get_mut(index(z));
        if let Some(sample) = row.and_then(|row| row.get_mut(index(x))) {
            *sample = height;
        }
    }

    /// Returns the chunk itself.
    pub fn tile(&self) -> &'a ColumnTile {
        self.tile
    }

    /// Returns a column of the chunk.
    pub fn column(&self, at: LocalColumn) -> Column {
        self.tile.columns[at]
    }

    /// Returns a row of columns, and the heights of the rows from the one in the north to the one
    /// in the south, each with one more height at both ends. `None` beyond the chunk.
    pub(crate) fn row(&self, z: u32) -> Option<(&'a [Column], [&[i16; SIDE]; 3])> {
        let z = usize::try_from(z).ok()?;
        let columns = self.tile.columns.values().as_slice();
        let heights = self.heights.get(z..)?.first_chunk::<3>()?;
        Some((columns.chunks_exact(SIDE - 2).nth(z)?, heights.each_ref()))
    }

    /// Returns the heights of a column and of the eight around it, in rows from the north.
    pub(crate) fn heights_around(&self, at: LocalColumn) -> [[i16; 3]; 3] {
        let (x, z) = (usize::from(at.x()), usize::from(at.z()));
        let rows = self.heights.get(z..z.saturating_add(3)).and_then(<[_]>::first_chunk::<3>);
        let row = |row: &[i16; SIDE]| {
            let samples = row.get(x..x.saturating_add(3)).and_then(<[_]>::first_chunk::<3>);
            samples.copied().unwrap_or_default()
        };
        rows.map_or([[0; 3]; 3], |rows| rows.each_ref().map(row))
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
        ColumnTile { columns: ColumnArray::from_fn(column), ..ColumnTile::default() }
    }

    /// The height at a position in or beside the chunk.
    fn height(view: &View<'_>, x: i32, z: i32) -> i16 {
        let near = |value: i32| value.clamp(0, 31);
        let local = |value: i32| u8::try_from(near(value)).unwrap();
        let around = view.heights_around(LocalColumn::new(local(x), local(z)).unwrap());
        let index = |value: i32| usize::try_from(value - near(value) + 1).unwrap();
        around[index(z)][index(x)]
    }

    #[test]
    fn samples_beyond_a_border_come_from_the_neighbour() {
        let tiles: Vec<ColumnTile> = (0..9).map(tile).collect();
        let neighbour = |dx: i32, dz: i32| tiles.get(usize::try_from(dz * 3 + dx + 4).unwrap());
        let view = View::new(&tiles[4], neighbour);
        let height = |x: i32, z: i32| height(&view, x, z);
        let local = |x: i16, z: i16| z * 32 + x;
        assert_eq!(height(5, 6), 4_400 + local(5, 6));
        assert_eq!(height(5, -1), 1_100 + local(5, 31), "north");
        assert_eq!(height(5, 32), 7 * 1_100 + local(5, 0), "south");
        assert_eq!(height(-1, 6), 3 * 1_100 + local(31, 6), "west");
        assert_eq!(height(32, 6), 5 * 1_100 + local(0, 6), "east");
        assert_eq!(height(-1, 32), 6 * 1_100 + local(31, 0), "south-west");
        assert_eq!(height(32, 32), 8 * 1_100 + local(0, 0), "south-east");
        assert_eq!(height(-1, -1), 2 * 1_100 + local(31, 31), "north-west is exchanged");
        assert_eq!(height(32, -1), local(0, 31), "north-east is exchanged");
    }

    #[test]
    fn a_missing_neighbour_has_height_0() {
        let alone = tile(3);
        let view = View::new(&alone, |_, _| None);
        let height = |x: i32, z: i32| height(&view, x, z);
        assert_eq!(height(-1, 4), 0);
        assert_eq!(height(32, 32), 0);
        assert_eq!(height(0, 0), 3_300);
    }
}
