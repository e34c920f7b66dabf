//! [`ChunkView`]: a chunk decoded in full, with questions that do not depend on the version it
//! was stored in.

mod base;
mod edit;
mod encode;
mod height;
mod section;

use hyworld_coords::{ChunkBlock, LocalColumn, SECTIONS_PER_CHUNK, SectionY};

use crate::block_chunk::BlockChunk;
use crate::block_section::{BlockSection, Filler, Rotation};
use crate::chunk::Chunk;
use crate::environment::EnvironmentChunk;
use crate::error::{Error, Result};
use crate::light::LightValue;
use crate::migration::BlockMigrations;
use crate::palette::AssetKey;
use crate::wire::Reader;
use hyworld_documents::Malformed;

use height::Heights;

pub use base::BasePlace;
pub use edit::EditOutcome;
pub use section::SectionView;

/// Everything that is known about one block.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockInfo {
    /// Its name; `Empty` is air.
    pub block: AssetKey,
    /// Which way it is turned.
    pub rotation: Rotation,
    /// Which cell of a large block it is.
    pub filler: Filler,
    /// Where the base of the large block is, perhaps in another section or chunk; `None` if this
    /// is the base, as it is for most blocks.
    pub base: Option<BasePlace>,
    /// Whether it ticks.
    pub is_ticking: bool,
    /// The fluid in its cell; `Empty` for none.
    pub fluid: AssetKey,
    /// How high the fluid stands.
    pub fluid_level: u8,
    /// How far it is from what holds it up; 15 never falls.
    pub support: u8,
    /// Light from emitters and the open sky.
    pub local_light: LightValue,
    /// Light that has spread.
    pub global_light: LightValue,
    /// The environment at its place.
    pub environment: String,
}

/// A chunk decoded in full.
#[derive(Clone, Debug)]
pub struct ChunkView {
    sections: Vec<SectionView>,
    columns: BlockChunk,
    environments: EnvironmentChunk,
    /// The sections stood in the `BlockChunk` of an old chunk.
    was_inline: bool,
    columns_changed: bool,
    /// What was known of heights before the first change.
    heights: Option<Heights>,
}

impl ChunkView {
    /// Decodes every component that has to do with blocks. What is missing is as the game makes
    /// it: air, no fluid, height 0.
    ///
    /// # Errors
    /// A component is malformed, or a newer game wrote it.
    pub fn new(chunk: &Chunk) -> Result<Self> {
        Self::migrated(chunk, &BlockMigrations::default())
    }

    /// As [`new`](Self::new), with block migrations applied to the names of blocks. Nothing is
    /// written before [`save`](Self::save).
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn migrated(chunk: &Chunk, migrations: &BlockMigrations) -> Result<Self> {
        let columns = chunk.get::<BlockChunk>()?.unwrap_or_default();
        let mut inline = inline_sections(&columns)?.into_iter();
        let was_inline = columns.inline_sections().is_some();
        let mut sections = Vec::new();
        for y in SectionY::all() {
            sections.push(SectionView::load(chunk, y, inline.next(), migrations)?);
        }
        let environments = match chunk.get::<EnvironmentChunk>()? {
            Some(environments) => environments,
            None => EnvironmentChunk::uniform(crate::environment::UNKNOWN_ENVIRONMENT)?,
        };
        Ok(Self {
            sections,
            columns,
            environments,
            was_inline,
            columns_changed: false,
            heights: None,
        })
    }

    /// Its ten sections from the bottom up.
    pub fn sections(&self) -> &[SectionView] {
        &self.sections
    }

    fn section(&self, y: SectionY) -> Option<&SectionView> {
        self.sections.get(usize::from(y.index()))
    }

    /// Heights and tints.
    pub fn columns(&self) -> &BlockChunk {
        &self.columns
    }

    /// Environments.
    pub fn environments(&self) -> &EnvironmentChunk {
        &self.environments
    }

    /// The height that is stored for a column.
    pub fn height(&self, column: LocalColumn) -> i16 {
        self.columns.heights.value(column)
    }

    /// The tint of a column, as 0xAARRGGBB.
    pub fn tint(&self, column: LocalColumn) -> i32 {
        self.columns.tints.value(column)
    }

    /// Everything that is known about a block.
    pub fn block(&self, at: ChunkBlock) -> BlockInfo {
        let cell = at.local();
        let light = |light: &crate::light::Light| {
            light.tree.as_ref().map_or(LightValue::DARK, |tree| tree.get(cell))
        };
        let environment = self.environments.name(at.column(), at.y().into()).to_owned();
        let missing = SectionView::default();
        let section = self.section(at.section()).unwrap_or(&missing);
        let SectionView { block, fluid, physics, .. } = section;
        let filler = block.filler(cell);
        BlockInfo {
            block: block.block(cell).clone(),
            rotation: block.rotation(cell),
            filler,
            base: (!filler.is_base()).then(|| BasePlace::of(at, filler)),
            is_ticking: block.ticking().contains(cell),
            fluid: fluid.fluid(cell).clone(),
            fluid_level: fluid.level(cell),
            support: physics.support(cell),
            local_light: light(&block.local_light),
            global_light: light(&block.global_light),
            environment,
        }
    }

    /// How many cells hold each block, by name, from the counts that are stored.
    pub fn histogram(&self) -> std::collections::BTreeMap<&AssetKey, u64> {
        let mut sums = std::collections::BTreeMap::new();
        for section in &self.sections {
            for (key, cells) in section.block.blocks().stored_counts() {
                let sum: &mut u64 = sums.entry(key).or_default();
                *sum = sum.saturating_add(cells.into());
            }
        }
        sums
    }
}

/// The sections that an old `BlockChunk` holds itself.
pub(crate) fn inline_sections(columns: &BlockChunk) -> Result<Vec<BlockSection>> {
    let Some(inline) = columns.inline_sections() else { return Ok(Vec::new()) };
    let mut reader = Reader::new(inline.bytes());
    let mut sections = Vec::new();
    let inside = |malformed: Malformed| {
        let at = malformed.at.saturating_add(inline.start());
        Error::from(Malformed { at, ..malformed }).inside("Data").inside("BlockChunk")
    };
    for number in 0..inline.count() {
        let section = BlockSection::read(inline.version(), &mut reader).map_err(inside)?;
        // A chunk has no place for more; an empty one takes far more memory than bytes.
        if number < usize::from(SECTIONS_PER_CHUNK) {
            sections.push(section);
        }
    }
    reader.finish().map_err(inside)?;
    Ok(sections)
}
