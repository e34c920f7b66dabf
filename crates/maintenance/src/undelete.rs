//! Finds the orphaned chunks of a world: older versions, removed chunks and unfinished writes that
//! are still in the region files, and the positions they belong to.
//!
//! The seal of an orphan has its position, and so has the journal of version 0. For all others
//! the evidence is collected and weighed:
//!
//! 1. the world coordinates of its entities and damaged blocks;
//! 2. contents that it shares with one stored chunk and with no other (`pieces.rs`): it is an older
//!    version of that chunk;
//! 3. the neighbours, at every position of the region (`fit.rs`), whether or not a chunk is stored
//!    there.
//!
//! One strong sign that nothing contradicts is a high confidence. What is decided becomes evidence
//! for the rest. Slots that share a blob are not evidence, because one of them is wrong. Regions
//! are processed one after another, so memory is bounded by one region and its orphans.

mod assign;
mod fit;
mod pieces;
mod region;
mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyworld_coords::RegionPos;
use hyworld_indexed_storage::{Error, IndexedStorageFile, SalvageReport};

use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions, scan_items};
use region::Region;

pub(crate) use pieces::Pieces;
pub use report::{
    ChunkSummary, Confidence, Orphan, OrphanPosition, OrphanReport, OrphanSeal, PositionEvidence,
};

/// Searches region files for orphaned chunks. Changes nothing.
///
/// `progress` counts each region file twice: after the search, and after positions are determined.
pub fn find_orphans(
    files: &[PathBuf],
    options: &ScanOptions,
    progress: &dyn Progress,
) -> OrphanReport {
    find_orphans_in(files, files, options, progress)
}

/// Like [`find_orphans`], but searches only `files`. `all` are all region files of the world, from
/// which neighbouring chunks are read.
pub fn find_orphans_in(
    files: &[PathBuf],
    all: &[PathBuf],
    options: &ScanOptions,
    progress: &dyn Progress,
) -> OrphanReport {
    progress.expect(Some((files.len() as u64).saturating_mul(2)));
    let mut report = OrphanReport::default();
    let mut found = Vec::new();
    let items = files.iter().map(|path| (SEARCH_BYTES, path));
    let options = options.clone().ordered(true);
    let find = |path: &PathBuf| (path.clone(), search(path));
    report.completion = scan_items(items, &options, find, |(path, searched)| {
        progress.advance(1);
        match searched {
            Ok(salvaged) => found.push((path, salvaged)),
            Err(error) => report.failed.push((path, error.to_string())),
        }
    });
    let regions = all.iter().filter_map(|path| Some((key(region_of(path)?), path.as_path())));
    let regions: BTreeMap<_, _> = regions.collect();
    for (path, salvaged) in found {
        if options.is_cancelled() {
            report.completion = Completion::Cancelled;
            break;
        }
        report.files = report.files.saturating_add(1);
        if !salvaged.complete {
            report.incomplete.push(path.clone());
        }
        if !salvaged.blobs.is_empty() {
            // Opened again, so that not all files of a large world are open at once.
            match IndexedStorageFile::open_read_only(&path) {
                Ok(file) => {
                    let path_of = |at| regions.get(&key(at)).copied();
                    let region = Region::new(&file, &options, path_of);
                    report.orphans.extend(region.orphans(salvaged.blobs));
                }
                Err(error) => report.failed.push((path, error.to_string())),
            }
        }
        progress.advance(1);
    }
    report
}

/// The weight of searching a file: about the largest blob that is usual.
const SEARCH_BYTES: u64 = 8 << 20;

fn search(path: &Path) -> Result<SalvageReport, Error> {
    IndexedStorageFile::open_read_only(path)?.salvage()
}

fn region_of(path: &Path) -> Option<RegionPos> {
    RegionPos::from_file_name(path.file_name()?.to_str()?)
}

fn key(at: RegionPos) -> (i32, i32) {
    (at.x, at.z)
}
