//! Changing a region file in its place. Every function that writes asks the gate first.

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

/// Opens a file of version 1 for reading: the first step of every change, so that nothing is
/// written before the file is known to be readable.
///
/// # Errors
/// It cannot be opened, or is of version 0.
pub fn open_region(path: &Path) -> Result<IndexedStorageFile> {
    let file = OpenOptions::new().open(path)?;
    if file.version() == FormatVersion::V0 {
        return Err(RegionError::NeedsUpgrade { path: path.to_owned() }.into());
    }
    Ok(file)
}

/// As [`open_region`]; returns `None` if the file is missing or has no bytes.
///
/// # Errors
/// As for [`open_region`].
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

/// Opens a file for writing behind the gate. The permit must live as long as the file.
pub(crate) fn open_for_writing(
    path: &Path,
    check: ServerCheck,
    change: impl FnOnce(OpenOptions) -> OpenOptions,
) -> Result<(IndexedStorageFile, WritePermit)> {
    let permit = WritePermit::of_storage(path, check)?;
    // Upgrading is an operation of its own.
    let options = change(OpenOptions::new().write(true).upgrade(false));
    Ok((options.open(path)?, permit))
}

/// Compresses content for a slot and seals it. `file` is the region file, if it exists.
///
/// # Errors
/// The seal of the blob that is there now cannot be read, or the content is too large.
pub fn seal_content(
    path: &Path,
    file: Option<&IndexedStorageFile>,
    slots: RegionSlots,
    slot: Slot,
    content: &[u8],
    level: i32,
) -> Result<EncodedBlob> {
    let current = match file.map(|file| file.seal(slot)) {
        Some(Ok(seal)) => seal,
        // A blob that is damaged is replaced like any other.
        Some(Err(RegionError::Damaged { .. })) | None => None,
        Some(Err(error)) => return Err(error.into()),
    };
    let tag = SealTags::new(path, slots, file)?.next(slot, current.as_ref())?;
    Ok(EncodedBlob::compress_sealed(content, level, slot, &tag)?)
}

/// How a blob is written.
#[derive(Clone, Copy, Debug)]
pub struct PutOptions {
    /// The geometry of a file that does not exist yet.
    pub geometry: Geometry,
    /// When the blob is durable.
    pub durability: Durability,
    /// What to do about a program that has the file open.
    pub check: ServerCheck,
    /// Change nothing.
    pub dry_run: bool,
}

/// What writing a blob did, or would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PutReport {
    /// Where the blob is; `None` in a dry run.
    pub segment: Option<SegmentIndex>,
    /// The slot held something.
    pub replaced: bool,
    /// The region file was created.
    pub created: bool,
}

/// Writes a blob into a slot. `file` is the region file as it is, if it exists.
///
/// # Errors
/// Another program writes the file, or it cannot be written.
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
/// Another program writes the file, or it cannot be written.
pub fn remove_blob(path: &Path, slot: Slot, check: ServerCheck) -> Result<()> {
    let (file, _permit) = open_for_writing(path, check, |open| open)?;
    file.remove(slot)?;
    Ok(file.close()?)
}

/// Lets a slot refer to a blob that no slot refers to.
///
/// # Errors
/// There is no such blob, another program writes the file, or it cannot be written.
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

/// Changes the index table as planned; returns the file that has the old one.
///
/// # Errors
/// Another program writes the file, it was changed since it was planned, or cannot be written.
pub fn rebuild_index(path: &Path, plan: &RebuildPlan, check: ServerCheck) -> Result<PathBuf> {
    let _permit = WritePermit::of_storage(path, check)?;
    Ok(apply_rebuild(path, plan)?)
}

/// Writes a destroyed header again; returns the file that has what was there.
///
/// # Errors
/// Another program writes the file, the header is whole, no blob can be read with this geometry, or
/// the file cannot be written.
pub fn rebuild_header(path: &Path, geometry: Geometry, check: ServerCheck) -> Result<PathBuf> {
    let _permit = WritePermit::of_storage(path, check)?;
    Ok(hyworld_indexed_storage::rebuild_header(path, geometry)?)
}

/// Replaces the file by one without unused space. The gate cannot be overruled: a program that has
/// the file open would go on writing into the old one.
///
/// # Errors
/// Another program uses the file, a slot is damaged, or the file cannot be written.
pub fn compact_region(path: &Path, options: CompactOptions) -> Result<CompactReport> {
    let _permit = WritePermit::of_storage(path, ServerCheck::Refuse)?;
    Ok(compact(path, options)?)
}

/// Replaces the file by one of version 1. The gate cannot be overruled, as for
/// [`compact_region`].
///
/// # Errors
/// Another program uses the file, or it cannot be written.
pub fn upgrade_region(path: &Path) -> Result<UpgradeReport> {
    let _permit = WritePermit::of_storage(path, ServerCheck::Refuse)?;
    Ok(upgrade(path)?)
}
