//! Finds blocks, fluids, block entities, items, entities and texts in the chunks of a storage.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyworld_chunk::{AssetKey, Chunk, Entity, Error, Palette, Result, Section};
use hyworld_coords::{ChunkBlock, ChunkPos, LocalBlock, SectionY};
use hyworld_providers::{ChunkStorage, Positions};
use serde::Serialize;

use crate::contents::{FoundItem, Location, block_name, entity_id, entity_names, items, texts};
use crate::finding::{Class, Finding};
use crate::progress::Progress;
use crate::scan::{ScanOptions, Scanned, reuse_buffer, scan_positions};
use crate::select::Glob;

/// What to find. Patterns of the same kind are alternatives.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Blocks by name.
    pub blocks: Vec<Glob>,
    /// Fluids by name.
    pub fluids: Vec<Glob>,
    /// Block entities whose block, or one of whose components, has the name.
    pub block_entities: Vec<Glob>,
    /// Items by id: in containers, in entities and on the ground.
    pub items: Vec<Glob>,
    /// Entities by role, model, name or UUID.
    pub entities: Vec<Glob>,
    /// Texts of block entities and entities, such as those of signs.
    pub texts: Vec<Glob>,
}

/// The kind of something that was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// One cell of a block.
    Block,
    /// One cell of a fluid.
    Fluid,
    /// A block entity.
    BlockEntity,
    /// A stack of items.
    Item,
    /// An entity.
    Entity,
    /// A text.
    Text,
}

/// Something that was found. Serializes to a line of `hyworld find --json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Match {
    /// Its kind.
    pub kind: MatchKind,
    /// Its name, its id or the text.
    pub id: String,
    /// The x coordinate of its block; `None` if it has no position.
    pub x: Option<i64>,
    /// The height of its block.
    pub y: Option<i64>,
    /// The z coordinate of its block.
    pub z: Option<i64>,
    /// The number of items in a stack; 1 for everything else.
    pub count: i64,
    /// What contains it: the block of a container, an entity, `ground`, or `player NAME`.
    pub holder: Option<String>,
}

/// Consecutive cells of a section with the same name.
struct CellRun {
    kind: MatchKind,
    /// The index of its name in the list of names of the chunk.
    name: usize,
    y: SectionY,
    start: LocalBlock,
    len: u16,
}

/// The matches of one chunk. Cells are kept as runs: a chunk of stone has one for each section.
#[derive(Default)]
struct ChunkMatches {
    names: Vec<String>,
    runs: Vec<CellRun>,
    others: Vec<Match>,
}

/// Finds everything that is wanted in the chunks at `positions`, in their order. `matched` returns
/// whether to continue. `found` is called for chunks that cannot be read, and for chunks of newer
/// games whose blocks are wanted: only their entities and items are searched. Chunks whose palettes
/// have no wanted name are not decoded.
pub fn find(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    wanted: &Wanted,
    options: &ScanOptions,
    matched: &mut dyn FnMut(&Match) -> bool,
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) {
    let stop = Arc::new(AtomicBool::new(false));
    let options = options.clone().ordered(true).cancel(Arc::clone(&stop));
    let search = |at, document| search(at, document, wanted);
    let _ended = scan_positions(storage, positions, &options, search, |step| match step {
        Scanned::Unlisted(error) => found(&Finding::of_storage(&error)),
        Scanned::Chunk(at, result) => {
            progress.advance(1);
            let (of_chunk, unread) = match result {
                Ok((of_chunk, unread)) => (of_chunk, unread.map(Box::new)),
                Err(finding) => (ChunkMatches::default(), Some(finding)),
            };
            if !stop.load(Ordering::Relaxed) && !of_chunk.report(at, matched) {
                stop.store(true, Ordering::Relaxed);
            }
            if let Some(finding) = unread {
                found(&finding);
            }
        }
    });
}

