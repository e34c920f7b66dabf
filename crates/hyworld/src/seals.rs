//! Seals of region files: what a seal says about a blob, and adding or removing them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hyworld_indexed_storage::limits::IDENTITY_BYTES_MAX;
use hyworld_indexed_storage::{
    Damage, EncodedBlob, IndexedStorageFile, Seal, SealTag, Slot, SlotDamage, Verified,
};
use hyworld_maintenance::{Finding, Progress, RegionSlots, ScanOptions, scan_slots};
use hyworld_world::ServerCheck;

use crate::error::Result;
use crate::region::{open_for_writing, open_region};

/// Makes the tags for the blobs of one file, all with the time at which it was made.
#[derive(Debug)]
pub(crate) struct SealTags {
    slots: RegionSlots,
    file_name: String,
    time_ms: i64,
    /// The highest save counter that the file knows for a slot, in use or left over.
    counters: BTreeMap<Slot, u64>,
}

impl SealTags {
    /// For the file at `path`; `file` is `None` if it does not exist yet.
    ///
    /// Left-over copies count too: a copy that was removed must not look newer than the next save
    /// when the index table is rebuilt.
    ///
    /// # Errors
    /// The file cannot be searched for left-over copies.
    pub(crate) fn new(
        path: &Path,
        slots: RegionSlots,
        file: Option<&IndexedStorageFile>,
    ) -> Result<Self> {
        let mut counters = BTreeMap::new();
        if let Some(file) = file {
            for blob in file.salvage()?.blobs {
                count(&mut counters, blob.seal.as_ref());
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

    /// The tag for the next save of a slot, whose blob has the seal `current` now.
    ///
    /// # Errors
    /// The identity is too long for a seal.
    pub(crate) fn next(&self, slot: Slot, current: Option<&Seal>) -> Result<SealTag> {
        let left_over = self.counters.get(&slot).copied().unwrap_or(0);
        let current = current.map_or(0, |seal| seal.save_counter);
        let tag = SealTag::new(self.identity(slot))?
            .save_counter(left_over.max(current).saturating_add(1))
            .time_ms(self.time_ms);
        Ok(tag)
    }

    /// `chunk:-5,17` where the position in the world is known, else the name of the file.
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

fn count(counters: &mut BTreeMap<Slot, u64>, seal: Option<&Seal>) {
    if let Some(seal) = seal {
        let known = counters.entry(seal.slot).or_default();
        *known = seal.save_counter.max(*known);
    }
}

/// How blobs are rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SealOptions {
    /// Take seals away instead of adding them.
    pub remove: bool,
    /// The level of zstd.
    pub level: i32,
    /// What to do about a program that has the file open.
    pub check: ServerCheck,
    /// Change nothing.
    pub dry_run: bool,
}

/// What became of all slots of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SealReport {
    /// Slots whose blob was written anew, or would be.
    pub rewritten: usize,
    /// Slots whose blob is as wanted already.
    pub unchanged: usize,
    /// Damaged slots, which were left alone.
    pub findings: Vec<Finding>,
    /// Length of the file before.
    pub before: u64,
    /// Length of the file now; `None` in a dry run.
    pub after: Option<u64>,
}

/// Seals every blob of a region file, or takes the seals away. A damaged blob is left alone: it
/// must not get a seal that vouches for it.
///
/// # Errors
/// Another program writes the file, or it cannot be read or written.
pub fn seal_region(
    path: &Path,
    options: SealOptions,
    scan: &ScanOptions,
    progress: &dyn Progress,
) -> Result<SealReport> {
    let mut file = open_region(path)?;
    let mut permit = None;
    if !options.dry_run {
        drop(file);
        let (opened, given) = open_for_writing(path, options.check, |open| open)?;
        (file, permit) = (opened, Some(given));
    }
    let mut report = SealReport { before: file.file_bytes()?, ..SealReport::default() };
    let tags = SealTags::new(path, RegionSlots::of(&file), Some(&file))?;
    progress.expect(Some(file.occupied().len() as u64));
    let mut failure = None;
    let rewrite = |slot| seal_slot(&file, &tags, slot, options);
    let _complete = scan_slots(&file, scan, rewrite, |slot, outcome| {
        match outcome {
            Ok(Outcome::Rewritten) => report.rewritten = report.rewritten.saturating_add(1),
            Ok(Outcome::Unchanged) => report.unchanged = report.unchanged.saturating_add(1),
            Ok(Outcome::Damaged(damage)) => {
                report.findings.push(Finding::of_slot(&file, &SlotDamage { slot, damage }));
            }
            Err(error) => failure = failure.take().or(Some(error)),
        }
        progress.advance(1);
    });
    failure.map_or(Ok(()), Err)?;
    file.sync()?;
    report.after = (!options.dry_run).then_some(file.file_bytes()?);
    drop(permit);
    Ok(report)
}

/// What became of one slot.
enum Outcome {
    Rewritten,
    /// Its blob is as wanted already, or the slot is empty.
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
        return Ok(Outcome::Rewritten);
    }
    let Some(content) = file.read(slot)? else {
        return Ok(Outcome::Unchanged);
    };
    let blob = if options.remove {
        EncodedBlob::compress(&content, options.level)?
    } else {
        let tag = tags.next(slot, seal.as_ref())?;
        EncodedBlob::compress_sealed(&content, options.level, slot, &tag)?
    };
    file.write_encoded(&[(slot, &blob)])?;
    Ok(Outcome::Rewritten)
}
