//! Plots: bars and lines as SVG or PNG, and as text in a terminal.

mod font;
mod raster;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use hyworld::{OutputKind, check_output};

use crate::exit;

/// Colours of lines that people with red-green colour blindness can tell apart too.
const COLORS: [[u8; 3]; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [60, 60, 60],
    [150, 150, 0],
];

/// The program that pictures name as their author.
pub(crate) const SOFTWARE: &str = concat!("hyworld ", env!("CARGO_PKG_VERSION"));

const INK: [u8; 3] = [40, 40, 40];
const GRID: [u8; 3] = [220, 220, 220];
const WIDTH: f64 = 900.0;

/// The height of a text, and of a row of a list.
const TEXT: f64 = 12.0;
const ROW: f64 = 20.0;

/// The space for names left of bars.
const NAMES: f64 = 300.0;

/// The eighths of a bar in a terminal, lowest first.
const EIGHTHS: [char; 9] = [
    ' ', '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
    '\u{2588}',
];

/// A part of a picture. The first pixel is top left.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shape {
    Rect { at: (f64, f64), size: (f64, f64), color: [u8; 3] },
    Line { points: Vec<(f64, f64)>, color: [u8; 3] },
    Text { at: (f64, f64), text: String, is_right: bool },
}

/// A plot of any kind.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plot {
    height: f64,
    shapes: Vec<Shape>,
}

impl Plot {
    /// Draws horizontal bars, in the given order.
    pub(crate) fn bars(title: &str, values: &[(String, f64)]) -> Self {
        let max = values.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
        let mut shapes = vec![text((10.0, 10.0 + TEXT), title, false)];
        let mut y = 40.0;
        for (name, value) in values {
            let size = ((value / max * (WIDTH - NAMES - 130.0)).max(1.0), ROW - 6.0);
            shapes.push(text((NAMES - 8.0, y + TEXT), name, true));
            shapes.push(Shape::Rect { at: (NAMES, y), size, color: color(0) });
            let end = (NAMES + size.0 + 6.0, y + TEXT);
            shapes.push(text(end, &format!("{value:.0}"), false));
            y += ROW;
        }
        Self { height: y + 20.0, shapes }
    }

    /// Draws lines over a common axis from 0. Draws at most as many lines as there are colours.
    pub(crate) fn lines(title: &str, axis: &str, series: &[(String, Vec<f64>)]) -> Self {
        let shown: Vec<_> = series.iter().take(COLORS.len()).collect();
        let length = shown.iter().map(|(_, values)| values.len()).max().unwrap_or(1).max(2);
        let values = shown.iter().flat_map(|(_, values)| values.iter().copied());
        let max = values.fold(f64::MIN_POSITIVE, f64::max);
        let (left, top, width, height) = (70.0, 40.0, WIDTH - 100.0, 300.0);
        #[expect(clippy::cast_precision_loss, reason = "a few hundred positions")]
        let x_of = |index: usize| left + index as f64 / (length - 1) as f64 * width;
        let y_of = |value: f64| top + height - value / max * height;
        let mut shapes = vec![text((10.0, 10.0 + TEXT), title, false)];
        for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let y = y_of(max * part);
            let points = vec![(left, y), (left + width, y)];
            shapes.push(Shape::Line { points, color: GRID });
            shapes.push(text((left - 6.0, y + 4.0), &format!("{:.0}", max * part), true));
        }
        for index in (0..length).step_by((length / 10).max(1)) {
            let at = (x_of(index) + 8.0, top + height + 18.0);
            shapes.push(text(at, &index.to_string(), true));
        }
        shapes.push(text((left, top + height + 38.0), axis, false));
        for (number, (name, values)) in shown.iter().enumerate() {
            let points =
                values.iter().enumerate().map(|(index, value)| (x_of(index), y_of(*value)));
            shapes.push(Shape::Line { points: points.collect(), color: color(number) });
            #[expect(clippy::cast_precision_loss, reason = "up to eight")]
            let y = top + height + 55.0 + number as f64 * ROW;
            shapes.push(Shape::Rect { at: (left, y), size: (24.0, 8.0), color: color(number) });
            shapes.push(text((left + 32.0, y + 9.0), name, false));
        }
        #[expect(clippy::cast_precision_loss, reason = "up to eight")]
        let legend = shown.len() as f64 * ROW;
        Self { height: top + height + 75.0 + legend, shapes }
    }

    /// Writes the plot in the format that the ending of the file names.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        check_output(file, OutputKind::Plot)?;
        let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let bytes = match ending.as_deref() {
            Some("svg") => self.svg().into_bytes(),
            Some("png") => raster::png(self)?,
            _ => {
                let reason = "a plot needs the ending .svg or .png";
                return Err(exit::usage(format!("--plot {}: {reason}", file.display())));
            }
        };
        let failed = || format!("{}: cannot write", file.display());
        File::create(file).and_then(|mut out| out.write_all(&bytes)).with_context(failed)
    }

    fn svg(&self) -> String {
        let height = self.height;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"{TEXT}\">\n<!-- {SOFTWARE} -->\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for shape in &self.shapes {
            // Writing to a string cannot fail.
            svg_shape(&mut out, shape).unwrap_or_default();
        }
        out.push_str("</svg>\n");
        out
    }
}

