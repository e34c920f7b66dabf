//! The buildings of the demo: a hut where four chunks meet, with a chest and a sheep.

use std::collections::BTreeMap;

use anyhow::Context;
use hyworld_chunk::bson::{Document, Value};
use hyworld_chunk::{Chunk, Holder};
use hyworld_coords::{BlockPos, ChunkPos, ColumnPos};

use super::session::Session;

/// The corners of the hut with the smallest and the largest coordinates. A chunk border runs at x
/// 512 and z 512.
const HUT: (ColumnPos, ColumnPos) = (ColumnPos::new(508, 507), ColumnPos::new(516, 515));

/// The height of the walls.
const WALL_BLOCKS: i32 = 4;

const WALL: &str = "Rock_Basalt_Brick";
const POST: &str = "Wood_Oak_Trunk";
const CHEST: &str = "Furniture_Ancient_Chest_Small";

/// The blocks to set, and the position of the chest.
#[derive(Debug)]
pub struct Camp {
    blocks: Vec<(BlockPos, &'static str)>,
    chest: BlockPos,
}

impl Camp {
    /// Plans a hut on top of the terrain.
    pub fn plan(session: &Session) -> anyhow::Result<Self> {
        let mut grounds = BTreeMap::new();
        for column in columns() {
            let at = column.block(0).in_chunk().context("the hut is not in the world")?.column();
            let height = session.chunk(column.chunk())?.read(|chunk| chunk.height(at))??;
            grounds.insert(column, i32::from(height));
        }
        let floor = grounds.values().copied().max().unwrap_or_default();
        let mut blocks = Vec::new();
        for (column, ground) in grounds {
            let (on_x, on_z) = border(column);
            let (lowest, name) = match (on_x, on_z) {
                (true, true) => (ground + 1, POST),
                _ => (floor, WALL),
            };
            let highest = if on_x || on_z { floor + WALL_BLOCKS } else { floor };
            blocks.extend((lowest..=highest).map(|y| (column.block(y), name)));
            blocks.push((column.block(floor + WALL_BLOCKS + 1), WALL));
        }
        let chest = ColumnPos::new(513, 513).block(floor + 1);
        blocks.push((chest, CHEST));
        Ok(Self { blocks, chest })
    }

    /// Returns the number of blocks.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the number of chunks that the blocks are in.
    pub fn chunk_count(&self) -> usize {
        self.by_chunk().len()
    }

    /// Returns the position of the chest.
    pub fn chest(&self) -> BlockPos {
        self.chest
    }

    fn by_chunk(&self) -> BTreeMap<ChunkPos, Vec<(BlockPos, &'static str)>> {
        let mut by_chunk: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (pos, name) in &self.blocks {
            by_chunk.entry(pos.chunk()).or_default().push((*pos, *name));
        }
        by_chunk
    }

    /// Sets the blocks, fills the chest and adds the sheep.
    pub fn build(&self, session: &Session) -> anyhow::Result<()> {
        for (at, blocks) in self.by_chunk() {
            let chunk = session.chunk(at)?;
            for (pos, name) in blocks {
                let cell = pos.in_chunk().context("the hut is not in the world")?;
                chunk.edit(|chunk| chunk.set_block(cell, name))??;
            }
        }
        let chunk = session.chunk(self.chest.chunk())?;
        chunk.edit(|chunk| furnish(chunk, self.chest))?
    }

    /// Returns how many of the blocks are set.
    pub fn count(&self, session: &Session) -> anyhow::Result<usize> {
        let mut found = 0_usize;
        for (at, blocks) in self.by_chunk() {
            let same = session.chunk(at)?.read(|chunk| {
                let is_set = |(pos, name): &&(BlockPos, &str)| {
                    let block = pos.in_chunk().and_then(|cell| chunk.block(cell).ok());
                    block.is_some_and(|block| block.name() == *name)
                };
                blocks.iter().filter(is_set).count()
            })?;
            found = found.saturating_add(same);
        }
        Ok(found)
    }
}

fn columns() -> impl Iterator<Item = ColumnPos> {
    let (min, max) = HUT;
    (min.z..=max.z).flat_map(move |z| (min.x..=max.x).map(move |x| ColumnPos::new(x, z)))
}

/// Returns whether a column is on the border of the hut along x, and along z.
fn border(column: ColumnPos) -> (bool, bool) {
    let (min, max) = HUT;
    ([min.x, max.x].contains(&column.x), [min.z, max.z].contains(&column.z))
}

/// Puts a shovel into the chest and adds a sheep beside it.
fn furnish(chunk: &mut Chunk, chest: BlockPos) -> anyhow::Result<()> {
    let at = chest.in_chunk().context("the chest is not in the world")?;
    let shovel = document_of([
        ("Id", Value::String("Tool_Shovel".to_owned())),
        ("Quantity", Value::Int32(1)),
        ("Durability", Value::Double(71.5)),
    ]);
    let items = document_of([("0", Value::Document(shovel))]);
    let container =
        document_of([("Capacity", Value::Int32(18)), ("Items", Value::Document(items))]);
    let container = document_of([("ItemContainer", Value::Document(container))]);
    let chest_block = holder([("ItemContainerBlock", container)])?;
    chunk.block_entities_mut().insert(at, chest_block)?;
    chunk.entities_mut().replace(vec![sheep(chest)?])?;
    Ok(())
}

fn sheep(beside: BlockPos) -> anyhow::Result<Holder> {
    let position = document_of([
        ("X", Value::Double(f64::from(beside.x) + 2.5)),
        ("Y", Value::Double(f64::from(beside.y))),
        ("Z", Value::Double(f64::from(beside.z) + 0.25)),
    ]);
    let uuid = Value::Binary { subtype: 4, bytes: b"made up by demo.".to_vec() };
    let model = document_of([("Id", Value::String("Sheep".to_owned()))]);
    holder([
        ("Transform", document_of([("Position", Value::Document(position))])),
        ("UUID", document_of([("UUID", uuid)])),
        ("Model", document_of([("Model", Value::Document(model))])),
    ])
}

fn document_of<const N: usize>(fields: [(&str, Value); N]) -> Document {
    let mut document = Document::new();
    for (key, value) in fields {
        document.set(key, value);
    }
    document
}

fn holder<const N: usize>(components: [(&str, Document); N]) -> anyhow::Result<Holder> {
    let mut holder = Holder::new();
    for (id, document) in components {
        holder.set_raw(id, &document.to_bytes())?;
    }
    Ok(holder)
}
