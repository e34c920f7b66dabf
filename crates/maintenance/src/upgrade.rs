//! Upgrading chunks to the current format.

use std::collections::BTreeMap;

use hyworld_chunk::{BlockMigrations, BlockSection, Chunk};
use hyworld_coords::{ChunkPos, SectionY};
use hyworld_providers::{ChunkStorage, Positions};

use crate::finding::{Class, Finding, Findings};
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions, Scanned, scan_positions};

/// The maximum number of renamed blocks that a plan lists.
const RENAMES_MAX: usize = 1000;

/// The changes of an upgrade.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UpgradePlan {
    /// Chunks that were checked.
    pub chunks: u64,
    /// Chunks in an old format, which will be rewritten.
    pub behind: Vec<ChunkPos>,
    /// Chunks with sections of an old version.
    pub old_versions: u64,
    /// The first 1,000 renamed blocks: old name, new name, and number of chunks.
    pub renames: BTreeMap<(String, String), u64>,
    /// Chunks that cannot be read, decoded or upgraded. They are left unchanged.
    pub findings: Findings,
    /// Whether every chunk was checked.
    pub completion: Completion,
}

/// Upgrades the document of a chunk: old block ids and names become current names, and old sections
/// get the newest version. Returns `None` if nothing changes, and for chunks of newer games.
///
/// # Errors
/// Returns an error if a part of the chunk that must be changed is malformed.
pub fn upgrade_document(
    document: Vec<u8>,
    migrations: &BlockMigrations,
) -> hyworld_chunk::Result<Option<Vec<u8>>> {
    let chunk = Chunk::decode(document)?;
    Ok(upgraded(&chunk, migrations)?.map(|upgraded| upgraded.encode()))
}

fn upgraded(chunk: &Chunk, migrations: &BlockMigrations) -> hyworld_chunk::Result<Option<Chunk>> {
    // Its other parts are in a format that is not known, and the game upgrades it by itself.
    if chunk.is_from_newer_game() {
        return Ok(None);
    }
    let mut new = chunk.clone();
    // Names first, as in the game: an old name may contain a rotation.
    let is_migrated = new.migrate(migrations)?;
    let is_upgraded = new.upgrade()?;
    // Sections that cannot be converted stay unchanged.
    Ok(((is_migrated || is_upgraded) && new != *chunk).then_some(new))
}

/// Finds the chunks that an upgrade would change. Nothing is written.
pub fn plan_upgrade(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    migrations: &BlockMigrations,
    options: &ScanOptions,
    progress: &dyn Progress,
) -> UpgradePlan {
    let mut plan = UpgradePlan::default();
    let options = options.clone().ordered(true);
    let check = |_, document: hyworld_providers::Result<Option<Vec<u8>>>| {
        let document = document.map_err(|error| (Class::Unreadable, error.to_string()))?;
        let Some(document) = document.filter(|document| !document.is_empty()) else {
            return Ok(None);
        };
        check_document(document, migrations).map_err(|error| (Class::Document, error.to_string()))
    };
    let completion = scan_positions(storage, positions, &options, check, |step| match step {
        Scanned::Chunk(at, result) => {
            progress.advance(1);
            plan.chunks = plan.chunks.saturating_add(1);
            match result {
                Ok(Some(found)) => plan.add(at, found),
                Ok(None) => {}
                Err((class, reason)) => plan.findings.add(Finding::at(class, at, reason)),
            }
        }
        Scanned::Unlisted(error) => plan.findings.add(Finding::new(Class::Storage, error)),
    });
    UpgradePlan { completion, ..plan }
}

/// The changes in one chunk.
struct Changes {
    is_old: bool,
    renames: BTreeMap<String, String>,
}

impl UpgradePlan {
    fn add(&mut self, at: ChunkPos, found: Changes) {
        self.behind.push(at);
        self.old_versions = self.old_versions.saturating_add(found.is_old.into());
        for rename in found.renames {
            if self.renames.len() < RENAMES_MAX || self.renames.contains_key(&rename) {
                let chunks = self.renames.entry(rename).or_default();
                *chunks = chunks.saturating_add(1);
            }
        }
    }
}

