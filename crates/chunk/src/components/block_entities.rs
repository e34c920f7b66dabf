//! `BlockComponentChunk`: block entities by the index of their block in the chunk.

use hyworld_coords::{BLOCKS_PER_CHUNK, ChunkBlock};

use super::entities::nested_holders;
use crate::component::{self, Component, Stored};
use crate::error::Result;
use crate::fields::Fields;
use crate::holder::Holder;
use hyworld_documents::RawDocument;

pub(super) const BLOCKS_KEY: &str = "BlockComponents";

/// Holders by the decimal index of a cell, in stored order. Entries with other keys are kept.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct HolderMap(Vec<(Box<str>, Holder)>);

impl HolderMap {
    /// Reads the holders in a field of a component.
    pub(crate) fn find(stored: &Stored<'_>, field: &str) -> Result<Self> {
        let holders = nested_holders(stored, field)?.into_iter();
        Ok(Self(holders.map(|(key, holder)| (key.into(), holder)).collect()))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Holder)> {
        self.0.iter().filter_map(|(key, holder)| Some((index_of_key(key)?, holder)))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Holder> {
        self.iter().find(|(found, _)| *found == index).map(|(_, holder)| holder)
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut Holder> {
        let mut entries = self.0.iter_mut();
        entries.find(|(key, _)| index_of_key(key) == Some(index)).map(|(_, holder)| holder)
    }

    pub(crate) fn insert(&mut self, index: u32, holder: Holder) -> Option<Holder> {
        if let Some(existing) = self.get_mut(index) {
            return Some(std::mem::replace(existing, holder));
        }
        self.0.push((index.to_string().into(), holder));
        None
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&mut Holder) -> bool) {
        self.0.retain_mut(|(_, holder)| keep(holder));
    }

    /// Removes entries whose key is not an index below `end`. Returns how many were removed.
    pub(crate) fn drop_invalid(&mut self, end: u32) -> usize {
        let before = self.0.len();
        self.0.retain(|(key, _)| index_of_key(key).is_some_and(|index| index < end));
        before.saturating_sub(self.0.len())
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<Holder> {
        let position = self.0.iter().position(|(key, _)| index_of_key(key) == Some(index))?;
        Some(self.0.remove(position).1)
    }

    /// Writes the holders to a field. An empty map is not added to a stored document.
    pub(crate) fn write(&self, fields: &mut Fields<'_>, field: &str) {
        if self.0.is_empty() && fields.is_new_in_stored(field) {
            return;
        }
        fields.document(field, |writer| {
            for (key, holder) in &self.0 {
                holder.write_nested(key, writer);
            }
        });
    }
}

/// Parses a key: a decimal index without a sign or leading zeros.
pub(crate) fn index_of_key(key: &str) -> Option<u32> {
    key.parse().ok().filter(|index: &u32| index.to_string() == key)
}

/// The block entities of a chunk: chests, benches, crops, beds and those that mods add.
///
/// Since game 0.6 sections store them. [`Chunk::block_entities`](crate::Chunk::block_entities)
/// returns those of the chunk and of its sections.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BlockComponentChunk(HolderMap);

impl BlockComponentChunk {
    /// Returns the number of block entities, including those with an invalid key.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no block entities.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the keys of the block entities in stored order, including invalid ones.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys()
    }

    /// Returns every block entity with its block, in stored order. Skips invalid keys.
    pub fn iter(&self) -> impl Iterator<Item = (ChunkBlock, &Holder)> {
        self.0.iter().filter_map(|(index, holder)| Some((ChunkBlock::from_index(index)?, holder)))
    }

    /// Returns the block entity at a block.
    pub fn get(&self, at: ChunkBlock) -> Option<&Holder> {
        self.0.get(at.index())
    }

    /// Returns the block entity at a block for mutation.
    pub fn get_mut(&mut self, at: ChunkBlock) -> Option<&mut Holder> {
        self.0.get_mut(at.index())
    }

    /// Sets the block entity at a block and returns the previous one.
    pub fn insert(&mut self, at: ChunkBlock, holder: Holder) -> Option<Holder> {
        self.0.insert(at.index(), holder)
    }

    /// Removes the block entities for which `keep` returns `false`.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut Holder) -> bool) {
        self.0.retain(keep);
    }

