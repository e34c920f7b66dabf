//! [`ColorsBuilder`]: reads assets and mods, then resolves parents and states.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::colors::{BlockColor, Colors, EnvironmentColor, FluidColor, Source};
use crate::fields::{BlockFields, FluidFields, color, text};
use crate::files::{self, AssetsError, Kind};
use crate::rgb::Rgb;

/// The maximum number of parents of an asset, in case they form a circle.
const PARENTS_MAX: usize = 64;

/// The maximum number of blocks with all their states. The game has about 10,000.
const BLOCKS_MAX: usize = 1 << 20;

/// An asset as read, before its parents are known.
#[derive(Clone, Debug)]
struct Asset<F> {
    /// In lower case.
    parent: Option<String>,
    /// `None` if the item is not a block. Assets that inherit from it may still be blocks.
    fields: Option<F>,
    id: String,
    source: Source,
}

/// Assets by id in lower case.
type Assets<F> = HashMap<String, Asset<F>>;

/// Reads assets from one or more packs. An asset replaces those of earlier packs with the same id.
#[derive(Clone, Debug, Default)]
pub struct ColorsBuilder {
    blocks: Assets<BlockFields>,
    fluids: Assets<FluidFields>,
    environments: Assets<Option<Rgb>>,
}

/// What [`ColorsBuilder::add`] read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LoadedAssets {
    /// The number of items, fluids and environments.
    pub assets: u64,
    /// The number of files that are not a JSON object and were skipped.
    pub skipped: u64,
}

impl ColorsBuilder {
    /// Adds the assets of a zip or of an unpacked folder. `source` says whether it is a mod.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or has no assets.
    pub fn add(&mut self, path: &Path, source: Source) -> Result<LoadedAssets, AssetsError> {
        let mut loaded = LoadedAssets::default();
        files::visit(path, |kind, id, json| {
            let json = json.trim_start_matches('\u{feff}');
            let (count, object) = match serde_json::from_str::<Map<String, Value>>(json) {
                Ok(object) => (&mut loaded.assets, Some(object)),
                Err(_) => (&mut loaded.skipped, None),
            };
            *count = count.saturating_add(1);
            if let Some(object) = object {
                self.insert(kind, id, &object, source);
            }
        })?;
        Ok(loaded)
    }

    fn insert(&mut self, kind: Kind, id: &str, object: &Map<String, Value>, source: Source) {
        let key = id.to_ascii_lowercase();
        let parent = text(object, "Parent").map(str::to_ascii_lowercase);
        let id = id.to_owned();
        match kind {
            Kind::Item => {
                let block = object.get("BlockType").and_then(Value::as_object);
                let fields = block.map(BlockFields::parse);
                self.blocks.insert(key, Asset { parent, fields, id, source });
            }
            Kind::Fluid => {
                let fields = Some(FluidFields::parse(object));
                self.fluids.insert(key, Asset { parent, fields, id, source });
            }
            Kind::Environment => {
                let fields = Some(color(object, "WaterTint"));
                self.environments.insert(key, Asset { parent, fields, id, source });
            }
        }
    }

    /// Resolves parents and states.
    pub fn build(&self) -> Colors {
        let mut colors = Colors::default();
        for (key, asset) in &self.blocks {
            let base = |fields: BlockFields, parent: &BlockFields| fields.over(parent);
            if let Some(fields) = inherited(&self.blocks, key, base) {
                add_block(&mut colors, &asset.id, &fields, asset.source);
            }
        }
        for (key, &Asset { source, .. }) in &self.fluids {
            let fields = inherited(&self.fluids, key, |fields, parent| fields.over(*parent));
            let FluidFields { particle, is_water } = fields.unwrap_or_default();
            let (particle, is_water) = (particle.unwrap_or(Rgb::WHITE), is_water.unwrap_or(false));
            colors.fluids.insert(key.clone(), FluidColor { particle, is_water, source });
        }
        for (key, &Asset { source, .. }) in &self.environments {
            let water = inherited(&self.environments, key, |water, parent| water.or(*parent));
            let water = water.flatten().unwrap_or(Rgb::WHITE);
            colors.environments.insert(key.clone(), EnvironmentColor { water, source });
        }
        colors
    }
}

/// Returns the fields of an asset with those that it inherits; `None` if neither it nor a parent
/// has fields.
fn inherited<F: Clone>(assets: &Assets<F>, key: &str, over: impl Fn(F, &F) -> F) -> Option<F> {
    let mut found: Option<F> = None;
    let mut next = Some(key);
    for _ in 0..=PARENTS_MAX {
        let Some(asset) = next.and_then(|key| assets.get(key)) else { break };
        found = match (found, &asset.fields) {
            (Some(fields), Some(parent)) => Some(over(fields, parent)),
            (fields, parent) => fields.or_else(|| parent.clone()),
        };
        // An asset may replace another one with the same name and also inherit from it.
        next = asset.parent.as_deref().filter(|parent| Some(*parent) != next);
    }
    found
}

/// Adds a block and its states. A state is a block named `*BLOCK_State_Definitions_STATE`.
fn add_block(colors: &mut Colors, name: &str, fields: &BlockFields, source: Source) {
    if colors.blocks.len() >= BLOCKS_MAX {
        return;
    }
    for (state, changed) in fields.states.iter().flatten() {
        let name = format!("*{name}_State_Definitions_{state}");
        let mut whole = changed.over(fields);
        // A state does not inherit the states of its block.
        whole.states.clone_from(&changed.states);
        add_block(colors, &name, &whole, source);
    }
    let color = BlockColor {
        tint: fields.tint.unwrap_or(Rgb::WHITE),
        biome_percent: fields.biome_percent.unwrap_or(0),
        particle: fields.particle,
        texture: fields.texture,
        is_transparent: fields.is_transparent.unwrap_or(false),
        source,
    };
    colors.blocks.insert(name.to_ascii_lowercase(), color);
}

#[cfg(test)]
mod tests;
