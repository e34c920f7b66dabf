//! [`Condition`]: a test of the contents of a chunk.

use super::compare::Compare;
use super::glob::Glob;

/// What must be read for a test, cheapest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cost {
    /// The position of the chunk.
    Position,
    /// The index of its storage.
    Index,
    /// Its document, without decoding components.
    Document,
    /// The palettes of its sections, without cells.
    Palettes,
    /// Its entities and block entities.
    Decoded,
    /// All of it.
    Complete,
}

impl Cost {
    /// What tests that read the document of a chunk may cost, cheapest first.
    pub(super) const OF_DOCUMENTS: [Self; 4] =
        [Self::Document, Self::Palettes, Self::Decoded, Self::Complete];
}

/// Names that occur in a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Names {
    /// Ids of the components of the chunk and its sections.
    Component,
    Block,
    Fluid,
    Environment,
    /// Roles, models, names and UUIDs of entities, and ids of items on the ground.
    Entity,
    /// Blocks with a block entity, and ids of its components.
    BlockEntity,
    /// Ids of items in containers, in entities and on the ground.
    Item,
    /// Blocks with a container.
    Container,
    /// Texts in block entities and entities.
    Text,
    /// UUIDs of players that placed blocks.
    PlacedBy,
}

/// Numbers of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// Its stored size in bytes.
    Stored,
    /// The size of its document in bytes.
    Raw,
    Entities,
    BlockEntities,
    /// The lowest version of its sections.
    Version,
    /// The lowest number of block migrations that its sections have gone through.
    Migration,
    /// The number of different blocks, without air.
    Kinds,
    /// The sum of the change counters of its sections.
    Changes,
    /// The height of the highest column.
    Height,
    /// The touched score.
    Touched,
}

/// Properties that a chunk has or does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flag {
    Sealed,
    Damaged,
}

/// How many of several patterns must match a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    Any,
    All,
    None,
    NotAll,
}

/// A test of the contents of a chunk.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Condition {
    Names {
        names: Names,
        quantity: Quantity,
        globs: Vec<Glob>,
    },
    /// The number of cells, items or entities with a name.
    Count {
        names: Names,
        glob: Glob,
        compare: Compare,
    },
    Number {
        number: Number,
        compare: Compare,
    },
    Flag {
        flag: Flag,
        is_wanted: bool,
    },
}

impl Condition {
    /// Returns what must be read.
    pub(super) fn cost(&self) -> Cost {
        match self {
            Self::Names { names, .. } | Self::Count { names, .. } => names.cost(),
            Self::Number { number, .. } => number.cost(),
            Self::Flag { flag, .. } => flag.cost(),
        }
    }
}
