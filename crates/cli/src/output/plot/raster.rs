//! Plots as PNG.

use super::{INK, Plot, Shape, WIDTH, font};

/// The size of one pixel of the font, and the distance between characters.
const DOT: i64 = 2;
const ADVANCE: i64 = 8;

/// The picture in memory: 900 x a few hundred pixels.
struct Canvas {
    width: i64,
    height: i64,
    pixels: Vec<u8>,
}

/// Returns the PNG of a plot.
pub(super) fn png(plot: &Plot) -> anyhow::Result<Vec<u8>> {
    let (width, height) = (whole(WIDTH), whole(plot.height));
    let size = usize::try_from(width * height * 3)?;
    let mut canvas = Canvas { width, height, pixels: vec![255; size] };
    plot.shapes.iter().for_each(|shape| canvas.draw(shape));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.add_text_chunk("Software".to_owned(), super::SOFTWARE.to_owned())?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&canvas.pixels)?;
    writer.finish()?;
    Ok(bytes)
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { at: (x, y), size: (width, height), color } => {
                let (x, y) = (whole(*x), whole(*y));
                self.fill((x, y), (x + whole(*width), y + whole(*height)), *color);
            }
            Shape::Line { points, color } => {
                let next = points.iter().skip(1);
                for (from, to) in points.iter().zip(next) {
                    self.line(*from, *to, *color);
                }
            }
            Shape::Text { at: (x, y), text, is_right } => {
                let width = i64::try_from(text.chars().count()).unwrap_or_default() * ADVANCE;
                let mut left = whole(*x) - if *is_right { width } else { 0 };
                let top = whole(*y) - 5 * DOT;
                for character in text.chars() {
                    for (column, row) in font::pixels(character) {
                        let at = (left + i64::from(column) * DOT, top + i64::from(row) * DOT);
                        self.fill(at, (at.0 + DOT, at.1 + DOT), INK);
                    }
                    left += ADVANCE;
                }
            }
        }
    }

    /// Draws a line two pixels wide, step by step along its longer side.
    fn line(&mut self, from: (f64, f64), to: (f64, f64), color: [u8; 3]) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
        for step in 0..=whole(steps) {
            #[expect(clippy::cast_precision_loss, reason = "as many steps as pixels")]
            let part = step as f64 / steps;
            let at =
                (whole(from.0 + (to.0 - from.0) * part), whole(from.1 + (to.1 - from.1) * part));
            self.fill(at, (at.0 + 2, at.1 + 2), color);
        }
    }

    /// Fills a rectangle; parts outside of the picture are left out.
    fn fill(&mut self, from: (i64, i64), to: (i64, i64), color: [u8; 3]) {
        for y in from.1.max(0)..to.1.min(self.height) {
            for x in from.0.max(0)..to.0.min(self.width) {
                let at = usize::try_from((y * self.width + x) * 3).unwrap_or(usize::MAX);
                if let Some(pixel) = self.pixels.get_mut(at..at.saturating_add(3)) {
                    pixel.copy_from_slice(&color);
                }
            }
        }
    }
}

/// Returns a coordinate without its fraction, within a range that no plot exceeds.
fn whole(coordinate: f64) -> i64 {
    let limited = coordinate.clamp(-100_000.0, 100_000.0);
    #[expect(clippy::cast_possible_truncation, reason = "limited")]
    let whole = if limited.is_nan() { 0 } else { limited as i64 };
    whole
}
