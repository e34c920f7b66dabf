//! What a check, a copy or a comparison found wrong.

mod advice;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{FormatVersion, IndexedStorageFile, Slot, SlotDamage};

use crate::region_slots::RegionSlots;

pub use advice::Advice;

/// How many findings a report keeps; more are only counted.
const KEPT_MAX: usize = 1000;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The game would not have written it, but reads it.
    Warning,
    /// Something is lost, or the game would refuse it.
    Error,
}

/// What kind of thing is wrong. New checks add kinds.
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
    /// Something that the game reads but cannot save again.
    Unsavable,
    /// A chunk that does not encode to the bytes it was decoded from: a bug in this program.
    Roundtrip,
    /// A slot or the index table of a region file; the name is that of the damage.
    Container(&'static str),
    /// A chunk could not be written to the target of a copy.
    Write,
    /// The target of a copy does not have what was written.
    Verify,
    /// The target of a copy could not be made durable.
    Sync,
    /// Only the first of two storages has a chunk.
    OnlyInSource,
    /// Only the second of two storages has a chunk.
    OnlyInTarget,
    /// Two storages have different documents for a chunk.
    Different,
    /// A file of a world that is not a storage of chunks, such as its configuration.
    WorldFile,
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
            Self::Unsavable => "unsavable",
            Self::Roundtrip => "roundtrip",
            Self::Container(name) => name,
            Self::Write => "write",
            Self::Verify => "verify",
            Self::Sync => "sync",
            Self::OnlyInSource => "only-in-source",
            Self::OnlyInTarget => "only-in-target",
            Self::Different => "different",
            Self::WorldFile => "world-file",
        }
    }

    fn severity(self) -> Severity {
        match self {
            Self::Newer | Self::Anomaly | Self::Unsavable => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What kind of thing.
    pub class: Class,
    /// How bad it is.
    pub severity: Severity,
    /// The world, where several were checked.
    pub world: Option<String>,
    /// The file.
    pub file: Option<PathBuf>,
    /// The chunk.
    pub chunk: Option<ChunkPos>,
    /// The slot of a region file.
    pub slot: Option<Slot>,
    /// The byte of the file to look at.
    pub offset: Option<u64>,
    /// What exactly is wrong.
    pub message: String,
    /// What to do about it.
    pub advice: Option<Advice>,
}

impl Finding {
    /// A finding that is not about a single chunk.
    pub fn new(class: Class, message: impl fmt::Display) -> Self {
        Self {
            class,
            severity: class.severity(),
            world: None,
            file: None,
            chunk: None,
            slot: None,
            offset: None,
            message: message.to_string(),
            advice: Advice::of_class(class),
        }
    }

    /// A finding about a chunk.
    pub fn at(class: Class, at: ChunkPos, message: impl fmt::Display) -> Self {
        Self { chunk: Some(at), ..Self::new(class, message) }
    }

    /// A part of a storage that cannot be opened or listed.
    pub(crate) fn of_storage(error: &hyworld_providers::Error) -> Self {
        let file = error.region_file().map(Path::to_owned);
        Self { file, ..Self::new(Class::Storage, error) }
    }

    /// A component that cannot be decoded, or that a newer game wrote.
    pub(crate) fn of_component(at: ChunkPos, error: &hyworld_chunk::Error) -> Self {
        let is_newer = matches!(error, hyworld_chunk::Error::Newer { .. });
        Self::at(if is_newer { Class::Newer } else { Class::Component }, at, error)
    }

    /// A damaged slot. The offset is that of the blob if it is known, else of its index entry.
    pub fn of_slot(file: &IndexedStorageFile, found: &SlotDamage) -> Self {
        let (slot, geometry) = (found.slot, file.geometry());
        let blob = match (file.version(), file.stat(slot)) {
            (FormatVersion::V1, Ok(Some(stat))) => Some(geometry.segment_offset(stat.segment)),
            _ => None,
        };
        Self {
            offset: Some(blob.unwrap_or_else(|| geometry.entry_offset(slot))),
            ..Self::of_damage(file.path(), RegionSlots::of(file), found)
        }
    }

    /// A damaged slot of a file that is not open any more.
    pub fn of_damage(path: &Path, slots: RegionSlots, found: &SlotDamage) -> Self {
        let SlotDamage { slot, damage } = *found;
        let is_readable = damage.is_readable();
        Self {
            severity: if is_readable { Severity::Warning } else { Severity::Error },
            file: Some(path.to_owned()),
            chunk: slots.chunk(slot),
            slot: Some(slot),
            advice: Some(Advice::of_damage(&damage)),
            ..Self::new(Class::Container(damage.class()), damage)
        }
    }

    /// A file that ends inside its index table, with nothing but zeros before: one with entries is
    /// refused when it is opened. The missing entries are read as empty slots, as in the game.
    ///
    /// # Errors
    /// The length of the file cannot be read.
    pub fn of_table(file: &IndexedStorageFile) -> hyworld_indexed_storage::Result<Option<Self>> {
        let (end, offset) = (file.segments_offset(), file.file_bytes()?);
        if offset >= end {
            return Ok(None);
        }
        let message = format!(
            "the file ends inside its index table, which should end at byte {end}, and holds \
             nothing before; all slots are read as empty"
        );
        Ok(Some(Self {
            file: Some(file.path().to_owned()),
            offset: Some(offset),
            advice: Some(Advice::CheckNewFile),
            ..Self::new(Class::Container("table-cut-off"), message)
        }))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.world, &self.file) {
            (Some(world), _) => write!(f, "world {world}: ")?,
            (None, Some(file)) => write!(f, "{}: ", file.display())?,
            (None, None) => {}
        }
        // Some messages begin with it themselves.
        if let Some(at) = self.chunk.filter(|_| !self.message.starts_with("chunk ")) {
            write!(f, "chunk {},{}: ", at.x, at.z)?;
        }
        f.write_str(&self.message)
    }
}

/// The findings of one operation: how many of which class, and the first thousand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    by_class: BTreeMap<Class, u64>,
    errors: u64,
    warnings: u64,
    kept: Vec<Finding>,
}

impl Findings {
    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        let count = self.by_class.entry(finding.class).or_default();
        *count = count.saturating_add(1);
        let sum = match finding.severity {
            Severity::Warning => &mut self.warnings,
            Severity::Error => &mut self.errors,
        };
        *sum = sum.saturating_add(1);
        if self.kept.len() < KEPT_MAX {
            self.kept.push(finding);
        }
    }

    /// Adds the findings of a part of the work.
    pub(crate) fn append(&mut self, other: Self) {
        for (class, count) in other.by_class {
            let sum = self.by_class.entry(class).or_default();
            *sum = sum.saturating_add(count);
        }
        self.errors = self.errors.saturating_add(other.errors);
        self.warnings = self.warnings.saturating_add(other.warnings);
        let room = KEPT_MAX.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.into_iter().take(room));
    }

    /// The first thousand.
    pub fn kept(&self) -> &[Finding] {
        &self.kept
    }

    /// How many there are of each class.
    pub fn by_class(&self) -> &BTreeMap<Class, u64> {
        &self.by_class
    }

    /// How many there are of a severity.
    pub fn count(&self, severity: Severity) -> u64 {
        match severity {
            Severity::Warning => self.warnings,
            Severity::Error => self.errors,
        }
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.errors.saturating_add(self.warnings)
    }
}
