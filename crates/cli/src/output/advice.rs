//! Advice for findings. The commands in it can be pasted into a shell.

use std::path::Path;

use hyworld_maintenance::{Advice, Finding};

/// Returns one sentence of advice for a finding. `file` is the region file with the chunk; `None`
/// for other storages.
pub(crate) fn words(finding: &Finding, file: Option<&Path>) -> String {
    let Some(advice) = finding.advice else { return String::new() };
    let slot = finding.slot.map_or(0, hyworld_indexed_storage::Slot::get);
    if advice == Advice::UseNewerVersion && finding.chunk.is_none() {
        return "use a newer hyworld; do not change this world until then".to_owned();
    }
    match file.or(finding.file.as_deref()) {
        Some(file) => in_region(advice, &Commands { file, slot }),
        None => for_any_storage(advice).to_owned(),
    }
}

/// A slot of a region file, for the commands in advice.
struct Commands<'a> {
    file: &'a Path,
    slot: u32,
}

impl Commands<'_> {
    fn salvage(&self) -> String {
        region("salvage", self.file, "")
    }

    fn rebuild(&self) -> String {
        region("verify", self.file, " --rebuild-index")
    }

    fn get(&self) -> String {
        region("get", self.file, &format!(" {0} -o slot-{0}.bin", self.slot))
    }

    fn put(&self) -> String {
        region("put", self.file, &format!(" {0} slot-{0}.bin", self.slot))
    }

    fn remove(&self) -> String {
        region("rm", self.file, &format!(" {}", self.slot))
    }
}

/// Formats a command for a region file.
pub(crate) fn region(verb: &str, file: &Path, rest: &str) -> String {
    format!("`hyworld region {verb} {}{rest}`", hyworld::files::shell_word(file))
}

/// Returns advice on finding an older copy of a damaged blob.
pub(crate) fn older_copy(file: &Path) -> String {
    format!("{} may find an older copy", region("salvage", file, ""))
}

fn in_region(advice: Advice, run: &Commands<'_>) -> String {
    match advice {
        Advice::CheckRegion => {
            let verify = region("verify", run.file, "");
            format!("inspect it with {verify}, or restore it from a backup")
        }
        Advice::FindOlderCopy => format!("{}, or restore it from a backup", older_copy(run.file)),
        Advice::ReplaceRefused => {
            format!("the game would not load it; {}", older_copy(run.file))
        }
        Advice::RebuildOrSalvage => format!(
            "if the blob was sealed, {} restores the entry; otherwise {}",
            run.rebuild(),
            older_copy(run.file)
        ),
        Advice::RebuildOrSalvageCutOff => format!(
            "the entry is wrong or the file was cut short: {}",
            in_region(Advice::RebuildOrSalvage, run)
        ),
        Advice::SalvageOverLength => format!(
            "no chunk is that large, so the length is probably damaged: {}, or restore it from a \
             backup",
            older_copy(run.file)
        ),
        Advice::RestoreCutOff => format!(
            "the file was cut short or its length is damaged: restore it from a backup, or {}",
            older_copy(run.file)
        ),
        Advice::ChooseOverlap => format!(
            "one of the two is in the wrong slot: inspect both with {}, restore the right \
             document with {}",
            run.get(),
            run.put()
        ),
        Advice::WriteAgain => {
            format!("to correct the length, run {}, then {}", run.get(), run.put())
        }
        Advice::RebuildIndex => format!("{} moves it to its own slot", run.rebuild()),
        Advice::Upgrade => {
            let upgrade = region("upgrade", run.file, "");
            format!("{upgrade} converts the other blobs to version 1 and keeps the old file")
        }
        Advice::RestoreOrRemove => format!(
            "restore it from a backup, or {} for an older copy; without either, {} empties the \
             slot, and the game generates the chunk again",
            run.salvage(),
            run.remove()
        ),
        other => for_any_storage(other).to_owned(),
    }
}

/// Returns advice that applies to every storage.
fn for_any_storage(advice: Advice) -> &'static str {
    match advice {
        Advice::ReplaceRefused | Advice::RestoreRefused => {
            "the game would not load it; restore it from a backup"
        }
        Advice::UseNewerVersion => "use a newer hyworld; do not change this chunk until then",
        Advice::Ignore => "nothing to do; the game reads it",
        Advice::ShortenName => {
            "replace the name by a shorter one; until then the game cannot save this chunk"
        }
        Advice::ReportBug => "please report it; do not edit this chunk with hyworld",
        Advice::CopyToOtherDisk => {
            "the disk may be failing: copy the file to another disk and check the copy"
        }
        Advice::StopWriter => "stop the other program, then check again",
        Advice::RemoveCopy => "remove one of the two; the game shows both",
        Advice::ChooseProvider => {
            "run `hyworld migrate` to move the chunks, or correct the provider in config.json"
        }
        Advice::RemoveLeftover => "if no program uses it, it can be removed",
        Advice::MakeBackup => "the backup cannot be used: remove it, and make a new one",
        Advice::RestoreFile => "restore the file from its .bak file or from a backup of the world",
        Advice::UpdateManifest => {
            "if the game has saved the world since the manifest was written, this is expected: run \
             again with --update; otherwise restore it from a backup"
        }
        Advice::CheckNewFile => {
            "if the file was being created, nothing is lost; otherwise restore it from a backup"
        }
        Advice::RestoreLacking => {
            "if they were not removed on purpose, `hyworld restore` restores them from there"
        }
        _ => "restore it from a backup",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_layout_needs_a_newer_program_and_not_a_backup() {
        let (location, part) = ("db".to_owned(), "the column family \"sections\"".to_owned());
        let error = hyworld_providers::Error::NewerLayout { location, part };
        let advice = words(&Finding::of_storage(&error), None);
        assert_eq!(advice, "use a newer hyworld; do not change this world until then");
    }
}
