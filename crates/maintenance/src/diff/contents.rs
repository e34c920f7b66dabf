//! Changed entities, block entities, items and other components.

use std::collections::BTreeMap;

use hyworld_chunk::{Chunk, Entity, Holder, Result};
use hyworld_coords::ChunkBlock;

use super::{Change, ChunkDiff, HolderDiff, ItemDiff};
use crate::contents::{Location, entity_id, items, uuid_text};
use crate::find::block_of;

/// Components whose differences are reported in other fields.
const COMPARED: [&str; 8] = [
    "Block",
    "BlockChunk",
    "BlockComponentChunk",
    "BlockComponentSection",
    "ChunkColumn",
    "EntityChunk",
    "EnvironmentChunk",
    "Fluid",
];

/// What identifies an entity: its UUID, otherwise its bytes. Equal ones are numbered.
type Key = (Option<[u8; 16]>, Vec<u8>, usize);

/// A container by its block or entity, with its coordinates.
type Holders = BTreeMap<(String, [Option<i64>; 3], String), i64>;

impl ChunkDiff {
    pub(super) fn add_entities(&mut self, old: &Chunk, new: &Chunk) -> Result<()> {
        let (before, after) = (entities(old)?, entities(new)?);
        for (key, entity) in &before {
            match after.get(key) {
                None => self.entities.push(of_entity(Change::Removed, *entity)),
                Some(now) if now.0.encode() != entity.0.encode() => {
                    self.entities.push(of_entity(Change::Changed, *now));
                }
                Some(_) => {}
            }
        }
        for (_, entity) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            self.entities.push(of_entity(Change::Added, *entity));
        }
        Ok(())
    }

    pub(super) fn add_block_entities(&mut self, old: &Chunk, new: &Chunk) -> Result<()> {
        let listed = |chunk: &'_ Chunk| -> Result<BTreeMap<ChunkBlock, Vec<u8>>> {
            let all = chunk.block_entities()?;
            Ok(all.map(|(at, holder)| (at, holder.encode())).collect())
        };
        let (before, after) = (listed(old)?, listed(new)?);
        for (at, bytes) in &before {
            match after.get(at) {
                None => self.add_block_entity(Change::Removed, *at, old)?,
                Some(now) if now != bytes => self.add_block_entity(Change::Changed, *at, new)?,
                Some(_) => {}
            }
        }
        for at in after.keys().filter(|at| !before.contains_key(*at)) {
            self.add_block_entity(Change::Added, *at, new)?;
        }
        Ok(())
    }

    fn add_block_entity(&mut self, change: Change, at: ChunkBlock, chunk: &Chunk) -> Result<()> {
        let id = chunk.block(at)?.name().to_owned();
        let [x, y, z] = self.coordinates(at);
        self.block_entities.push(HolderDiff { change, id, uuid: None, x, y, z });
        Ok(())
    }

    fn coordinates(&self, at: ChunkBlock) -> [Option<i64>; 3] {
        let axis = |chunk: i32, inside: u8| Some(i64::from(chunk) * 32 + i64::from(inside));
        [axis(self.x, at.x()), Some(at.y().into()), axis(self.z, at.z())]
    }

    pub(super) fn add_items(&mut self, old: &Chunk, new: &Chunk) -> Result<()> {
        let mut changes = self.holders(new)?;
        for (key, count) in self.holders(old)? {
            let change = changes.entry(key).or_default();
            *change = change.saturating_sub(count);
        }
        let changes = changes.into_iter().filter(|(_, count)| *count != 0);
        self.items.extend(changes.map(|((holder, [x, y, z], id), count)| ItemDiff {
            id,
            count,
            holder,
            x,
            y,
            z,
        }));
        Ok(())
    }

    /// Returns the number of items of each id in each container.
    fn holders(&self, chunk: &Chunk) -> Result<Holders> {
        let mut sums = Holders::new();
        for item in items(chunk)? {
            let (holder, at) = match (item.location, item.role) {
                (Location::Block(block, _), _) => {
                    (chunk.block(block)?.name().to_owned(), self.coordinates(block))
                }
                (Location::Entity(entity), None) => ("ground".to_owned(), coordinates_of(entity)),
                (Location::Entity(entity), Some(_)) => {
                    (entity_id(entity).into_owned(), coordinates_of(entity))
                }
            };
            let sum = sums.entry((holder, at, item.id)).or_default();
            *sum = sum.saturating_add(item.count);
        }
        Ok(sums)
    }

    /// Adds the ids of components that differ and are not compared otherwise. Blocks with the same
    /// cells can differ in light, ticking and counters.
    pub(super) fn add_others(&mut self, old: &Chunk, new: &Chunk) {
        let mut others = changed_components(old.holder(), new.holder());
        let (a, b) = (old.section_holders(), new.section_holders());
        let rest = a.len().max(b.len());
        for number in 0..rest {
            let empty = Holder::new();
            let section =
                |all: &'_ [Holder]| all.get(number).cloned().unwrap_or_else(|| empty.clone());
            others.extend(changed_components(&section(a), &section(b)));
        }
        let is_lit = |chunk: &Chunk| -> Vec<_> {
            let blocks = chunk.sections().map(|section| section.blocks().ok());
            let of = |section: &hyworld_chunk::BlockSection| {
                (section.local_light.clone(), section.global_light.clone())
            };
            blocks.map(|section| section.map(of)).collect()
        };
        if is_lit(old) != is_lit(new) {
            others.push("light".to_owned());
        }
        let tints = |chunk: &Chunk| chunk.columns().map(|columns| columns.tints.values()).ok();
        if tints(old) != tints(new) {
            others.push("tints".to_owned());
        }
        others.sort_unstable();
        others.dedup();
        self.others = others;
    }
}

fn changed_components(old: &Holder, new: &Holder) -> Vec<String> {
    let raw = |holder: &'_ Holder, id: &str| holder.raw(id).map(|raw| raw.as_bytes().to_vec());
    let all = old.ids().chain(new.ids()).filter(|id| !COMPARED.contains(id));
    all.filter(|id| raw(old, id) != raw(new, id)).map(str::to_owned).collect()
}

/// Returns the entities of a chunk by what identifies them.
fn entities(chunk: &Chunk) -> Result<BTreeMap<Key, Entity<'_>>> {
    let mut all = BTreeMap::new();
    for entity in chunk.entities()? {
        let uuid = entity.uuid();
        let bytes = if uuid.is_some() { Vec::new() } else { entity.0.encode() };
        let mut key = (uuid, bytes, 0_usize);
        while all.contains_key(&key) {
            key.2 = key.2.saturating_add(1);
        }
        all.insert(key, entity);
    }
    Ok(all)
}

fn coordinates_of(entity: Entity<'_>) -> [Option<i64>; 3] {
    entity.position().map_or([None; 3], |position| position.map(block_of))
}

fn of_entity(change: Change, entity: Entity<'_>) -> HolderDiff {
    let [x, y, z] = coordinates_of(entity);
    let uuid = entity.uuid().map(uuid_text);
    HolderDiff { change, id: entity_id(entity).into_owned(), uuid, x, y, z }
}