/// Searches a chunk. Also returns a finding if a newer game wrote a part that was not searched.
fn search(
    at: ChunkPos,
    document: hyworld_providers::Result<Option<Vec<u8>>>,
    wanted: &Wanted,
) -> std::result::Result<(ChunkMatches, Option<Finding>), Box<Finding>> {
    let document = document.map_err(|error| Finding::of_chunk(at, &error))?;
    let Some(document) = document.filter(|document| !document.is_empty()) else {
        return Ok((ChunkMatches::default(), None));
    };
    let chunk = Chunk::decode(document).map_err(|error| Finding::at(Class::Document, at, error))?;
    let mut matches = ChunkMatches::default();
    let searched = matches.add_cells(&chunk, wanted).and_then(|newer| {
        matches.add_block_entities(at, &chunk, wanted)?;
        matches.add_items(at, &chunk, wanted)?;
        matches.add_entities(&chunk, wanted)?;
        matches.add_texts(at, &chunk, wanted)?;
        Ok(newer)
    });
    reuse_buffer(chunk.into_buffer());
    let finding = |error: Error| Finding::of_component(at, &error);
    let newer = searched.map_err(finding)?;
    Ok((matches, newer.map(finding)))
}

/// Returns what was found. If a newer game wrote it, stores the error in `newer` and returns
/// nothing.
fn known<T: Default>(found: Result<T>, newer: &mut Option<Error>) -> Result<T> {
    match found {
        Err(error) if error.newer_component().is_some() => {
            *newer = Some(error);
            Ok(T::default())
        }
        found => found,
    }
}

impl ChunkMatches {
    /// Adds blocks and fluids. Returns the reason if a newer game wrote some that are wanted.
    fn add_cells(&mut self, chunk: &Chunk, wanted: &Wanted) -> Result<Option<Error>> {
        let (mut blocks, mut fluids, mut newer) = (Vec::new(), Vec::new(), None);
        if !wanted.blocks.is_empty() {
            let found = chunk.sections_with_block(|name| any(&wanted.blocks, name));
            blocks = known(found, &mut newer)?;
        }
        if !wanted.fluids.is_empty() {
            let is_wanted = |name: &str| name != AssetKey::EMPTY_NAME && any(&wanted.fluids, name);
            fluids = known(chunk.sections_with_fluid(is_wanted), &mut newer)?;
        }
        for y in SectionY::all() {
            if let Some(section) = blocks.iter().find(|section| section.y() == y) {
                let cells = section.blocks()?.blocks();
                self.add_runs(MatchKind::Block, *section, cells, &wanted.blocks);
            }
            if let Some(section) = fluids.iter().find(|section| section.y() == y) {
                let cells = section.fluids()?.fluids();
                self.add_runs(MatchKind::Fluid, *section, cells, &wanted.fluids);
            }
        }
        Ok(newer)
    }

    fn add_runs(
        &mut self,
        kind: MatchKind,
        section: Section<'_>,
        cells: &Palette<AssetKey>,
        globs: &[Glob],
    ) {
        // Each name is compared with the patterns once for each section.
        let mut known: Vec<(&AssetKey, Option<usize>)> = Vec::new();
        for run in cells.runs() {
            let found = known.iter().find(|(key, _)| *key == run.key).map(|(_, name)| *name);
            let name = found.unwrap_or_else(|| {
                let is_wanted =
                    any(globs, run.key.as_str()) && !(kind == MatchKind::Fluid && run.key.is_air());
                let name = is_wanted.then(|| self.name(run.key.as_str()));
                known.push((run.key, name));
                name
            });
            if let Some(name) = name {
                let (y, start, len) = (section.y(), run.start, run.len);
                self.runs.push(CellRun { kind, name, y, start, len });
            }
        }
    }

