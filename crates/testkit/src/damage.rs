//! Damage to worlds, made by code: one kind at a time, each with the finding that a check must
//! report for it and nothing else.
//!
//! The table is shared by the tests of `verify` and of `repair`. Everything here is written from
//! the descriptions of the formats and uses none of the crates under test.

mod bson;
mod components;
mod container;
mod cross;
mod documents;
mod files;
mod region;
mod section;
mod world;

use std::fmt;
use std::path::{Path, PathBuf};

pub use bson::{Bson, Fields};
pub use region::RegionBytes;
pub use section::{BlockData, LightField, PaletteField};
pub use world::{copy_folder, edit_any_chunk};

/// The location of the damage, as a finding must report it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DamageLocation {
    /// The file. `None` if the finding is about the world as a whole.
    pub file: Option<PathBuf>,
    /// The position of the chunk.
    pub chunk: Option<(i32, i32)>,
    /// The slot of the region file.
    pub slot: Option<u32>,
    /// The byte offset in the file. `None` if the damage has no exact offset.
    pub offset: Option<u64>,
}

impl DamageLocation {
    /// Returns the location of a whole file.
    pub(crate) fn file(path: &Path) -> Self {
        Self { file: Some(path.to_owned()), ..Self::default() }
    }
}

/// The expected severity of the finding, as it is named in reports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// Data is lost, or the game refuses it.
    Error,
    /// The game does not write this, but can read it.
    Warning,
    /// Worth knowing; healthy worlds have it too.
    Note,
}

impl Level {
    /// Returns the name of the level in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The part of a world that is damaged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// A region file: header, index table, lengths, frames, seals.
    Container,
    /// The BSON of a chunk.
    Document,
    /// A component of a chunk.
    Component,
    /// Chunks, entities and blocks that contradict each other.
    Cross,
    /// The other files of a world: configuration, resources, players, backups.
    File,
}

/// One kind of damage.
#[derive(Clone, Copy)]
pub struct Damage {
    /// A name for test output.
    pub name: &'static str,
    /// What it changes.
    pub part: Part,
    /// The class of the finding.
    pub class: &'static str,
    /// The level of the finding.
    pub level: Level,
    apply: fn(&Path) -> Option<DamageLocation>,
}

impl Damage {
    /// Damages the world in a folder `<save>/universe/worlds/<name>`, which must be a copy: some
    /// kinds of damage change other files of the save. Returns the location, or `None` if the world
    /// has nothing that this damage could change.
    ///
    /// # Panics
    /// Panics if a file cannot be read or written.
    pub fn apply(&self, world: &Path) -> Option<DamageLocation> {
        (self.apply)(world)
    }
}

impl fmt::Debug for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns every kind of damage.
pub fn all() -> Vec<Damage> {
    let parts: [&[Row]; 5] =
        [container::ROWS, documents::ROWS, components::ROWS, cross::ROWS, files::ROWS];
    let kinds = [Part::Container, Part::Document, Part::Component, Part::Cross, Part::File];
    let rows = parts.into_iter().zip(kinds);
    let damage =
        |part, &(name, class, level, apply): &Row| Damage { name, part, class, level, apply };
    rows.flat_map(|(rows, part)| rows.iter().map(move |row| damage(part, row))).collect()
}

/// A row of the table: name, class, level and the function that does the damage.
type Row = (&'static str, &'static str, Level, fn(&Path) -> Option<DamageLocation>);
