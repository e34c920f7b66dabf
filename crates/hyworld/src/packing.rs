//! Compacting and sealing all region files of a world.

use std::fs;
use std::path::{Path, PathBuf};

use hyworld_files::{FileError, remove_if_present, with_suffix};
use hyworld_indexed_storage::{
    CompactOptions, EncodedBlob, Error as RegionError, IndexedStorageFile, OpenOptions, Slot,
    Verified, compact, plan_compact,
};
use hyworld_maintenance::{
    Finding, Findings, Progress, RegionSlots, RegionTotals, ScanOptions, prepared_path,
    region_totals, scan_items,
};

use crate::change::{Change, Plan, Seen, copy_file};
use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::seals::{SealOptions, SealTags, seal_slots};
use crate::world_at::World;

/// What to do with each region file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Remove unused space, and compress each blob again if a level is given and the result is
    /// smaller.
    Compact {
        /// The zstd level.
        level: Option<i32>,
        /// Drop orphaned blobs even if slots are damaged.
        drop_orphans: bool,
    },
    /// Add a checksum and a seal to each blob.
    Seal {
        /// The zstd level.
        level: i32,
    },
    /// Remove the seals.
    Unseal {
        /// The zstd level.
        level: i32,
    },
}

impl Packing {
    fn verb(self) -> &'static str {
        match self {
            Self::Compact { .. } => "compact",
            Self::Seal { .. } => "seal",
            Self::Unseal { .. } => "unseal",
        }
    }
}

/// The forecast of [`PackWorld`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PackForecast {
    /// How the bytes of the region files are used now.
    pub totals: RegionTotals,
    /// The bytes of all files after compacting without compressing again.
    pub bytes_after: u64,
    /// Files that would become smaller.
    pub smaller_files: u64,
    /// Files that cannot be compacted or sealed.
    pub findings: Findings,
}

/// A planned change of all region files of a world.
#[derive(Clone, Debug)]
pub struct PackWorld {
    location: Location,
    seen: Seen,
    files: Vec<PathBuf>,
    packing: Packing,
    /// How the space of the files is used now, and how much compacting frees.
    pub forecast: PackForecast,
}

/// The result of compacting or sealing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PackOutcome {
    /// Files that were replaced.
    pub changed: u64,
    /// Files that need no change.
    pub unchanged: u64,
    /// Blobs that were compressed, sealed or unsealed.
    pub blobs: u64,
    /// The bytes of all files before.
    pub bytes_before: u64,
    /// The bytes of all files after.
    pub bytes_after: u64,
    /// Files and slots that are left as they are.
    pub findings: Findings,
}

impl World {
    /// Measures the region files, for compacting or sealing them.
    ///
    /// # Errors
    /// Returns an error if the chunks are not in region files.
    pub fn plan_packing(
        &self,
        packing: Packing,
        scan: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<PackWorld> {
        let location = self.location().clone();
        let Some(folder) = location.region_folder() else {
            let text = format!("{}: its chunks are not in region files", location.name());
            return Err(Error::new(ErrorKind::BadLocation, text));
        };
        let files = location.region_files()?;
        let regions: Vec<_> = files.iter().map(|(region, _)| *region).collect();
        let files: Vec<PathBuf> = files.into_iter().map(|(_, path)| path).collect();
        let seen = Seen::of(files.iter().cloned());
        let mut forecast = PackForecast::default();
        let mut add = |found: &Finding| forecast.findings.add(found.clone());
        forecast.totals = region_totals(folder, &regions, scan, &mut add);
        progress.expect(Some(files.len() as u64));
        let items = files.iter().map(|path| (0, path));
        let drop_orphans = matches!(packing, Packing::Compact { drop_orphans: true, .. });
        let measure = |path: &PathBuf| measured(path, drop_orphans);
        let _complete = scan_items(items, scan, measure, |measured| {
            if let Some((before, after)) = measured {
                forecast.bytes_after = forecast.bytes_after.saturating_add(after.min(before));
                let is_smaller = u64::from(after < before);
                forecast.smaller_files = forecast.smaller_files.saturating_add(is_smaller);
            }
            progress.advance(1);
        });
        Ok(PackWorld { location: location.clone(), seen, files, packing, forecast })
    }
}

impl PackWorld {
    /// Returns the name of the world's location.
    pub fn location(&self) -> String {
        self.location.name()
    }
}

impl Plan for PackWorld {
    type Report = PackOutcome;

    fn verb(&self) -> &'static str {
        self.packing.verb()
    }

    /// Replaces the files one by one. Each file is complete and verified before it replaces the old
    /// one.
    fn apply_to(&self, change: &mut Change, progress: &dyn Progress) -> Result<PackOutcome> {
        self.seen.check()?;
        let (mut outcome, mut failed) = (PackOutcome::default(), None);
        progress.expect(Some(self.files.len() as u64));
        let items = self.files.iter().map(|path| (FILE_BYTES, path));
        let prepare = |path: &PathBuf| (path.clone(), prepare(path, self.packing));
        let scan = change.scan().clone();
        let _complete = scan_items(items, &scan, prepare, |(path, prepared)| {
            let added = prepared.and_then(|prepared| outcome.add(&path, prepared, change));
            if let Err(error) = added {
                match error.kind() {
                    ErrorKind::Damaged | ErrorKind::NotReady => {
                        let finding = Finding::new(hyworld_maintenance::Class::Storage, &error);
                        outcome.findings.add(Finding { file: Some(path), ..finding });
                    }
                    _ => failed = failed.take().or(Some(error)),
                }
            }
            progress.advance(1);
        });
        failed.map_or(Ok(outcome), Err)
    }
}

