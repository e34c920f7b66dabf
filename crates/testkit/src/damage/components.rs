//! Damage to the components of a chunk: to each field that `docs/format/chunk.md` and
//! `docs/format/section.md` describe.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;

use super::section::{BlockData, PaletteField, set_short, short};
use super::world::{edit_any_chunk, edit_any_data};
use super::{Bson, DamageLocation, Level, Row};

type Applied = Option<DamageLocation>;

const COLUMN: &str = "Components.ChunkColumn.Sections";

pub(super) const ROWS: &[Row] = &[
    ("required component missing", "missing", Level::Error, |world| {
        edit_any_chunk(world, |document, _| document.remove("Components", "EntityChunk"))
    }),
    ("section missing", "missing", Level::Error, |world| {
        edit_any_chunk(world, |document, _| document.remove(COLUMN, "9"))
    }),
    ("blocks of a section missing", "anomaly", Level::Warning, |world| {
        edit_any_chunk(world, |document, _| {
            document.remove("Components.ChunkColumn.Sections.4.Components", "Block")
        })
    }),
    ("component twice", "anomaly", Level::Warning, component_twice),
    ("component of a newer version", "newer", Level::Warning, newer),
    ("block data cut off", "component", Level::Error, |world| cut(world, "Block")),
    ("bytes after the block data", "component", Level::Error, |world| longer(world, "Block")),
    ("type of a palette unknown", "component", Level::Error, |world| {
        blocks(world, |data, _| {
            data[4] = 9;
            true
        })
    }),
    ("number of palette entries negative", "component", Level::Error, |world| {
        palette(world, |data, palette| set_short(data, palette.at + 1, 0xFFFF))
    }),
    ("count of a palette entry", "anomaly", Level::Warning, |world| {
        palette(world, |data, palette| {
            let (_, _, count_at) = palette.entries[0];
            flip(data, count_at);
        })
    }),
    ("cell with an id without an entry", "anomaly", Level::Warning, unlisted_cell),
    ("palette id twice", "anomaly", Level::Warning, duplicate_id),
    ("palette entry unused", "anomaly", Level::Warning, unused_entry),
    ("number of ticking blocks", "anomaly", Level::Warning, |world| {
        ticking(world, |data, at| flip(data, at))
    }),
    ("number of ticking words", "component", Level::Error, |world| {
        ticking(world, |data, at| set_short(data, at + 2, 513))
    }),
    ("rotation out of range", "anomaly", Level::Warning, |world| {
        blocks(world, |data, layout| {
            let Some(&(at, ..)) = layout.rotations.entries.last() else { return false };
            data[at + 1] |= 0x40;
            true
        })
    }),
    ("filler out of range", "anomaly", Level::Warning, |world| {
        blocks(world, |data, layout| {
            let Some(&(at, ..)) = layout.fillers.entries.last() else { return false };
            data[at + 1] |= 0x80;
            true
        })
    }),
    ("length of a light tree", "component", Level::Error, |world| {
        light(world, |data, at, _| data[at - 1] ^= 1)
    }),
    ("light tree too deep", "component", Level::Error, |world| {
        light(world, |data, at, _| data[at] = !data[at])
    }),
    ("light node that could be a value", "anomaly", Level::Warning, idle_light_node),
    ("fluid data cut off", "component", Level::Error, |world| cut(world, "Fluid")),
    ("fluid level without a fluid", "anomaly", Level::Warning, fluid_level),
    ("count of a fluid", "anomaly", Level::Warning, |world| {
        edit_any_data(world, &in_sections("Fluid").each(), |data| {
            let palette = PaletteField::parse(data, 0, None);
            let Some(&(_, _, count_at)) = palette.entries.first() else { return false };
            flip(data, count_at);
            true
        })
    }),
    ("physics data cut off", "component", Level::Error, physics_cut),
    ("bytes after the physics data", "component", Level::Error, |world| {
        longer(world, "BlockPhysics")
    }),
    ("heights cut off", "component", Level::Error, |world| {
        edit_any_data(world, &["Components.BlockChunk.Data"], |data| {
            data.truncate(700);
            true
        })
    }),
    ("height index without a key", "component", Level::Error, |world| {
        heights(world, |data, indices_at| data[indices_at..indices_at + 2].fill(0xFF))
    }),
    ("height above the world", "anomaly", Level::Warning, |world| {
        heights(world, |data, _| data[3..5].copy_from_slice(&400_i16.to_le_bytes()))
    }),
    ("environments cut off", "component", Level::Error, |world| {
        edit_any_data(world, &["Components.EnvironmentChunk.Data"], |data| {
            data.truncate(data.len() - 2);
            true
        })
    }),
    ("number of environments negative", "component", Level::Error, |world| {
        edit_any_data(world, &["Components.EnvironmentChunk.Data"], |data| {
            data[0] = 0x80;
            true
        })
    }),
    ("environment that is not listed", "anomaly", Level::Warning, |world| {
        edit_any_data(world, &["Components.EnvironmentChunk.Data"], |data| {
            // The environment of the topmost range of the last column.
            let at = data.len() - 2;
            data[at] ^= 0x5A;
            true
        })
    }),
    ("bytes after the block health", "component", Level::Error, |world| {
        edit_any_data(world, &["Components.BlockHealthChunk.Data"], |data| {
            data.push(0);
            true
        })
    }),
    ("data with a type that is not binary", "component", Level::Error, |world| {
        edit_any_chunk(world, |document, _| {
            *document.at("Components.EnvironmentChunk.Data").unwrap() = Bson::int32(3);
            true
        })
    }),
];

