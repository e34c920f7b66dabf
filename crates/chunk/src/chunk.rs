//! [`Chunk`]: a chunk with its stored bytes, components and blocks.

mod anchor;
mod block;
mod block_ref;
mod contents;
mod contents_mut;
mod edit;
mod heights;
mod layout;
mod objects;
mod old_versions;
mod queries;
mod section;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use hyworld_coords::{SECTIONS_PER_CHUNK, SectionY};

use crate::block_chunk::BlockChunk;
use crate::component::Component;
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::limits::{self, SECTIONS_MAX};
use crate::palette::AssetKey;
use crate::shared_bytes::{BorrowedBytes, SharedBytes};
use hyworld_documents::{DocumentWriter, Kind, RawDocument};

use old_versions::OldVersions;

pub use anchor::Anchor;
pub use block::Block;
pub use block_ref::{BlockRef, FluidRef};
pub use contents::{ChunkContainer, ContainerOwner};
pub use contents_mut::{BlockEntitiesMut, EntitiesMut, EntityDocuments};
pub use edit::{EditOutcome, ReplaceOutcome};
pub use layout::EntityLayout;
pub use objects::Removed;
pub use queries::Surface;
pub use section::Section;

/// The component that holds the sections.
pub(crate) const COLUMN_ID: &str = "ChunkColumn";
pub(crate) const SECTIONS_KEY: &str = "Sections";

/// A chunk: 32 x 320 x 32 blocks and everything stored with them.
///
/// It owns the bytes that it was decoded from. Each component is decoded on first access and
/// encoded again only if it was changed. An unchanged chunk encodes to the identical bytes, and
/// after a change only the changed components differ. Unknown fields and components are kept.
///
/// ```
/// use hyworld_chunk::Chunk;
/// use hyworld_coords::ChunkBlock;
///
/// let mut chunk = Chunk::new();
/// let at = ChunkBlock::new(3, 64, 31).ok_or("not in a chunk")?;
/// chunk.set_block(at, "Rock_Stone")?;
///
/// let again = Chunk::decode(chunk.encode())?;
/// assert_eq!(again.block(at)?.name(), "Rock_Stone");
/// assert_eq!(again.height(at.column())?, 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chunk {
    root: Holder,
    /// The holders of the sections. They are written instead of those in `ChunkColumn`.
    sections: Vec<Holder>,
    /// Sections of old versions, upgraded to the newest; `None` if there are none.
    old: OnceLock<Option<Arc<OldVersions>>>,
    /// Blocks that do not count for heights, computed when a height first depends on them.
    transparent_blocks: OnceLock<Arc<HashSet<AssetKey>>>,
}

/// Chunks are equal if their documents are equal.
impl PartialEq for Chunk {
    fn eq(&self, other: &Self) -> bool {
        self.encode() == other.encode()
    }
}

impl Chunk {
    pub(crate) fn from_parts(root: Holder, sections: Vec<Holder>) -> Self {
        Self { root, sections, old: OnceLock::new(), transparent_blocks: OnceLock::new() }
    }

    /// Reads the document of a chunk without decoding its components.
    ///
    /// # Errors
    /// Returns an error if the document or the list of its sections is malformed.
    pub fn decode(document: Vec<u8>) -> Result<Self> {
        let root = Holder::decode(document)?;
        let sections = match root.bytes(COLUMN_ID) {
            Some(column) => find_sections(column).map_err(|error| error.inside(COLUMN_ID))?,
            None => Vec::new(),
        };
        Ok(Self::from_parts(root, sections))
    }

    /// Returns the buffer that the chunk was decoded from, to be reused for another document.
    /// Returns an empty one if a copy of the chunk shares the buffer.
    pub fn into_buffer(self) -> Vec<u8> {
        let source = self.root.into_source();
        drop((self.sections, self.old));
        source.into_buffer().unwrap_or_default()
    }

