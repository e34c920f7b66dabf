//! [`Chunk`]: the document of a chunk, its components and its sections.

use hyworld_coords::{SECTIONS_PER_CHUNK, SectionY};

use crate::component::Component;
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::limits::{self, SECTIONS_MAX};
use crate::piece::Piece;
use hyworld_documents::{DocumentWriter, Kind, RawDocument};

/// The component that holds the sections.
const COLUMN_ID: &str = "ChunkColumn";
const SECTIONS_KEY: &str = "Sections";

/// A chunk as it is stored: a holder of components, and a stack of sections that are holders
/// themselves.
///
/// Decoding finds the components and decodes none. Encoding a chunk in which nothing was changed
/// returns the identical bytes; after a change only what was changed differs.
///
/// ```
/// use hyworld_chunk::{BlockChunk, Chunk};
///
/// let chunk = Chunk::new();
/// let bytes = chunk.encode();
/// let again = Chunk::decode(bytes.clone())?;
/// assert_eq!(again.encode(), bytes);
/// assert!(again.get::<BlockChunk>()?.is_some());
/// # Ok::<(), hyworld_chunk::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Chunk {
    root: Holder,
    sections: Vec<Holder>,
}

impl Chunk {
    pub(crate) fn from_parts(root: Holder, sections: Vec<Holder>) -> Self {
        Self { root, sections }
    }

    /// Reads the document of a chunk.
    ///
    /// # Errors
    /// The document, or the list of its sections, is malformed.
    pub fn decode(document: Vec<u8>) -> Result<Self> {
        let root = Holder::decode(document)?;
        let sections = match root.piece(COLUMN_ID) {
            Some(column) => find_sections(column).map_err(|error| error.inside(COLUMN_ID))?,
            None => Vec::new(),
        };
        Ok(Self { root, sections })
    }

