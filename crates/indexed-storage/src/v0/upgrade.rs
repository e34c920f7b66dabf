//! Upgrades version 0 files to version 1. Every blob exists on disk at all times.
//!
//! 1. Build `NAME.upgrade.tmp` from `NAME`, sync it, and read every blob back.
//! 2. Link `NAME` to the second name `NAME.old`.
//! 3. Rename the new file over `NAME`.
//! 4. Remove `NAME.old` if every blob was copied and decodes. Otherwise keep it.
//!
//! If interrupted before step 3, `NAME` is still the old file and the next open for writing starts
//! over. If interrupted before step 4, the next open compares the two files and removes `NAME.old`
//! if the new file has everything. On file systems without hard links, step 2 is a rename, and
//! `NAME` is missing until step 3. In that state, the next open for writing renames `NAME.old`
//! back, and an open for reading reads `NAME.old`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::damage::SlotDamage;
use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions, Verified};
use crate::file_tables::read_header;
use crate::header::FormatVersion;
use crate::raw_file::{self, Access, OsFile};
use crate::rewrite::rewrite;

/// The result of [`upgrade`] or [`plan_upgrade`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpgradeReport {
    /// The original version of the file.
    pub from: FormatVersion,
    /// Number of blobs copied into the new file.
    pub copied: u32,
    /// Slots that do not decode and were copied verbatim, or that could not be copied.
    pub damaged: Vec<SlotDamage>,
    /// The old file, if it was kept because something is damaged or differs.
    pub old: Option<PathBuf>,
}

/// The last completed step of an upgrade, for tests that interrupt it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
enum Step {
    Built,
    Linked,
    Swapped,
    Done,
}

/// Upgrades the file at `path` to version 1. If the file already has version 1, copies the blobs
/// that exist only in a version 0 `NAME.old`: an interrupted upgrade by the game leaves such a pair
/// of files, and the game never reads `NAME.old` again.
///
/// # Errors
/// Returns an error if the file cannot be opened for writing, the disk is full, or an unrelated
/// `NAME.old` exists. No blob is lost then.
pub fn upgrade(path: impl AsRef<Path>) -> Result<UpgradeReport> {
    let path = path.as_ref();
    let named = resume(path, true)?;
    let raw = OsFile::open(&named, Access::Write)?;
    if read_header(&raw, path)?.version == FormatVersion::V0 {
        return run(path, raw);
    }
    drop(raw);
    copy_from_old(&OpenOptions::new().write(true).open(path)?)
}

/// Returns what [`upgrade`] would do to a file, without changing it.
///
/// # Errors
/// Returns an error if the file cannot be read.
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
                // A damaged blob at a known position can be copied verbatim.
                let has_position = file.stat(slot).is_ok();
                report.copied = report.copied.saturating_add(has_position.into());
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

/// Handles an upgrade that was interrupted while `path` was missing. Returns the path to open.
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

/// Removes a second link to `path` that an interrupted upgrade left at `old`.
fn clear_old_name(path: &Path, old: &Path) -> Result<()> {
    match (fs::metadata(path), fs::symlink_metadata(old)) {
        (_, Err(_)) => Ok(()),
        (Ok(current), Ok(found)) if raw_file::is_same_file(&current, &found) => {
            Ok(raw_file::remove_if_present(old)?)
        }
        _ => Err(Error::OldInTheWay { path: path.to_owned(), old: old.to_owned() }),
    }
}

