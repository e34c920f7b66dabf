//! What can be done about a finding, as data: the program that shows it has the words.

use hyworld_indexed_storage::{Damage, SealDamage};

use super::Class;

/// What to do about a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Advice {
    /// Check the region file, or restore it from a backup.
    CheckRegion,
    /// Search for an older copy in the region file or in a backup.
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
    /// The entry is wrong or the file was cut off: rebuild the index from seals, or salvage.
    RebuildOrSalvageCutOff,
    /// The length is probably damaged: salvage an older copy, or restore a backup.
    SalvageOverLength,
    /// The file was cut off: restore a backup, or salvage an older copy.
    RestoreCutOff,
    /// Copy the file to another disk, and check the copy.
    CopyToOtherDisk,
    /// Stop the program that writes the file, and check again.
    StopWriter,
    /// Look at both slots that share segments, and put back the right content.
    ChooseOverlap,
    /// Read the content and write it back.
    WriteAgain,
    /// Rebuild the index from seals.
    RebuildIndex,
    /// Upgrade the file to version 1, which keeps the other blobs.
    Upgrade,
    /// Restore a backup or salvage an older copy, or remove the chunk.
    RestoreOrRemove,
    /// A file that was just created has lost nothing; any other needs a backup.
    CheckNewFile,
}

impl Advice {
    pub(super) fn of_class(class: Class) -> Option<Self> {
        Some(match class {
            Class::Storage => Self::CheckRegion,
            Class::Unreadable => Self::FindOlderCopy,
            Class::Document | Class::Component => Self::ReplaceRefused,
            Class::Newer => Self::UseNewerVersion,
            Class::Missing => Self::RestoreRefused,
            Class::Anomaly => Self::Ignore,
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
            Damage::ContentShorter { found, .. } if *found > 0 => Self::WriteAgain,
            Damage::Seal(SealDamage::Slot { .. }) => Self::RebuildIndex,
            Damage::ChainBroken { .. }
            | Damage::ChainCycle { .. }
            | Damage::ChainShort { .. }
            | Damage::ChainLong { .. } => Self::Upgrade,
            _ => Self::RestoreOrRemove,
        }
    }
}
