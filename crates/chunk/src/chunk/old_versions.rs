//! Sections of old versions, upgraded to the newest one in memory.
//!
//! Before version 6, block names contained rotation, filler, fluid and support, and before
//! `BlockChunk` 3 the sections were stored inside it. Both are upgraded when they are read, and
//! stay stored as they are until a section is changed or the caller upgrades the chunk.

use std::sync::Arc;

use hyworld_coords::{SECTIONS_PER_CHUNK, SectionY};

use super::Chunk;
use crate::block_chunk::BlockChunk;
use crate::block_section::BlockSection;
use crate::component::{self, Component};
use crate::components::ChunkSection;
use crate::error::{Error, Result};
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::migration::BlockMigrations;
use crate::new_chunk::sort;
use crate::order::HolderKind;
use crate::palette::AssetKey;
use crate::physics::BlockPhysics;
use crate::wire::Reader;
use hyworld_documents::Malformed;

/// The sections of a chunk with at least one section of an old version.
#[derive(Debug)]
pub(super) struct OldVersions {
    /// The number of sections inside the `BlockChunk`.
    inline: usize,
    /// The upgraded sections from the bottom up; `None` for those of the newest version.
    sections: Vec<Result<Option<Upgraded>>>,
}

/// The components of a section of an old version, upgraded to the newest one.
#[derive(Clone, Debug)]
pub(super) struct Upgraded {
    pub(super) blocks: BlockSection,
    pub(super) fluids: FluidSection,
    pub(super) physics: BlockPhysics,
}

impl OldVersions {
    pub(super) fn section(&self, y: SectionY) -> Result<Option<&Upgraded>> {
        let section = self.sections.get(usize::from(y.index()));
        section
            .map_or(Ok(None), |section| section.as_ref().map(Option::as_ref).map_err(Error::clone))
    }

    fn is_inline(&self) -> bool {
        self.inline > 0
    }
}

impl Upgraded {
    /// Upgrades a section to the newest version. Blocks are renamed first, as in the game. A
    /// section with more kinds of blocks than a palette can list stays as it is.
    fn of(
        chunk: &Chunk,
        y: SectionY,
        mut blocks: BlockSection,
        migrations: &BlockMigrations,
    ) -> Result<Self> {
        let fluids = chunk.get_in::<FluidSection>(y)?.cloned().unwrap_or_default();
        let physics = chunk.get_in::<BlockPhysics>(y)?.cloned().unwrap_or_default();
        let migrated = migrate_names(&mut blocks, migrations);
        let mut section = Self { blocks, fluids, physics };
        if section.convert()
            && let Some(to) = migrated
        {
            section.blocks.migration_version = to;
        }
        Ok(section)
    }

    fn convert(&mut self) -> bool {
        let Ok(upgraded) = self.blocks.clone().upgrade() else { return false };
        if self.fluids.overlay(&upgraded.fluids).is_err() {
            return false;
        }
        self.physics.overlay(&upgraded.support);
        self.blocks = upgraded.section;
        true
    }

    fn store(self, chunk: &mut Chunk, y: SectionY) -> Result<()> {
        chunk.put_in(y, &self.blocks)?;
        // Later edits compare with the names of the newest version.
        chunk.holder_mut(y).accept(BlockSection::ID);
        let stored = chunk.get_in::<FluidSection>(y)?;
        if !stored.is_some_and(|stored| stored.same_cells(&self.fluids)) {
            chunk.put_in(y, &self.fluids)?;
        }
        if self.physics.has_data() || chunk.get_in::<BlockPhysics>(y)?.is_some() {
            chunk.put_in(y, &self.physics)?;
        }
        // Old games did not store it; those that read the newest version do.
        if !chunk.holder_mut(y).contains(ChunkSection::ID) {
            chunk.put_in(y, &ChunkSection)?;
            sort(chunk.holder_mut(y), HolderKind::Section);
        }
        Ok(())
    }
}

/// Applies block migrations to the names. Returns the new number of applied migrations if it
/// changed. It is raised only as far as there are assets.
fn migrate_names(blocks: &mut BlockSection, migrations: &BlockMigrations) -> Option<i32> {
    let (version, from) = (blocks.version(), blocks.migration_version());
    let (_, to) = migrations.migrate("", from);
    if to == from && !migrations.has_numbers() {
        return None;
    }
    blocks.rename_blocks(|key| {
        let renamed = migrations.current_key(key.as_str(), version, from);
        AssetKey::new(renamed).filter(|renamed| renamed != key)
    });
    (to != from).then_some(to)
}

impl Chunk {
    /// Returns its sections of old versions, upgraded; `None` if it has none.
    pub(super) fn old_versions(&self) -> Option<&OldVersions> {
        let find = || {
            let is_old = self.has_old_columns() || SectionY::all().any(|y| self.is_old(y));
            is_old.then(|| Arc::new(self.find_old(&BlockMigrations::default())))
        };
        self.old.get_or_init(find).as_deref()
    }

    /// Returns whether its columns have a version that may contain the sections.
    pub(crate) fn has_old_columns(&self) -> bool {
        let version = self.root.stored_version::<BlockChunk>();
        version.is_some_and(|version| version < BlockChunk::VERSION)
    }