fn check_document(
    document: Vec<u8>,
    migrations: &BlockMigrations,
) -> hyworld_chunk::Result<Option<Changes>> {
    let chunk = Chunk::decode(document)?;
    if upgraded(&chunk, migrations)?.is_none() {
        return Ok(None);
    }
    let mut renames = BTreeMap::new();
    for y in SectionY::all() {
        let Ok(Some(blocks)) = chunk.get_in::<BlockSection>(y) else { continue };
        let (version, from) = (blocks.version(), blocks.migration_version());
        for (key, _) in blocks.blocks().stored_counts() {
            let new = migrations.current_key(key.as_str(), version, from);
            if new != key.as_str() && renames.len() < RENAMES_MAX {
                renames.insert(key.as_str().to_owned(), new.to_owned());
            }
        }
    }
    let is_old = chunk.clone().upgrade()?;
    Ok(Some(Changes { is_old, renames }))
}

#[cfg(test)]
mod tests {
    use hyworld_chunk::{BlockChunk, InlineSections};
    use hyworld_indexed_storage::{MemoryFile, OpenOptions};
    use hyworld_testkit::{fixture, game_0_7_chunk};

    use super::*;

    /// The chunks of the fixture of old versions, from game code.
    fn old_chunks() -> Vec<Chunk> {
        let bytes = fixture("original/chunks/synthetic_old_versions.region.bin");
        let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "old").unwrap();
        let read = |slot| Chunk::decode(file.read(slot).unwrap().unwrap()).unwrap();
        file.occupied().into_iter().map(read).collect()
    }

    /// Returns the sections of an old version.
    fn old_sections(chunk: &Chunk) -> Vec<SectionY> {
        let version = |y| Some(chunk.get_in::<BlockSection>(y).ok()??.version());
        SectionY::all().filter(|y| version(*y).is_some_and(|version| version < 6)).collect()
    }

    #[test]
    fn a_chunk_of_a_newer_game_with_an_old_section_is_left_as_it_is() {
        let old = old_chunks().into_iter().find(|chunk| !old_sections(chunk).is_empty()).unwrap();
        let section = old.section_holder(old_sections(&old)[0]).unwrap().raw("Block").unwrap();
        let mut chunk = Chunk::decode(game_0_7_chunk()).unwrap();
        chunk.section_mut(SectionY::TOP).set_raw("Block", section.as_bytes()).unwrap();
        let document = chunk.encode();
        let migrations = BlockMigrations::default();
        assert_eq!(upgrade_document(document.clone(), &migrations), Ok(None));
        assert!(check_document(document, &migrations).unwrap().is_none());
    }

    #[test]
    fn upgraded_sections_have_the_usual_components_in_the_order_of_the_game() {
        let mut upgraded = 0;
        for mut chunk in old_chunks() {
            let columns = chunk.get::<BlockChunk>().unwrap().unwrap();
            let inline = columns.inline_sections().map_or(0, InlineSections::count);
            let mut sections = old_sections(&chunk);
            sections.extend(SectionY::all().take(inline));
            for y in &sections {
                chunk.section_mut(*y).remove("ChunkSection");
                chunk.section_mut(*y).remove("Fluid");
                chunk.section_mut(*y).remove("BlockPhysics");
            }
            let document = upgrade_document(chunk.encode(), &BlockMigrations::default());
            let Some(document) = document.unwrap() else { continue };
            let chunk = Chunk::decode(document).unwrap();
            for y in sections {
                let ids: Vec<_> = chunk.section_holder(y).unwrap().ids().collect();
                let without_physics = ["Fluid", "ChunkSection", "Block"];
                let with_physics = ["ChunkSection", "BlockPhysics", "Fluid", "Block"];
                assert!(ids == without_physics || ids == with_physics, "{y:?}: {ids:?}");
                upgraded += 1;
            }
        }
        assert_eq!(upgraded, 9);
    }
}