    /// Its document.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_in(Vec::new())
    }

    /// Its document in the memory of a buffer, whose content is forgotten. Where many chunks are
    /// encoded, fresh memory for each is a large part of the work.
    pub fn encode_in(&self, buffer: Vec<u8>) -> Vec<u8> {
        if !self.sections.iter().any(Holder::is_changed) && !self.is_section_missing() {
            return self.root.encode_in(buffer);
        }
        let sections = self.sections.iter().filter(|section| section.is_changed());
        self.encode_with(buffer, sections.map(Holder::encoded_bytes).sum(), |_, _, _| false)
    }

    /// Its document in the memory of a buffer. `replace_in` may write a component of a section
    /// itself, and say so; that and what was changed comes to about `changed_bytes`.
    pub(crate) fn encode_with(
        &self,
        mut buffer: Vec<u8>,
        changed_bytes: usize,
        replace_in: impl Fn(usize, &str, &mut DocumentWriter) -> bool,
    ) -> Vec<u8> {
        buffer.clear();
        buffer.reserve(self.root.encoded_bytes().saturating_add(changed_bytes));
        let mut writer = DocumentWriter::in_buffer(buffer);
        let replace = |id: &str, writer: &mut DocumentWriter| {
            let is_column = id == COLUMN_ID;
            if is_column {
                writer.nested(COLUMN_ID, Kind::DOCUMENT, |column| {
                    self.write_column(column, &replace_in);
                });
            }
            is_column
        };
        self.root.write_with(&mut writer, replace, |writer| {
            if self.is_section_missing() {
                replace(COLUMN_ID, writer);
            }
        });
        writer.finish()
    }

    /// Whether the sections were made here and the document does not have them yet.
    fn is_section_missing(&self) -> bool {
        !self.sections.is_empty() && !self.root.contains(COLUMN_ID)
    }

    /// The document of the sections, over the one that was read.
    fn write_column(
        &self,
        column: &mut DocumentWriter,
        replace_in: &impl Fn(usize, &str, &mut DocumentWriter) -> bool,
    ) {
        let mut is_written = false;
        let found = self.root.raw(COLUMN_ID).into_iter().flat_map(RawDocument::elements);
        for element in found.flatten() {
            if element.key() == SECTIONS_KEY && !is_written {
                self.write_sections(column, replace_in);
                is_written = true;
            } else {
                column.element(&element);
            }
        }
        if !is_written {
            self.write_sections(column, replace_in);
        }
    }

    fn write_sections(
        &self,
        column: &mut DocumentWriter,
        replace_in: &impl Fn(usize, &str, &mut DocumentWriter) -> bool,
    ) {
        column.nested(SECTIONS_KEY, Kind::ARRAY, |array| {
            for (number, section) in self.sections.iter().enumerate() {
                array.nested(&number.to_string(), Kind::DOCUMENT, |writer| {
                    let replace =
                        |id: &str, writer: &mut DocumentWriter| replace_in(number, id, writer);
                    section.write_with(writer, replace, |_| ());
                });
            }
        });
    }

    /// The holder of its components. Sections are not changed through it.
    pub fn holder(&self) -> &Holder {
        &self.root
    }

    /// Decodes a component of the chunk, `None` if it has none.
    ///
    /// # Errors
    /// It is malformed, or a newer game wrote it.
    pub fn get<C: Component>(&self) -> Result<Option<C>> {
        self.root.get()
    }

    /// Writes a component of the chunk.
    ///
    /// # Errors
    /// The document that is there is malformed.
    pub fn put<C: Component>(&mut self, component: &C) -> Result<()> {
        self.root.put(component)
    }

    /// Gives a component of the chunk a document.
    ///
    /// # Errors
    /// `document` is none, or it is one of sections that are malformed.
    pub fn set_raw(&mut self, id: &str, document: &[u8]) -> Result<()> {
        if id == COLUMN_ID {
            let sections = find_sections(&Piece::new(document.to_vec()));
            self.sections = sections.map_err(|error| error.inside(COLUMN_ID))?;
        }
        self.root.set_raw(id, document)
    }

    /// Removes a component of the chunk; whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        if id == COLUMN_ID {
            self.sections.clear();
        }
        self.root.remove(id)
    }

    /// Its sections from the bottom up; ten, but an old chunk can have none.
    pub fn sections(&self) -> &[Holder] {
        &self.sections
    }

    /// A section, `None` where an old or damaged chunk has none.
    pub fn section(&self, y: SectionY) -> Option<&Holder> {
        self.sections.get(usize::from(y.index()))
    }

    /// A section, to change it. Where there are fewer than ten, empty ones are added.
    pub fn section_mut(&mut self, y: SectionY) -> Option<&mut Holder> {
        while self.sections.len() < usize::from(SECTIONS_PER_CHUNK) {
            self.sections.push(Holder::new());
        }
        self.sections.get_mut(usize::from(y.index()))
    }

    /// Decodes a component of a section, `None` if it has none.
    ///
    /// # Errors
    /// It is malformed, or a newer game wrote it.
    pub fn get_in<C: Component>(&self, y: SectionY) -> Result<Option<C>> {
        let found = self.section(y).map(Holder::get).transpose();
        found.map(Option::flatten).map_err(|error| in_section(error, y.index()))
    }

    /// Writes a component of a section.
    ///
    /// # Errors
    /// The document that is there is malformed.
    pub fn put_in<C: Component>(&mut self, y: SectionY, component: &C) -> Result<()> {
        let put = self.section_mut(y).map_or(Ok(()), |section| section.put(component));
        put.map_err(|error| in_section(error, y.index()))
    }

    /// Whether it differs from what was read.
    pub fn is_changed(&self) -> bool {
        self.root.is_changed() || self.sections.iter().any(Holder::is_changed)
    }
}

pub(crate) fn in_section(error: Error, number: u8) -> Error {
    error.inside(&format!("{SECTIONS_KEY}.{number}")).inside(COLUMN_ID)
}

