//! The comparison of two borders.

use super::Fit;
use super::edges::Border;

/// The number of columns of a side.
pub(super) const COLUMNS: usize = 32;

/// The weights of cells, heights, tints and environments.
const WEIGHTS: [f64; 4] = [0.6, 0.2, 0.15, 0.05];

/// The difference of two tints that halves their agreement.
const TINT_STEP: f64 = 6.0;

/// The cells of a side at one height.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Row {
    cells: [u8; COLUMNS],
    /// Has a bit for each cell that differs from a cell beside, above or below it.
    changes: u32,
    /// Has a bit for each cell that differs from the next one along the border.
    along: u32,
}

impl Row {
    /// Builds the rows of a side from its cells, from the bottom up.
    pub(super) fn of(cells: &[[u8; COLUMNS]]) -> Vec<Self> {
        let air = [0; COLUMNS];
        let row = |number: usize| cells.get(number).unwrap_or(&air);
        (0..cells.len())
            .map(|number| {
                let here = row(number);
                let mut next = *here;
                next.iter_mut().zip(here.iter().skip(1)).for_each(|(to, from)| *to = *from);
                let along = differences(here, &next);
                let below = number.checked_sub(1).map_or(here, row);
                let vertical = differences(here, below) | differences(here, row(number + 1));
                Self { cells: *here, changes: vertical | along | along << 1, along }
            })
            .collect()
    }
}

/// Returns a bit for each pair of different cells, the first in the lowest bit.
fn differences(one: &[u8; COLUMNS], other: &[u8; COLUMNS]) -> u32 {
    let bits = one.iter().zip(other).zip(0..);
    bits.fold(0, |bits, ((a, b), number)| bits | u32::from(a != b) << number)
}

impl Border {
    pub(super) fn compare(&self, other: &Self) -> Fit {
        let (cells, equal) = self.compare_cells(other);
        let parts = [
            if cells == 0 { 1.0 } else { f64::from(equal) / f64::from(cells) },
            mean(self.heights.iter().zip(&other.heights).map(|(a, b)| height_fit(*a, *b))),
            mean(self.tints.iter().zip(&other.tints).map(|(a, b)| tint_fit(*a, *b))),
            mean(self.environments.iter().zip(&other.environments).map(|(a, b)| same(a == b))),
        ];
        let score = parts.into_iter().zip(WEIGHTS).map(|(part, weight)| part * weight).sum();
        Fit { score, cells, detail: self.detail().min(other.detail()) }
    }

    /// Returns the number of cells that count, and how many of them are equal.
    fn compare_cells(&self, other: &Self) -> (u32, u32) {
        let air = Row::default();
        let count = self.rows.len().max(other.rows.len());
        let row = |rows: &[Row], number: usize| rows.get(number).copied().unwrap_or(air);
        let rows = (0..count).map(|number| (row(&self.rows, number), row(&other.rows, number)));
        rows.fold((0_u32, 0_u32), |(cells, equal), (a, b)| {
            let compared = a.changes | b.changes;
            let same = compared & !differences(&a.cells, &b.cells);
            (cells.saturating_add(compared.count_ones()), equal.saturating_add(same.count_ones()))
        })
    }

    /// Returns the number of changes along the border.
    pub(super) fn detail(&self) -> u32 {
        let cells = self.rows.iter().map(|row| row.along.count_ones());
        let tints = self.tints.array_windows().filter(|[a, b]| a != b).count();
        cells.fold(u32::try_from(tints).unwrap_or(u32::MAX), u32::saturating_add)
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are 32 columns")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn height_fit(one: i16, other: i16) -> f64 {
    1.0 / (1.0 + f64::from(one.abs_diff(other)))
}

fn tint_fit(one: i32, other: i32) -> f64 {
    let [_, channels @ ..] = one.to_be_bytes();
    let [_, others @ ..] = other.to_be_bytes();
    let differences = channels.into_iter().zip(others).map(|(a, b)| f64::from(a.abs_diff(b)));
    1.0 / (1.0 + differences.sum::<f64>() / TINT_STEP)
}

fn same(is_same: bool) -> f64 {
    if is_same { 1.0 } else { 0.0 }
}
