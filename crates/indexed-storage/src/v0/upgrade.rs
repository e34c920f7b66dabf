//! From version 0 to version 1, without a moment at which a blob exists nowhere.
//!
//! 1. Build `NAME.upgrade.tmp` from `NAME`, sync it, read every blob back.
//! 2. Give `NAME` the second name `NAME.old`.
//! 3. Rename the new file over `NAME`.
//! 4. Remove `NAME.old`, if every blob was copied and decodes. Otherwise it stays.
//!
//! Interrupted before 3, `NAME` is still the old file and the next open for writing starts over.
//! Interrupted before 4, the next one compares the two files and removes `NAME.old` if the new
//! one has everything. Where hard links do not exist, step 2 is a rename, and `NAME` is missing
//! until step 3: then the next open for writing renames `NAME.old` back, and an open for reading
//! reads it where it is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::damage::SlotDamage;
use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions, Verified};
use crate::file_tables::read_header;
use crate::header::FormatVersion;
use crate::raw_file::{self, Access, OsFile};
use crate::rewrite::rewrite;

/// What an upgrade did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpgradeReport {
    /// The version that the file had.
    pub from: FormatVersion,
    /// Blobs that were copied into the new file.
    pub copied: u32,
    /// Slots that do not decode (they were copied as they are) or that could not be copied.
    pub damaged: Vec<SlotDamage>,
    /// The old file, if it was kept because something is damaged or differs.
    pub old: Option<PathBuf>,
}

/// Where an upgrade can be interrupted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
enum Step {
    Built,
    Linked,
    Swapped,
    Done,
}

/// Upgrades the file at `path` to version 1. For a file that has version 1 already, blobs are
/// brought over that only a left-over `NAME.old` of version 0 has: the game's own upgrade, when
/// it is interrupted, leaves such a pair behind and never looks at it again.
///
/// # Errors
/// The file cannot be opened for writing, the disk is full, or `NAME.old` is in the way. Nothing
/// is lost then.
pub fn upgrade(path: impl AsRef<Path>) -> Result<UpgradeReport> {
    let path = path.as_ref();
    let named = resume(path, true)?;
    let raw = OsFile::open(&named, Access::Write)?;
    if read_header(&raw, path)?.version == FormatVersion::V0 {
        return run(path, raw);
    }
    drop(raw);
    bring_over(&OpenOptions::new().write(true).open(path)?)
}

/// What [`upgrade`] would do to a file. Nothing is changed.
///
/// # Errors
/// The file cannot be read.
pub fn plan_upgrade(file: &IndexedStorageFile) -> Result<UpgradeReport> {
    let mut report =
        UpgradeReport { from: file.version(), copied: 0, damaged: Vec::new(), old: None };
    if file.version() == FormatVersion::V1 {
        return Ok(report);
    }
    for slot in file.occupied() {
        match file.verify(slot)? {
            Verified::Damaged(damage) => {
                report.damaged.push(SlotDamage { slot, damage });
                // What has a place can be copied as it is.
                let has_place = file.stat(slot).is_ok();
                report.copied = report.copied.saturating_add(has_place.into());
            }
            _ => report.copied = report.copied.saturating_add(1),
        }
    }
    if !report.damaged.is_empty() {
        report.old = Some(old_path(file.path()));
    }
    Ok(report)
}

fn old_path(path: &Path) -> PathBuf {
    raw_file::with_suffix(path, ".old")
}

fn is_v0(path: &Path) -> bool {
    let header = OsFile::open(path, Access::Read).and_then(|raw| read_header(&raw, path));
    header.is_ok_and(|header| header.version == FormatVersion::V0)
}

/// Looks for an upgrade that was interrupted while `path` had no file. Returns what to open.
pub(crate) fn resume(path: &Path, write: bool) -> Result<PathBuf> {
    let old = old_path(path);
    if fs::symlink_metadata(path).is_ok() || !is_v0(&old) {
        return Ok(path.to_owned());
    }
    if !write {
        return Ok(old);
    }
    raw_file::rename(&old, path)?;
    raw_file::sync_parent(path)?;
    Ok(path.to_owned())
}

/// Upgrades the version 0 file `raw`, which is open and locked, at `path`.
pub(crate) fn run(path: &Path, raw: OsFile) -> Result<UpgradeReport> {
    run_until(path, raw, Step::Done)
}

