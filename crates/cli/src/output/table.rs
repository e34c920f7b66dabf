//! Aligned columns.

use std::io::{self, Write};

/// Which side of a column is straight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows of text under titles. Columns are as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows it has.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Writes titles and rows, each line with `indent` before it.
    pub(crate) fn write(&self, out: &mut impl Write, indent: &str) -> io::Result<()> {
        let titles: Vec<String> = self.columns.iter().map(|(title, _)| (*title).into()).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                let lines = self.rows.iter().chain([&titles]);
                let cells = lines.filter_map(|line| line.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        for line in [&titles].into_iter().chain(&self.rows) {
            writeln!(out, "{indent}{}", self.line(line, &widths).trim_end())?;
        }
        Ok(())
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded = cells.iter().zip(&self.columns).zip(widths);
        let padded: Vec<String> = padded
            .map(|((cell, (_, align)), &width)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect();
        padded.join("  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_space() {
        let mut table = Table::new(&[("slot", Align::Right), ("name", Align::Left)]);
        table.row(["7".to_owned(), "a".to_owned()]);
        table.row(["1,000".to_owned(), "long name".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out, "  ").unwrap();
        let expected = "   slot  name\n      7  a\n  1,000  long name\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
