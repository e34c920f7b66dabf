//! [`Needs`]: which parts of a chunk the layers of a map show.

use crate::style::Layer;

/// Which parts of a chunk the layers of a map show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part of a chunk")]
pub struct Needs {
    /// The names of the highest blocks and of their environments.
    pub names: bool,
    /// The environments of the ground.
    pub environments: bool,
    /// The light above the ground.
    pub light: bool,
    /// The highest caves.
    pub caves: bool,
    /// The heights of slices, ascending.
    pub slices: Vec<u16>,
    /// The change counters.
    pub changes: bool,
    /// Every component of blocks, to find damage.
    pub all_parts: bool,
    /// The chunks around a chunk, for shading.
    pub neighbours: bool,
}

impl Needs {
    /// Returns what some layers need.
    pub fn of(layers: &[Layer]) -> Self {
        let has = |layer: Layer| layers.contains(&layer);
        let mut slices: Vec<u16> = Vec::new();
        for layer in layers {
            if let Layer::Slice(y) = layer {
                slices.push(*y);
            }
        }
        slices.sort_unstable();
        slices.dedup();
        Self {
            names: false,
            environments: has(Layer::Environment),
            light: has(Layer::Light),
            caves: has(Layer::Caves),
            slices,
            changes: has(Layer::Changes),
            all_parts: has(Layer::Damage),
            neighbours: layers.iter().any(|layer| layer.needs_neighbours()),
        }
    }

    /// Adds the names of blocks and environments, which viewers show beside the cursor.
    #[must_use]
    pub fn with_names(self) -> Self {
        Self { names: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_needs_only_its_parts() {
        assert_eq!(Needs::of(&[Layer::Height, Layer::Depth]), Needs::default());
        let slices = [Layer::Slice(9), Layer::Slice(3), Layer::Slice(9)];
        assert_eq!(Needs::of(&slices).slices, [3, 9]);
        assert!(Needs::of(&[Layer::Height, Layer::Surface]).neighbours);
        assert!(Needs::of(&[Layer::Damage]).all_parts);
        assert!(Needs::of(&[Layer::Height]).with_names().names);
    }
}
