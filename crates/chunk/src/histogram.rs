//! How often each block occurs in a chunk, from the counts that its palettes store.
//!
//! Palettes list their values with counts, so no cell is looked at, and of each section only the
//! head is read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hyworld_coords::SectionY;

use crate::block_chunk::BlockChunk;
use crate::block_section::BlockSection;
use crate::chunk::{Chunk, in_section};
use crate::component::{self, Component};
use crate::components::{DATA_KEY, data};
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::view::ChunkView;
use crate::wire::Reader;

/// Cells by the name of the block in them.
pub type Histogram<'a> = BTreeMap<Cow<'a, str>, u64>;

impl Chunk {
    /// How many cells hold each block, by name, from the counts that are stored. Names in old
    /// chunks are brought into today's form.
    ///
    /// ```
    /// let chunk = hyworld_chunk::Chunk::new();
    /// assert_eq!(chunk.histogram()?.get("Empty"), Some(&327_680));
    /// # Ok::<(), hyworld_chunk::Error>(())
    /// ```
    ///
    /// # Errors
    /// A section is malformed, or a newer game wrote it. What stands behind the palette of its
    /// blocks is not looked at.
    pub fn histogram(&self) -> Result<Histogram<'_>> {
        if self.has_old_columns()? {
            return self.histogram_of_old();
        }
        let mut sums = Histogram::new();
        for y in SectionY::all() {
            let Some(section) = self.section(y) else { return self.histogram_of_old() };
            if !add(&mut sums, section).map_err(|error| in_section(error, y.index()))? {
                return self.histogram_of_old();
            }
        }
        Ok(sums)
    }

    /// Whether its columns are of a version that may hold the sections themselves.
    fn has_old_columns(&self) -> Result<bool> {
        let Some(columns) = self.holder().raw(BlockChunk::ID) else { return Ok(false) };
        let version = component::known_version::<BlockChunk>(columns);
        Ok(version.map_err(|error| error.inside(BlockChunk::ID))? < BlockChunk::VERSION)
    }

    /// The same for chunks whose names must be converted, or whose sections stand elsewhere.
    fn histogram_of_old(&self) -> Result<Histogram<'_>> {
        let view = ChunkView::new(self)?;
        let sums = view.histogram().into_iter();
        Ok(sums.map(|(key, cells)| (Cow::Owned(key.as_str().to_owned()), cells)).collect())
    }
}

/// Adds the counts of a section; `false` if its names are of an old kind, or elsewhere.
fn add<'a>(sums: &mut Histogram<'a>, section: &'a Holder) -> Result<bool> {
    let inside = |error: Error| error.inside(BlockSection::ID);
    let Some(document) = section.raw(BlockSection::ID) else { return Ok(false) };
    let version = component::known_version::<BlockSection>(document).map_err(inside)?;
    if version < BlockSection::VERSION {
        return Ok(false);
    }
    let data = data(document).map_err(inside)?;
    let entries = BlockSection::skim(version, &mut Reader::new(data))
        .map_err(|malformed| inside(Error::from(malformed).inside(DATA_KEY)))?;
    for entry in entries {
        let sum = sums.entry(Cow::Borrowed(entry.key)).or_default();
        *sum = sum.saturating_add(entry.count.into());
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_section::Rotation;
    use crate::palette::AssetKey;
    use hyworld_coords::ChunkBlock;
    use hyworld_indexed_storage::{BlobIndex, MemoryFile, OpenOptions};
    use hyworld_testkit::fixture;

    #[test]
    fn it_is_the_histogram_of_the_view() {
        let mut chunk = Chunk::new();
        let mut view = ChunkView::new(&chunk).unwrap();
        for (x, name) in [(0, "Rock"), (1, "Rock"), (2, "Soil"), (31, "Rock")] {
            for y in [3, 40, 319] {
                let at = ChunkBlock::new(x, y, 9).unwrap();
                view.set_block(at, AssetKey::new(name).unwrap(), Rotation::NONE).unwrap();
            }
        }
        view.save(&mut chunk).unwrap();
        let sums = chunk.histogram().unwrap();
        let of_view = view.histogram();
        assert!(sums.iter().map(|(k, n)| (&**k, *n)).eq(of_view.iter().map(|(k, n)| (&***k, *n))));
        assert_eq!((sums["Rock"], sums["Soil"], sums["Empty"]), (9, 3, 327_680 - 12));
    }

    #[test]
    fn a_chunk_without_sections_is_air() {
        let mut chunk = Chunk::new();
        chunk.remove("ChunkColumn");
        assert_eq!(
            chunk.histogram().unwrap().into_iter().collect::<Vec<_>>(),
            [(Cow::Borrowed("Empty"), 327_680)]
        );
    }

    /// As the fuzzer made one: its columns hold the blocks, and the sections beside them others.
    #[test]
    fn blocks_are_counted_where_an_old_chunk_keeps_them() {
        let bytes = fixture("original/chunks/synthetic_old_versions.region.bin");
        let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "old").unwrap();
        let mut chunk = Chunk::decode(file.read(BlobIndex::new(102)).unwrap().unwrap()).unwrap();
        for y in SectionY::all() {
            chunk.put_in(y, &BlockSection::new(5)).unwrap();
        }
        let view = ChunkView::new(&chunk).unwrap();
        let counted = view.histogram();
        assert!(counted.len() > 1, "{counted:?}");
        let skimmed = chunk.histogram().unwrap();
        assert!(
            skimmed.iter().map(|(k, n)| (&**k, *n)).eq(counted.iter().map(|(k, n)| (&***k, *n)))
        );
    }

    #[test]
    fn errors_say_where() {
        let mut chunk = Chunk::new();
        let y = SectionY::new(4).unwrap();
        let mut block = hyworld_documents::DocumentWriter::new();
        block.int32("Version", 6);
        block.binary("Data", 0, &[0, 0, 0, 0, 7]);
        chunk.section_mut(y).unwrap().set_raw("Block", &block.finish()).unwrap();
        let error = chunk.histogram().unwrap_err().to_string();
        assert!(error.starts_with("ChunkColumn.Sections.4.Block.Data: at byte 4"), "{error}");
    }
}
