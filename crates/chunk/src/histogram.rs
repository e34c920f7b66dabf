//! Block counts of a chunk, from the counts that its palettes store. No cell is read, and of each
//! section only the start is parsed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::block_section::BlockSection;
use crate::chunk::{Chunk, in_section};
use crate::component::{self, Component, DATA_KEY};
use crate::components::data;
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::wire::Reader;

/// The number of cells by block name.
pub type Histogram<'a> = BTreeMap<Cow<'a, str>, u64>;

impl Chunk {
    /// Returns the number of cells of each block by name, from the stored counts. Block names of
    /// old chunks are converted to the current form.
    ///
    /// ```
    /// let chunk = hyworld_chunk::Chunk::new();
    /// assert_eq!(chunk.histogram()?.get("Empty"), Some(&327_680));
    /// # Ok::<(), hyworld_chunk::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a section is malformed or a newer game wrote it. Bytes after the block
    /// palette are not checked.
    pub fn histogram(&self) -> Result<Histogram<'_>> {
        let mut sums = Histogram::new();
        // Old columns may contain the sections of the chunk.
        let is_old = self.has_old_columns();
        for section in self.sections() {
            let y = section.y().index();
            let is_added = match section.holder().filter(|_| !is_old) {
                Some(holder) => add(&mut sums, holder).map_err(|error| in_section(error, y))?,
                None => false,
            };
            if !is_added {
                add_decoded(&mut sums, section.blocks()?);
            }
        }
        Ok(sums)
    }
}

fn add_decoded<'a>(sums: &mut Histogram<'a>, section: &'a BlockSection) {
    for (key, cells) in section.blocks().stored_counts() {
        let sum = sums.entry(Cow::Borrowed(key.as_str())).or_default();
        *sum = sum.saturating_add(cells.into());
    }
}

/// Adds the counts of a section, unless it is decoded already or has an old version. Returns
/// whether they were added.
fn add<'a>(sums: &mut Histogram<'a>, section: &'a Holder) -> Result<bool> {
    if section.decoded::<BlockSection>().is_some() {
        return Ok(false);
    }
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
    use hyworld_coords::{ChunkBlock, SectionY};
    use hyworld_indexed_storage::{MemoryFile, OpenOptions, Slot};
    use hyworld_testkit::fixture;

    /// Counts the cells of every block one by one.
    fn counted(chunk: &Chunk) -> Histogram<'_> {
        let mut sums = Histogram::new();
        for (_, run) in chunk.runs().unwrap() {
            *sums.entry(Cow::Borrowed(run.key.as_str())).or_default() += u64::from(run.len);
        }
        sums
    }

    #[test]
    fn histogram_matches_counted_cells() {
        let mut chunk = Chunk::new();
        for (x, name) in [(0, "Rock"), (1, "Rock"), (2, "Soil"), (31, "Rock")] {
            for y in [3, 40, 319] {
                chunk.set_block(ChunkBlock::new(x, y, 9).unwrap(), name).unwrap();
            }
        }
        let again = Chunk::decode(chunk.encode()).unwrap();
        for chunk in [&chunk, &again] {
            let sums = chunk.histogram().unwrap();
            assert_eq!((sums["Rock"], sums["Soil"], sums["Empty"]), (9, 3, 327_680 - 12));
            assert_eq!(sums, counted(chunk));
        }
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

    /// A case found by fuzzing: the columns hold the blocks, and separate sections hold others.
    #[test]
    fn blocks_of_old_columns_are_counted() {
        let bytes = fixture("original/chunks/synthetic_old_versions.region.bin");
        let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "old").unwrap();
        let mut chunk = Chunk::decode(file.read(Slot::new(102)).unwrap().unwrap()).unwrap();
        for y in SectionY::all() {
            chunk.put_in(y, &BlockSection::new(5)).unwrap();
        }
        let expected = counted(&chunk);
        assert!(expected.len() > 1, "{expected:?}");
        assert_eq!(chunk.histogram().unwrap(), expected);
    }

    #[test]
    fn errors_have_a_location() {
        let mut chunk = Chunk::new();
        let y = SectionY::new(4).unwrap();
        let mut block = hyworld_documents::DocumentWriter::new();
        block.int32("Version", 6);
        block.binary("Data", 0, &[0, 0, 0, 0, 7]);
        chunk.section_mut(y).set_raw("Block", &block.finish()).unwrap();
        let error = chunk.histogram().unwrap_err().to_string();
        assert!(error.starts_with("ChunkColumn.Sections.4.Block.Data: at byte 4"), "{error}");
    }
}
