//! Tables with aligned columns.

use std::io::{self, Write};

/// Rows of cells under column titles.
#[derive(Debug)]
pub(crate) struct Table {
    titles: Vec<String>,
    /// Which columns are right-aligned.
    is_right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table from titles separated by `|`. A title that begins with `>` marks a
    /// right-aligned column.
    pub(crate) fn new(titles: &str) -> Self {
        let titles = titles.split('|');
        let is_right = titles.clone().map(|title| title.starts_with('>')).collect();
        let titles = titles.map(|title| title.trim_start_matches('>').to_owned()).collect();
        Self { titles, is_right, rows: Vec::new() }
    }

    /// Adds a row with one cell per column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Writes titles and rows, each line prefixed with `indent`.
    pub(crate) fn write(&self, out: &mut impl Write, indent: &str) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.titles.len())
            .map(|column| {
                let lines = self.rows.iter().chain([&self.titles]);
                let cells = lines.filter_map(|line| line.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        for line in [&self.titles].into_iter().chain(&self.rows) {
            writeln!(out, "{indent}{}", self.line(line, &widths).trim_end())?;
        }
        Ok(())
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded = cells.iter().zip(&self.is_right).zip(widths);
        let padded: Vec<String> = padded
            .map(|((cell, is_right), &width)| match is_right {
                false => format!("{cell:<width$}"),
                true => format!("{cell:>width$}"),
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
        let mut table = Table::new(">slot|name");
        table.row(["7".to_owned(), "a".to_owned()]);
        table.row(["1,000".to_owned(), "long name".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out, "  ").unwrap();
        let expected = "   slot  name\n      7  a\n  1,000  long name\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
