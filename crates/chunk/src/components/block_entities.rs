//! `BlockComponentChunk`: block entities, by the index of their block in the chunk.

use hyworld_coords::ChunkBlock;

use super::entities::nested_holders;
use crate::component::{Component, Stored};
use crate::error::Result;
use crate::fields::Fields;
use crate::holder::Holder;
use crate::shared_bytes::SharedBytes;
use hyworld_documents::RawDocument;

const BLOCKS_KEY: &str = "BlockComponents";

/// The block entities of a chunk: chests, benches, crops, beds and whatever mods add.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BlockComponentChunk {
    /// Key and holder, in the order in which they are stored. A key that is no block index is
    /// kept as it is.
    entries: Vec<(Box<str>, Holder)>,
}

impl BlockComponentChunk {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every block entity with its block, in stored order. Those whose key is no block of a chunk
    /// are left out.
    pub fn iter(&self) -> impl Iterator<Item = (ChunkBlock, &Holder)> {
        self.entries.iter().filter_map(|(key, holder)| Some((block_of_key(key)?, holder)))
    }

    /// The block entity at a block.
    pub fn get(&self, at: ChunkBlock) -> Option<&Holder> {
        self.iter().find(|(block, _)| *block == at).map(|(_, holder)| holder)
    }

    /// The block entity at a block, to change it.
    pub fn get_mut(&mut self, at: ChunkBlock) -> Option<&mut Holder> {
        let mut entries = self.entries.iter_mut();
        entries.find(|(key, _)| block_of_key(key) == Some(at)).map(|(_, holder)| holder)
    }

    /// Puts a block entity at a block and returns the one that was there.
    pub fn insert(&mut self, at: ChunkBlock, holder: Holder) -> Option<Holder> {
        if let Some(place) = self.get_mut(at) {
            return Some(std::mem::replace(place, holder));
        }
        self.entries.push((at.index().to_string().into(), holder));
        None
    }

    /// Removes the block entities that `keep` does not keep.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&mut Holder) -> bool) {
        self.entries.retain_mut(|(_, holder)| keep(holder));
    }

    /// Removes the block entity at a block.
    pub fn remove(&mut self, at: ChunkBlock) -> Option<Holder> {
        let place = self.entries.iter().position(|(key, _)| block_of_key(key) == Some(at))?;
        Some(self.entries.remove(place).1)
    }
}

/// The block that a key names: a decimal index without sign or leading zeros.
pub(crate) fn block_of_key(key: &str) -> Option<ChunkBlock> {
    let index: u32 = key.parse().ok()?;
    ChunkBlock::from_index(index).filter(|_| index.to_string() == key)
}

impl Component for BlockComponentChunk {
    const ID: &'static str = "BlockComponentChunk";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        Self::decode_shared(&Stored::find(&SharedBytes::new(document.as_bytes().to_vec()))?)
    }

    fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
        let holders = nested_holders(stored, BLOCKS_KEY)?.into_iter();
        Ok(Self { entries: holders.map(|(key, holder)| (key.into(), holder)).collect() })
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        fields.document(BLOCKS_KEY, |writer| {
            for (key, holder) in &self.entries {
                holder.write_nested(key, writer);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        crate::component::decode(&SharedBytes::new(bytes.to_vec())).unwrap()
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
    fn odd_keys_are_kept_and_everything_comes_back() {
        let bytes = stored(&["7", "007", "999999", "name"]);
        let chunk = decoded(&bytes);
        assert_eq!((chunk.len(), chunk.iter().count()), (4, 1));
        let raw = RawDocument::new(&bytes).unwrap();
        assert_eq!(crate::component::encode(&chunk, Some(raw)).unwrap(), bytes);
    }

    #[test]
    fn block_entities_come_and_go() {
        let mut chunk = decoded(&stored(&["5"]));
        assert_eq!(chunk.insert(at(9), marked("New")), None);
        assert!(chunk.insert(at(9), marked("Newer")).is_some());
        assert!(chunk.remove(at(5)).is_some() && chunk.remove(at(5)).is_none());
        assert_eq!(chunk.len(), 1);
        assert!(chunk.get(at(9)).unwrap().contains("Newer"));
    }

    #[test]
    fn a_block_entity_that_is_none_is_named() {
        let mut blocks = DocumentWriter::new();
        blocks.document("12", &DocumentWriter::new().finish());
        let mut writer = DocumentWriter::new();
        writer.document(BLOCKS_KEY, &blocks.finish());
        let bytes = SharedBytes::new(writer.finish());
        let error = crate::component::decode::<BlockComponentChunk>(&bytes).unwrap_err();
        assert!(error.to_string().starts_with("BlockComponents.12: "), "{error}");
    }
}
