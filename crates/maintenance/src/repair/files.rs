//! Region files that are damaged as a whole: header, index table, or everything.

use std::path::Path;

use hyworld_files::read_regular;
use hyworld_indexed_storage::{
    Error, Geometry, IndexedStorageFile, MemoryFile, OpenOptions, SlotDamage,
};

use super::RegionRepair;
use crate::finding::{Finding, Severity};
use crate::region_slots::RegionSlots;
use crate::verify::check_chunk;

/// The length of the header.
const HEADER_BYTES: u64 = 32;

/// A region file with a damaged header or table.
pub(super) struct Opened {
    /// The change that makes the file readable; `None` if it can be opened unchanged.
    pub(super) repair: Option<RegionRepair>,
    /// The file as it is after that change; `None` if no change makes it readable.
    pub(super) file: Option<IndexedStorageFile>,
    /// Damage of its slots, which could not be checked while the file was unreadable.
    pub(super) findings: Vec<Finding>,
}

/// Opens a region file with a damaged header or table as if it were repaired.
pub(super) fn open_damaged(path: &Path) -> Opened {
    let quarantine =
        Opened { repair: Some(RegionRepair::Quarantine), file: None, findings: Vec::new() };
    let Some(repair) = region_file_repair(path) else {
        return Opened { repair: None, file: None, findings: Vec::new() };
    };
    let file = match repair {
        RegionRepair::Quarantine => return quarantine,
        RegionRepair::Header(geometry) => {
            OpenOptions::new().assume_geometry(geometry).open(path).ok()
        }
        RegionRepair::Table => with_whole_table(path),
    };
    let Some(file) = file else { return quarantine };
    let findings = check_slots(&file, path);
    Opened { repair: Some(repair), file: Some(file), findings }
}

/// Returns the repair that a region file needs before its slots can be repaired, or `None`.
pub fn region_file_repair(path: &Path) -> Option<RegionRepair> {
    let bytes = path.metadata().ok()?.len();
    let table_end = Geometry::REGION.segments_offset();
    match IndexedStorageFile::open_read_only(path) {
        Ok(_) if bytes < table_end => Some(RegionRepair::Table),
        Err(Error::Header { .. }) if bytes > table_end => {
            Some(header_repair(path).unwrap_or(RegionRepair::Quarantine))
        }
        Err(Error::Header { .. }) if bytes > HEADER_BYTES && with_whole_table(path).is_some() => {
            Some(RegionRepair::Table)
        }
        Err(Error::Header { .. }) => Some(RegionRepair::Quarantine),
        // Intact, or the disk or the permissions are at fault, not the file.
        Ok(_) | Err(_) => None,
    }
}

/// Returns the header that makes blobs readable.
fn header_repair(path: &Path) -> Option<RegionRepair> {
    let geometry = Geometry::REGION;
    let file = OpenOptions::new().assume_geometry(geometry).open(path).ok()?;
    let occupied = file.occupied();
    let is_readable = |slot: &_| matches!(file.read(*slot), Ok(Some(_)));
    let is_right = occupied.is_empty() || occupied.iter().any(is_readable);
    is_right.then_some(RegionRepair::Header(geometry))
}

/// Opens a file that ends inside its index table as if the missing entries were empty.
fn with_whole_table(path: &Path) -> Option<IndexedStorageFile> {
    let table_end = usize::try_from(Geometry::REGION.segments_offset()).ok()?;
    // The file ends inside its table, so it is short.
    let mut bytes = read_regular(path, Geometry::REGION.segments_offset()).ok()?;
    bytes.resize(table_end.max(bytes.len()), 0);
    OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), path).ok()
}

/// Checks every slot of a file.
fn check_slots(file: &IndexedStorageFile, path: &Path) -> Vec<Finding> {
    let slots = RegionSlots::new(path, file.geometry());
    let mut findings = Vec::new();
    for slot in file.occupied() {
        match (file.read(slot), slots.chunk(slot)) {
            (Err(Error::Damaged { damage, .. }), _) => {
                findings.push(Finding::of_damage(path, slots, &SlotDamage { slot, damage }));
            }
            (Ok(Some(document)), Some(at)) => {
                let found = check_chunk(at, document).into_iter();
                findings.extend(found.filter(|finding| finding.severity == Severity::Error));
            }
            _ => {}
        }
    }
    findings
}
