//! Counts the cells of environments, and the blocks in each of them.

use std::collections::HashMap;

use hyworld_chunk::{Chunk, EnvironmentChunk, EnvironmentRun, Result};
use hyworld_coords::{LocalColumn, MAX_Y, MIN_Y};

use super::HEIGHTS;
use super::sums::Tally;

/// The number of columns of a chunk.
const COLUMNS: usize = 1024;

/// Adds the number of cells of each environment.
pub(super) fn count_environments(environments: &EnvironmentChunk, sums: &mut Tally) {
    for (id, count) in environments.cell_counts() {
        sums.add(environments.name_of(id), count);
    }
}

/// Returns the part of a run inside of the world.
fn heights(run: &EnvironmentRun) -> Option<(i32, i32)> {
    let (first, last) = (*run.ys.start().max(&MIN_Y), *run.ys.end().min(&MAX_Y));
    (first <= last).then_some((first, last))
}

/// Adds the number of cells of each block except air, for each environment.
pub(super) fn cells_by_environment(
    chunk: &Chunk,
    environments: &EnvironmentChunk,
    sums: &mut HashMap<String, Tally>,
) -> Result<()> {
    let ids = ids_of_cells(environments);
    for section in chunk.sections() {
        let bottom = usize::from(section.y().index()).saturating_mul(32 * COLUMNS);
        for run in section.blocks()?.blocks().runs().filter(|run| !run.key.is_air()) {
            let start = bottom.saturating_add(run.start.index().into());
            let end = start.saturating_add(run.len.into());
            let cells = ids.get(start..end).unwrap_or_default();
            for part in cells.chunk_by(|a, b| a == b) {
                let id = part.first().copied().unwrap_or_default();
                let name = environments.name_of(id);
                if !sums.contains_key(name) {
                    sums.insert(name.to_owned(), Tally::default());
                }
                if let Some(tally) = sums.get_mut(name) {
                    tally.add(run.key.as_str(), part.len() as u64);
                }
            }
        }
    }
    Ok(())
}

/// Returns the id of the environment of every cell, by height, then by column.
fn ids_of_cells(environments: &EnvironmentChunk) -> Vec<i32> {
    let mut ids = vec![0; HEIGHTS * COLUMNS];
    for column in LocalColumn::all() {
        let index = usize::from(column.index());
        for run in environments.runs(column) {
            let Some((first, last)) = heights(&run) else { continue };
            for y in first..=last {
                let y = usize::try_from(y).unwrap_or_default();
                if let Some(id) = ids.get_mut(y.saturating_mul(COLUMNS).saturating_add(index)) {
                    *id = run.id;
                }
            }
        }
    }
    ids
}
