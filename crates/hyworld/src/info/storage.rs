//! [`StorageInfo`]: region files, chunks and their contents.

use std::collections::BTreeSet;

use hyworld_maintenance::{
    Class, Contents, Finding, Progress, RegionTotals, Severity, count_contents, region_totals,
};
use hyworld_providers::{ChunkStorage, RegionFiles};
use serde::Serialize;

use super::InfoOptions;

/// A summary of a chunk storage.
#[derive(Debug, Serialize)]
pub struct StorageInfo {
    /// The location as shown in errors.
    pub location: String,
    /// The number of chunks.
    pub chunks: u64,
    /// The region files; `None` for other storages.
    pub regions: Option<RegionTotals>,
    /// The contents of the chunks; `None` if they were not read.
    pub contents: Option<Contents>,
}

impl StorageInfo {
    /// Summarizes a storage; `files` are its region files.
    pub(super) fn of(
        storage: &dyn ChunkStorage,
        files: Option<&RegionFiles>,
        options: &InfoOptions,
        progress: &dyn Progress,
        add: &mut dyn FnMut(Finding),
    ) -> Self {
        let mut found = Found { add, seen: Seen::new() };
        let regions = files.map(|files| found.regions(files, options));
        let contents = (!options.fast).then(|| {
            progress.expect(regions.map(|regions| regions.chunks));
            let before = found.seen.clone();
            let mut report = |finding: &Finding| found.add(finding, &before);
            count_contents(storage, &options.scan, &mut report, progress)
        });
        let location = storage.location();
        // A migration also has chunks outside of the region files.
        let is_all_in_files = files.is_some_and(|files| files.location() == location);
        let chunks = match (&contents, regions) {
            (Some(contents), _) => contents.chunks,
            (None, Some(regions)) if is_all_in_files => regions.chunks,
            (None, _) => storage.positions().flatten().count() as u64,
        };
        Self { location, chunks, regions, contents }
    }
}

/// Collects the findings of two passes over the same chunks, without duplicates.
struct Found<'a> {
    add: &'a mut dyn FnMut(Finding),
    seen: Seen,
}

/// Class and position of findings. Only damaged chunks are in it, so it stays small.
type Seen = BTreeSet<(&'static str, Option<(i32, i32)>)>;

impl Found<'_> {
    fn regions(&mut self, files: &RegionFiles, options: &InfoOptions) -> RegionTotals {
        let regions = files.regions().unwrap_or_else(|error| {
            (self.add)(Finding::new(Class::Storage, error));
            Vec::new()
        });
        let mut report = |finding: &Finding| self.add(finding, &Seen::new());
        region_totals(files.folder(), &regions, &options.scan, &mut report)
    }

    /// Adds a finding, unless the previous pass reported it.
    fn add(&mut self, finding: &Finding, before: &Seen) {
        let key = (finding.class.name(), finding.chunk.map(|at| (at.x, at.z)));
        self.seen.insert(key);
        if !before.contains(&key) && finding.severity == Severity::Error {
            (self.add)(finding.clone());
        }
    }
}
