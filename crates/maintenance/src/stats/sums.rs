//! [`Sums`]: the counts of one thread.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use hyworld_chunk::{AssetKey, Chunk, Entity, Error, Palette, Result, SectionSummary};
use hyworld_coords::{ChunkPos, RegionPos, SectionY};

use super::environments::{cells_by_environment, count_environments};
use super::{BIGGEST, ChunkStats, Counts, HEIGHTS, LayerStats, RegionStats, Stats, StatsOptions};
use crate::contents::{Location, block_name, entity_id, items_in};
use crate::select::Glob;

/// The maximum number of names of one kind. The game has a few thousand; further ones are counted
/// together.
const NAMES_MAX: usize = 50_000;

/// The name under which further names are counted.
const OTHER: &str = "(other)";

/// Counts by name, with fast additions.
#[derive(Default)]
pub(super) struct Tally(HashMap<String, u64>);

impl Tally {
    pub(super) fn add(&mut self, name: &str, count: u64) {
        if let Some(sum) = self.0.get_mut(name) {
            *sum = sum.saturating_add(count);
        } else if self.0.len() < NAMES_MAX || name == OTHER {
            self.0.insert(name.to_owned(), count);
        } else {
            self.add(OTHER, count);
        }
    }

    fn merge(&mut self, other: Self) {
        for (name, count) in other.0 {
            self.add(&name, count);
        }
    }

    fn counts(self) -> Counts {
        self.0.into_iter().collect()
    }
}

/// The sums of what some chunks contain.
#[derive(Default)]
pub(super) struct Sums {
    chunks: u64,
    newer: u64,
    blocks: Tally,
    fluids: Tally,
    environments: Tally,
    entities: Tally,
    block_entities: Tally,
    items: Tally,
    layers: HashMap<String, Vec<u64>>,
    by_environment: HashMap<String, Tally>,
    regions: BTreeMap<RegionPos, RegionStats>,
    biggest: Vec<ChunkStats>,
}

impl Sums {
    /// Adds a chunk. Returns the reason if a newer game wrote its blocks, which are not counted
    /// then. If this fails, the parts counted before the error stay in the sums.
    pub(super) fn add(
        &mut self,
        chunk: &Chunk,
        wanted: &StatsOptions,
        size: ChunkStats,
    ) -> Result<Option<Error>> {
        let cells = chunk.section_summaries().and_then(|it| Ok((it, Some(chunk.environments()?))));
        let ((sections, environments), newer) = match cells {
            Ok(cells) => (cells, None),
            Err(error) if error.newer_component().is_some() => ((Vec::new(), None), Some(error)),
            Err(error) => return Err(error),
        };
        let entities: Vec<Entity<'_>> = chunk.entities()?.collect();
        let blocks = chunk.block_entities()?.map(|(at, holder)| Location::Block(at, holder));
        let blocks: Vec<Location<'_>> = blocks.collect();
        let of_entities = entities.iter().copied().map(Location::Entity);
        let found = items_in(blocks.iter().copied().chain(of_entities))?;
        for location in blocks {
            if let Location::Block(at, _) = location {
                self.block_entities.add(&block_name(chunk, at)?, 1);
            }
        }
        self.add_region(size, &sections, entities.len());
        self.add_size(size);
        for section in &sections {
            self.add_section(chunk, section, wanted)?;
        }
        for entity in entities {
            self.entities.add(&entity_id(entity), 1);
        }
        for item in found {
            self.items.add(&item.id, u64::try_from(item.count).unwrap_or_default());
        }
        if let Some(environments) = environments {
            count_environments(environments, &mut self.environments);
            if wanted.by_environment {
                cells_by_environment(chunk, environments, &mut self.by_environment)?;
            }
        }
        self.newer = self.newer.saturating_add(newer.is_some().into());
        Ok(newer)
    }