/// The sections in the document of a chunk's column, as parts of its bytes.
fn find_sections(column: &Piece) -> Result<Vec<Holder>> {
    // All of it is walked over, because all of it is written again with the sections.
    let mut array = None;
    for element in RawDocument::new(column.bytes())?.elements() {
        let element = element?;
        if array.is_none() && element.key() == SECTIONS_KEY {
            array = Some(element);
        }
    }
    let Some(array) = array else { return Ok(Vec::new()) };
    let mut sections = Vec::with_capacity(SECTIONS_PER_CHUNK.into());
    let elements = array.as_document().map(|array| limits::at_most(array, SECTIONS_MAX));
    for element in elements.into_iter().flatten() {
        let element = element?;
        let at = array.value_at().saturating_add(element.value_at());
        let section = Holder::from_piece(column.part(at, element.value().len()));
        let path = || format!("{SECTIONS_KEY}.{}", element.key());
        sections.push(section.map_err(|error| error.inside(&path()))?);
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_chunk::BlockChunk;
    use crate::components::ChunkSection;
    use hyworld_testkit::fixture;

    fn y(number: u8) -> SectionY {
        SectionY::new(number).unwrap()
    }

    #[test]
    fn a_new_chunk_comes_back_as_it_was() {
        let bytes = Chunk::new().encode();
        let chunk = Chunk::decode(bytes.clone()).unwrap();
        assert!(!chunk.is_changed());
        assert_eq!(chunk.sections().len(), 10);
        assert_eq!(chunk.encode(), bytes);
    }

    #[test]
    fn a_changed_section_changes_only_itself() {
        let bytes = Chunk::new().encode();
        let mut chunk = Chunk::decode(bytes.clone()).unwrap();
        let section = chunk.section_mut(y(3)).unwrap();
        section.set_raw("Other", &DocumentWriter::new().finish()).unwrap();
        let changed = Chunk::decode(chunk.encode()).unwrap();
        assert!(changed.section(y(3)).unwrap().contains("Other"));
        for number in [0, 1, 2, 4, 5, 6, 7, 8, 9] {
            assert_eq!(
                changed.section(y(number)),
                Chunk::decode(bytes.clone()).unwrap().section(y(number))
            );
        }
        chunk.section_mut(y(3)).unwrap().remove("Other");
        assert_eq!(chunk.encode(), bytes);
    }

    #[test]
    fn a_chunk_without_sections_gets_them_when_one_is_changed() {
        let mut chunk = Chunk::new();
        chunk.remove("ChunkColumn");
        let old = Chunk::decode(chunk.encode()).unwrap();
        assert!(old.sections().is_empty() && old.section(y(0)).is_none());
        let mut changed = old.clone();
        changed.put_in(y(9), &ChunkSection).unwrap();
        assert_eq!(Chunk::decode(changed.encode()).unwrap().sections().len(), 10);
        assert_eq!(old.encode(), chunk.encode());
    }

    #[test]
    fn what_was_broken_behind_the_sections_was_lost_with_a_change() {
        let mut column = DocumentWriter::new();
        column.raw(SECTIONS_KEY, Kind::ARRAY, &DocumentWriter::new().finish());
        column.raw("Later", Kind(0x66), b"not a type that is known");
        let mut root = Holder::new();
        root.set_raw(COLUMN_ID, &column.finish()).unwrap();
        let error = Chunk::decode(root.encode()).unwrap_err();
        assert!(error.to_string().starts_with("ChunkColumn: at byte 19: "), "{error}");
    }

    #[test]
    fn errors_say_where() {
        let mut chunk = Chunk::new();
        let section = chunk.section_mut(y(7)).unwrap();
        section.set_raw("BlockChunk", &DocumentWriter::new().finish()).unwrap();
        let error = chunk.get_in::<BlockChunk>(y(7)).unwrap_err();
        let start = "ChunkColumn.Sections.7.BlockChunk: ";
        assert!(error.to_string().starts_with(start), "{error}");
    }

    #[test]
    fn every_truncation_is_refused_and_sampled_flips_are_survived() {
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
    fn fixtures_of_the_game_are_found() {
        assert!(!fixture("original/chunks/synthetic_v6.region.bin").is_empty());
    }
}