    fn is_old(&self, y: SectionY) -> bool {
        let holder = self.section_holder(y);
        let version = holder.and_then(Holder::stored_version::<BlockSection>);
        version.is_some_and(|version| version < BlockSection::VERSION)
    }

    fn find_old(&self, migrations: &BlockMigrations) -> OldVersions {
        let inline = match self.inline_sections() {
            Ok(inline) => inline,
            Err(error) => {
                // The blocks are in the `BlockChunk` that cannot be read, and not in `ChunkColumn`.
                let sections = SectionY::all().map(|_| Err(error.clone())).collect();
                return OldVersions { inline: 0, sections };
            }
        };
        let count = inline.len();
        let mut inline = inline.into_iter();
        let sections = SectionY::all().map(|y| {
            let blocks = match inline.next() {
                Some(blocks) => Some(blocks),
                None if self.is_old(y) => self.get_in::<BlockSection>(y)?.cloned(),
                None => None,
            };
            blocks.map(|blocks| Upgraded::of(self, y, blocks, migrations)).transpose()
        });
        OldVersions { inline: count, sections: sections.collect() }
    }

    /// Decodes the sections inside an old `BlockChunk`.
    pub(crate) fn inline_sections(&self) -> Result<Vec<BlockSection>> {
        let inline = self.columns()?.inline_sections();
        let Some(inline) = inline else { return Ok(Vec::new()) };
        let mut reader = Reader::new(inline.bytes());
        let mut sections = Vec::new();
        let inside = |malformed: Malformed| {
            let at = malformed.at.saturating_add(inline.start());
            Error::from(Malformed { at, ..malformed }).inside("Data").inside(BlockChunk::ID)
        };
        for number in 0..inline.count() {
            let section = BlockSection::read(inline.version(), &mut reader).map_err(inside)?;
            // Keep only the ten that a chunk has: a decoded empty section needs far more memory
            // than its stored bytes.
            if number < usize::from(SECTIONS_PER_CHUNK) {
                sections.push(section);
            }
        }
        reader.finish().map_err(inside)?;
        Ok(sections)
    }

    /// Upgrades a stored section to the newest version. If the `BlockChunk` contains the sections,
    /// all of them are upgraded.
    pub(super) fn upgrade_section(&mut self, y: SectionY) -> Result<()> {
        let Some(old) = self.old_versions() else { return Ok(()) };
        if old.is_inline() {
            return self.upgrade().map(drop);
        }
        let upgraded = old.section(y)?.cloned();
        upgraded.map_or(Ok(()), |upgraded| upgraded.store(self, y))
    }

    /// Stores everything in the newest known version. Returns whether anything had an older one.
    /// Other operations upgrade only what they change.
    ///
    /// # Errors
    /// Returns an error and leaves the chunk as it is if a section is malformed.
    pub fn upgrade(&mut self) -> Result<bool> {
        self.upgrade_with(&BlockMigrations::default())
    }

    fn upgrade_with(&mut self, migrations: &BlockMigrations) -> Result<bool> {
        if self.old_versions().is_none() {
            return Ok(false);
        }
        let old = self.find_old(migrations);
        let before = self.clone();
        let stored = self.store_upgraded(old);
        if stored.is_err() {
            *self = before;
        }
        stored.map(|()| true)
    }

    fn store_upgraded(&mut self, old: OldVersions) -> Result<()> {
        for (y, section) in SectionY::all().zip(old.sections) {
            if let Some(upgraded) = section? {
                upgraded.store(self, y)?;
            }
        }
        if self.has_old_columns()
            && let Some(columns) = self.get_mut::<BlockChunk>()?
        {
            columns.upgrade();
        }
        Ok(())
    }

    /// Renames blocks as the game does when it loads an older chunk. Returns whether any section
    /// was outdated; such a section counts as changed.
    ///
    /// # Errors
    /// Returns an error if a section that must be upgraded is malformed. Other sections that cannot
    /// be decoded are skipped.
    pub fn migrate(&mut self, migrations: &BlockMigrations) -> Result<bool> {
        // Sections of old versions have no migration number, which means 0.
        let is_old_outdated = migrations.migrate("", 0).1 != 0 || migrations.has_numbers();
        let mut has_outdated = is_old_outdated && self.upgrade_with(migrations)?;
        for y in SectionY::all().filter(|_| !migrations.is_empty()) {
            let blocks = self.get_in::<BlockSection>(y).ok().flatten();
            let from = blocks.map(BlockSection::migration_version);
            let Some(from) = from.filter(|from| migrations.migrate("", *from).1 != *from) else {
                continue;
            };
            if let Some(blocks) = self.holder_mut(y).get_mut::<BlockSection>()? {
                migrate_names(blocks, migrations);
                blocks.migration_version = migrations.migrate("", from).1;
                has_outdated = true;
            }
        }
        Ok(has_outdated)
    }
}

impl Holder {
    /// Returns the version of a component without decoding it; `None` if missing or malformed.
    pub(crate) fn stored_version<C: Component>(&self) -> Option<i32> {
        match self.decoded::<C>() {
            Some(component) => Some(component.version()),
            None => component::version(self.raw(C::ID)?).ok(),
        }
    }
}
