//! [`Advice`]: what can be done about a finding. The text is up to the program that shows it.

use hyworld_indexed_storage::{Damage, SealDamage};

use super::Class;

/// What the user can do about a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Advice {
    /// Check the region file, or restore it from a backup.
    CheckRegion,
    /// Search the region file or a backup for an older copy.
    FindOlderCopy,
    /// The game refuses the chunk: search for an older copy.
    ReplaceRefused,
    /// The game refuses the chunk: restore it from a backup.
    RestoreRefused,
    /// Use a newer version of this program.
    UseNewerVersion,
    /// Nothing has to be done.
    Ignore,
    /// Replace the name by a shorter one.
    ShortenName,
    /// Report a bug in this program.
    ReportBug,
    /// Rebuild the index from seals, or salvage the blob.
    RebuildOrSalvage,
    /// The index entry is damaged or the file is truncated: rebuild the index from seals, or
    /// salvage the blob.
    RebuildOrSalvageCutOff,
    /// The length is probably damaged: salvage an older copy, or restore a backup.
    SalvageOverLength,
    /// The file is truncated: restore a backup, or salvage an older copy.
    RestoreCutOff,
    /// Copy the file to another disk, and check the copy.
    CopyToOtherDisk,
    /// Stop the program that writes the file, and check again.
    StopWriter,
    /// Compare the two slots that share segments, and restore the correct blobs.
    ChooseOverlap,
    /// Read the blob and write it again.
    WriteAgain,
    /// Rebuild the index from seals.
    RebuildIndex,
    /// Upgrade the file to version 1, which keeps the other blobs.
    Upgrade,
    /// Restore a backup or salvage an older copy, or remove the chunk.
    RestoreOrRemove,
    /// Remove one of the two copies of an entity.
    RemoveCopy,
    /// Set the provider of the world, or move the chunks to it.
    ChooseProvider,
    /// Remove what an interrupted program left behind.
    RemoveLeftover,
    /// Make a new backup.
    MakeBackup,
    /// Restore a file from its backup.
    RestoreFile,
    /// If the game saved the world since, update the manifest; otherwise restore a backup.
    UpdateManifest,
    /// A newly created file has lost nothing; restore any other file from a backup.
    CheckNewFile,
    /// Restore chunks from the source that has them, unless they were removed on purpose.
    RestoreLacking,
}

impl Advice {
    pub(super) fn of_class(class: Class) -> Option<Self> {
        Some(match class {
            Class::Storage => Self::CheckRegion,
            Class::Unreadable => Self::FindOlderCopy,
            Class::Document | Class::Component | Class::Key => Self::ReplaceRefused,
            Class::Newer => Self::UseNewerVersion,
            Class::Missing => Self::RestoreRefused,
            Class::Anomaly
            | Class::Misplaced
            | Class::Position
            | Class::SharedUuid
            | Class::OrphanFiller
            | Class::StaleLight => Self::Ignore,
            Class::Duplicate => Self::RemoveCopy,
            Class::Provider => Self::ChooseProvider,
            Class::Leftover => Self::RemoveLeftover,
            Class::Backup => Self::MakeBackup,
            Class::WorldFile => Self::RestoreFile,
            Class::Changed | Class::Removed | Class::Added => Self::UpdateManifest,
            Class::Lacking => Self::RestoreLacking,
            Class::Unsavable => Self::ShortenName,
            Class::Roundtrip => Self::ReportBug,
            _ => return None,
        })
    }

    pub(super) fn of_damage(damage: &Damage) -> Self {
        match damage {
            Damage::IndexNegative { .. } => Self::RebuildOrSalvage,
            Damage::PastEnd { .. } => Self::RebuildOrSalvageCutOff,
            Damage::LengthLimit { .. } => Self::SalvageOverLength,
            Damage::CutOff { .. } => Self::RestoreCutOff,
            Damage::Unreadable { .. } => Self::CopyToOtherDisk,
            Damage::Changed => Self::StopWriter,
            Damage::Overlap { .. } => Self::ChooseOverlap,
            Damage::DocumentShorter { found, .. } if *found > 0 => Self::WriteAgain,
            Damage::Seal(SealDamage::Slot { .. }) => Self::RebuildIndex,
            Damage::ChainBroken { .. }
            | Damage::ChainCycle { .. }
            | Damage::ChainShort { .. }
            | Damage::ChainLong { .. } => Self::Upgrade,
            _ => Self::RestoreOrRemove,
        }
    }
}