    /// Removes block entities with an invalid key. Returns how many were removed.
    pub(crate) fn drop_invalid(&mut self) -> usize {
        self.0.drop_invalid(BLOCKS_PER_CHUNK)
    }

    /// Removes and returns the block entity at a block.
    pub fn remove(&mut self, at: ChunkBlock) -> Option<Holder> {
        self.0.remove(at.index())
    }
}

impl Component for BlockComponentChunk {
    const ID: &'static str = "BlockComponentChunk";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        component::decode_copy(document)
    }

    fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
        HolderMap::find(stored, BLOCKS_KEY).map(Self)
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        self.0.write(fields, BLOCKS_KEY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_bytes::SharedBytes;
    use hyworld_documents::DocumentWriter;

    fn at(index: u32) -> ChunkBlock {
        ChunkBlock::from_index(index).unwrap()
    }

    fn marked(id: &str) -> Holder {
        let mut holder = Holder::new();
        holder.set_raw(id, &DocumentWriter::new().finish()).unwrap();
        Holder::decode(holder.encode()).unwrap()
    }

    fn stored(keys: &[&str]) -> Vec<u8> {
        let mut blocks = DocumentWriter::new();
        for key in keys {
            blocks.document(key, &marked(&format!("Block{key}")).encode());
        }
        let mut writer = DocumentWriter::new();
        writer.document(BLOCKS_KEY, &blocks.finish());
        writer.finish()
    }

    fn decoded(bytes: &[u8]) -> BlockComponentChunk {
        component::decode(SharedBytes::new(bytes.to_vec()).borrowed()).unwrap()
    }

    #[test]
    fn keys_are_block_indices() {
        let bytes = stored(&["327679", "0", "33"]);
        let chunk = decoded(&bytes);
        let found: Vec<_> = chunk.iter().map(|(block, _)| block.index()).collect();
        assert_eq!(found, [327_679, 0, 33]);
        let block = at(33);
        assert_eq!((block.x(), block.y(), block.z()), (1, 0, 1));
        assert!(chunk.get(block).unwrap().contains("Block33"));
    }

    #[test]
    fn invalid_keys_are_kept() {
        let bytes = stored(&["7", "007", "999999", "name"]);
        let chunk = decoded(&bytes);
        assert_eq!((chunk.len(), chunk.iter().count()), (4, 1));
        let raw = RawDocument::new(&bytes).unwrap();
        assert_eq!(component::encode(&chunk, Some(raw)).unwrap(), bytes);
    }

    #[test]
    fn block_entities_are_inserted_and_removed() {
        let mut chunk = decoded(&stored(&["5"]));
        assert_eq!(chunk.insert(at(9), marked("New")), None);
        assert!(chunk.insert(at(9), marked("Newer")).is_some());
        assert!(chunk.remove(at(5)).is_some() && chunk.remove(at(5)).is_none());
        assert_eq!(chunk.len(), 1);
        assert!(chunk.get(at(9)).unwrap().contains("Newer"));
    }

    #[test]
    fn an_error_names_the_malformed_block_entity() {
        let mut blocks = DocumentWriter::new();
        blocks.document("12", &DocumentWriter::new().finish());
        let mut writer = DocumentWriter::new();
        writer.document(BLOCKS_KEY, &blocks.finish());
        let bytes = SharedBytes::new(writer.finish());
        let error = component::decode::<BlockComponentChunk>(bytes.borrowed()).unwrap_err();
        assert!(error.to_string().starts_with("BlockComponents.12: "), "{error}");
    }
}
