//! Adding and removing the seals of a region file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hyworld_indexed_storage::limits::IDENTITY_BYTES_MAX;
use hyworld_indexed_storage::{
    Damage, EncodedBlob, IndexedStorageFile, Seal, SealTag, Slot, SlotDamage, Verified,
};
use hyworld_maintenance::{
    Finding, Progress, RegionChange, RegionChanges, RegionSlots, ScanOptions, scan_slots,
};

use crate::change::{Change, ChangeOptions};
use crate::error::Result;
use crate::region::open_region;

/// Bytes of blobs that are written together.
const BATCH_BYTES: u64 = 32 << 20;

/// Creates the seal tags for the blobs of one file, all with the same time.
#[derive(Debug)]
pub(crate) struct SealTags {
    slots: RegionSlots,
    file_name: String,
    time_ms: i64,
    /// The highest save counter of each slot, including orphaned blobs.
    counters: BTreeMap<Slot, u64>,
}

impl SealTags {
    /// Creates tags for the file at `path`; `file` is `None` if it does not exist yet.
    ///
    /// Orphaned blobs are included, so that after a rebuild of the index table a removed blob does
    /// not look newer than the next save.
    ///
    /// # Errors
    /// Returns an error if the file cannot be searched for orphaned blobs.
    pub(crate) fn new(
        path: &Path,
        slots: RegionSlots,
        file: Option<&IndexedStorageFile>,
    ) -> Result<Self> {
        let mut counters = BTreeMap::new();
        if let Some(file) = file {
            for blob in file.salvage()?.blobs {
                update_counter(&mut counters, blob.seal.as_ref());
            }
        }
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since_1970.unwrap_or_default().as_millis();
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            slots,
            file_name: name.to_string_lossy().into_owned(),
            time_ms: i64::try_from(millis).unwrap_or(i64::MAX),
            counters,
        })
    }

    /// Returns the tag for the next save of a slot whose blob now has the seal `current`.
    ///
    /// # Errors
    /// Returns an error if the identity is too long for a seal.
    pub(crate) fn next(&self, slot: Slot, current: Option<&Seal>) -> Result<SealTag> {
        let orphaned = self.counters.get(&slot).copied().unwrap_or(0);
        let current = current.map_or(0, |seal| seal.save_counter);
        let tag = SealTag::new(self.identity(slot))?
            .save_counter(orphaned.max(current).saturating_add(1))
            .time_ms(self.time_ms);
        Ok(tag)
    }

    /// Returns `chunk:-5,17` if the chunk position is known, otherwise the name of the file.
    fn identity(&self, slot: Slot) -> Vec<u8> {
        if let Some(chunk) = self.slots.chunk(slot) {
            return format!("chunk:{},{}", chunk.x, chunk.z).into_bytes();
        }
        let mut name = self.file_name.clone();
        while name.len() > IDENTITY_BYTES_MAX {
            name.pop();
        }
        name.into_bytes()
    }
}

fn update_counter(counters: &mut BTreeMap<Slot, u64>, seal: Option<&Seal>) {
    if let Some(seal) = seal {
        let known = counters.entry(seal.slot).or_default();
        *known = seal.save_counter.max(*known);
    }
}

/// The options of [`seal_region`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SealOptions {
    /// Remove seals instead of adding them.
    pub remove: bool,
    /// The zstd compression level.
    pub level: i32,
    /// Change nothing.
    pub dry_run: bool,
}

/// The result of [`seal_region`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SealReport {
    /// Slots whose blob was rewritten, or would be in a dry run.
    pub rewritten: usize,
    /// Slots that need no change.
    pub unchanged: usize,
    /// Damaged slots, which are left unchanged.
    pub findings: Vec<Finding>,
    /// The length of the file before the change, in bytes.
    pub before: u64,
    /// The length of the file after the change, in bytes; `None` in a dry run.
    pub after: Option<u64>,
    /// The undo bundle; `None` if nothing was changed.
    pub bundle: Option<PathBuf>,
}

