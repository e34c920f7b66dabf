//! [`Facts`]: what the tests of a selection ask about one chunk, read when it is first needed.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

use hyworld_chunk::{Chunk, ContainerOwner, Error, Result, SectionSummary, StoredCounts};
use hyworld_coords::{ChunkPos, LocalColumn};
use hyworld_providers::ChunkSize;

use super::condition::{Condition, Flag, Names, Number, Quantity};
use super::glob::Glob;
use super::truth::Truth;
use crate::contents::{Location, entity_names, items, placed_by, texts, uuid_text};
use crate::touched::{TouchedRules, touched_score};
use crate::verify::has_errors;

/// An entry in a chunk, such as a block or an item: all its names, and its count.
struct Named<'a> {
    names: Vec<Cow<'a, str>>,
    count: u64,
}

impl<'a> Named<'a> {
    fn one(names: Vec<Cow<'a, str>>) -> Self {
        Self { names, count: 1 }
    }
}

/// What is known about one chunk.
pub(super) struct Facts<'a> {
    pub(super) at: ChunkPos,
    /// `None` before the document is read, and if it cannot be decoded.
    pub(super) chunk: Option<&'a Chunk>,
    /// Whether the document was read but cannot be decoded.
    pub(super) is_unreadable: bool,
    pub(super) size: Option<ChunkSize>,
    pub(super) is_sealed: Option<bool>,
    pub(super) rules: &'a TouchedRules,
    pub(super) sections: OnceCell<Result<Vec<SectionSummary<'a>>>>,
    /// The first error that left a test undecided.
    pub(super) error: RefCell<Option<Error>>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(at: ChunkPos, rules: &'a TouchedRules) -> Self {
        Self {
            at,
            chunk: None,
            is_unreadable: false,
            size: None,
            is_sealed: None,
            rules,
            sections: OnceCell::new(),
            error: RefCell::new(None),
        }
    }

    /// Tests a condition; unknown if what it needs was not read or is malformed.
    pub(super) fn test(&self, condition: &Condition) -> Truth {
        let tested = match condition {
            Condition::Number { number: Number::Stored, compare } => {
                let size = self.size.map(|size| size.stored.unwrap_or(size.raw));
                return size.map_or(Truth::Unknown, |size| compare.test(signed(size)).into());
            }
            Condition::Number { number: Number::Raw, compare } => {
                let size = self.size.map(|size| size.raw);
                return size.map_or(Truth::Unknown, |size| compare.test(signed(size)).into());
            }
            Condition::Flag { flag: Flag::Sealed, is_wanted } => {
                let is_sealed = self.is_sealed;
                return is_sealed.map_or(Truth::Unknown, |sealed| (sealed == *is_wanted).into());
            }
            Condition::Flag { flag: Flag::Damaged, is_wanted } => {
                let is_damaged = match self.chunk {
                    Some(chunk) => has_errors(self.at, chunk.encode()),
                    None if self.is_unreadable => true,
                    None => return Truth::Unknown,
                };
                return (is_damaged == *is_wanted).into();
            }
            _ => self.chunk.map(|chunk| self.test_contents(chunk, condition)),
        };
        match tested {
            None => Truth::Unknown,
            Some(Ok(is_true)) => is_true.into(),
            Some(Err(error)) => {
                self.error.borrow_mut().get_or_insert(error);
                Truth::Unknown
            }
        }
    }

    fn test_contents(&self, chunk: &'a Chunk, condition: &Condition) -> Result<bool> {
        match condition {
            Condition::Names { names, quantity, globs } => {
                let all = self.named(chunk, *names)?;
                let occurs = |glob: &Glob| all.iter().any(|named| is_match(named, glob));
                Ok(match quantity {
                    Quantity::Any => globs.iter().any(occurs),
                    Quantity::None => !globs.iter().any(occurs),
                    Quantity::All => globs.iter().all(occurs),
                    Quantity::NotAll => !globs.iter().all(occurs),
                })
            }
            Condition::Count { names, glob, compare } => {
                let all = self.named(chunk, *names)?;
                let matching = all.iter().filter(|named| is_match(named, glob));
                let sum = matching.fold(0_u64, |sum, named| sum.saturating_add(named.count));
                Ok(compare.test(signed(sum)))
            }
            Condition::Number { number, compare } => Ok(compare.test(self.number(chunk, *number)?)),
            // Not reached: flags were tested above, without the document.
            Condition::Flag { .. } => Ok(false),
        }
    }

    fn sections(&self, chunk: &'a Chunk) -> Result<&[SectionSummary<'a>]> {
        let sections = self.sections.get_or_init(|| chunk.section_summaries());
        sections.as_deref().map_err(Clone::clone)
    }

    fn number(&self, chunk: &'a Chunk, number: Number) -> Result<i64> {
        let lowest = |values: Vec<i32>| i64::from(values.into_iter().min().unwrap_or_default());
        Ok(match number {
            Number::Entities => signed(chunk.entities()?.count() as u64),
            Number::BlockEntities => signed(chunk.block_entity_count()? as u64),
            Number::Version => {
                lowest(self.sections(chunk)?.iter().map(|section| section.version).collect())
            }
            Number::Migration => {
                let sections = self.sections(chunk)?.iter();
                lowest(sections.map(|section| section.migration_version).collect())
            }
            Number::Kinds => {
                let sections = self.sections(chunk)?.iter();
                let names = sections.flat_map(|section| section.blocks.iter());
                let kinds: BTreeSet<&str> = names.map(|(name, _)| &**name).collect();
                signed(kinds.into_iter().filter(|name| *name != "Empty").count() as u64)
            }
            Number::Changes => {
                self.sections(chunk)?.iter().map(|section| i64::from(section.changes)).sum()
            }
            Number::Height => {
                let columns = chunk.columns()?;
                let heights = LocalColumn::all().map(|column| columns.heights.value(column));
                heights.max().unwrap_or_default().into()
            }
            Number::Touched => touched_score(&self.rules.reasons(self.at, chunk)?).into(),
            // Not reached: sizes were tested without the document.
            Number::Stored | Number::Raw => 0,
        })
    }

    fn named(&self, chunk: &'a Chunk, names: Names) -> Result<Vec<Named<'_>>> {
        Ok(match names {
            Names::Component => components(chunk),
            Names::Block => self.cells(chunk, |section| &section.blocks)?,
            Names::Fluid => {
                let mut fluids = self.cells(chunk, |section| &section.fluids)?;
                // Cells without a fluid.
                fluids.retain(|named| !named.names.iter().any(|name| name == "Empty"));
                fluids
            }
            Names::Environment => {
                let names = chunk.environments()?.names_used();
                names.into_iter().map(|name| Named::one(vec![name.into()])).collect()
            }
            Names::Entity => {
                chunk.entities()?.map(|entity| Named::one(entity_names(entity))).collect()
            }
            Names::BlockEntity => block_entities(chunk)?,
            Names::Item => {
                let count = |count: i64| u64::try_from(count).unwrap_or_default();
                let found = items(chunk)?.into_iter();
                found
                    .map(|item| Named { names: vec![item.id.into()], count: count(item.count) })
                    .collect()
            }
            Names::Container => containers(chunk)?,
            Names::Text => all_texts(chunk)?,
            Names::PlacedBy => {
                let holders = chunk.block_entities()?.flat_map(|(_, holder)| placed_by(holder));
                holders.map(|uuid| Named::one(vec![uuid_text(uuid).into()])).collect()
            }
        })
    }

    fn cells(
        &self,
        chunk: &'a Chunk,
        of: impl for<'s> Fn(&'s SectionSummary<'a>) -> &'s StoredCounts<'a>,
    ) -> Result<Vec<Named<'_>>> {
        let sections = self.sections(chunk)?.iter();
        let mut all = Vec::new();
        for section in sections {
            for (name, count) in of(section) {
                all.push(Named { names: vec![name.clone()], count: (*count).into() });
            }
        }
        Ok(all)
    }
}

