//! [`SectionSummary`]: a summary from the start and the end of a section's bytes, without its
//! cells.

use std::borrow::Cow;

use hyworld_coords::{BLOCKS_PER_SECTION, SectionY};

use crate::block_section::BlockSection;
use crate::chunk::{Chunk, Section, in_section};
use crate::component::{self, Component, DATA_KEY};
use crate::components::data;
use crate::error::{Error, Result};
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::palette::{AssetKey, Palette, PaletteEntry, skim_names};
use crate::wire::Reader;

/// Names with the number of cells that the palette stores for each.
pub type StoredCounts<'a> = Vec<(Cow<'a, str>, u32)>;

/// The palettes, the version and the change counter of a section. Names of old sections are
/// converted to the current form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SectionSummary<'a> {
    /// The section.
    pub y: SectionY,
    /// The number of cells of each block. A name may occur twice in a damaged section.
    pub blocks: StoredCounts<'a>,
    /// The number of cells of each fluid, including `Empty`.
    pub fluids: StoredCounts<'a>,
    /// The stored version of the block component; 0 if there is none.
    pub version: i32,
    /// The number of block migrations that its names have gone through.
    pub migration_version: i32,
    /// The number of block changes since it was generated, modulo 65,536.
    pub changes: u16,
}

impl Chunk {
    /// Summarizes its ten sections from the bottom up. Reads only the start and the end of each
    /// component, unless it is decoded already or has an old version.
    ///
    /// ```
    /// use hyworld_chunk::Chunk;
    /// use hyworld_coords::ChunkBlock;
    ///
    /// let mut chunk = Chunk::new();
    /// chunk.set_block(ChunkBlock::new(3, 64, 31).ok_or("outside")?, "Rock_Stone")?;
    /// let chunk = Chunk::decode(chunk.encode())?;
    /// let section = &chunk.section_summaries()?[2];
    /// assert!(section.blocks.contains(&("Rock_Stone".into(), 1)));
    /// assert_eq!(section.changes, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a section is malformed or a newer game wrote it. Cells and light are
    /// not checked.
    pub fn section_summaries(&self) -> Result<Vec<SectionSummary<'_>>> {
        // Old columns may contain the sections of the chunk.
        let is_old = self.has_old_columns();
        self.sections().map(|section| summarize(section, is_old)).collect()
    }
}

impl Chunk {
    /// Returns the sections with a block whose name is wanted, from the bottom up. Reads only the
    /// start of each section.
    ///
    /// # Errors
    /// Same as [`section_summaries`](Self::section_summaries).
    pub fn sections_with_block(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Section<'_>>> {
        let is_old = self.has_old_columns();
        let mut found = Vec::new();
        for section in self.sections() {
            let y = section.y().index();
            let stored = section.holder().filter(|_| !is_old);
            let skimmed = stored.map(skim_blocks).transpose();
            let has_name = match skimmed.map_err(|error| in_section(error, y))?.flatten() {
                Some(skimmed) => skimmed.blocks.iter().any(|entry| is_wanted(entry.key)),
                None => has_name(section.blocks()?.blocks(), &is_wanted),
            };
            found.extend(has_name.then_some(section));
        }
        Ok(found)
    }

    /// Returns the sections with a fluid whose name is wanted, from the bottom up. `Empty` stands
    /// for cells without a fluid.
    ///
    /// # Errors
    /// Same as [`section_summaries`](Self::section_summaries).
    pub fn sections_with_fluid(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Section<'_>>> {
        let is_old = self.has_old_columns();
        let mut found = Vec::new();
        for section in self.sections() {
            let y = section.y().index();
            let is_stored =
                |holder: &&Holder| !is_old && holder.decoded::<FluidSection>().is_none();
            let has_name = match section.holder().filter(is_stored) {
                Some(holder) => {
                    let fluids = skim_fluids(holder).map_err(|error| in_section(error, y))?;
                    fluids.iter().any(|(name, _)| is_wanted(name))
                }
                None => has_name(section.fluids()?.fluids(), &is_wanted),
            };
            found.extend(has_name.then_some(section));
        }
        Ok(found)
    }
}

