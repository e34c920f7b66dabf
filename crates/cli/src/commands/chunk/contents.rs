//! Block entities, entities and damaged blocks.

use std::collections::HashMap;
use std::io::{self, Write};

use hyworld::documents::Uuid;
use hyworld_chunk::{BlockHealthChunk, ChunkSpawnedNpcData, Entity, Holder, ReadableChunk};
use hyworld_coords::ChunkBlock;

use super::summary::fact;
use super::{LINE_CHARS, LISTED_MAX, items};
use crate::output::table::Table;
use crate::output::text;

/// Maximum widths of names of blocks and entities.
const NAME_CHARS: usize = 28;
const BLOCK_CHARS: usize = 36;
const ENTITY_CHARS: usize = 22;
/// The maximum width of an entity's custom name.
const CUSTOM_NAME_CHARS: usize = 16;

/// Writes the facts above the tables: entity layout, damaged blocks, spawned NPCs.
pub(super) fn facts(out: &mut impl Write, readable: &ReadableChunk<'_>) -> io::Result<()> {
    fact(out, "entities", &format!("stored {}", readable.chunk().entity_layout()))?;
    if let Some(health) =
        readable.get::<BlockHealthChunk>().filter(|health| !health.damaged.is_empty())
    {
        let blocks = health.damaged.iter();
        let blocks: Vec<String> = blocks
            .map(|block| {
                let (pos, health) = (block.pos, block.health);
                format!("{},{},{} ({health:.2} left)", pos.x, pos.y, pos.z)
            })
            .collect();
        fact(out, "damaged", &text::join_fitting(&blocks, LINE_CHARS))?;
    }
    let spawned = readable.get::<ChunkSpawnedNpcData>();
    let spawned = spawned.map(|spawned| &*spawned.counts).unwrap_or_default();
    if !spawned.is_empty() {
        let counts = spawned.iter();
        let counts: Vec<String> = counts
            .map(|(environment, count)| format!("{} {count}", text::short(environment, NAME_CHARS)))
            .collect();
        fact(out, "spawned", &text::join_fitting(&counts, LINE_CHARS))?;
    }
    Ok(())
}

pub(super) fn write(out: &mut impl Write, readable: &ReadableChunk<'_>) -> io::Result<()> {
    let chunk = readable.chunk();
    let blocks: Vec<_> = chunk.block_entities().ok().into_iter().flatten().collect();
    if !blocks.is_empty() {
        let mut table = Table::new("block entity at|block|components");
        for (at, holder) in rarest_first(readable, &blocks).into_iter().take(LISTED_MAX) {
            table.row(block_entity(readable, at, holder));
        }
        finish(out, &table, chunk.block_entity_count().unwrap_or(blocks.len()))?;
    }
    let entities: Vec<_> = chunk.entities().ok().into_iter().flatten().collect();
    if !entities.is_empty() {
        let mut table = Table::new("entity|at|uuid");
        for entity in entities.iter().take(LISTED_MAX) {
            table.row(self::entity(*entity));
        }
        finish(out, &table, entities.len())?;
    }
    items::write(out, readable)
}

fn finish(out: &mut impl Write, table: &Table, all: usize) -> io::Result<()> {
    writeln!(out)?;
    table.write(out, "  ")?;
    match all.saturating_sub(table.len()) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more: --json has them all"),
    }
}

/// Sorts block entities on rare blocks first, so that a chest is listed before many bushes.
fn rarest_first<'a>(
    readable: &ReadableChunk<'_>,
    blocks: &[(ChunkBlock, &'a Holder)],
) -> Vec<(ChunkBlock, &'a Holder)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (at, _) in blocks {
        let count = counts.entry(name(readable, *at)).or_default();
        *count = count.saturating_add(1);
    }
    let mut found = blocks.to_vec();
    found.sort_by_key(|(at, _)| {
        let name = name(readable, *at);
        (counts.get(name).copied(), name, at.index())
    });
    found
}

/// Returns the name of a block.
fn name<'a>(readable: &'a ReadableChunk<'_>, at: ChunkBlock) -> &'a str {
    readable.chunk().block(at).map_or("-", |block| block.name())
}

/// Returns the position of a block, absolute if the chunk position allows.
pub(super) fn position(readable: &ReadableChunk<'_>, at: ChunkBlock) -> String {
    match readable.at().block(at) {
        Some(pos) => format!("{},{},{}", pos.x, pos.y, pos.z),
        None => format!("column {}, y {}", at.column(), at.y()),
    }
}

fn block_entity(readable: &ReadableChunk<'_>, at: ChunkBlock, holder: &Holder) -> [String; 3] {
    let position = position(readable, at);
    let block = text::short(name(readable, at), BLOCK_CHARS);
    let used = position.len().max("block entity at".len()) + block.len();
    [position, block, ids(holder, LINE_CHARS.saturating_sub(used + 6))]
}

/// Returns the component ids of a holder, as many as fit.
fn ids(holder: &Holder, width: usize) -> String {
    let ids: Vec<String> = holder.ids().map(|id| text::short(id, NAME_CHARS)).collect();
    text::join_fitting(&ids, width)
}

fn entity(entity: Entity<'_>) -> [String; 3] {
    let name = entity.role_name().or_else(|| entity.model());
    let name = name.or_else(|| field(entity.0, "Item", &["Item", "Id"]));
    let name = name.or_else(|| field(entity.0, "BlockEntity", &["BlockTypeKey"]));
    let ids = || {
        let ids = entity.0.ids().filter(|id| !["UUID", "Transform"].contains(id));
        let ids: Vec<String> = ids.map(|id| text::short(id, ENTITY_CHARS)).collect();
        if ids.is_empty() { "-".to_owned() } else { text::join_fitting(&ids, ENTITY_CHARS) }
    };
    let kind = name.map_or_else(ids, |name| text::short(name, ENTITY_CHARS));
    let given = entity.display_name().or_else(|| entity.nameplate());
    let given = given.filter(|given| Some(*given) != name);
    let name = match given {
        Some(given) => format!("{kind} {:?}", text::short(given, CUSTOM_NAME_CHARS)),
        None => kind,
    };
    let at = entity.position().map(|[x, y, z]| format!("{x:.1},{y:.1},{z:.1}"));
    let uuid = entity.uuid().map(|uuid| Uuid::from_bytes(uuid).to_string());
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [name, text::short(&or_dash(at), NAME_CHARS), or_dash(uuid)]
}

/// Returns a text field of a component.
fn field<'a>(holder: &'a Holder, id: &str, path: &[&str]) -> Option<&'a str> {
    let (last, parents) = path.split_last()?;
    let mut document = holder.raw(id)?;
    for parent in parents {
        document = document.get(parent).ok().flatten()?.as_document()?;
    }
    document.get(last).ok().flatten()?.as_str()
}