/// Seals every blob of a region file, or removes all seals. Damaged blobs are left unchanged,
/// because a seal would mark them as valid.
///
/// # Errors
/// Returns an error if another program uses the file, or if it cannot be read or written.
pub fn seal_region(
    path: &Path,
    options: SealOptions,
    how: &ChangeOptions,
    progress: &dyn Progress,
) -> Result<SealReport> {
    let file = open_region(path)?;
    let (before, scan) = (file.file_bytes()?, &how.scan);
    let tags = SealTags::new(path, RegionSlots::of(&file), Some(&file))?;
    if options.dry_run {
        let report = seal_slots(&file, &tags, options, scan, progress, &mut |_, _| Ok(()))?;
        return Ok(SealReport { before, ..report });
    }
    drop(file);
    let verb = if options.remove { "unseal" } else { "seal" };
    let mut change = Change::of_file(path, verb, how)?;
    // In place, because a program that has the file open keeps it.
    let file = open_region(path)?;
    let (mut slots, mut bytes) = (Vec::new(), 0_u64);
    let mut report = seal_slots(&file, &tags, options, scan, progress, &mut |slot, blob| {
        bytes = bytes.saturating_add(blob.stored().len() as u64);
        slots.push((slot, RegionChange::Put(blob)));
        if bytes < BATCH_BYTES {
            return Ok(());
        }
        bytes = 0;
        write_batch(&mut change, path, std::mem::take(&mut slots))
    })?;
    write_batch(&mut change, path, slots)?;
    report.before = before;
    report.after = Some(open_region(path)?.file_bytes()?);
    report.bundle = change.commit()?.bundle;
    Ok(report)
}

fn write_batch(change: &mut Change, path: &Path, slots: Vec<(Slot, RegionChange)>) -> Result<()> {
    if slots.is_empty() {
        return Ok(());
    }
    change.change_region(path, &RegionChanges { slots, ..RegionChanges::default() })
}

/// Seals or unseals every blob of an open file: `write` is called with each new blob.
pub(crate) fn seal_slots(
    file: &IndexedStorageFile,
    tags: &SealTags,
    options: SealOptions,
    scan: &ScanOptions,
    progress: &dyn Progress,
    write: &mut dyn FnMut(Slot, EncodedBlob) -> Result<()>,
) -> Result<SealReport> {
    let mut report = SealReport::default();
    progress.expect(Some(file.occupied().len() as u64));
    let mut failure = None;
    let rewrite = |slot| seal_slot(file, tags, slot, options);
    let _complete = scan_slots(file, scan, rewrite, |slot, outcome| {
        match outcome {
            Ok(Outcome::Rewritten(blob)) => {
                report.rewritten = report.rewritten.saturating_add(1);
                let written = blob.map_or(Ok(()), |blob| write(slot, blob));
                failure = failure.take().or(written.err());
            }
            Ok(Outcome::Unchanged) => report.unchanged = report.unchanged.saturating_add(1),
            Ok(Outcome::Damaged(damage)) => {
                report.findings.push(Finding::of_slot(file, &SlotDamage { slot, damage }));
            }
            Err(error) => failure = failure.take().or(Some(error)),
        }
        progress.advance(1);
    });
    failure.map_or(Ok(report), Err)
}

enum Outcome {
    /// The new blob; `None` in a dry run.
    Rewritten(Option<EncodedBlob>),
    /// The blob needs no change, or the slot is empty.
    Unchanged,
    Damaged(Damage),
}

fn seal_slot(
    file: &IndexedStorageFile,
    tags: &SealTags,
    slot: Slot,
    options: SealOptions,
) -> Result<Outcome> {
    let seal: Option<Seal> = match file.verify(slot)? {
        Verified::Intact { seal } => seal,
        Verified::Damaged(damage) => return Ok(Outcome::Damaged(damage)),
        _ => return Ok(Outcome::Unchanged),
    };
    if seal.is_some() != options.remove {
        return Ok(Outcome::Unchanged);
    }
    if options.dry_run {
        return Ok(Outcome::Rewritten(None));
    }
    let Some(document) = file.read(slot)? else {
        return Ok(Outcome::Unchanged);
    };
    let blob = if options.remove {
        EncodedBlob::compress(&document, options.level)?
    } else {
        let tag = tags.next(slot, seal.as_ref())?;
        EncodedBlob::compress_sealed(&document, options.level, slot, &tag)?
    };
    Ok(Outcome::Rewritten(Some(blob)))
}