    fn add_region(&mut self, size: ChunkStats, sections: &[SectionSummary<'_>], entities: usize) {
        self.chunks = self.chunks.saturating_add(1);
        let region = ChunkPos::new(size.x, size.z).region();
        let of_region = self.regions.entry(region).or_insert_with(|| RegionStats::new(region));
        let blocks = sections.iter().flat_map(|section| &section.blocks);
        let blocks = blocks.filter(|(name, _)| name != AssetKey::EMPTY_NAME);
        of_region.add(&RegionStats {
            chunks: 1,
            stored: size.stored,
            raw: size.raw,
            blocks: blocks.map(|(_, count)| u64::from(*count)).sum(),
            entities: entities as u64,
            ..RegionStats::new(region)
        });
    }

    fn add_section(
        &mut self,
        chunk: &Chunk,
        section: &SectionSummary<'_>,
        wanted: &StatsOptions,
    ) -> Result<()> {
        let mut has_layers = false;
        for (name, count) in &section.blocks {
            self.blocks.add(name, (*count).into());
            has_layers |= wanted.layers.iter().any(|glob| glob.matches(name));
        }
        for (name, count) in &section.fluids {
            self.fluids.add(name, (*count).into());
        }
        if has_layers {
            let cells = chunk.section(section.y).blocks()?.blocks();
            self.add_layers(section.y, cells, &wanted.layers);
        }
        Ok(())
    }

    /// Counts the cells of wanted blocks for each height.
    fn add_layers(&mut self, y: SectionY, cells: &Palette<AssetKey>, globs: &[Glob]) {
        let bottom = usize::from(y.index()).saturating_mul(32);
        let mut last: Option<(&AssetKey, bool)> = None;
        for run in cells.runs() {
            let is_wanted = match last {
                Some((key, is_wanted)) if key == run.key => is_wanted,
                _ => globs.iter().any(|glob| glob.matches(run.key.as_str())),
            };
            last = Some((run.key, is_wanted));
            if !is_wanted {
                continue;
            }
            if !self.layers.contains_key(run.key.as_str()) && self.layers.len() < NAMES_MAX {
                self.layers.insert(run.key.as_str().to_owned(), vec![0; HEIGHTS]);
            }
            let Some(layers) = self.layers.get_mut(run.key.as_str()) else { continue };
            // A layer has 1,024 cells; a run can cover several.
            let (mut start, mut left) = (usize::from(run.start.index()), usize::from(run.len));
            while left > 0 {
                let part = left.min(1024 - start % 1024);
                if let Some(count) = layers.get_mut(bottom.saturating_add(start / 1024)) {
                    *count = count.saturating_add(part as u64);
                }
                (start, left) = (start.saturating_add(part), left.saturating_sub(part));
            }
        }
    }

    fn add_size(&mut self, size: ChunkStats) {
        let key = |size: &ChunkStats| Reverse((size.stored, size.raw, size.x, size.z));
        if self.biggest.len() < BIGGEST
            || self.biggest.last().is_some_and(|last| key(&size) < key(last))
        {
            let at = self.biggest.partition_point(|other| key(other) < key(&size));
            self.biggest.insert(at, size);
            self.biggest.truncate(BIGGEST);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.chunks = self.chunks.saturating_add(other.chunks);
        self.newer = self.newer.saturating_add(other.newer);
        self.blocks.merge(other.blocks);
        self.fluids.merge(other.fluids);
        self.environments.merge(other.environments);
        self.entities.merge(other.entities);
        self.block_entities.merge(other.block_entities);
        self.items.merge(other.items);
        for (name, theirs) in other.layers {
            let ours = self.layers.entry(name).or_insert_with(|| vec![0; HEIGHTS]);
            ours.iter_mut().zip(theirs).for_each(|(ours, more)| *ours = ours.saturating_add(more));
        }
        for (name, tally) in other.by_environment {
            self.by_environment.entry(name).or_default().merge(tally);
        }
        for (region, stats) in other.regions {
            self.regions.entry(region).or_insert_with(|| RegionStats::new(region)).add(&stats);
        }
        other.biggest.into_iter().for_each(|size| self.add_size(size));
    }

    pub(super) fn report(self, unreadable: u64) -> Stats {
        let (layers, with_blocks) = (self.layers, self.chunks.saturating_sub(self.newer));
        let layer = |(name, layers)| LayerStats::new(name, layers, with_blocks);
        let mut layers: Vec<LayerStats> = layers.into_iter().map(layer).collect();
        layers.sort_by(|a, b| (b.count, &a.name).cmp(&(a.count, &b.name)));
        let sum = |of: fn(&RegionStats) -> u64| {
            self.regions.values().map(of).fold(0, u64::saturating_add)
        };
        Stats {
            chunks: self.chunks,
            newer: self.newer,
            unreadable,
            stored: sum(|region| region.stored),
            raw: sum(|region| region.raw),
            blocks: self.blocks.counts(),
            fluids: self.fluids.counts(),
            environments: self.environments.counts(),
            entities: self.entities.counts(),
            block_entities: self.block_entities.counts(),
            items: self.items.counts(),
            layers,
            by_environment: self
                .by_environment
                .into_iter()
                .map(|(name, tally)| (name, tally.counts()))
                .collect(),
            regions: self.regions.into_values().collect(),
            biggest_chunks: self.biggest,
        }
    }
}
