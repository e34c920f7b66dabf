//! Anomalies of the fields of a column that can still be read.

use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;

use hyworld_coords::{ChunkBlock, ChunkPos, LocalColumn, MAX_Y, MIN_Y, SectionY};

use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::column_palette::{ColumnKey, ColumnPalette};
use crate::environment::EnvironmentChunk;
use crate::error::Result;

/// An anomaly of heights, tints, environments or block health that the game never writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ColumnAnomaly {
    /// Listed heights are outside of the world.
    Heights {
        /// The first of them.
        first: i16,
        /// Their number.
        count: usize,
    },
    /// Listed tints are neither opaque nor transparent.
    Tints {
        /// The first of them, as `0xAARRGGBB`.
        first: u32,
        /// Their number.
        count: usize,
    },
    /// Listed tints are transparent. Games before block sections of version 5 wrote such tints.
    TransparentTints {
        /// The first of them, as `0xAARRGGBB`.
        first: u32,
        /// Their number.
        count: usize,
    },
    /// A map lists a value twice, or no value at all.
    Keys {
        /// The name of the map: `heights` or `tints`.
        map: &'static str,
    },
    /// The flag for block physics is neither 0 nor 1.
    PhysicsFlag {
        /// The stored byte.
        found: u8,
    },
    /// Columns have air at their height.
    HeightInAir {
        /// The number of columns.
        columns: usize,
    },
    /// Sections are at different numbers of block migrations.
    Migrations,
    /// Columns have an environment that is not listed.
    UnlistedEnvironment {
        /// The id of one of them.
        id: i32,
        /// The number of columns.
        columns: usize,
    },
    /// The runs of environments of columns are not in order, or adjacent ones are equal.
    EnvironmentRuns {
        /// The number of columns.
        columns: usize,
    },
    /// An id or a name is listed twice.
    RepeatedEnvironment {
        /// The id.
        id: i32,
    },
    /// Entries of the block health are about blocks of other chunks.
    HealthElsewhere {
        /// The number of entries.
        entries: usize,
    },
    /// Entries of the block health have a health that is not from 0 to 1.
    HealthRange {
        /// The number of entries.
        entries: usize,
    },
}

impl BlockChunk {
    /// Returns all anomalies of the heights and tints.
    pub fn check(&self) -> Vec<ColumnAnomaly> {
        let mut anomalies = Vec::new();
        // A column without blocks has the height -1.
        let is_outside = |height: &i16| !(MIN_Y - 1..=MAX_Y).contains(&i32::from(*height));
        let mut outside = self.heights.keys().iter().copied().filter(is_outside);
        if let Some(first) = outside.next() {
            anomalies.push(ColumnAnomaly::Heights { first, count: 1 + outside.count() });
        }
        // Most palettes begin with a 0 that no column has.
        let odd = |has_alpha: fn(u32) -> bool| {
            let tints = self.tints.keys().iter().map(|tint| tint.cast_unsigned());
            let mut odd = tints.filter(|tint| *tint != 0 && has_alpha(tint >> 24));
            odd.next().map(|first| (first, odd.count().saturating_add(1)))
        };
        let tints = odd(|alpha| (1..0xFF).contains(&alpha));
        anomalies.extend(tints.map(|(first, count)| ColumnAnomaly::Tints { first, count }));
        let tints = odd(|alpha| alpha == 0);
        anomalies
            .extend(tints.map(|(first, count)| ColumnAnomaly::TransparentTints { first, count }));
        for (map, is_odd) in
            [("heights", has_odd_keys(&self.heights)), ("tints", has_odd_keys(&self.tints))]
        {
            anomalies.extend(is_odd.then_some(ColumnAnomaly::Keys { map }));
        }
        let found = self.physics_flag();
        anomalies.extend((found > 1).then_some(ColumnAnomaly::PhysicsFlag { found }));
        anomalies
    }
}

fn has_odd_keys<K: ColumnKey + Eq + Hash>(map: &ColumnPalette<K>) -> bool {
    let keys: HashSet<K> = map.keys().iter().copied().collect();
    keys.is_empty() || keys.len() < map.keys().len() || keys.len() > LocalColumn::all().len()
}

