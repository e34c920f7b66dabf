//! Writing changed blocks straight into the document of a chunk.

use super::{ChunkView, SectionView};
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::component::{self, Component, VERSION_KEY};
use crate::components::{DATA_KEY, data};
use crate::error::Result;
use crate::holder::Holder;
use crate::wire::Reader;
use hyworld_documents::{DocumentWriter, Kind};

impl ChunkView {
    /// The document of the chunk with what was changed, in the memory of a buffer: what
    /// [`save`](Self::save) and [`Chunk::encode_in`] give, but the chunk stays as it is. Changed
    /// blocks are written straight into the document, so this is the faster way to store them.
    ///
    /// # Errors
    /// As for [`save`](Self::save).
    pub fn encode_over(&self, chunk: &Chunk, buffer: Vec<u8>) -> Result<Vec<u8>> {
        let Some(stored) = self.stored_forms(chunk) else {
            let mut changed = chunk.clone();
            self.save(&mut changed)?;
            return Ok(changed.encode_in(buffer));
        };
        let mut with_columns = None;
        if self.columns_changed {
            self.save_columns(with_columns.insert(chunk.clone()))?;
        }
        let chunk = with_columns.as_ref().unwrap_or(chunk);
        if stored.iter().all(Option::is_none) {
            return Ok(chunk.encode_in(buffer));
        }
        let replace = |number: usize, id: &str, writer: &mut DocumentWriter| {
            let stored = stored.get(number).and_then(Option::as_ref);
            let (Some(stored), Some(section)) = (stored, self.sections.get(number)) else {
                return false;
            };
            let is_replaced = id == BlockSection::ID;
            if is_replaced {
                section.block.write_component(stored, writer);
            }
            is_replaced
        };
        let changed = self.sections.iter().filter(|section| section.is_changed);
        let bytes = changed.map(|section| section.block.encoded_bytes()).sum();
        Ok(chunk.encode_with(buffer, bytes, replace))
    }

    /// The blocks of each changed section as they are stored; `None` if anything else than blocks
    /// and heights was changed, or is stored in another way than the game does it.
    fn stored_forms(&self, chunk: &Chunk) -> Option<Vec<Option<BlockSection>>> {
        if self.was_inline || chunk.sections().len() != self.sections.len() {
            return None;
        }
        let sections = self.sections.iter().zip(chunk.sections());
        let stored = sections.map(|(section, stored)| match section {
            SectionView { is_changed: false, .. } => Some(None),
            SectionView { is_converted: false, is_fluid_changed: false, .. } => {
                BlockSection::stored_cells(stored).map(Some)
            }
            _ => None,
        });
        stored.collect()
    }
}

impl BlockSection {
    /// The blocks in a section, without light, if their component is of the newest version and has
    /// nothing that we do not write ourselves.
    fn stored_cells(section: &Holder) -> Option<Self> {
        let mut components = section.ids().filter(|id| *id == Self::ID);
        let (Some(_), None) = (components.next(), components.next()) else { return None };
        let document = section.raw(Self::ID)?;
        let keys = document.elements().map(|element| Some(element.ok()?.key()));
        if !keys.eq([Some(VERSION_KEY), Some(DATA_KEY)]) {
            return None;
        }
        let version = component::version(document).ok().filter(|found| *found == Self::VERSION)?;
        Self::read_cells(version, &mut Reader::new(data(document).ok()?)).ok()
    }

    /// Writes itself as a component, over what [`stored_cells`](Self::stored_cells) found.
    fn write_component(&self, stored: &Self, writer: &mut DocumentWriter) {
        let palettes = self.in_the_form_of(stored);
        writer.nested(Self::ID, Kind::DOCUMENT, |writer| {
            writer.int32(VERSION_KEY, self.version);
            writer.binary_with(DATA_KEY, 0, |out| self.encode_with(palettes, out));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_section::Rotation;
    use crate::palette::AssetKey;
    use hyworld_coords::{ChunkBlock, SectionY};

    /// That both ways give the same is tested from outside; which is taken can only be seen here.
    #[test]
    fn the_short_way_is_taken_for_blocks_and_for_nothing_else() {
        let chunk = Chunk::new();
        let mut view = ChunkView::new(&chunk).unwrap();
        let at = ChunkBlock::new(1, 40, 1).unwrap();
        let stone = AssetKey::new("Rock_Stone").unwrap();
        let changed = |view: &ChunkView, chunk: &Chunk| -> Option<Vec<bool>> {
            Some(view.stored_forms(chunk)?.iter().map(Option::is_some).collect())
        };
        assert_eq!(changed(&view, &chunk), Some(vec![false; 10]));
        view.set_block(at, stone.clone(), Rotation::NONE).unwrap();
        let mut second = vec![false; 10];
        second[1] = true;
        assert_eq!(changed(&view, &chunk), Some(second));
        let mut other = chunk.clone();
        let section = other.section_mut(SectionY::new(1).unwrap()).unwrap();
        section.remove(BlockSection::ID);
        assert_eq!(changed(&view, &other), None);
        view.set_fluid(at, stone, 1).unwrap();
        assert_eq!(changed(&view, &chunk), None);
    }
}
