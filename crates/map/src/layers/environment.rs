//! The layer `environment`: one colour for each name, the same on every map.

use hyworld_assets::Rgb;

/// Returns the colour of an environment in [`Layer::Environment`](crate::Layer::Environment). It
/// depends only on the name.
pub fn color(name: &str) -> Rgb {
    // FNV-1a, then mixed: names of one zone differ only at the end.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = name.bytes().fold(0x811c_9dc5, step);
    let mixed = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    let [_, r, g, b] = (mixed ^ (mixed >> 12)).to_be_bytes();
    Rgb([r, g, b].map(|channel| 40 + channel / 4 * 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_have_different_colours() {
        let names = ["Env_Zone1_Caves", "Env_Zone1_Plains", "Env_Zone2_Caves", "Unknown"];
        for (number, name) in names.iter().enumerate() {
            for other in names.iter().skip(number + 1) {
                let (a, b) = (color(name), color(other));
                let distance: u32 =
                    a.0.iter().zip(b.0).map(|(a, b)| u32::from(a.abs_diff(b))).sum();
                assert!(distance > 40, "{name} {a}, {other} {b}");
            }
        }
    }
}