impl EnvironmentChunk {
    /// Returns all anomalies of the list and of the columns.
    pub fn check(&self) -> Vec<ColumnAnomaly> {
        let mut anomalies = Vec::new();
        let (mut ids, mut names) = (HashSet::new(), HashSet::new());
        for entry in self.list() {
            if !ids.insert(entry.id) | !names.insert(entry.name.as_str()) {
                anomalies.push(ColumnAnomaly::RepeatedEnvironment { id: entry.id });
            }
        }
        let (mut unlisted, mut disordered) = ((0, 0), 0_usize);
        for column in LocalColumn::all() {
            // The game uses 0 without listing it.
            let is_unlisted = |id: &i32| *id != 0 && !ids.contains(id);
            if let Some(id) = self.ids_of(column).find(is_unlisted) {
                unlisted = (id, unlisted.1 + 1_usize);
            }
            disordered += usize::from(!self.has_ordered_runs(column));
        }
        if let (id, columns @ 1..) = unlisted {
            anomalies.push(ColumnAnomaly::UnlistedEnvironment { id, columns });
        }
        if disordered > 0 {
            anomalies.push(ColumnAnomaly::EnvironmentRuns { columns: disordered });
        }
        anomalies
    }
}

impl BlockHealthChunk {
    /// Returns all anomalies of the block health of the chunk at `at`.
    pub fn check(&self, at: ChunkPos) -> Vec<ColumnAnomaly> {
        let damaged = self.damaged.iter().map(|block| block.pos);
        let positions = damaged.chain(self.fragile.iter().map(|block| block.pos));
        let elsewhere = positions.filter(|pos| pos.chunk() != at).count();
        let is_odd = |health: f32| !(0.0..=1.0).contains(&health);
        let range = self.damaged.iter().filter(|block| is_odd(block.health)).count();
        let found = [
            (elsewhere, ColumnAnomaly::HealthElsewhere { entries: elsewhere }),
            (range, ColumnAnomaly::HealthRange { entries: range }),
        ];
        found.into_iter().filter(|(count, _)| *count > 0).map(|(_, anomaly)| anomaly).collect()
    }
}

impl Chunk {
    /// Returns anomalies between the columns and the sections. Sections that cannot be decoded, and
    /// those of old versions, are left out.
    pub fn check_columns(&self) -> Vec<ColumnAnomaly> {
        let sections: Vec<Option<&BlockSection>> =
            SectionY::all().map(|y| self.get_in(y).ok().flatten()).collect();
        let current = || sections.iter().flatten().filter(|section| section.version() >= 6);
        let mut migrations = current().map(|section| section.migration_version());
        let first = migrations.next();
        let differs = migrations.any(|migration| Some(migration) != first);
        let in_air = self.heights_in_air(&sections).unwrap_or_default();
        let in_air = (in_air > 0).then_some(ColumnAnomaly::HeightInAir { columns: in_air });
        differs.then_some(ColumnAnomaly::Migrations).into_iter().chain(in_air).collect()
    }

    /// Counts the columns that have air at their height.
    fn heights_in_air(&self, sections: &[Option<&BlockSection>]) -> Result<usize> {
        let Some(columns) = self.get::<BlockChunk>()? else { return Ok(0) };
        let is_in_air = |column: &LocalColumn| {
            let height = u16::try_from(columns.heights.value(*column)).unwrap_or(0);
            let Some(cell) = ChunkBlock::new(column.x(), height, column.z()) else { return false };
            let section = sections.get(usize::from(cell.section().index())).copied().flatten();
            height > 0 && section.is_some_and(|section| section.block(cell.local()).is_air())
        };
        Ok(LocalColumn::all().filter(is_in_air).count())
    }
}

impl fmt::Display for ColumnAnomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heights { first, count } => {
                write!(f, "BlockChunk: heights outside of the world: {count}, such as {first}")
            }
            Self::Tints { first, count } | Self::TransparentTints { first, count } => {
                write!(f, "BlockChunk: tints that are not opaque: {count}, such as {first:#010x}")
            }
            Self::Keys { map } => {
                write!(f, "BlockChunk: the list of {map} is empty or has a value twice")
            }
            Self::PhysicsFlag { found } => {
                write!(f, "BlockChunk: the flag for physics is {found} instead of 0 or 1")
            }
            Self::HeightInAir { columns } => {
                write!(f, "BlockChunk: columns whose height is that of a cell of air: {columns}")
            }
            Self::Migrations => {
                f.write_str("the sections are at different numbers of block migrations")
            }
            Self::UnlistedEnvironment { id, columns } => write!(
                f,
                "EnvironmentChunk: columns with an environment that is not listed: {columns}, such \
                 as {id}"
            ),
            Self::EnvironmentRuns { columns } => {
                write!(f, "EnvironmentChunk: columns whose runs are not in order: {columns}")
            }
            Self::RepeatedEnvironment { id } => {
                write!(f, "EnvironmentChunk: environment {id} or its name is listed twice")
            }
            Self::HealthElsewhere { entries } => {
                write!(f, "BlockHealthChunk: entries about blocks of other chunks: {entries}")
            }
            Self::HealthRange { entries } => {
                write!(f, "BlockHealthChunk: entries with a health outside of 0 to 1: {entries}")
            }
        }
    }
}