fn run_until(path: &Path, raw: OsFile, last: Step) -> Result<UpgradeReport> {
    let old = old_path(path);
    clear_old_name(path, &old)?;
    let options = OpenOptions::new().blob_bytes_max(u32::MAX);
    let source = options.open_raw(Box::new(raw), path)?;
    let target = raw_file::with_suffix(path, ".upgrade.tmp");
    let built = rewrite(&source, &target).and_then(|mut copy| {
        copy.decode_all()?;
        Ok(copy)
    });
    let copy = match built {
        Ok(copy) => copy,
        Err(error) => {
            raw_file::remove_if_present(&target)?;
            return Err(error);
        }
    };
    let mut damaged = copy.lost.clone();
    damaged.extend(&copy.damaged);
    let mut report = UpgradeReport {
        from: FormatVersion::V0,
        copied: copy.copied,
        damaged,
        old: Some(old.clone()),
    };
    if last > Step::Built {
        raw_file::link_or_rename(path, &old)?;
    }
    if last > Step::Linked {
        raw_file::rename(&target, path)?;
        raw_file::sync_parent(path)?;
    }
    if last > Step::Swapped && report.damaged.is_empty() {
        raw_file::remove_if_present(&old)?;
        raw_file::sync_parent(path)?;
        report.old = None;
    }
    Ok(report)
}

/// Makes room for the second name of `path`: it may be there from an interrupted upgrade.
fn clear_old_name(path: &Path, old: &Path) -> Result<()> {
    match (fs::metadata(path), fs::symlink_metadata(old)) {
        (_, Err(_)) => Ok(()),
        (Ok(ours), Ok(theirs)) if raw_file::is_same_file(&ours, &theirs) => {
            Ok(raw_file::remove_if_present(old)?)
        }
        _ => Err(Error::OldInTheWay { path: path.to_owned(), old: old.to_owned() }),
    }
}

/// Removes a left-over `NAME.old` if `file` verifiably has all that it has.
pub(crate) fn finish(file: &IndexedStorageFile) -> Result<()> {
    let old = old_path(file.path());
    if fs::symlink_metadata(&old).is_err() || !is_v0(&old) {
        return Ok(());
    }
    let source = OpenOptions::new().blob_bytes_max(u32::MAX).open(&old)?;
    if source.damage().is_empty() && has_all(file, &source) {
        raw_file::remove_if_present(&old)?;
        raw_file::sync_parent(&old)?;
    }
    Ok(())
}

fn has_all(file: &IndexedStorageFile, source: &IndexedStorageFile) -> bool {
    source.occupied().into_iter().all(
        |slot| matches!((file.read(slot), source.read(slot)), (Ok(new), Ok(old)) if new == old),
    )
}

