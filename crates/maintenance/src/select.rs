//! The selection language: which chunks of a world a verb works on. `docs/select.md` describes it.
//!
//! A [`Selection`] is parsed from a text and evaluated in steps, cheapest first: by region, by
//! chunk position, by the index of the storage, by the palettes of a chunk, and by its contents.
//! Each step may leave the result unknown; then the next one decides.

mod area;
mod area_text;
mod chunk_set;
mod compare;
mod condition;
mod error;
mod facts;
mod glob;
mod keys;
mod lists;
mod parse;
mod polygon;
mod run;
mod test_text;
#[cfg(test)]
mod tests;
mod truth;

use std::fmt;

use hyworld_coords::{ChunkPos, RegionPos};

use area::{Area, Window};
use condition::{Condition, Number};

use crate::touched::TouchedRules;

pub use chunk_set::ChunkSet;
pub use condition::Cost;
pub use error::SelectError;
pub use glob::Glob;
pub use run::select;
pub use truth::Truth;

/// The maximum length of the text of a selection. Longer lists belong in files.
const TEXT_BYTES_MAX: usize = 1 << 16;

/// The maximum distance from a border: 33 x 33 chunks are looked up for each chunk.
const BORDER_MAX: u32 = 16;

/// Something with a position in a world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Landmark {
    /// The spawn point.
    Spawn,
    /// The last position of each player, or of the player with this name or UUID.
    Players(Option<String>),
    /// The respawn points of all players.
    Respawn,
    /// The map markers whose name matches.
    Markers(Glob),
}

/// What the text of a selection refers to: files, and positions that the world stores.
pub trait SelectContext {
    /// Reads a file that the text names.
    ///
    /// # Errors
    /// Returns the reason, without the path.
    fn read_file(&self, path: &str) -> Result<String, String>;

    /// Returns the x and z coordinates of all matching landmarks, in blocks.
    ///
    /// # Errors
    /// Returns the reason if the world does not store them.
    fn positions_of(&self, landmark: &Landmark) -> Result<Vec<(f64, f64)>, String>;
}

/// A choice of chunks, by position and by contents.
///
/// ```
/// use hyworld_coords::{ChunkPos, RegionPos};
/// use hyworld_maintenance::{NoContext, Selection, Truth};
///
/// let near = Selection::parse("circle:chunk:0,0:10 AND NOT x < 0", &NoContext)?;
/// assert_eq!(near.test_position(ChunkPos::new(3, 4), None), Truth::Yes);
/// assert_eq!(near.test_region(RegionPos::new(5, 5)), Truth::No);
/// assert!(near.is_by_position());
///
/// let error = Selection::parse("x > 3 AND blok = Rock_Stone", &NoContext).unwrap_err();
/// assert_eq!(error.reason(), "unknown test `blok`; did you mean `block`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    text: String,
    root: Node,
    /// What the touched score depends on, if it is tested.
    rules: TouchedRules,
}

/// A part of a selection.
#[derive(Clone, PartialEq, Debug)]
enum Node {
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Area(Area),
    Test(Condition),
}

impl Selection {
    /// Parses a text. Files and landmarks that it names are looked up at once.
    ///
    /// # Errors
    /// Returns an error that points to the part of the text that is wrong.
    pub fn parse(text: &str, context: &dyn SelectContext) -> Result<Self, SelectError> {
        let root = parse::parse(text, context)?;
        let mut selection =
            Self { text: text.trim().to_owned(), root, rules: TouchedRules::default() };
        if selection.needs_survey() {
            selection.rules = TouchedRules::of_world(context);
        }
        Ok(selection)
    }

    /// Returns the selection of the chunks in a set.
    pub fn of_chunks(chunks: ChunkSet) -> Self {
        let root = Node::Area(Area::List { chunks, is_inverted: false });
        Self { text: "a list of chunks".to_owned(), root, rules: TouchedRules::default() }
    }

    /// Returns whether the touched score is tested, which requires reading all chunks first.
    pub fn needs_survey(&self) -> bool {
        self.root.any(&|node| {
            matches!(node, Node::Test(Condition::Number { number: Number::Touched, .. }))
        })
    }

    /// Returns whether a test needs the index of the storage.
    fn uses_index(&self) -> bool {
        self.root.any(&|node| matches!(node, Node::Test(test) if test.cost() == Cost::Index))
    }

    /// Returns what must be read to decide about every chunk.
    pub fn cost(&self) -> Cost {
        self.root.cost()
    }

    /// Returns whether positions decide about every chunk.
    pub fn is_by_position(&self) -> bool {
        self.cost() == Cost::Position
    }

    /// Returns whether [`test_position`](Self::test_position) needs the set of all stored chunks.
    pub fn needs_stored(&self) -> bool {
        self.root.any(&|node| matches!(node, Node::Area(area) if area.needs_stored()))
    }

    /// Returns whether all or none of the chunks of a region are selected.
    pub fn test_region(&self, region: RegionPos) -> Truth {
        self.root.test_area(Window::of_region(region), None)
    }

    /// Returns whether a chunk is selected, as far as its position decides it. `stored` are all
    /// stored chunks; without them, borders are unknown.
    pub fn test_position(&self, at: ChunkPos, stored: Option<&ChunkSet>) -> Truth {
        self.root.test_area(Window::of_chunk(at), stored)
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Node {
    fn cost(&self) -> Cost {
        match self {
            Self::And(nodes) | Self::Or(nodes) => {
                nodes.iter().map(Self::cost).max().unwrap_or(Cost::Position)
            }
            Self::Not(node) => node.cost(),
            Self::Area(_) => Cost::Position,
            Self::Test(condition) => condition.cost(),
        }
    }

    fn any(&self, is_wanted: &dyn Fn(&Self) -> bool) -> bool {
        is_wanted(self)
            || match self {
                Self::And(nodes) | Self::Or(nodes) => nodes.iter().any(|node| node.any(is_wanted)),
                Self::Not(node) => node.any(is_wanted),
                Self::Area(_) | Self::Test(_) => false,
            }
    }

    fn test_area(&self, window: Window, stored: Option<&ChunkSet>) -> Truth {
        self.test(&|node| match node {
            Self::Area(area) => area.test(window, stored),
            _ => Truth::Unknown,
        })
    }

    /// Combines the results of `leaf` for areas and tests.
    fn test(&self, leaf: &dyn Fn(&Self) -> Truth) -> Truth {
        match self {
            Self::And(nodes) => Truth::all(nodes.iter().map(|node| node.test(leaf))),
            Self::Or(nodes) => Truth::any(nodes.iter().map(|node| node.test(leaf))),
            Self::Not(node) => node.test(leaf).negated(),
            Self::Area(_) | Self::Test(_) => leaf(self),
        }
    }
}

/// A context without files and landmarks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoContext;

impl SelectContext for NoContext {
    fn read_file(&self, _path: &str) -> Result<String, String> {
        Err("files cannot be read here".to_owned())
    }

    fn positions_of(&self, _landmark: &Landmark) -> Result<Vec<(f64, f64)>, String> {
        Err("the positions of a world are not known here".to_owned())
    }
}