fn has_name(palette: &Palette<AssetKey>, is_wanted: impl Fn(&str) -> bool) -> bool {
    palette.stored_counts().iter().any(|(key, _)| is_wanted(key.as_str()))
}

fn summarize(section: Section<'_>, is_old: bool) -> Result<SectionSummary<'_>> {
    let y = section.y();
    let stored = section.holder().filter(|_| !is_old);
    let found = stored.map(|holder| skim(y, holder)).transpose();
    match found.map_err(|error| in_section(error, y.index()))?.flatten() {
        Some(summary) => Ok(summary),
        None => decoded(section),
    }
}

/// The start and the end of a block component.
struct SkimmedBlocks<'a> {
    version: i32,
    migration_version: i32,
    blocks: Vec<PaletteEntry<&'a str>>,
    changes: u16,
}

/// Reads the start and the end of the stored blocks. Returns `None` if they are decoded already or
/// have an old version.
fn skim_blocks(section: &Holder) -> Result<Option<SkimmedBlocks<'_>>> {
    if section.decoded::<BlockSection>().is_some() {
        return Ok(None);
    }
    let inside = |error: Error| error.inside(BlockSection::ID);
    let Some(document) = section.raw(BlockSection::ID) else { return Ok(None) };
    let version = component::known_version::<BlockSection>(document).map_err(inside)?;
    if version < BlockSection::VERSION {
        return Ok(None);
    }
    let bytes = data(document).map_err(inside)?;
    let malformed = |error| inside(Error::from(error).inside(DATA_KEY));
    let mut reader = Reader::new(bytes);
    let migration_version = reader.i32().map_err(malformed)?;
    let blocks = skim_names(&mut reader).map_err(malformed)?;
    // The last two fields are the change counters, local and global.
    let counters = bytes.last_chunk::<4>().map_or([0, 0], |[a, b, ..]| [*a, *b]);
    let changes = u16::from_be_bytes(counters);
    Ok(Some(SkimmedBlocks { version, migration_version, blocks, changes }))
}

/// Summarizes the stored bytes of a section. Returns `None` if a component is decoded already or
/// has an old version.
fn skim(y: SectionY, section: &Holder) -> Result<Option<SectionSummary<'_>>> {
    if section.decoded::<FluidSection>().is_some() {
        return Ok(None);
    }
    let Some(skimmed) = skim_blocks(section)? else { return Ok(None) };
    let SkimmedBlocks { version, migration_version, blocks, changes } = skimmed;
    let blocks = blocks.into_iter().map(|entry| (entry.key.into(), entry.count.into())).collect();
    let fluids = skim_fluids(section)?;
    Ok(Some(SectionSummary { y, blocks, fluids, version, migration_version, changes }))
}

fn skim_fluids(section: &Holder) -> Result<StoredCounts<'_>> {
    let inside = |error: Error| error.inside(FluidSection::ID);
    let Some(document) = section.raw(FluidSection::ID) else {
        return Ok(vec![(AssetKey::EMPTY_NAME.into(), BLOCKS_PER_SECTION.into())]);
    };
    component::known_version::<FluidSection>(document).map_err(inside)?;
    let bytes = data(document).map_err(inside)?;
    let fluids = skim_names(&mut Reader::new(bytes))
        .map_err(|malformed| inside(Error::from(malformed).inside(DATA_KEY)))?;
    Ok(fluids.into_iter().map(|entry| (entry.key.into(), entry.count.into())).collect())
}