    /// Returns the encoded document.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out
    }

    /// Encodes its document into `out`, replacing the contents of `out`. Unchanged parts are copied
    /// as they are stored; changed ones are encoded in place.
    ///
    /// Reusing a buffer for many chunks avoids allocations, a large part of the work.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        if !self.sections.iter().any(Holder::is_changed) && !self.is_column_missing() {
            return self.root.encode_into(out);
        }
        let changed = self.sections.iter().filter(|section| section.is_changed());
        let changed_bytes: usize = changed.map(Holder::encoded_bytes).sum();
        out.clear();
        out.reserve(self.root.encoded_bytes().saturating_add(changed_bytes));
        let mut writer = DocumentWriter::in_buffer(std::mem::take(out));
        let replace = |id: &str, writer: &mut DocumentWriter| {
            let is_column = id == COLUMN_ID;
            if is_column {
                writer.nested(COLUMN_ID, Kind::DOCUMENT, |column| self.write_column(column));
            }
            is_column
        };
        self.root.write_with(&mut writer, replace, |writer| {
            if self.is_column_missing() {
                replace(COLUMN_ID, writer);
            }
        });
        *out = writer.finish();
    }

    /// Returns whether there are sections that the stored document does not have yet.
    fn is_column_missing(&self) -> bool {
        !self.sections.is_empty() && !self.root.contains(COLUMN_ID)
    }

    /// Appends the document of the sections, based on the stored one.
    fn write_column(&self, column: &mut DocumentWriter) {
        let mut is_written = false;
        let found = self.root.raw(COLUMN_ID).into_iter().flat_map(RawDocument::elements);
        for element in found.flatten() {
            if element.key() == SECTIONS_KEY && !is_written {
                self.write_sections(column);
                is_written = true;
            } else {
                column.element(&element);
            }
        }
        if !is_written {
            self.write_sections(column);
        }
    }

    fn write_sections(&self, column: &mut DocumentWriter) {
        column.nested(SECTIONS_KEY, Kind::ARRAY, |array| {
            for (number, section) in self.sections.iter().enumerate() {
                section.write_nested(&number.to_string(), array);
            }
        });
    }

    /// Returns whether it was changed since it was decoded. A new chunk counts as changed.
    pub fn is_changed(&self) -> bool {
        self.root.is_changed() || self.sections.iter().any(Holder::is_changed)
    }

    /// Frees the memory of decoded components. A changed chunk is encoded first, and its new
    /// document replaces the stored one.
    ///
    /// # Errors
    /// Returns an error and leaves the chunk as it is if the new document cannot be decoded.
    pub fn forget_decoded(&mut self) -> Result<()> {
        if self.is_changed() {
            *self = Self::decode(self.encode())?;
            return Ok(());
        }
        self.root.forget_decoded();
        self.sections.iter_mut().for_each(Holder::forget_decoded);
        self.forget_derived();
        Ok(())
    }

    /// Must be called when a component of a section may have changed.
    fn forget_derived(&mut self) {
        self.old = OnceLock::new();
        self.transparent_blocks = OnceLock::new();
    }

    /// Must be called when this component of the chunk may have changed.
    fn forget_derived_from(&mut self, id: &str) {
        if [COLUMN_ID, BlockChunk::ID].contains(&id) {
            self.forget_derived();
        }
    }

    /// Returns the holder of its components. `ChunkColumn` in it is as it was read, because the
    /// sections have separate holders.
    pub fn holder(&self) -> &Holder {
        &self.root
    }

    /// Returns a component of the chunk, or `None` if it is missing. Decodes on first access.
    ///
    /// # Errors
    /// Returns an error if it is malformed or a newer game wrote it.
    pub fn get<C: Component>(&self) -> Result<Option<&C>> {
        self.root.get()
    }

    /// Returns a component of the chunk for mutation, or `None` if it is missing.
    ///
    /// # Errors
    /// Same as [`get`](Self::get).
    pub fn get_mut<C: Component>(&mut self) -> Result<Option<&mut C>> {
        self.forget_derived_from(C::ID);
        self.root.get_mut()
    }

    /// Writes a component of the chunk.
    ///
    /// # Errors
    /// Returns an error if the stored document is malformed.
    pub fn put<C: Component>(&mut self, component: &C) -> Result<()> {
        self.forget_derived_from(C::ID);
        self.root.put(component)
    }

    /// Sets the document of a component of the chunk.
    ///
    /// # Errors
    /// Returns an error if `document` is not a BSON document, or contains malformed sections.
    pub fn set_raw(&mut self, id: &str, document: &[u8]) -> Result<()> {
        self.forget_derived_from(id);
        if id == COLUMN_ID {
            let sections = find_sections(SharedBytes::new(document.to_vec()).borrowed());
            self.sections = sections.map_err(|error| error.inside(COLUMN_ID))?;
        }
        self.root.set_raw(id, document)
    }

    /// Removes a component of the chunk. Returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        self.forget_derived_from(id);
        if id == COLUMN_ID {
            self.sections.clear();
        }
        self.root.remove(id)
    }

    /// Returns the holders of its sections from the bottom up. Usually ten; an old chunk can have
    /// none, and a damaged one any number.
    pub fn section_holders(&self) -> &[Holder] {
        &self.sections
    }

    /// Returns the holder of a section, or `None` if an old or damaged chunk does not have it.
    pub fn section_holder(&self, y: SectionY) -> Option<&Holder> {
        self.sections.get(usize::from(y.index()))
    }

    /// Returns the holder of a section for mutation. Adds missing sections up to ten.
    pub fn section_mut(&mut self, y: SectionY) -> &mut Holder {
        self.forget_derived();
        self.holder_mut(y)
    }

    fn holder_mut(&mut self, y: SectionY) -> &mut Holder {
        let count = usize::from(SECTIONS_PER_CHUNK).max(self.sections.len());
        self.sections.resize_with(count, Holder::new);
        #[expect(clippy::indexing_slicing, reason = "at least ten, and `SectionY` is below ten")]
        &mut self.sections[usize::from(y.index())]
    }

    /// Returns a component of a section, or `None` if it is missing. Decodes on first access.
    ///
    /// # Errors
    /// Returns an error if it is malformed or a newer game wrote it.
    pub fn get_in<C: Component>(&self, y: SectionY) -> Result<Option<&C>> {
        let found = self.section_holder(y).map(Holder::get).transpose();
        found.map(Option::flatten).map_err(|error| in_section(error, y.index()))
    }

    /// Writes a component of a section.
    ///
    /// # Errors
    /// Returns an error if the stored document is malformed.
    pub fn put_in<C: Component>(&mut self, y: SectionY, component: &C) -> Result<()> {
        let put = self.section_mut(y).put(component);
        put.map_err(|error| in_section(error, y.index()))
    }
}

