//! The layer `damage`, and the stripes of chunks that cannot be drawn, which all layers have.

use hyworld_assets::Rgb;

/// The colour of chunks that can be decoded.
pub(super) const INTACT: Rgb = Rgb([64, 128, 88]);

/// The two colours of stripes on damaged chunks.
pub(super) const DAMAGED: (Rgb, Rgb) = (Rgb([224, 40, 40]), Rgb([72, 8, 8]));

/// The two colours of stripes on chunks of a newer game.
pub(super) const NEWER: (Rgb, Rgb) = (Rgb([152, 96, 216]), Rgb([48, 24, 80]));
