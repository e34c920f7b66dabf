//! The touched score: signs that a player changed a chunk. `docs/select.md` has the table.

use std::collections::{BTreeMap, BTreeSet};

use hyworld_chunk::{Chunk, ContainerOwner, Entity, Holder, ItemStack, Result, SectionSummary};
use hyworld_coords::{ChunkPos, ColumnPos};
use hyworld_providers::{ChunkStorage, Positions};
use serde::Serialize;

use crate::contents::placed_by;
use crate::finding::{Class, Finding};
use crate::progress::Progress;
use crate::scan::{ScanOptions, Scanned, scan, scan_positions};
use crate::select::{ChunkSet, Landmark, SelectContext};

/// The maximum number of block names that are remembered as natural. The game has a few thousand.
const NAMES_MAX: usize = 100_000;

/// The maximum number of block names that a reason lists.
const LISTED_MAX: usize = 3;

/// A sign that a player changed a chunk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Signal {
    /// A player's last position is in it.
    Player,
    /// A player's respawn point is in it.
    Respawn,
    /// It is listed as claimed.
    Claim,
    /// A container holds items, and no drop list explains them.
    Container,
    /// A player placed a block with state.
    PlacedBy,
    /// It has a block that players can respawn at.
    RespawnBlock,
    /// An entity has a name.
    NamedEntity,
    /// Its change counters are not 0.
    Changes,
    /// It has blocks that do not occur in any unchanged chunk.
    UnusualBlocks,
    /// An item lies on the ground.
    GroundItem,
    /// Its blocks went through another number of migrations than most chunks.
    Migration,
}

impl Signal {
    /// Returns how much it adds to the score. Changes add 1 more for each doubling.
    pub fn weight(self) -> u32 {
        match self {
            Self::Player | Self::Respawn | Self::Claim => 100,
            Self::Container | Self::PlacedBy => 50,
            Self::RespawnBlock | Self::NamedEntity => 30,
            Self::UnusualBlocks => 5,
            Self::GroundItem => 3,
            Self::Changes | Self::Migration => 1,
        }
    }
}

/// A reason for a score.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reason {
    /// The sign.
    pub signal: Signal,
    /// What it adds to the score.
    pub score: u32,
    /// What was found.
    pub text: String,
}

/// What the score of a chunk depends on besides the chunk.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TouchedRules {
    /// Chunks with the last position of a player.
    pub players: ChunkSet,
    /// Chunks with a respawn point.
    pub respawn: ChunkSet,
    /// Chunks that are claimed.
    pub claims: ChunkSet,
    /// The names of the blocks in unchanged chunks; empty if no such chunk was found.
    natural_blocks: BTreeSet<String>,
    /// The number of block migrations of most sections.
    migration: Option<i32>,
}

/// What is learned from one chunk about the whole world.
struct Survey {
    natural_blocks: Vec<String>,
    migrations: Vec<i32>,
}

impl TouchedRules {
    /// Returns the rules with the players and respawn points of a world. Chunks that do not belong
    /// to a world have none.
    pub fn of_world(context: &dyn SelectContext) -> Self {
        let chunks = |landmark: &Landmark| {
            let found = context.positions_of(landmark).unwrap_or_default().into_iter();
            let at = |(x, z)| ColumnPos::from_f64(x, z).map(ColumnPos::chunk);
            found.filter_map(at).collect()
        };
        let players = chunks(&Landmark::Players(None));
        Self { players, respawn: chunks(&Landmark::Respawn), ..Self::default() }
    }

    /// Learns from the palettes of all chunks which blocks are natural and which number of
    /// migrations is usual. Chunks that cannot be read are left out.
    pub fn learn(&mut self, storage: &dyn ChunkStorage, options: &ScanOptions) {
        let mut migrations: BTreeMap<i32, u64> = BTreeMap::new();
        let look = |_, document: hyworld_providers::Result<Option<Vec<u8>>>| {
            let document = document.ok().flatten().filter(|document| !document.is_empty())?;
            survey(&Chunk::decode(document).ok()?).ok()
        };
        let _ended = scan(storage, options, look, |step| {
            let Scanned::Chunk(_, Some(survey)) = step else { return };
            for number in survey.migrations {
                let count = migrations.entry(number).or_default();
                *count = count.saturating_add(1);
            }
            for name in survey.natural_blocks {
                if self.natural_blocks.len() < NAMES_MAX {
                    self.natural_blocks.insert(name);
                }
            }
        });
        let most = migrations.into_iter().max_by_key(|(_, count)| *count);
        self.migration = most.map(|(number, _)| number);
    }

