//! The number of cells of each environment.

use std::collections::BTreeMap;

use hyworld_coords::{LocalColumn, MAX_Y, MIN_Y};

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
        let (mut last, mut columns): (&[Word], u64) = (&[], 0);
        for _ in LocalColumn::all() {
            let runs = rest.first().map_or(0, |&count| i32::from_be_bytes(count));
            let runs = usize::try_from(runs).unwrap_or_default();
            let words = runs.saturating_add(1).saturating_mul(2);
            // The columns were checked when they were read or built.
            let (column, after) = rest.split_at_checked(words).unwrap_or_default();
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

/// Ids below this are counted in an array. Real chunks have up to some hundred.
const SMALL_IDS: usize = 256;

/// The number of cells of each id.
struct Counts {
    small: [u64; SMALL_IDS],
    others: BTreeMap<i32, u64>,
}

impl Counts {
    /// Adds the cells of equal columns.
    fn add(&mut self, column: &[Word], columns: u64) {
        let Some((_, rest)) = column.split_first() else { return };
        let (max_ys, ids) = rest.split_at_checked(rest.len() / 2).unwrap_or_default();
        let max_ys = max_ys.iter().map(|&max_y| i32::from_be_bytes(max_y)).chain([i32::MAX]);
        let mut next = Some(i32::MIN);
        for (max_y, &id) in max_ys.zip(ids) {
            // A run that does not end above the previous one has no cells.
            let Some(min_y) = next.filter(|&min_y| min_y <= max_y) else { continue };
            next = max_y.checked_add(1);
            let heights = max_y.min(MAX_Y).saturating_sub(min_y.max(MIN_Y)).saturating_add(1);
            let cells = u64::try_from(heights).unwrap_or_default().saturating_mul(columns);
            let id = i32::from_be_bytes(id);
            let small = usize::try_from(id).ok().and_then(|id| self.small.get_mut(id));
            let sum = match small {
                Some(sum) => sum,
                None if cells > 0 => self.others.entry(id).or_default(),
                None => continue,
            };
            *sum = sum.saturating_add(cells);
        }
    }

    fn sorted(self) -> Vec<(i32, u64)> {
        let small = (0..).zip(self.small).filter(|(_, count)| *count > 0);
        let mut all: Vec<(i32, u64)> = small.chain(self.others).collect();
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
