//! Changing one region file. Every function that writes makes a [`Change`].

use std::io;
use std::path::{Path, PathBuf};

use hyworld_files::with_suffix;
use hyworld_indexed_storage::{
    CompactOptions, CompactReport, EncodedBlob, Error as RegionError, FormatVersion, Geometry,
    HeaderProblem, IndexedStorageFile, OpenOptions, RebuildPlan, SegmentIndex, Slot, UpgradeReport,
    compact, upgrade,
};
use hyworld_maintenance::{RegionChange, RegionChanges, RegionSlots};
use hyworld_world::ServerCheck;

use crate::change::{Change, ChangeOptions, ChangeReport, copy_file};
use crate::error::Result;
use crate::seals::SealTags;

/// The ending of the name under which the game keeps a region file of version 0.
const OLD_SUFFIX: &str = ".old";

/// Opens a version 1 file for reading. Every change starts with this, so that nothing is written to
/// an unreadable file.
///
/// # Errors
/// Returns an error if the file cannot be opened or has version 0.
pub fn open_region(path: &Path) -> Result<IndexedStorageFile> {
    let file = OpenOptions::new().open(path)?;
    if file.version() == FormatVersion::V0 {
        return Err(RegionError::NeedsUpgrade { path: path.to_owned() }.into());
    }
    Ok(file)
}

/// Like [`open_region`], but returns `None` if the file is missing or empty.
///
/// # Errors
/// Returns the same errors as [`open_region`].
pub fn open_region_if_present(path: &Path) -> Result<Option<IndexedStorageFile>> {
    let error = match open_region(path) {
        Ok(file) => return Ok(Some(file)),
        Err(error) => error,
    };
    match error.cause().downcast_ref() {
        Some(RegionError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        Some(RegionError::Header { problem: HeaderProblem::Empty, .. }) => Ok(None),
        _ => Err(error),
    }
}

/// Compresses and seals a document for a slot. `file` is the region file, if it exists.
///
/// # Errors
/// Returns an error if the seal of the current blob cannot be read, or if the document is too
/// large.
pub fn seal_document(
    path: &Path,
    file: Option<&IndexedStorageFile>,
    slots: RegionSlots,
    slot: Slot,
    document: &[u8],
    level: i32,
) -> Result<EncodedBlob> {
    let current = match file.map(|file| file.seal(slot)) {
        Some(Ok(seal)) => seal,
        // A damaged blob is replaced like any other.
        Some(Err(RegionError::Damaged { .. })) | None => None,
        Some(Err(error)) => return Err(error.into()),
    };
    let tag = SealTags::new(path, slots, file)?.next(slot, current.as_ref())?;
    Ok(EncodedBlob::compress_sealed(document, level, slot, &tag)?)
}

/// The options of [`put_blob`].
#[derive(Clone, Copy, Debug)]
pub struct PutOptions {
    /// The geometry of the file if it is created.
    pub geometry: Geometry,
    /// Change nothing.
    pub dry_run: bool,
}

/// The result of [`put_blob`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PutReport {
    /// The first segment of the blob; `None` in a dry run.
    pub segment: Option<SegmentIndex>,
    /// Whether the slot was occupied.
    pub replaced: bool,
    /// Whether the region file was created.
    pub created: bool,
    /// The undo bundle; `None` in a dry run.
    pub bundle: Option<PathBuf>,
}

/// Writes a blob into a slot. `file` is the current region file, if it exists.
///
/// # Errors
/// Returns an error if another program uses the file, or if it cannot be written.
pub fn put_blob(
    path: &Path,
    file: Option<IndexedStorageFile>,
    slot: Slot,
    blob: &EncodedBlob,
    options: PutOptions,
    how: &ChangeOptions,
) -> Result<PutReport> {
    let replaced = file.as_ref().is_some_and(|file| file.contains(slot).unwrap_or(false));
    let created = file.is_none();
    drop(file);
    let mut report = PutReport { segment: None, replaced, created, bundle: None };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let source = io::ErrorKind::NotFound.into();
        return Err(RegionError::Io { path: path.to_owned(), action: "create", source }.into());
    }
    if !options.dry_run {
        let mut change = Change::of_file(path, "put", how)?;
        let slots = vec![(slot, RegionChange::Put(blob.clone()))];
        // An empty file has no header.
        let (geometry, fresh) = (Some(options.geometry), created);
        change.change_region(
            path,
            &RegionChanges { slots, geometry, fresh, ..RegionChanges::default() },
        )?;
        report.segment = open_region(path)?.stat(slot)?.map(|stat| stat.segment);
        report.bundle = change.commit()?.bundle;
    }
    Ok(report)
}