    /// Returns the reasons for the score of a chunk, the strongest first. Empty if it is untouched.
    ///
    /// # Errors
    /// Returns an error if a component is malformed or a newer game wrote it.
    pub fn reasons(&self, at: ChunkPos, chunk: &Chunk) -> Result<Vec<Reason>> {
        let mut reasons = Vec::new();
        let mut add = |signal: Signal, text: String| {
            reasons.push(Reason { signal, score: signal.weight(), text });
        };
        for (set, signal, text) in [
            (&self.players, Signal::Player, "the last position of a player"),
            (&self.respawn, Signal::Respawn, "a respawn point"),
            (&self.claims, Signal::Claim, "claimed"),
        ] {
            if set.contains(at) {
                add(signal, text.to_owned());
            }
        }
        add_contents(chunk, &mut add)?;
        let sections = chunk.section_summaries()?;
        self.add_blocks(&sections, &mut add);
        reasons.extend(changes(&sections));
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.score));
        Ok(reasons)
    }

    fn add_blocks(&self, sections: &[SectionSummary<'_>], add: &mut dyn FnMut(Signal, String)) {
        let is_unusual = |name: &&str| !self.natural_blocks.contains(*name);
        let names: BTreeSet<&str> = sections
            .iter()
            .flat_map(|section| section.blocks.iter().map(|(name, _)| &**name))
            .filter(is_unusual)
            .collect();
        if !names.is_empty() && !self.natural_blocks.is_empty() {
            let listed: Vec<&str> = names.iter().copied().take(LISTED_MAX).collect();
            let more = names.len().saturating_sub(listed.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            add(Signal::UnusualBlocks, format!("unusual blocks: {}{more}", listed.join(", ")));
        }
        let other = sections.iter().map(|section| section.migration_version);
        let other = other.filter(|number| self.migration.is_some_and(|usual| usual != *number));
        if let Some(number) = other.max() {
            add(Signal::Migration, format!("blocks of migration {number}"));
        }
    }
}

/// Passes the reasons for the scores of chunks to `explain`, in the order of `positions`. `found`
/// is called for chunks that cannot be read.
pub fn explain_touched(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    rules: &TouchedRules,
    options: &ScanOptions,
    explain: &mut dyn FnMut(ChunkPos, &[Reason]),
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) {
    let options = options.clone().ordered(true);
    let look = |at, document: hyworld_providers::Result<Option<Vec<u8>>>| {
        let document = document.map_err(|error| Finding::of_chunk(at, &error))?;
        let Some(document) = document.filter(|document| !document.is_empty()) else {
            return Ok(Vec::new());
        };
        let chunk = Chunk::decode(document);
        let chunk = chunk.map_err(|error| Finding::at(Class::Document, at, error))?;
        let reasons = rules.reasons(at, &chunk);
        reasons.map_err(|error| Box::new(Finding::of_component(at, &error)))
    };
    let _ended = scan_positions(storage, positions, &options, look, |step| match step {
        Scanned::Unlisted(error) => found(&Finding::of_storage(&error)),
        Scanned::Chunk(at, reasons) => {
            progress.advance(1);
            match reasons {
                Ok(reasons) => explain(at, &reasons),
                Err(finding) => found(&finding),
            }
        }
    });
}

/// Returns the sum of a list of reasons.
pub fn touched_score(reasons: &[Reason]) -> u32 {
    reasons.iter().fold(0, |sum, reason| sum.saturating_add(reason.score))
}

/// Adds 1, and 1 for each doubling of the sum of the change counters.
fn changes(sections: &[SectionSummary<'_>]) -> Option<Reason> {
    let changed = sections.iter().filter(|section| section.changes > 0).count();
    let sum = sections.iter().map(|section| u32::from(section.changes)).sum::<u32>();
    let doublings = sum.checked_ilog2()?;
    let text = format!(
        "{} in {}",
        counted(sum.into(), "change", "changes"),
        counted(changed as u64, "section", "sections")
    );
    let score = Signal::Changes.weight().saturating_add(doublings);
    Some(Reason { signal: Signal::Changes, score, text })
}

fn survey(chunk: &Chunk) -> Result<Survey> {
    let sections = chunk.section_summaries()?;
    let is_changed = sections.iter().any(|section| section.changes > 0);
    let natural = sections.iter().filter(|_| !is_changed);
    let mut natural_blocks: Vec<String> = natural
        .flat_map(|section| section.blocks.iter().map(|(name, _)| name.to_string()))
        .collect();
    natural_blocks.sort_unstable();
    natural_blocks.dedup();
    let migrations = sections.iter().map(|section| section.migration_version).collect();
    Ok(Survey { natural_blocks, migrations })
}

/// Adds the signals of block entities and entities.
fn add_contents(chunk: &Chunk, add: &mut dyn FnMut(Signal, String)) -> Result<()> {
    let filled = chunk.containers()?.into_iter().filter(|container| {
        let ContainerOwner::Block { holder, .. } = container.owner else { return false };
        !container.items.is_empty() && !has_drop_list(holder)
    });
    let (filled, mut placed, mut respawn) = (filled.count(), 0_u64, 0_u64);
    for (_, holder) in chunk.block_entities()? {
        placed = placed.saturating_add(u64::from(placed_by(holder).next().is_some()));
        respawn = respawn.saturating_add(u64::from(holder.contains("RespawnBlock")));
    }
    let (mut named, mut dropped) = (Vec::new(), 0_u64);
    for entity in chunk.entities()? {
        named.extend(given_name(entity));
        dropped = dropped.saturating_add(u64::from(ItemStack::of_dropped(entity.0)?.is_some()));
    }
    if filled > 0 {
        add(
            Signal::Container,
            format!(
                "{} with items and without a drop list",
                counted(filled as u64, "container", "containers")
            ),
        );
    }
    if placed > 0 {
        add(
            Signal::PlacedBy,
            format!("{} placed by players", counted(placed, "block entity", "block entities")),
        );
    }
    if respawn > 0 {
        add(Signal::RespawnBlock, format!("{} to respawn at", counted(respawn, "block", "blocks")));
    }
    if let Some(name) = named.first() {
        add(
            Signal::NamedEntity,
            format!(
                "{}, such as {name}",
                counted(named.len() as u64, "named entity", "named entities")
            ),
        );
    }
    if dropped > 0 {
        add(Signal::GroundItem, format!("{} on the ground", counted(dropped, "item", "items")));
    }
    Ok(())
}

/// Returns a number with its noun.
fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Returns whether a container of a block names the list that its items are drawn from.
fn has_drop_list(holder: &Holder) -> bool {
    let components = ["ItemContainerBlock", "container"].into_iter();
    let mut lists = components.filter_map(|id| holder.raw(id)?.get("Droplist").ok().flatten());
    lists.any(|list| list.as_str().is_some_and(|name| !name.is_empty()))
}

/// Returns the name that a player gave an entity. Spawn markers show what they spawn as a name.
fn given_name(entity: Entity<'_>) -> Option<String> {
    if entity.spawn_marker().is_some() {
        return None;
    }
    let name = entity.display_name().or_else(|| entity.nameplate())?;
    let is_given = !name.is_empty() && entity.role_name() != Some(name);
    is_given.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ChunkBlock;
    use hyworld_providers::MemoryStorage;

    fn natural() -> Chunk {
        let mut chunk = Chunk::new();
        for y in 0..4 {
            chunk.set_block(ChunkBlock::new(1, y, 1).unwrap(), "Rock_Stone").unwrap();
        }
        for y in hyworld_coords::SectionY::all() {
            let mut section = chunk.section(y).blocks().unwrap().clone();
            section.local_change_counter = 0;
            chunk.put_in(y, &section).unwrap();
        }
        Chunk::decode(chunk.encode()).unwrap()
    }

    #[test]
    fn an_untouched_chunk_has_no_reasons() {
        let storage = MemoryStorage::new();
        let at = ChunkPos::new(3, 3);
        storage.write(at, &natural().encode()).unwrap();
        let mut rules = TouchedRules::default();
        rules.learn(&storage, &ScanOptions::new());
        assert_eq!(rules.reasons(at, &natural()).unwrap(), []);
        rules.players.insert(at);
        let reasons = rules.reasons(at, &natural()).unwrap();
        assert_eq!((touched_score(&reasons), reasons[0].signal), (100, Signal::Player));
        rules.players.remove(at);
        let mut changed = natural();
        changed.set_block(ChunkBlock::new(9, 9, 9).unwrap(), "Furniture_Chair").unwrap();
        changed.set_block(ChunkBlock::new(9, 9, 8).unwrap(), "Rock_Stone").unwrap();
        let reasons = rules.reasons(at, &changed).unwrap();
        let texts: Vec<&str> = reasons.iter().map(|reason| reason.text.as_str()).collect();
        assert_eq!(texts, ["unusual blocks: Furniture_Chair", "2 changes in 1 section"]);
        assert_eq!(touched_score(&reasons), 5 + 2);
    }
}
