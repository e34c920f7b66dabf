//! Damage that makes chunks, entities and blocks contradict each other.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;

use super::section::BlockData;
use super::world::{edit_any_chunk, edit_any_data};
use super::{Bson, DamageLocation, Level, Row};

type Applied = Option<DamageLocation>;

const ENTITIES: &str = "Components.EntityChunk.Entities";
const BLOCKS: &str = "Components.BlockComponentChunk.BlockComponents";

pub(super) const ROWS: &[Row] = &[
    ("entity outside of its chunk", "misplaced", Level::Warning, |world| {
        edit_any_chunk(world, |document, _| {
            let path = format!("{ENTITIES}.0.Components.Transform.Position.X");
            let Some(x) = document.at(&path) else { return false };
            *x = Bson::double(x.as_double().unwrap() + 4000.0);
            true
        })
    }),
    ("entity at a position that is not a number", "misplaced", Level::Warning, |world| {
        edit_any_chunk(world, |document, _| {
            let path = format!("{ENTITIES}.0.Components.Transform.Position.Z");
            let Some(z) = document.at(&path) else { return false };
            *z = Bson::double(f64::NAN);
            true
        })
    }),
    ("entity stored twice", "duplicate", Level::Warning, entity_twice),
    ("block entity above the world", "key", Level::Warning, |world| block_key(world, "327680")),
    ("block entity with a name as its key", "key", Level::Error, |world| block_key(world, "chest")),
    ("block entity at a block of air", "anomaly", Level::Warning, |world| {
        block_key(world, "327679")
    }),
    ("block entity that names another position", "position", Level::Warning, position),
    ("filler without its base", "orphan-filler", Level::Note, orphan),
];

/// Stores an entity a second time in its chunk.
fn entity_twice(world: &Path) -> Applied {
    edit_any_chunk(world, |document, _| {
        let Some(entities) = document.at(ENTITIES).and_then(Bson::fields_mut) else { return false };
        let Some((_, entity)) = entities.first_mut() else { return false };
        if entity.at("Components.UUID.UUID").is_none() {
            return false;
        }
        let copy = entity.clone();
        entities.push((entities.len().to_string(), copy));
        true
    })
}

/// Changes the key of a block entity.
fn block_key(world: &Path, key: &str) -> Applied {
    edit_any_chunk(world, |document, _| {
        let blocks = document.at(BLOCKS).and_then(Bson::fields_mut);
        let Some((first, holder)) = blocks.and_then(|blocks| blocks.first_mut()) else {
            return false;
        };
        // Old components repeat the position, which would be wrong too.
        let components = holder.at("Components").and_then(Bson::fields_mut).unwrap();
        if components.iter_mut().any(|(_, component)| component.at("Position").is_some()) {
            return false;
        }
        key.clone_into(first);
        true
    })
}

/// Changes the position that an old block component repeats.
fn position(world: &Path) -> Applied {
    edit_any_chunk(world, |document, _| {
        let Some(blocks) = document.at(BLOCKS).and_then(Bson::fields_mut) else { return false };
        for (_, holder) in blocks {
            let components = holder.at("Components").and_then(Bson::fields_mut).unwrap();
            for (_, component) in components {
                if let Some(Bson::Other(0x10, bytes)) = component.at("Position.X") {
                    bytes[0] ^= 3;
                    return true;
                }
            }
        }
        false
    })
}

/// Turns the lowest block of a column into a cell of an object whose base would be below the world.
fn orphan(world: &Path) -> Applied {
    let path = "Components.ChunkColumn.Sections.0.Components.Block.Data";
    edit_any_data(world, &[path], |data| {
        let layout = BlockData::parse(data);
        if layout.fillers.kind != 0 || layout.blocks.kind == 0 {
            return false;
        }
        // One cell with the filler (0, 1, 0): its base would be one cell lower.
        let mut palette = vec![1, 0, 2, 0, 0, 0, 0x7F, 0xFF, 1, 0x04, 0x00, 0, 1];
        let mut cells = vec![0; 16_384];
        cells[0] = 0x10;
        palette.extend(cells);
        data.splice(layout.fillers.at..layout.fillers.end, palette);
        true
    })
}