    /// Returns the index of a name.
    fn name(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len().saturating_sub(1)
        })
    }

    fn add_block_entities(&mut self, at: ChunkPos, chunk: &Chunk, wanted: &Wanted) -> Result<()> {
        if wanted.block_entities.is_empty() {
            return Ok(());
        }
        for (block, holder) in chunk.block_entities()? {
            let name = block_name(chunk, block)?;
            let mut ids = std::iter::once(name.as_str()).chain(holder.ids());
            if ids.any(|id| any(&wanted.block_entities, id)) {
                self.others.push(at_block(MatchKind::BlockEntity, name.clone(), at, block));
            }
        }
        Ok(())
    }

    fn add_items(&mut self, at: ChunkPos, chunk: &Chunk, wanted: &Wanted) -> Result<()> {
        if wanted.items.is_empty() {
            return Ok(());
        }
        for FoundItem { id, count, location, role } in items(chunk)? {
            if !any(&wanted.items, &id) {
                continue;
            }
            let holder = match (location, role) {
                (Location::Block(block, _), _) => block_name(chunk, block)?,
                (Location::Entity(_), None) => "ground".to_owned(),
                (Location::Entity(entity), Some(_)) => entity_id(entity).into_owned(),
            };
            let found = located(MatchKind::Item, id, at, location);
            self.others.push(Match { count, holder: Some(holder), ..found });
        }
        Ok(())
    }

    fn add_entities(&mut self, chunk: &Chunk, wanted: &Wanted) -> Result<()> {
        if wanted.entities.is_empty() {
            return Ok(());
        }
        for entity in chunk.entities()? {
            if entity_names(entity).iter().any(|name| any(&wanted.entities, name)) {
                let id = entity_id(entity).into_owned();
                self.others.push(of_entity(MatchKind::Entity, id, entity));
            }
        }
        Ok(())
    }

    fn add_texts(&mut self, at: ChunkPos, chunk: &Chunk, wanted: &Wanted) -> Result<()> {
        if wanted.texts.is_empty() {
            return Ok(());
        }
        let blocks = chunk.block_entities()?.map(|(at, holder)| Location::Block(at, holder));
        for location in blocks.chain(chunk.entities()?.map(Location::Entity)) {
            for text in texts(location.holder()).into_iter().filter(|text| any(&wanted.texts, text))
            {
                let holder = match location {
                    Location::Block(block, _) => block_name(chunk, block)?,
                    Location::Entity(entity) => entity_id(entity).into_owned(),
                };
                let found = located(MatchKind::Text, text.to_owned(), at, location);
                self.others.push(Match { holder: Some(holder), ..found });
            }
        }
        Ok(())
    }

    /// Passes on every match. Returns whether to continue.
    fn report(self, at: ChunkPos, matched: &mut dyn FnMut(&Match) -> bool) -> bool {
        let mut found = match_without_position(MatchKind::Block, String::new());
        for run in self.runs {
            found.kind = run.kind;
            found.id.clone_from(self.names.get(run.name).unwrap_or(&String::new()));
            let cells = run.start.index()..run.start.index().saturating_add(run.len);
            for cell in cells.filter_map(LocalBlock::from_index) {
                set_block(&mut found, at, run.y.block(cell));
                if !matched(&found) {
                    return false;
                }
            }
        }
        self.others.iter().all(matched)
    }
}

fn any(globs: &[Glob], name: &str) -> bool {
    globs.iter().any(|glob| glob.matches(name))
}

fn match_without_position(kind: MatchKind, id: String) -> Match {
    Match { kind, id, x: None, y: None, z: None, count: 1, holder: None }
}

fn set_block(found: &mut Match, at: ChunkPos, block: ChunkBlock) {
    let axis = |chunk: i32, inside: u8| i64::from(chunk).saturating_mul(32) + i64::from(inside);
    found.x = Some(axis(at.x, block.x()));
    found.y = Some(block.y().into());
    found.z = Some(axis(at.z, block.z()));
}

fn at_block(kind: MatchKind, id: String, at: ChunkPos, block: ChunkBlock) -> Match {
    let mut found = match_without_position(kind, id);
    set_block(&mut found, at, block);
    found
}

fn located(kind: MatchKind, id: String, at: ChunkPos, location: Location<'_>) -> Match {
    match location {
        Location::Block(block, _) => at_block(kind, id, at, block),
        Location::Entity(entity) => of_entity(kind, id, entity),
    }
}

fn of_entity(kind: MatchKind, id: String, entity: Entity<'_>) -> Match {
    let [x, y, z] = match entity.position() {
        Some(position) => position.map(block_of),
        None => [None; 3],
    };
    Match { x, y, z, ..match_without_position(kind, id) }
}

/// Returns the block coordinate of a position, however large it is.
pub(crate) fn block_of(coordinate: f64) -> Option<i64> {
    /// All integers up to this one are exact.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let floor = coordinate.floor();
    #[expect(clippy::cast_possible_truncation, reason = "an integer that fits")]
    (floor.abs() <= EXACT_MAX).then_some(floor as i64)
}