/// Removes a remaining `NAME.old` if `file` has all of its blobs.
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
fn copy_from_old(file: &IndexedStorageFile) -> Result<UpgradeReport> {
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

    type Documents = BTreeMap<Slot, Vec<u8>>;

    fn documents(file: &IndexedStorageFile) -> Documents {
        let read = |slot| (slot, file.read(slot).unwrap().unwrap());
        file.occupied().into_iter().map(read).collect()
    }

    /// Creates a folder with a version 0 file and returns its documents.
    fn v0_world() -> (tempfile::TempDir, PathBuf, Documents) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.0.region.bin");
        write_file(&path, &fixture("original/v0/fragmented.region.bin"));
        let expected = documents(&IndexedStorageFile::open_read_only(&path).unwrap());
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
    fn an_upgrade_interrupted_at_any_step_is_completed_by_the_next_open() {
        for last in [Step::Built, Step::Linked, Step::Swapped, Step::Done] {
            let (folder, path, expected) = v0_world();
            upgrade_until(&path, last);
            let reader = IndexedStorageFile::open_read_only(&path).unwrap();
            assert_eq!(documents(&reader), expected, "reading after {last:?}");
            let file = IndexedStorageFile::open(&path).unwrap();
            assert_eq!(documents(&file), expected, "after {last:?}");
            assert_eq!(file.version(), FormatVersion::V1);
            assert_eq!(names(&folder), ["0.0.region.bin"], "after {last:?}");
        }
    }

    #[test]
    fn without_hard_links_a_missing_file_is_found_under_its_old_name() {
        let (folder, path, expected) = v0_world();
        fs::rename(&path, old_path(&path)).unwrap();
        let reader = IndexedStorageFile::open_read_only(&path).unwrap();
        assert_eq!(documents(&reader), expected);
        assert_eq!(names(&folder), ["0.0.region.bin.old"], "reading changes nothing");
        let file = IndexedStorageFile::open(&path).unwrap();
        assert_eq!(documents(&file), expected);
        assert_eq!(names(&folder), ["0.0.region.bin"]);
    }

    #[test]
    fn an_unrelated_file_with_the_old_name_stops_the_upgrade() {
        let (folder, path, expected) = v0_world();
        write_file(&old_path(&path), b"precious");
        assert!(matches!(IndexedStorageFile::open(&path), Err(Error::OldInTheWay { .. })));
        assert_eq!(fs::read(old_path(&path)).unwrap(), b"precious");
        assert_eq!(documents(&IndexedStorageFile::open_read_only(&path).unwrap()), expected);
        assert_eq!(names(&folder).len(), 2);
    }

    #[test]
    fn an_old_file_that_differs_is_kept() {
        let (folder, path, mut expected) = v0_world();
        upgrade_until(&path, Step::Swapped);
        let changed = *expected.keys().next().unwrap();
        // Another program writes to the new file before it is opened again.
        let raw = OsFile::open(&path, Access::Write).unwrap();
        let other = OpenOptions::new().write(true).open_raw(Box::new(raw), &path).unwrap();
        other.write(changed, b"newer").unwrap();
        drop(other);
        expected.insert(changed, b"newer".to_vec());
        assert_eq!(documents(&IndexedStorageFile::open(&path).unwrap()), expected);
        assert_eq!(names(&folder), ["0.0.region.bin", "0.0.region.bin.old"]);
    }

    #[test]
    fn an_interrupted_upgrade_of_the_game_is_completed() {
        let (folder, path, expected) = v0_world();
        fs::rename(&path, old_path(&path)).unwrap();
        let partial = folder.path().join("partial");
        let half = IndexedStorageFile::create(&partial).unwrap();
        for (slot, document) in expected.iter().take(9) {
            half.write(*slot, document).unwrap();
        }
        half.close().unwrap();
        fs::rename(&partial, &path).unwrap();
        let report = upgrade(&path).unwrap();
        assert_eq!((report.from, report.copied, report.old), (FormatVersion::V1, 19, None));
        assert_eq!(documents(&IndexedStorageFile::open(&path).unwrap()), expected);
        assert_eq!(names(&folder), ["0.0.region.bin"]);
    }

    #[test]
    fn a_damaged_blob_affects_no_other_and_the_old_file_is_kept() {
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
        assert_eq!(documents(&IndexedStorageFile::open(&path).unwrap()), expected);
        assert_eq!(names(&folder), ["0.0.region.bin", "0.0.region.bin.old"]);
        assert_eq!(fs::read(old_path(&path)).unwrap(), bytes);
    }
}
