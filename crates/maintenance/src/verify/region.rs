//! The checks of the slots of one region file.

use hyworld_indexed_storage::{Error, IndexedStorageFile, Result, Slot, SlotDamage, Verified};

use crate::finding::Finding;
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions, scan_slots};

/// The result of a check of all slots of a region file.
#[derive(Debug, Default)]
pub struct RegionReport {
    /// Slots that were checked.
    pub slots: usize,
    /// Slots with an intact blob.
    pub intact: usize,
    /// Intact slots with a seal.
    pub sealed: usize,
    /// The findings in slot order: at most one per slot, and one for the index table.
    pub findings: Vec<Finding>,
    /// Slots that could not be checked because of an I/O error.
    pub failed: Vec<Error>,
    /// Whether every slot was checked.
    pub completion: Completion,
}

/// Checks every slot of a region file: position, lengths, frames and seal.
///
/// # Errors
/// Returns an error if the length of the file cannot be read.
pub fn verify_region(
    file: &IndexedStorageFile,
    options: &ScanOptions,
    progress: &dyn Progress,
) -> Result<RegionReport> {
    let findings = Finding::of_table(file)?.into_iter().collect();
    let mut report = RegionReport { findings, ..RegionReport::default() };
    let completion = scan_slots(
        file,
        options,
        |slot| file.verify(slot),
        |slot, verified| {
            report.add(file, slot, verified);
            progress.advance(1);
        },
    );
    Ok(RegionReport { completion, ..report })
}

impl RegionReport {
    fn add(&mut self, file: &IndexedStorageFile, slot: Slot, verified: Result<Verified>) {
        self.slots = self.slots.saturating_add(1);
        match verified {
            Ok(Verified::Intact { seal }) => {
                self.intact = self.intact.saturating_add(1);
                self.sealed = self.sealed.saturating_add(usize::from(seal.is_some()));
            }
            Ok(Verified::Damaged(damage)) => {
                self.findings.push(Finding::of_slot(file, &SlotDamage { slot, damage }));
            }
            // Another program emptied the slot after the file was opened.
            Ok(_) => self.slots = self.slots.saturating_sub(1),
            Err(error) => self.failed.push(error),
        }
    }
}
