//! [`Finding`]: one result of a check, a copy or a comparison.

mod advice;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{
    Damage, Error as SlotError, Geometry, IndexedStorageFile, Slot, SlotDamage,
};
use hyworld_providers::Error;

use crate::region_slots::RegionSlots;

pub use advice::Advice;

/// How many findings a report keeps; further ones are only counted.
const KEPT_MAX: usize = 1000;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Healthy worlds have it too.
    Note,
    /// The game does not write this, but can read it.
    Warning,
    /// Data is lost, or the game refuses to load it.
    Error,
}

/// The kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Class {
    /// A part of the storage cannot be opened or listed; its chunks are unknown.
    Storage,
    /// The stored bytes of a chunk cannot be read.
    Unreadable,
    /// The document of a chunk is malformed.
    Document,
    /// A component of a chunk cannot be decoded.
    Component,
    /// A component was written by a newer game; it is kept but cannot be decoded.
    Newer,
    /// A component that the game needs is missing.
    Missing,
    /// Data that the game does not write but can read.
    Anomaly,
    /// An entity whose position is in another chunk.
    Misplaced,
    /// An entity that is stored twice.
    Duplicate,
    /// Different entities have the same UUID.
    SharedUuid,
    /// The key of a block entity is not the index of a block.
    Key,
    /// A block entity names a position other than that of its block.
    Position,
    /// A cell of a multi-block object whose base cell has another block.
    OrphanFiller,
    /// Light that was computed before the last change of a block.
    StaleLight,
    /// Chunks that an older game wrote.
    OldVersion,
    /// Data that the game can read but not save again.
    Unsavable,
    /// A component does not encode to the bytes it was decoded from: a bug in hyworld.
    Roundtrip,
    /// A slot or the index table of a region file is damaged; the string is the kind of damage.
    Container(&'static str),
    /// A chunk could not be written to the target of a copy.
    Write,
    /// The target of a copy differs from what was written.
    Verify,
    /// The target of a copy could not be synced.
    Sync,
    /// A chunk is stored only in the first of two storages.
    OnlyInSource,
    /// A chunk is stored only in the second of two storages.
    OnlyInTarget,
    /// Two storages have different documents for a chunk.
    Different,
    /// A world file other than the chunks, such as its configuration, is damaged.
    WorldFile,
    /// A file or chunk was changed after the verb that an undo reverts, so it is left as it is.
    Conflict,
    /// Part of an undo bundle is damaged or missing, so not everything is restored.
    Bundle,
    /// The configuration, the resource `ChunkStorage` and the stored chunks name different
    /// providers.
    Provider,
    /// A file or folder that an interrupted program left behind.
    Leftover,
    /// A backup that cannot be opened.
    Backup,
    /// A chunk or file differs from the manifest.
    Changed,
    /// A chunk or file of the manifest is missing.
    Removed,
    /// A chunk or file is not in the manifest.
    Added,
    /// A backup or another source has chunks that the world does not have.
    Lacking,
}