fn svg_shape(out: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Rect { at: (x, y), size: (width, height), color } => {
            let color = hex(*color);
            writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
                 fill=\"{color}\"/>"
            )
        }
        Shape::Line { points, color } => {
            let points: Vec<String> =
                points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>",
                points.join(" "),
                hex(*color)
            )
        }
        Shape::Text { at: (x, y), text, is_right } => {
            let anchor = if *is_right { " text-anchor=\"end\"" } else { "" };
            let text = escaped(text);
            writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{text}</text>")
        }
    }
}

fn text(at: (f64, f64), text: &str, is_right: bool) -> Shape {
    Shape::Text { at, text: text.to_owned(), is_right }
}

fn color(number: usize) -> [u8; 3] {
    COLORS.get(number).copied().unwrap_or(INK)
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Replaces the characters that XML reserves, and those that it does not allow.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() || ['\u{fffe}', '\u{ffff}'].contains(&c) => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// Returns a bar of up to `width` characters for a terminal.
pub(crate) fn bar(value: u64, max: u64, width: usize) -> String {
    let width = u128::try_from(width).unwrap_or_default();
    let length = u128::from(value).saturating_mul(width).div_ceil(u128::from(max.max(1)));
    "#".repeat(usize::try_from(length.min(width)).unwrap_or_default())
}

/// Divides the values into `parts` parts, and returns one character for each, as high as the sum of
/// the part.
pub(crate) fn sparkline(values: &[u64], parts: usize) -> String {
    let size = values.len().div_ceil(parts.max(1)).max(1);
    let sums: Vec<u64> = values
        .chunks(size)
        .map(|part| part.iter().fold(0_u64, |sum, more| sum.saturating_add(*more)))
        .collect();
    let max = sums.iter().copied().max().unwrap_or_default().max(1);
    let eighth = |sum: &u64| {
        let part = u128::from(*sum).saturating_mul(8).div_ceil(u128::from(max));
        EIGHTHS.get(usize::try_from(part).unwrap_or_default()).copied().unwrap_or(' ')
    };
    sums.iter().map(eighth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_bars_lines_and_names() {
        let bars = Plot::bars("Blocks", &[("A<b>&".to_owned(), 10.0), ("\u{1b}C".to_owned(), 5.0)]);
        let svg = bars.svg();
        assert!(svg.contains("A&lt;b&gt;&amp;") && svg.contains(">?C<"), "{svg}");
        assert_eq!(svg.matches("<rect").count(), 3);
        let lines = Plot::lines("Ores", "y", &[("Iron".to_owned(), vec![0.0, 3.0, 1.0])]);
        assert!(lines.svg().contains("points=\"70.0,340.0 470.0,40.0 870.0,240.0\""));
        for plot in [bars, lines, Plot::bars("", &[]), Plot::lines("", "", &[])] {
            let png = raster::png(&plot).unwrap();
            assert!(png.starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn bars_in_a_terminal_are_proportional() {
        assert_eq!(
            (bar(5, 10, 8), bar(1, 1_000_000, 8), bar(0, 0, 8)),
            ("####".into(), "#".into(), String::new())
        );
        assert_eq!(bar(u64::MAX, 1, 8), "########");
        assert_eq!(sparkline(&[0, 0, 1, 1, 8, 8], 3), " \u{2581}\u{2588}");
        assert_eq!(sparkline(&[], 3), "");
    }
}
