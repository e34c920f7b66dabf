//! The fields of an asset that concern colours. A missing field is inherited.

use serde_json::{Map, Value};

use crate::rgb::Rgb;

/// The maximum depth of states in states. The game has two.
const STATE_DEPTH_MAX: u32 = 4;

/// The maximum number of states that are read of a block. Blocks of the game have a few dozen at
/// most.
const STATES_MAX: usize = 1_000;

/// The fields of a `BlockType`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct BlockFields {
    pub(crate) tint: Option<Rgb>,
    pub(crate) biome_percent: Option<u8>,
    pub(crate) particle: Option<Rgb>,
    pub(crate) texture: Option<Rgb>,
    pub(crate) is_transparent: Option<bool>,
    /// The states by name, each with the fields that it changes.
    pub(crate) states: Option<Vec<(String, Self)>>,
}

impl BlockFields {
    pub(crate) fn parse(block: &Map<String, Value>) -> Self {
        Self::parse_to(block, STATE_DEPTH_MAX)
    }

    fn parse_to(block: &Map<String, Value>, depth: u32) -> Self {
        let definitions = block.get("State").and_then(|state| state.get("Definitions"));
        let definitions = definitions.and_then(Value::as_object).filter(|_| depth > 0);
        let state = |(name, fields): (&String, &Value)| {
            let fields = fields.as_object()?;
            Some((name.clone(), Self::parse_to(fields, depth.saturating_sub(1))))
        };
        Self {
            // `Tint` sets all faces, `TintUp` only the upper one.
            tint: first_color(block, "TintUp").or_else(|| first_color(block, "Tint")),
            biome_percent: percent(block, "BiomeTintUp").or_else(|| percent(block, "BiomeTint")),
            particle: color(block, "ParticleColor"),
            texture: color(block, "TextureComputedColor"),
            is_transparent: text(block, "Opacity").map(|opacity| opacity == "Transparent"),
            states: definitions
                .map(|states| states.iter().take(STATES_MAX).filter_map(state).collect()),
        }
    }

    /// Adds the fields of `base` that are missing here.
    pub(crate) fn over(&self, base: &Self) -> Self {
        Self {
            tint: self.tint.or(base.tint),
            biome_percent: self.biome_percent.or(base.biome_percent),
            particle: self.particle.or(base.particle),
            texture: self.texture.or(base.texture),
            is_transparent: self.is_transparent.or(base.is_transparent),
            states: self.states.clone().or_else(|| base.states.clone()),
        }
    }
}

/// The fields of a fluid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FluidFields {
    pub(crate) particle: Option<Rgb>,
    pub(crate) is_water: Option<bool>,
}

impl FluidFields {
    pub(crate) fn parse(fluid: &Map<String, Value>) -> Self {
        Self {
            particle: color(fluid, "ParticleColor"),
            is_water: fluid.get("Effect").map(is_water),
        }
    }

    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            particle: self.particle.or(base.particle),
            is_water: self.is_water.or(base.is_water),
        }
    }
}

/// Returns whether `Effect` names the water shader: a name, or a list of names.
fn is_water(effect: &Value) -> bool {
    match effect {
        Value::Array(all) => all.iter().any(|one| one.as_str() == Some("Water")),
        one => one.as_str() == Some("Water"),
    }
}

pub(crate) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

pub(crate) fn color(object: &Map<String, Value>, key: &str) -> Option<Rgb> {
    text(object, key)?.parse().ok()
}

/// Returns the first colour of a list, or a single colour.
fn first_color(object: &Map<String, Value>, key: &str) -> Option<Rgb> {
    match object.get(key)? {
        Value::Array(colors) => colors.first()?.as_str()?.parse().ok(),
        one => one.as_str()?.parse().ok(),
    }
}

/// Returns a percentage, limited to 0 to 100. A fraction of a percent is dropped.
fn percent(object: &Map<String, Value>, key: &str) -> Option<u8> {
    let value = object.get(key)?;
    let percent = value.as_i64().or_else(|| value.as_f64().and_then(whole))?;
    u8::try_from(percent.clamp(0, 100)).ok()
}

fn whole(value: f64) -> Option<i64> {
    format!("{:.0}", value.clamp(0.0, 100.0).trunc()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn block(value: &Value) -> BlockFields {
        BlockFields::parse(value.as_object().unwrap())
    }

    #[test]
    fn the_upper_face_comes_first() {
        let both = block(&json!({"Tint": ["#010101"], "TintUp": ["#020202", "#030303"],
            "BiomeTint": 10, "BiomeTintUp": 20}));
        assert_eq!((both.tint, both.biome_percent), (Some(Rgb([2; 3])), Some(20)));
        let all = block(&json!({"Tint": "#010101", "BiomeTint": 99.9}));
        assert_eq!((all.tint, all.biome_percent), (Some(Rgb([1; 3])), Some(99)));
    }

    #[test]
    fn unusual_values_are_ignored_or_limited() {
        let odd = block(&json!({"TintUp": [], "ParticleColor": 7, "BiomeTintUp": "x",
            "TextureComputedColor": "red", "Opacity": null, "State": {"Definitions": []}}));
        assert_eq!(odd, BlockFields::default());
        assert_eq!(block(&json!({"BiomeTintUp": 1e300})).biome_percent, Some(100));
        assert_eq!(block(&json!({"BiomeTintUp": -5})).biome_percent, Some(0));
    }

    #[test]
    fn states_nest_to_a_limit() {
        let mut value = json!({"ParticleColor": "#010203"});
        for _ in 0..100 {
            value = json!({"State": {"Definitions": {"On": value}}});
        }
        let mut depth = 0;
        let mut fields = block(&value);
        while let Some((_, inner)) = fields.states.and_then(|mut states| states.pop()) {
            fields = inner;
            depth += 1;
        }
        assert_eq!(depth, STATE_DEPTH_MAX);
    }

    #[test]
    fn water_is_an_effect() {
        let fluid = |value: &Value| FluidFields::parse(value.as_object().unwrap()).is_water;
        assert_eq!(fluid(&json!({"Effect": "Water"})), Some(true));
        assert_eq!(fluid(&json!({"Effect": ["Lava", "Water"]})), Some(true));
        assert_eq!(fluid(&json!({"Effect": "Lava"})), Some(false));
        assert_eq!(fluid(&json!({})), None);
    }
}
