//! The number of cells of each environment.

use std::collections::BTreeMap;

use hyworld_coords::{COLUMNS_PER_CHUNK, LocalColumn, MAX_Y, MIN_Y};

use super::{EnvironmentChunk, Word};

impl EnvironmentChunk {
    /// Returns the number of cells of each id inside of the world, sorted by id. Adjacent columns
    /// with the same runs are counted together.
    ///
    /// ```
    /// let environments = hyworld_chunk::EnvironmentChunk::uniform("Env_Zone1")?;
    /// let id = environments.list()[0].id;
    /// assert_eq!(environments.cell_counts(), [(id, 327_680)]);
    /// # Ok::<(), hyworld_chunk::Error>(())
    /// ```
    pub fn cell_counts(&self) -> Vec<(i32, u64)> {
        let mut counts = Counts { small: [0; SMALL_IDS], others: BTreeMap::new() };
        let mut rest = self.words();
        let (first, after) = split_column(rest);
        // Equal columns have equal words at the same distance: one comparison of all of them.
        let is_uniform = after == rest.get(..after.len()).unwrap_or_default();
        if is_uniform && rest.len() == first.len().saturating_mul(COLUMNS_PER_CHUNK.into()) {
            counts.add(first, COLUMNS_PER_CHUNK.into());
            return counts.sorted();
        }
        let (mut last, mut columns): (&[Word], u32) = (&[], 0);
        for _ in LocalColumn::all() {
            let (column, after) = split_column(rest);
            rest = after;
            if column == last {
                columns += 1;
                continue;
            }
            counts.add(last, columns);
            (last, columns) = (column, 1);
        }
        counts.add(last, columns);
        counts.sorted()
    }
}

/// Returns the words of the first column, and those of the others.
#[inline]
fn split_column(words: &[Word]) -> (&[Word], &[Word]) {
    let runs = words.first().map_or(0, |&count| i32::from_be_bytes(count));
    let runs = usize::try_from(runs).unwrap_or_default();
    let len = runs.saturating_add(1).saturating_mul(2);
    // The columns were checked when they were read or built.
    words.split_at_checked(len).unwrap_or_default()
}

/// Ids below this are counted in an array. Real chunks have up to a few hundred.
const SMALL_IDS: usize = 256;

/// The number of cells of each id.
struct Counts {
    small: [u32; SMALL_IDS],
    others: BTreeMap<i32, u32>,
}

impl Counts {
    /// Adds the cells of equal columns.
    fn add(&mut self, column: &[Word], columns: u32) {
        let Some((_, rest)) = column.split_first() else { return };
        let (max_ys, ids) = rest.split_at_checked(rest.len() / 2).unwrap_or_default();
        let mut counted_to = MIN_Y - 1;
        for (max_y, id) in max_ys.iter().zip(ids) {
            // A run that does not end above the previous one has no cells.
            let top = i32::from_be_bytes(*max_y).min(MAX_Y).max(counted_to);
            self.add_cells(i32::from_be_bytes(*id), top.abs_diff(counted_to), columns);
            counted_to = top;
        }
        // The last run has no greatest height.
        if let Some(id) = ids.last() {
            self.add_cells(i32::from_be_bytes(*id), MAX_Y.abs_diff(counted_to), columns);
        }
    }

    /// Adds the cells of a run. All columns together have 327,680.
    #[inline]
    fn add_cells(&mut self, id: i32, heights: u32, columns: u32) {
        let cells = heights.wrapping_mul(columns);
        let small = usize::try_from(id).ok().and_then(|id| self.small.get_mut(id));
        match small {
            Some(sum) => *sum = sum.wrapping_add(cells),
            None if cells > 0 => {
                let sum = self.others.entry(id).or_default();
                *sum = sum.wrapping_add(cells);
            }
            None => {}
        }
    }

    fn sorted(self) -> Vec<(i32, u64)> {
        let small = (0..).zip(self.small).filter(|(_, count)| *count > 0);
        let all = small.chain(self.others).map(|(id, count)| (id, u64::from(count)));
        let mut all: Vec<(i32, u64)> = all.collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the cells run by run.
    fn counted(environments: &EnvironmentChunk) -> BTreeMap<i32, u64> {
        let mut sums = BTreeMap::new();
        for column in LocalColumn::all() {
            for y in MIN_Y..=MAX_Y {
                *sums.entry(environments.id(column, y)).or_default() += 1;
            }
        }
        sums
    }

    #[test]
    fn counts_match_single_cells() {
        let mut environments = EnvironmentChunk::uniform("Env_A").unwrap();
        let column = |x, z| LocalColumn::new(x, z).unwrap();
        for (x, z, ys, name) in [
            (0, 0, 0..=9, "Env_B"),
            (1, 0, 0..=9, "Env_B"),
            (2, 0, 300..=319, "Env_C"),
            (31, 31, -50..=400, "Env_B"),
            (5, 5, 100..=100, "Env_C"),
        ] {
            environments.set(column(x, z), ys, name).unwrap();
        }
        let counts: BTreeMap<i32, u64> = environments.cell_counts().into_iter().collect();
        assert_eq!(counts, counted(&environments));
        assert_eq!(counts.values().sum::<u64>(), 327_680);
        assert!(counts.len() == 3, "{counts:?}");
    }
}