/// Copies blobs from `NAME.old` into empty slots of `file`.
fn bring_over(file: &IndexedStorageFile) -> Result<UpgradeReport> {
    let old = old_path(file.path());
    let mut report =
        UpgradeReport { from: FormatVersion::V1, copied: 0, damaged: Vec::new(), old: None };
    if fs::symlink_metadata(&old).is_err() || !is_v0(&old) {
        return Ok(report);
    }
    let source = OpenOptions::new().blob_bytes_max(u32::MAX).open(&old)?;
    for slot in source.occupied() {
        if slot.get() >= file.geometry().blob_count() {
            return Err(Error::OldInTheWay { path: file.path().to_owned(), old });
        }
        if let Verified::Damaged(damage) = source.verify(slot)? {
            report.damaged.push(SlotDamage { slot, damage });
        } else if !file.contains(slot)?
            && let Some(blob) = source.read_encoded(slot)?
        {
            file.write_encoded(&[(slot, &blob)])?;
            report.copied = report.copied.saturating_add(1);
        }
    }
    file.sync()?;
    finish(file)?;
    report.old = fs::symlink_metadata(&old).is_ok().then_some(old);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Slot;
    use hyworld_testkit::{fixture, write_file};
    use std::collections::BTreeMap;

    type Content = BTreeMap<Slot, Vec<u8>>;

    fn content(file: &IndexedStorageFile) -> Content {
        let read = |slot| (slot, file.read(slot).unwrap().unwrap());
        file.occupied().into_iter().map(read).collect()
    }

    /// A folder with a version 0 file, and what it holds.
    fn v0_world() -> (tempfile::TempDir, PathBuf, Content) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.0.region.bin");
        write_file(&path, &fixture("original/v0/fragmented.region.bin"));
        let expected = content(&IndexedStorageFile::open_read_only(&path).unwrap());
        assert_eq!(expected.len(), 28);
        (folder, path, expected)
    }

    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn upgrade_until(path: &Path, last: Step) {
        run_until(path, OsFile::open(path, Access::Write).unwrap(), last).unwrap();
    }

    #[test]
    fn an_upgrade_interrupted_anywhere_is_completed_by_the_next_open() {
        for last in [Step::Built, Step::Linked, Step::Swapped, Step::Done] {
            let (folder, path, expected) = v0_world();
            upgrade_until(&path, last);
            let reader = IndexedStorageFile::open_read_only(&path).unwrap();
            assert_eq!(content(&reader), expected, "reading after {last:?}");
            let file = IndexedStorageFile::open(&path).unwrap();
            assert_eq!(content(&file), expected, "after {last:?}");
            assert_eq!(file.version(), FormatVersion::V1);
            assert_eq!(names(&folder), ["0.0.region.bin"], "after {last:?}");
        }
    }

    #[test]
    fn without_hard_links_a_missing_file_is_found_under_its_old_name() {
        let (folder, path, expected) = v0_world();
        fs::rename(&path, old_path(&path)).unwrap();
        let reader = IndexedStorageFile::open_read_only(&path).unwrap();
        assert_eq!(content(&reader), expected);
        assert_eq!(names(&folder), ["0.0.region.bin.old"], "reading changes nothing");
        let file = IndexedStorageFile::open(&path).unwrap();
        assert_eq!(content(&file), expected);
        assert_eq!(names(&folder), ["0.0.region.bin"]);
    }

    #[test]
    fn a_file_of_somebody_else_under_the_old_name_stops_the_upgrade() {
        let (folder, path, expected) = v0_world();
        write_file(&old_path(&path), b"precious");
        assert!(matches!(IndexedStorageFile::open(&path), Err(Error::OldInTheWay { .. })));
        assert_eq!(fs::read(old_path(&path)).unwrap(), b"precious");
        assert_eq!(content(&IndexedStorageFile::open_read_only(&path).unwrap()), expected);
        assert_eq!(names(&folder).len(), 2);
    }

    #[test]
    fn an_old_file_that_differs_is_kept() {
        let (folder, path, mut expected) = v0_world();
        upgrade_until(&path, Step::Swapped);
        let changed = *expected.keys().next().unwrap();
        // Another program writes to the new file before we open it again.
        let raw = OsFile::open(&path, Access::Write).unwrap();
        let other = OpenOptions::new().write(true).open_raw(Box::new(raw), &path).unwrap();
        other.write(changed, b"newer").unwrap();
        drop(other);
        expected.insert(changed, b"newer".to_vec());
        assert_eq!(content(&IndexedStorageFile::open(&path).unwrap()), expected);
        assert_eq!(names(&folder), ["0.0.region.bin", "0.0.region.bin.old"]);
    }

    #[test]
    fn an_upgrade_that_the_game_left_half_way_is_brought_to_its_end() {
        let (folder, path, expected) = v0_world();
        fs::rename(&path, old_path(&path)).unwrap();
        let partial = folder.path().join("partial");
        let half = IndexedStorageFile::create(&partial).unwrap();
        for (slot, content) in expected.iter().take(9) {
            half.write(*slot, content).unwrap();
        }
        half.close().unwrap();
        fs::rename(&partial, &path).unwrap();
        let report = upgrade(&path).unwrap();
        assert_eq!((report.from, report.copied, report.old), (FormatVersion::V1, 19, None));
        assert_eq!(content(&IndexedStorageFile::open(&path).unwrap()), expected);
        assert_eq!(names(&folder), ["0.0.region.bin"]);
    }

    #[test]
    fn a_damaged_blob_costs_only_itself_and_the_old_file_stays() {
        let (folder, path, mut expected) = v0_world();
        let mut bytes = fs::read(&path).unwrap();
        let slot = *expected.keys().nth(3).unwrap();
        let entry = 32 + 4 * slot.as_usize();
        bytes[entry..entry + 4].copy_from_slice(&(-9_i32).to_be_bytes());
        write_file(&path, &bytes);
        expected.remove(&slot);
        let report = upgrade(&path).unwrap();
        assert_eq!(report.damaged.len(), 1);
        assert_eq!(report.old, Some(old_path(&path)));
        assert_eq!(content(&IndexedStorageFile::open(&path).unwrap()), expected);
        assert_eq!(names(&folder), ["0.0.region.bin", "0.0.region.bin.old"]);
        assert_eq!(fs::read(old_path(&path)).unwrap(), bytes);
    }
}