pub(crate) fn in_section(error: Error, number: u8) -> Error {
    error.inside(&format!("{SECTIONS_KEY}.{number}")).inside(COLUMN_ID)
}

/// Returns the sections in the document of a chunk's column. They share its bytes.
fn find_sections(column: BorrowedBytes<'_>) -> Result<Vec<Holder>> {
    // Checks all elements, because a changed chunk writes all of them again.
    let mut array = None;
    for element in RawDocument::new(column.as_slice())?.elements() {
        let element = element?;
        if array.is_none() && element.key() == SECTIONS_KEY {
            array = Some(element);
        }
    }
    let Some((array, elements)) = array.and_then(|array| Some((array, array.as_document()?)))
    else {
        return Ok(Vec::new());
    };
    let mut sections = Vec::with_capacity(SECTIONS_PER_CHUNK.into());
    for element in limits::at_most(elements.elements(), SECTIONS_MAX) {
        let element = element?;
        let at = array.value_at().saturating_add(element.value_at());
        let section = Holder::from_shared(column.part(at, element.value().len()).to_shared());
        let path = || format!("{SECTIONS_KEY}.{}", element.key());
        sections.push(section.map_err(|error| error.inside(&path()))?);
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::ChunkSection;
    use hyworld_testkit::fixture;

    fn y(number: u8) -> SectionY {
        SectionY::new(number).unwrap()
    }

    #[test]
    fn a_new_chunk_round_trips() {
        let bytes = Chunk::new().encode();
        let chunk = Chunk::decode(bytes.clone()).unwrap();
        assert!(!chunk.is_changed());
        assert_eq!(chunk.section_holders().len(), 10);
        assert_eq!(chunk.encode(), bytes);
    }

    #[test]
    fn a_changed_section_changes_only_itself() {
        let bytes = Chunk::new().encode();
        let mut chunk = Chunk::decode(bytes.clone()).unwrap();
        let section = chunk.section_mut(y(3));
        section.set_raw("Other", &DocumentWriter::new().finish()).unwrap();
        let changed = Chunk::decode(chunk.encode()).unwrap();
        assert!(changed.section_holder(y(3)).unwrap().contains("Other"));
        for number in [0, 1, 2, 4, 5, 6, 7, 8, 9] {
            assert_eq!(
                changed.section_holder(y(number)),
                Chunk::decode(bytes.clone()).unwrap().section_holder(y(number))
            );
        }
        chunk.section_mut(y(3)).remove("Other");
        assert_eq!(chunk.encode(), bytes);
    }

    #[test]
    fn changing_a_section_adds_missing_sections() {
        let mut chunk = Chunk::new();
        chunk.remove("ChunkColumn");
        let old = Chunk::decode(chunk.encode()).unwrap();
        assert!(old.section_holders().is_empty() && old.section_holder(y(0)).is_none());
        let mut changed = old.clone();
        changed.put_in(y(9), &ChunkSection).unwrap();
        assert_eq!(Chunk::decode(changed.encode()).unwrap().section_holders().len(), 10);
        assert_eq!(old.encode(), chunk.encode());
    }

    #[test]
    fn malformed_fields_after_the_sections_are_errors() {
        let mut column = DocumentWriter::new();
        column.raw(SECTIONS_KEY, Kind::ARRAY, &DocumentWriter::new().finish());
        column.raw("Later", Kind(0x66), b"not a type that is known");
        let mut root = Holder::new();
        root.set_raw(COLUMN_ID, &column.finish()).unwrap();
        let error = Chunk::decode(root.encode()).unwrap_err();
        assert!(error.to_string().starts_with("ChunkColumn: at byte 19: "), "{error}");
    }

    #[test]
    fn errors_have_a_location() {
        let mut chunk = Chunk::new();
        let section = chunk.section_mut(y(7));
        section.set_raw("BlockChunk", &DocumentWriter::new().finish()).unwrap();
        let error = chunk.get_in::<BlockChunk>(y(7)).unwrap_err();
        let start = "ChunkColumn.Sections.7.BlockChunk: ";
        assert!(error.to_string().starts_with(start), "{error}");
    }

    #[test]
    fn truncations_are_rejected_and_flips_do_not_panic() {
        let bytes = Chunk::new().encode();
        for len in (0..bytes.len()).step_by(7) {
            assert!(Chunk::decode(bytes[..len].to_vec()).is_err(), "{len}");
        }
        for position in 0..bytes.len().min(3000) {
            let mut flipped = bytes.clone();
            flipped[position] ^= 0x41;
            if let Ok(chunk) = Chunk::decode(flipped.clone()) {
                assert_eq!(chunk.encode(), flipped, "{position}");
            }
        }
    }

    #[test]
    fn the_buffer_of_a_document_can_be_reused() {
        let document = Chunk::new().encode();
        let address = document.as_ptr();
        let chunk = Chunk::decode(document.clone()).unwrap();
        let copy = chunk.clone();
        assert_eq!(chunk.into_buffer().capacity(), 0);
        assert_eq!(copy.into_buffer(), document);
        let chunk = Chunk::decode(document).unwrap();
        assert!(chunk.block(hyworld_coords::ChunkBlock::new(0, 64, 0).unwrap()).unwrap().is_air());
        let buffer = chunk.into_buffer();
        assert_eq!(buffer.as_ptr(), address);
    }

    #[test]
    fn fixtures_are_found() {
        assert!(!fixture("original/chunks/synthetic_v6.region.bin").is_empty());
    }
}