/// The weight of a file that is compressed again: one blob at a time is in memory.
const FILE_BYTES: u64 = 1 << 20;

/// A new version of a region file.
struct Prepared {
    /// `None` if the file needs no change.
    path: Option<PathBuf>,
    blobs: u64,
    before: u64,
    after: u64,
    findings: Vec<Finding>,
}

impl PackOutcome {
    fn add(&mut self, path: &Path, prepared: Prepared, change: &mut Change) -> Result<()> {
        self.bytes_before = self.bytes_before.saturating_add(prepared.before);
        self.bytes_after = self.bytes_after.saturating_add(prepared.after);
        prepared.findings.into_iter().for_each(|finding| self.findings.add(finding));
        let Some(new) = prepared.path else {
            self.unchanged = self.unchanged.saturating_add(1);
            return Ok(());
        };
        change.replace_with(path, &new)?;
        self.changed = self.changed.saturating_add(1);
        self.blobs = self.blobs.saturating_add(prepared.blobs);
        Ok(())
    }
}

/// Returns the length of a file, and the length after compacting.
fn measured(path: &Path, drop_orphans: bool) -> Option<(u64, u64)> {
    let file = IndexedStorageFile::open_read_only(path).ok()?;
    let options = CompactOptions { drop_damaged: false, drop_orphans };
    let report = plan_compact(&file, options).ok()?;
    let after = if report.dropped.is_empty() { report.bytes_after } else { report.bytes_before };
    Some((report.bytes_before, after))
}

/// Builds the new version of a file beside it.
fn prepare(path: &Path, packing: Packing) -> Result<Prepared> {
    let new = prepared_path(path)?;
    let prepared = build(path, &new, packing);
    let is_used = prepared.as_ref().is_ok_and(|prepared| prepared.path.is_some());
    if !is_used {
        for left in [new.clone(), with_suffix(&new, ".compact.tmp")] {
            remove_if_present(&left).map_err(|error| Error::new(ErrorKind::Io, error))?;
        }
    }
    prepared
}

fn build(path: &Path, new: &Path, packing: Packing) -> Result<Prepared> {
    let io = |error: FileError| Error::new(ErrorKind::Io, error);
    copy_file(path, new)?;
    // Only compacting drops orphaned blobs, which can be the only copies of removed chunks.
    let keep = !matches!(packing, Packing::Compact { .. });
    let file = OpenOptions::new().write(true).upgrade(false).keep_orphans(keep).open(new)?;
    let before = file.file_bytes()?;
    let (blobs, findings) = match packing {
        Packing::Compact { level, .. } => (recompress(&file, level)?, Vec::new()),
        Packing::Seal { level } => sealed(&file, path, level, false)?,
        Packing::Unseal { level } => sealed(&file, path, level, true)?,
    };
    file.close()?;
    let is_changed = match packing {
        Packing::Compact { drop_orphans, .. } => {
            let done = compact(new, CompactOptions { drop_damaged: false, drop_orphans })?;
            done.bytes_after < before
        }
        _ => blobs > 0,
    };
    let after = fs::metadata(new).map_err(FileError::at(new, "inspect")).map_err(io)?.len();
    let after = if is_changed { after } else { before };
    Ok(Prepared { path: is_changed.then(|| new.to_owned()), blobs, before, after, findings })
}

/// Compresses the blobs of a file again. Sealed and damaged blobs, and those that would not become
/// smaller, stay as they are. Returns how many were replaced.
fn recompress(file: &IndexedStorageFile, level: Option<i32>) -> Result<u64> {
    let Some(level) = level else { return Ok(0) };
    let mut count = 0_u64;
    for slot in file.occupied() {
        if let Some(blob) = smaller_blob(file, slot, level)? {
            file.write_encoded(&[(slot, &blob)])?;
            count = count.saturating_add(1);
        }
    }
    Ok(count)
}

fn smaller_blob(file: &IndexedStorageFile, slot: Slot, level: i32) -> Result<Option<EncodedBlob>> {
    let Verified::Intact { seal: None } = file.verify(slot)? else { return Ok(None) };
    let Some(old) = file.read_encoded(slot)? else { return Ok(None) };
    let document = old.decompress()?;
    let new = EncodedBlob::compress(&document, level)?;
    if new.decompress()? != document {
        let path = file.path().to_owned();
        return Err(RegionError::VerifyFailed { path, slot }.into());
    }
    Ok(Some(new).filter(|new| new.stored().len() < old.stored().len()))
}

fn sealed(
    file: &IndexedStorageFile,
    path: &Path,
    level: i32,
    remove: bool,
) -> Result<(u64, Vec<Finding>)> {
    let slots = RegionSlots::new(path, file.geometry());
    let tags = SealTags::new(path, slots, Some(file))?;
    let options = SealOptions { remove, level, dry_run: false };
    let mut write = |slot, blob| Ok(file.write_encoded(&[(slot, &blob)])?);
    let report = seal_slots(file, &tags, options, &ScanOptions::new(), &|_| {}, &mut write)?;
    let findings = report.findings.into_iter();
    // The findings name the copy that was sealed.
    let findings = findings.map(|finding| Finding { file: Some(path.to_owned()), ..finding });
    Ok((report.rewritten as u64, findings.collect()))
}
