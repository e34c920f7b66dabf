//! The words for what can be done about a finding.

use hyworld_maintenance::{Advice, Finding};

/// What to do about a finding, in one sentence.
pub(crate) fn words(finding: &Finding) -> &'static str {
    let Some(advice) = finding.advice else { return "" };
    match advice {
        Advice::CheckRegion => {
            "look at it with `hyworld region verify`, or restore it from a backup"
        }
        Advice::FindOlderCopy => {
            "an older copy may be found with `hyworld region salvage`, or in a backup"
        }
        Advice::ReplaceRefused => {
            "the game would not load it; `hyworld region salvage` may find an older copy"
        }
        Advice::RestoreRefused => "the game would not load it; restore it from a backup",
        Advice::UseNewerVersion => {
            "use a newer hyworld; nothing is lost as long as it is not changed"
        }
        Advice::Ignore => "nothing need be done; the game reads it",
        Advice::ShortenName => {
            "replace the name by a shorter one; until then the game loses what changes in the chunk"
        }
        Advice::ReportBug => "please report it; do not edit this chunk with hyworld",
        Advice::RebuildOrSalvage => {
            "if the blob was sealed, `verify --rebuild-index` puts it back; else see `salvage`"
        }
        Advice::RebuildOrSalvageCutOff => {
            "the entry is wrong or the file was cut short: if the blob was sealed, `verify \
             --rebuild-index` puts it back; else see `salvage`"
        }
        Advice::SalvageOverLength => {
            "no chunk is that large, so its length is probably damaged: see `salvage` for an \
             older copy, or restore it from a backup"
        }
        Advice::RestoreCutOff => {
            "the file was cut short or its length is damaged: restore it from a backup, or see \
             `salvage` for an older copy"
        }
        Advice::CopyToOtherDisk => {
            "the disk may be failing: copy the file to another one, and check the copy"
        }
        Advice::StopWriter => "stop the other program and check again",
        Advice::ChooseOverlap => {
            "one of the two is in the wrong slot: look at both with `get`, put back the right \
             content with `put`"
        }
        Advice::WriteAgain => "`get` it and `put` it back, and its length is right again",
        Advice::RebuildIndex => "`verify --rebuild-index` puts it where it belongs",
        Advice::Upgrade => "`upgrade` brings the other blobs to version 1 and keeps the old file",
        Advice::RestoreOrRemove => {
            "restore it from a backup, or see `salvage` for an older copy; without either, `rm` \
             it and the game makes the chunk anew"
        }
        Advice::CheckNewFile => {
            "a file that was just being made has lost nothing; any other needs a backup"
        }
    }
}