/// The paths of a binary field in all sections.
struct Paths(Vec<String>);

impl Paths {
    fn each(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }
}

fn in_sections(component: &str) -> Paths {
    Paths((0..10).map(|y| format!("{COLUMN}.{y}.Components.{component}.Data")).collect())
}

/// Shortens the data of a component in a section.
fn cut(world: &Path, component: &str) -> Applied {
    edit_any_data(world, &in_sections(component).each(), |data| {
        data.truncate(data.len() - 1);
        true
    })
}

fn longer(world: &Path, component: &str) -> Applied {
    edit_any_data(world, &in_sections(component).each(), |data| {
        let is_stored = !data.is_empty();
        data.push(0);
        is_stored
    })
}

fn physics_cut(world: &Path) -> Applied {
    edit_any_data(world, &in_sections("BlockPhysics").each(), |data| {
        let is_stored = !data.is_empty();
        *data = vec![1; 100];
        is_stored
    })
}

/// Changes the block data of a section with the offsets of its parts.
fn blocks(world: &Path, mut change: impl FnMut(&mut Vec<u8>, BlockData) -> bool) -> Applied {
    edit_any_data(world, &in_sections("Block").each(), |data| {
        let layout = BlockData::parse(data);
        change(data, layout)
    })
}

/// Changes a block palette of half bytes with at least three entries and fewer than 16.
fn palette(world: &Path, mut change: impl FnMut(&mut Vec<u8>, PaletteField)) -> Applied {
    blocks(world, |data, layout| {
        let is_usable = layout.blocks.kind == 1 && (3..16).contains(&layout.blocks.entries.len());
        if is_usable {
            change(data, layout.blocks);
        }
        is_usable
    })
}

/// Changes a cell to an id that no entry has. The count of its block is lowered, so that only the
/// cell is wrong.
fn unlisted_cell(world: &Path) -> Applied {
    palette(world, |data, palette| {
        let unused = (0..16).find(|id| palette.entries.iter().all(|(_, listed, _)| listed != id));
        let cell = &mut data[palette.cells_at];
        let old = u16::from(*cell >> 4);
        *cell = (*cell & 15) | (u8::try_from(unused.unwrap()).unwrap() << 4);
        let entry = palette.entries.iter().find(|(_, id, _)| *id == old);
        let (_, _, count_at) = *entry.unwrap();
        let count = short(data, count_at);
        set_short(data, count_at, count - 1);
    })
}