/// Empties a slot.
///
/// # Errors
/// Returns an error if another program uses the file, or if it cannot be written.
pub fn remove_blob(path: &Path, slot: Slot, how: &ChangeOptions) -> Result<ChangeReport> {
    let mut change = Change::of_file(path, "rm", how)?;
    let slots = vec![(slot, RegionChange::Remove)];
    change.change_region(path, &RegionChanges { slots, ..RegionChanges::default() })?;
    change.commit()
}

/// Points a slot to an orphaned blob.
///
/// # Errors
/// Returns an error if there is no such blob, if another program uses the file, or if it cannot be
/// written.
pub fn restore_blob(
    path: &Path,
    slot: Slot,
    segment: SegmentIndex,
    how: &ChangeOptions,
) -> Result<ChangeReport> {
    let mut change = Change::of_file(path, "salvage", how)?;
    let restore = |file: &IndexedStorageFile| file.restore(slot, segment).map(drop);
    change.changes().patch_region(path, &[slot], OpenOptions::new(), restore)?;
    change.count(1, 0);
    change.commit()
}

/// Rebuilds the index table as planned.
///
/// # Errors
/// Returns an error if another program uses the file, if the file changed since the plan was
/// created, or if it cannot be written.
pub fn rebuild_index(path: &Path, plan: &RebuildPlan, how: &ChangeOptions) -> Result<ChangeReport> {
    let mut change = Change::of_file(path, "rebuild", how)?;
    let slots: Vec<Slot> = plan.changes.iter().map(|change| change.slot).collect();
    let options = OpenOptions::new();
    change.changes().patch_region(path, &slots, options, |file| file.rebuild(plan))?;
    change.count(slots.len() as u64, 0);
    change.commit()
}

/// Rewrites a destroyed header.
///
/// # Errors
/// Returns an error if another program uses the file, if the header is intact, if no blob can be
/// read with this geometry, or if the file cannot be written.
pub fn rebuild_header(
    path: &Path,
    geometry: Geometry,
    how: &ChangeOptions,
) -> Result<ChangeReport> {
    // A program that has the file open would continue to write to the old one.
    let how = how.clone().server_check(ServerCheck::Refuse);
    let mut change = Change::of_file(path, "rebuild", &how)?;
    let rebuild = |copy: &Path| hyworld_indexed_storage::rebuild_header(copy, geometry);
    change.rewrite_file(path, |copy| {
        rebuild(copy)?;
        Ok(((), true))
    })?;
    change.commit()
}

/// Replaces the file by one without unused space.
///
/// # Errors
/// Returns an error if another program uses the file, if a slot is damaged, or if the file cannot
/// be written.
pub fn compact_region(
    path: &Path,
    options: CompactOptions,
    how: &ChangeOptions,
) -> Result<(CompactReport, ChangeReport)> {
    let how = how.clone().server_check(ServerCheck::Refuse);
    let mut change = Change::of_file(path, "compact", &how)?;
    let report = change.rewrite_file(path, |copy| {
        let report = compact(copy, options)?;
        let is_changed = report.bytes_after != report.bytes_before;
        Ok((report, is_changed))
    })?;
    Ok((report, change.commit()?))
}

/// Replaces the file by one of version 1, and adds the blobs that exist only in a `NAME.old` that
/// the game left.
///
/// # Errors
/// Returns an error if another program uses the file, or if it cannot be written.
pub fn upgrade_region(path: &Path, how: &ChangeOptions) -> Result<(UpgradeReport, ChangeReport)> {
    let how = how.clone().server_check(ServerCheck::Refuse);
    let mut change = Change::of_file(path, "upgrade", &how)?;
    let report = change.upgrade_file(path)?;
    Ok((report, change.commit()?))
}

impl Change {
    /// Replaces a region file by one of version 1.
    pub(crate) fn upgrade_file(&mut self, path: &Path) -> Result<UpgradeReport> {
        let old = with_suffix(path, OLD_SUFFIX);
        let is_used = std::cell::Cell::new(false);
        let mut report = self.rewrite_file(path, |copy| {
            let old_copy = with_suffix(copy, OLD_SUFFIX);
            if old.exists() {
                copy_file(&old, &old_copy)?;
            }
            let report = upgrade(copy)?;
            is_used.set(old.exists() && !old_copy.exists());
            let is_changed = report.from == FormatVersion::V0 || report.copied > 0;
            Ok((report, is_changed))
        })?;
        if is_used.get() {
            self.remove_file(&old)?;
        }
        // The bundle has the old file.
        report.old = None;
        Ok(report)
    }
}
