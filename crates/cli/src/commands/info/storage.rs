//! How much is stored: region files, chunks, and what is in them.

use std::collections::BTreeSet;

use hyworld_maintenance::{
    Contents, Finding, RegionTotals, ScanOptions, Severity, count_contents, region_totals,
};
use hyworld_providers::{ChunkStorage, RegionFiles};

use super::Problems;
use crate::output::{Console, progress};

/// What a storage of chunks comes to.
#[derive(Debug)]
pub(in crate::commands) struct Stored {
    pub(in crate::commands) place: String,
    /// For storages in region files.
    pub(in crate::commands) regions: Option<RegionTotals>,
    pub(in crate::commands) chunks: u64,
    /// Without it nothing was decoded.
    pub(in crate::commands) contents: Option<Contents>,
}

impl Stored {
    /// Looks at a storage, of which `files` are the region files. Problems begin with `name`.
    pub(super) fn of(
        name: &str,
        storage: &dyn ChunkStorage,
        files: Option<&RegionFiles>,
        is_fast: bool,
        console: &Console,
        problems: &mut Problems,
    ) -> Self {
        let mut found = Found { name, problems, seen: BTreeSet::new() };
        let regions = files.map(|files| found.regions(files, console));
        let contents = (!is_fast).then(|| {
            let chunks = regions.map(|regions| regions.chunks);
            let bar = progress::chunks(console, "counting", chunks);
            let before = found.seen.clone();
            let mut tell = |finding: &Finding| found.add(finding, &before);
            let advance = |chunks| bar.inc(chunks);
            let contents = count_contents(storage, &options(console), &mut tell, &advance);
            bar.finish_and_clear();
            contents
        });
        let place = storage.location();
        // A migration has chunks elsewhere too.
        let is_all_in_files = files.is_some_and(|files| files.location() == place);
        let chunks = match (contents, regions) {
            (Some(contents), _) => contents.chunks,
            (None, Some(regions)) if is_all_in_files => regions.chunks,
            (None, _) => storage.positions().flatten().count() as u64,
        };
        Self { place, regions, chunks, contents }
    }
}

fn options(console: &Console) -> ScanOptions {
    ScanOptions::new().jobs(console.jobs())
}

/// What two passes over the same chunks found, each thing once.
struct Found<'a> {
    name: &'a str,
    problems: &'a mut Problems,
    seen: Seen,
}

/// Class and position of findings. Positions of damaged chunks only, so it stays small.
type Seen = BTreeSet<(&'static str, Option<(i32, i32)>)>;

impl Found<'_> {
    fn regions(&mut self, files: &RegionFiles, console: &Console) -> RegionTotals {
        let regions = files.regions().unwrap_or_else(|error| {
            self.problems.add(error.to_string());
            Vec::new()
        });
        let spinner = progress::spinner(console, "region files");
        let mut tell = |finding: &Finding| self.add(finding, &Seen::new());
        let totals = region_totals(files.folder(), &regions, &options(console), &mut tell);
        spinner.finish_and_clear();
        totals
    }

    /// Adds a finding, unless the pass before made it too.
    fn add(&mut self, finding: &Finding, before: &Seen) {
        let key = (finding.class.name(), finding.chunk.map(|at| (at.x, at.z)));
        self.seen.insert(key);
        if before.contains(&key) || finding.severity == Severity::Warning {
            return;
        }
        let message = &finding.message;
        self.problems.add(match finding.chunk {
            // Some messages begin with it themselves.
            Some(at) if !message.starts_with("chunk ") => {
                format!("{}: chunk {},{}: {message}", self.name, at.x, at.z)
            }
            _ => format!("{}: {message}", self.name),
        });
    }
}