/// Adds an entry with the id of another one and no cells.
fn duplicate_id(world: &Path) -> Applied {
    palette(world, |data, palette| {
        let id = u8::try_from(palette.entries[0].1).unwrap();
        add_entry(data, &palette, id);
    })
}

/// Adds an entry that no cell has.
fn unused_entry(world: &Path) -> Applied {
    palette(world, |data, palette| {
        let unused = (0..16).find(|id| palette.entries.iter().all(|(_, listed, _)| listed != id));
        add_entry(data, &palette, u8::try_from(unused.unwrap()).unwrap());
    })
}

/// Flips the lowest bit of a big-endian 16-bit integer.
fn flip(data: &mut [u8], at: usize) {
    let value = short(data, at);
    set_short(data, at, value ^ 1);
}

fn add_entry(data: &mut Vec<u8>, palette: &PaletteField, id: u8) {
    let entry = [&[id, 0, 9][..], b"Rock_Test", &[0, 0]].concat();
    data.splice(palette.cells_at..palette.cells_at, entry);
    let count = u16::try_from(palette.entries.len()).unwrap() + 1;
    set_short(data, palette.at + 1, count);
}

fn ticking(world: &Path, mut change: impl FnMut(&mut Vec<u8>, usize)) -> Applied {
    blocks(world, |data, layout| match layout.ticking {
        Some((at, 1..)) => {
            change(data, at);
            true
        }
        _ => false,
    })
}

/// Changes a light tree of more than one node; `change` gets its offset and its length.
fn light(world: &Path, mut change: impl FnMut(&mut Vec<u8>, usize, usize)) -> Applied {
    blocks(world, |data, layout| match layout.lights.iter().find_map(|light| light.tree) {
        Some((at, len)) if len > 17 => {
            change(data, at, len);
            true
        }
        _ => false,
    })
}

/// Replaces the value that is the first part of a root by a node of eight such values.
fn idle_light_node(world: &Path) -> Applied {
    blocks(world, |data, layout| {
        let Some((at, len)) = layout.lights.iter().find_map(|light| light.tree) else {
            return false;
        };
        if data[at] & 1 == 1 || len > 60_000 {
            return false;
        }
        data[at] |= 1;
        let value = [data[at + 1], data[at + 2]];
        let node: Vec<u8> = [0].into_iter().chain(value.repeat(8)).collect();
        data.splice(at + 1..at + 3, node);
        let len = u32::try_from(len + 15).unwrap();
        data[at - 4..at].copy_from_slice(&len.to_be_bytes());
        true
    })
}

/// Clears the level of the first cell that has one.
fn fluid_level(world: &Path) -> Applied {
    edit_any_data(world, &in_sections("Fluid").each(), |data| {
        if data.len() < 16_384 {
            return false;
        }
        let levels_at = data.len() - 16_384;
        let levels = &mut data[levels_at..];
        let Some(first) = levels.iter_mut().find(|byte| **byte & 15 != 0) else { return false };
        *first &= 0xF0;
        true
    })
}

/// Changes `BlockChunk.Data`; `change` gets the offset of the packed indices of the heights.
fn heights(world: &Path, mut change: impl FnMut(&mut Vec<u8>, usize)) -> Applied {
    edit_any_data(world, &["Components.BlockChunk.Data"], |data| {
        let keys = usize::from(u16::from_le_bytes(data[1..3].try_into().unwrap()));
        change(data, 1 + 2 + 2 * keys + 4);
        true
    })
}

fn component_twice(world: &Path) -> Applied {
    edit_any_chunk(world, |document, _| {
        let fields = document.at("Components").and_then(Bson::fields_mut).unwrap();
        let copy = fields.iter().find(|(key, _)| key == "BlockHealthChunk").cloned();
        fields.extend(copy);
        true
    })
}

fn newer(world: &Path) -> Applied {
    edit_any_chunk(world, |document, _| {
        let version = document.at("Components.ChunkColumn.Sections.3.Components.Block.Version");
        version.is_some_and(|version| {
            *version = Bson::int32(7);
            true
        })
    })
}
