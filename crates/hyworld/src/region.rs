//! Changing a region file in place. Every function that writes acquires a [`WritePermit`] first.

use std::io;
use std::path::{Path, PathBuf};

use hyworld_indexed_storage::{
    CompactOptions, CompactReport, Durability, EncodedBlob, Error as RegionError, FormatVersion,
    Geometry, HeaderProblem, IndexedStorageFile, OpenOptions, RebuildPlan, SegmentIndex, Slot,
    UpgradeReport, apply_rebuild, compact, upgrade,
};
use hyworld_maintenance::RegionSlots;
use hyworld_world::{ServerCheck, WritePermit};

use crate::error::Result;
use crate::seals::SealTags;

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

/// Opens a file for writing. The permit must outlive the file.
pub(crate) fn open_for_writing(
    path: &Path,
    check: ServerCheck,
    change: impl FnOnce(OpenOptions) -> OpenOptions,
) -> Result<(IndexedStorageFile, WritePermit)> {
    let permit = WritePermit::of_storage(path, check)?;
    // Upgrades happen only in `upgrade_region`.
    let options = change(OpenOptions::new().write(true).upgrade(false));
    Ok((options.open(path)?, permit))
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
    /// When the blob becomes durable.
    pub durability: Durability,
    /// What to do if another program has the file open.
    pub check: ServerCheck,
    /// Change nothing.
    pub dry_run: bool,
}

/// The result of [`put_blob`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PutReport {
    /// The first segment of the blob; `None` in a dry run.
    pub segment: Option<SegmentIndex>,
    /// Whether the slot was occupied.
    pub replaced: bool,
    /// Whether the region file was created.
    pub created: bool,
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
    options: &PutOptions,
) -> Result<PutReport> {
    let replaced = file.as_ref().is_some_and(|file| file.contains(slot).unwrap_or(false));
    let created = file.is_none();
    drop(file);
    let mut segment = None;
    if !options.dry_run {
        let PutOptions { geometry, durability, check, .. } = *options;
        let (file, _permit) = open_for_writing(path, check, |open| {
            open.durability(durability).geometry(geometry).create(created)
        })?;
        file.write_encoded(&[(slot, blob)])?;
        segment = file.stat(slot)?.map(|stat| stat.segment);
        file.close()?;
    }
    Ok(PutReport { segment, replaced, created })
}

/// Empties a slot.
///
/// # Errors
/// Returns an error if another program uses the file, or if it cannot be written.
pub fn remove_blob(path: &Path, slot: Slot, check: ServerCheck) -> Result<()> {
    let (file, _permit) = open_for_writing(path, check, |open| open)?;
    file.remove(slot)?;
    Ok(file.close()?)
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
    check: ServerCheck,
) -> Result<()> {
    let (file, _permit) = open_for_writing(path, check, |open| open)?;
    file.restore(slot, segment)?;
    Ok(file.close()?)
}

/// Rebuilds the index table as planned. Returns the path of the file that keeps the old table.
///
/// # Errors
/// Returns an error if another program uses the file, if the file changed since the plan was
/// created, or if it cannot be written.
pub fn rebuild_index(path: &Path, plan: &RebuildPlan, check: ServerCheck) -> Result<PathBuf> {
    let _permit = WritePermit::of_storage(path, check)?;
    Ok(apply_rebuild(path, plan)?)
}

/// Rewrites a destroyed header. Returns the path of the file that keeps the old bytes.
///
/// # Errors
/// Returns an error if another program uses the file, if the header is intact, if no blob can be
/// read with this geometry, or if the file cannot be written.
pub fn rebuild_header(path: &Path, geometry: Geometry, check: ServerCheck) -> Result<PathBuf> {
    let _permit = WritePermit::of_storage(path, check)?;
    Ok(hyworld_indexed_storage::rebuild_header(path, geometry)?)
}

/// Replaces the file by one without unused space. Always refuses if another program has the file
/// open, because that program would keep writing to the old file.
///
/// # Errors
/// Returns an error if another program uses the file, if a slot is damaged, or if the file cannot
/// be written.
pub fn compact_region(path: &Path, options: CompactOptions) -> Result<CompactReport> {
    let _permit = WritePermit::of_storage(path, ServerCheck::Refuse)?;
    Ok(compact(path, options)?)
}

/// Replaces the file by one of version 1. Always refuses if another program has the file open, like
/// [`compact_region`].
///
/// # Errors
/// Returns an error if another program uses the file, or if it cannot be written.
pub fn upgrade_region(path: &Path) -> Result<UpgradeReport> {
    let _permit = WritePermit::of_storage(path, ServerCheck::Refuse)?;
    Ok(upgrade(path)?)
}