impl Class {
    /// Returns the name of the class in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Unreadable => "unreadable",
            Self::Document => "document",
            Self::Component => "component",
            Self::Newer => "newer",
            Self::Missing => "missing",
            Self::Anomaly => "anomaly",
            Self::Misplaced => "misplaced",
            Self::Duplicate => "duplicate",
            Self::SharedUuid => "shared-uuid",
            Self::Key => "key",
            Self::Position => "position",
            Self::OrphanFiller => "orphan-filler",
            Self::StaleLight => "stale-light",
            Self::OldVersion => "old-version",
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
            Self::Conflict => "conflict",
            Self::Bundle => "bundle",
            Self::Provider => "provider",
            Self::Leftover => "leftover",
            Self::Backup => "backup",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Added => "added",
            Self::Lacking => "lacking",
        }
    }

    fn severity(self) -> Severity {
        match self {
            Self::SharedUuid
            | Self::OrphanFiller
            | Self::StaleLight
            | Self::OldVersion
            | Self::Leftover => Severity::Note,
            Self::Newer
            | Self::Anomaly
            | Self::Misplaced
            | Self::Unsavable
            | Self::Duplicate
            | Self::Position
            | Self::Provider
            | Self::Added
            | Self::Lacking => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One result of a check, with its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kind of finding.
    pub class: Class,
    /// The severity.
    pub severity: Severity,
    /// The world, if several were checked.
    pub world: Option<String>,
    /// The file.
    pub file: Option<PathBuf>,
    /// The chunk.
    pub chunk: Option<ChunkPos>,
    /// The slot of a region file.
    pub slot: Option<Slot>,
    /// The byte offset in the file.
    pub offset: Option<u64>,
    /// A description.
    pub message: String,
    /// What the user can do about it.
    pub advice: Option<Advice>,
}

impl Finding {
    /// Creates a finding that is not about a single chunk.
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

    /// Creates a finding about a chunk.
    pub fn at(class: Class, at: ChunkPos, message: impl fmt::Display) -> Self {
        Self { chunk: Some(at), ..Self::new(class, message) }
    }

    /// Creates a finding for a part of a storage that cannot be opened or listed.
    pub fn of_storage(error: &Error) -> Self {
        let file = error.region_file().map(Path::to_owned);
        let found = Self::new(Class::Storage, error);
        let is_newer = matches!(error, Error::NewerLayout { .. });
        let advice = if is_newer { Some(Advice::UseNewerVersion) } else { found.advice };
        Self { file, advice, ..found }
    }

    /// Creates a finding for a chunk that cannot be read. If a slot of a region file is damaged,
    /// the class is that of the damage.
    pub fn of_chunk(at: ChunkPos, error: &Error) -> Self {
        if let Error::Damaged { source, .. } = error
            && let Some(&SlotError::Damaged { ref path, slot, damage }) = source.downcast_ref()
        {
            let slots = RegionSlots::new(path, Geometry::REGION);
            let found = Self::of_damage(path, slots, &SlotDamage { slot, damage });
            return Self { chunk: Some(at), ..found };
        }
        if let Error::Damaged { source, .. } = error
            && let Some(&SlotError::NotABlob { damage }) = source.downcast_ref()
        {
            return Self::of_blob(at, damage);
        }
        let file = error.region_file().map(Path::to_owned);
        Self { file, ..Self::at(Class::Unreadable, at, error) }
    }

    /// Creates a finding for a damaged blob whose file is not known here.
    pub(crate) fn of_blob(at: ChunkPos, damage: Damage) -> Self {
        let slot = Slot::new(at.slot().index().into());
        let found = SlotDamage { slot, damage };
        let slots = RegionSlots::new(Path::new(""), Geometry::REGION);
        Self { file: None, chunk: Some(at), ..Self::of_damage(Path::new(""), slots, &found) }
    }

    /// Creates a finding for a component that cannot be decoded, or that a newer game wrote.
    pub fn of_component(at: ChunkPos, error: &hyworld_chunk::Error) -> Self {
        let is_newer = matches!(error, hyworld_chunk::Error::Newer { .. });
        Self::at(if is_newer { Class::Newer } else { Class::Component }, at, error)
    }

    /// Creates a finding for a damaged slot. The offset is that of the blob if it is known,
    /// otherwise that of the index entry.
    pub fn of_slot(file: &IndexedStorageFile, found: &SlotDamage) -> Self {
        let entry = || file.geometry().entry_offset(found.slot);
        let offset = Some(file.blob_offset(found.slot).unwrap_or_else(entry));
        Self { offset, ..Self::of_damage(file.path(), RegionSlots::of(file), found) }
    }

    /// Creates a finding for a damaged slot of a file that is no longer open.
    pub fn of_damage(path: &Path, slots: RegionSlots, found: &SlotDamage) -> Self {
        let SlotDamage { slot, damage } = *found;
        // The game reads blobs that overlap, and destroys one of them when it saves the other.
        let is_overlap = matches!(damage, Damage::Overlap { .. });
        let is_readable = damage.is_readable() && !is_overlap;
        Self {
            severity: if is_readable { Severity::Warning } else { Severity::Error },
            file: Some(path.to_owned()),
            chunk: slots.chunk(slot),
            slot: Some(slot),
            advice: Some(Advice::of_damage(&damage)),
            ..Self::new(Class::Container(damage.class()), damage)
        }
    }

    /// Returns a finding if the file ends inside its index table. All entries before the end are
    /// zero, because opening a truncated table with entries fails. The missing entries are read as
    /// empty slots, as in the game.
    ///
    /// # Errors
    /// Returns an error if the length of the file cannot be read.
    pub fn of_table(file: &IndexedStorageFile) -> hyworld_indexed_storage::Result<Option<Self>> {
        let (end, offset) = (file.segments_offset(), file.file_bytes()?);
        if offset >= end {
            return Ok(None);
        }
        let message = format!(
            "the file ends inside its index table, which should end at byte {end}; all entries \
             up to there are empty, and the missing ones are read as empty"
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
        // Some messages already start with the chunk.
        if let Some(at) = self.chunk.filter(|_| !self.message.starts_with("chunk ")) {
            write!(f, "chunk {},{}: ", at.x, at.z)?;
        }
        f.write_str(&self.message)
    }
}

/// The findings of one operation: counts by class, and the first 1,000.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    by_class: BTreeMap<Class, u64>,
    errors: u64,
    warnings: u64,
    notes: u64,
    kept: Vec<Finding>,
}

impl Findings {
    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        let count = self.by_class.entry(finding.class).or_default();
        *count = count.saturating_add(1);
        let sum = match finding.severity {
            Severity::Note => &mut self.notes,
            Severity::Warning => &mut self.warnings,
            Severity::Error => &mut self.errors,
        };
        *sum = sum.saturating_add(1);
        if self.kept.len() < KEPT_MAX {
            self.kept.push(finding);
        }
    }

    /// Adds the findings of a part of the operation.
    pub(crate) fn append(&mut self, other: Self) {
        for (class, count) in other.by_class {
            let sum = self.by_class.entry(class).or_default();
            *sum = sum.saturating_add(count);
        }
        self.errors = self.errors.saturating_add(other.errors);
        self.warnings = self.warnings.saturating_add(other.warnings);
        self.notes = self.notes.saturating_add(other.notes);
        let room = KEPT_MAX.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.into_iter().take(room));
    }

    /// Returns the first 1,000 findings.
    pub fn kept(&self) -> &[Finding] {
        &self.kept
    }

    /// Returns the number of findings of each class.
    pub fn by_class(&self) -> &BTreeMap<Class, u64> {
        &self.by_class
    }

    /// Returns the number of findings of a severity.
    pub fn count(&self, severity: Severity) -> u64 {
        match severity {
            Severity::Note => self.notes,
            Severity::Warning => self.warnings,
            Severity::Error => self.errors,
        }
    }

    /// Returns the number of findings.
    pub fn total(&self) -> u64 {
        self.errors.saturating_add(self.warnings).saturating_add(self.notes)
    }
}