fn is_match(named: &Named<'_>, glob: &Glob) -> bool {
    named.names.iter().any(|name| glob.matches(name))
}

fn components(chunk: &Chunk) -> Vec<Named<'_>> {
    let sections = chunk.section_holders().iter();
    let holders = std::iter::once(chunk.holder()).chain(sections);
    holders.flat_map(|holder| holder.ids().map(|id| Named::one(vec![id.into()]))).collect()
}

fn block_entities(chunk: &Chunk) -> Result<Vec<Named<'_>>> {
    let mut all = Vec::new();
    for (at, holder) in chunk.block_entities()? {
        let mut names: Vec<Cow<'_, str>> = vec![chunk.block(at)?.name().into()];
        names.extend(holder.ids().map(Cow::Borrowed));
        all.push(Named::one(names));
    }
    Ok(all)
}

fn containers(chunk: &Chunk) -> Result<Vec<Named<'_>>> {
    let mut all = Vec::new();
    for container in chunk.containers()? {
        if let ContainerOwner::Block { at, .. } = container.owner {
            all.push(Named::one(vec![chunk.block(at)?.name().into()]));
        }
    }
    Ok(all)
}

fn all_texts(chunk: &Chunk) -> Result<Vec<Named<'_>>> {
    let blocks = chunk.block_entities()?.map(|(at, holder)| Location::Block(at, holder));
    let entities = chunk.entities()?.map(Location::Entity);
    let holders = blocks.chain(entities).map(Location::holder);
    Ok(holders.flat_map(texts).map(|text| Named::one(vec![text.into()])).collect())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