fn decoded(section: Section<'_>) -> Result<SectionSummary<'_>> {
    let stored = section.holder().and_then(Holder::stored_version::<BlockSection>);
    let (blocks, fluids) = (section.blocks()?, section.fluids()?);
    Ok(SectionSummary {
        y: section.y(),
        blocks: counts(blocks.blocks()),
        fluids: counts(fluids.fluids()),
        version: stored.unwrap_or_default(),
        migration_version: blocks.migration_version(),
        changes: blocks.local_change_counter,
    })
}

fn counts(palette: &Palette<AssetKey>) -> StoredCounts<'_> {
    let all = palette.stored_counts().into_iter();
    all.map(|(key, count)| (key.as_str().into(), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ChunkBlock;
    use hyworld_indexed_storage::{MemoryFile, OpenOptions};
    use hyworld_testkit::fixture;

    /// Compares summaries of stored bytes with those of decoded sections.
    fn check(chunk: &Chunk) {
        let stored = Chunk::decode(chunk.encode()).unwrap();
        let skimmed = stored.section_summaries().unwrap();
        stored.decode_blocks().unwrap();
        assert_eq!(skimmed, stored.section_summaries().unwrap());
        for (summary, section) in skimmed.iter().zip(stored.sections()) {
            let (blocks, fluids) = (section.blocks().unwrap(), section.fluids().unwrap());
            assert_eq!(summary.blocks, counts(blocks.blocks()));
            assert_eq!(summary.fluids, counts(fluids.fluids()));
            assert_eq!(summary.changes, blocks.local_change_counter);
            assert_eq!(summary.migration_version, blocks.migration_version());
        }
    }

    #[test]
    fn summaries_match_decoded_sections() {
        let mut chunk = Chunk::new();
        for (x, name) in [(0, "Rock"), (1, "Rock"), (2, "Soil")] {
            chunk.set_block(ChunkBlock::new(x, 40, 9).unwrap(), name).unwrap();
        }
        chunk.set_fluid(ChunkBlock::new(5, 41, 9).unwrap(), "Water", 8).unwrap();
        check(&chunk);
        let summary = chunk.section_summaries().unwrap().swap_remove(1);
        assert!(summary.blocks.contains(&("Rock".into(), 2)), "{summary:?}");
        assert!(summary.fluids.contains(&("Water".into(), 1)), "{summary:?}");
        assert!(summary.changes >= 3 && summary.version == 6, "{summary:?}");
    }

    #[test]
    fn chunks_of_all_versions_have_ten_summaries() {
        let bytes = fixture("original/chunks/synthetic_old_versions.region.bin");
        let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "old").unwrap();
        for slot in file.occupied() {
            let chunk = Chunk::decode(file.read(slot).unwrap().unwrap()).unwrap();
            check(&chunk);
            let summaries = chunk.section_summaries().unwrap();
            assert_eq!(summaries.len(), 10);
        }
        for slot in file.occupied() {
            let chunk = Chunk::decode(file.read(slot).unwrap().unwrap()).unwrap();
            let summaries = chunk.section_summaries().unwrap();
            let has = |counts: &StoredCounts<'_>| counts.iter().any(|(name, _)| name != "Empty");
            let expected = summaries.iter().filter(|section| has(&section.blocks)).map(|s| s.y);
            let found = chunk.sections_with_block(|name| name != "Empty").unwrap();
            assert!(found.iter().map(|section| section.y()).eq(expected));
            let expected = summaries.iter().filter(|section| has(&section.fluids)).map(|s| s.y);
            let found = chunk.sections_with_fluid(|name| name != "Empty").unwrap();
            assert!(found.iter().map(|section| section.y()).eq(expected));
        }
        let mut empty = Chunk::new();
        empty.remove("ChunkColumn");
        assert_eq!(empty.section_summaries().unwrap()[3].blocks, [("Empty".into(), 32_768)]);
    }

    #[test]
    fn errors_have_a_location() {
        let mut chunk = Chunk::new();
        let y = SectionY::new(4).unwrap();
        let mut fluid = hyworld_documents::DocumentWriter::new();
        fluid.binary("Data", 0, &[7]);
        chunk.section_mut(y).set_raw("Fluid", &fluid.finish()).unwrap();
        let error = chunk.section_summaries().unwrap_err().to_string();
        assert!(error.starts_with("ChunkColumn.Sections.4.Fluid.Data: at byte 0"), "{error}");
    }
}
