//! What a check found.

use std::fmt;

use hyworld_coords::ChunkPos;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// The game would not have written it, but reads it.
    Warning,
    /// Something is lost, or the game would refuse it.
    Error,
}

/// What kind of thing is wrong. New kinds come with new checks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Class {
    /// A part of the storage cannot be opened or listed; the chunks in it are not known.
    Storage,
    /// What is stored for a chunk cannot be read.
    Unreadable,
    /// The document of a chunk is malformed.
    Document,
    /// A component of a chunk cannot be decoded.
    Component,
    /// A newer game wrote a component; it is kept, but not understood.
    Newer,
    /// A component that the game needs is not there.
    Missing,
    /// Something that the game would not have written. It is read all the same.
    Anomaly,
    /// A chunk that does not come back from its decoded form as it was: a fault of ours.
    Roundtrip,
}

impl Class {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Unreadable => "unreadable",
            Self::Document => "document",
            Self::Component => "component",
            Self::Newer => "newer",
            Self::Missing => "missing",
            Self::Anomaly => "anomaly",
            Self::Roundtrip => "roundtrip",
        }
    }

    /// How bad it is.
    pub fn level(self) -> Level {
        match self {
            Self::Newer | Self::Anomaly => Level::Warning,
            _ => Level::Error,
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Storage => "look at it with `hyworld region verify`, or restore it from a backup",
            Self::Unreadable => {
                "an older copy may be found with `hyworld region salvage`, or in a backup"
            }
            Self::Document | Self::Component => {
                "the game would not load it; `hyworld region salvage` may find an older copy"
            }
            Self::Newer => "use a newer hyworld; nothing is lost as long as it is not changed",
            Self::Missing => "the game would not load it; restore it from a backup",
            Self::Anomaly => "nothing need be done; the game reads it",
            Self::Roundtrip => "please report it; do not edit this chunk with hyworld",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Of what kind.
    pub class: Class,
    /// In which chunk, if it is about one.
    pub chunk: Option<ChunkPos>,
    /// What exactly, and where.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(class: Class, at: ChunkPos, message: impl fmt::Display) -> Self {
        Self { class, chunk: Some(at), message: message.to_string() }
    }
}
