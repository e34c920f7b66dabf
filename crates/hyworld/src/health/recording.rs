//! Checks chunks together with a manifest.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_files::read_regular;
use hyworld_maintenance::{
    ChunkRecord, FileRecord, Finding, Manifest, ManifestChanges, Progress, RegionRecord,
    ScanOptions, Severity, ShortHash, VerifyReport, changed_chunks, changed_regions, verify,
    verify_chunks,
};
use hyworld_providers::{ChunkStorage, ChunkStorageExt};
use hyworld_world::limits::JSON_BYTES_MAX;

use super::ManifestUse;
use crate::world_at::World;

/// The folders of a world whose files are in a manifest.
const FOLDERS: [&str; 2] = ["", "resources"];

/// A check with the manifest that it uses and the one that it creates.
pub(super) struct Recording<'a> {
    usage: ManifestUse<'a>,
    folder: Option<PathBuf>,
    /// The region files to check.
    files: Vec<(RegionPos, PathBuf)>,
    new: Manifest,
    changes: Option<ManifestChanges<'a>>,
    findings: Vec<Finding>,
    /// Regions that cannot be listed. Their chunks are not reported as missing.
    unlisted: Vec<RegionPos>,
}

/// The result after all chunks were checked.
pub(super) struct Recorded {
    pub(super) findings: Vec<Finding>,
    pub(super) manifest: Option<Manifest>,
}

impl<'a> Recording<'a> {
    pub(super) fn new(world: &World, usage: ManifestUse<'a>) -> Self {
        // The check of the chunks reports a folder that cannot be listed.
        let files = world.location().region_files().unwrap_or_default();
        let folder = world.folder();
        let name = folder.as_deref().and_then(Path::file_name).unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut new = Manifest {
            world: name.to_string_lossy().into_owned(),
            written_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            ..Manifest::default()
        };
        if !matches!(usage, ManifestUse::None) {
            new.files = files_of(folder.as_deref());
            let records = files.iter().map(|(region, path)| (*region, RegionRecord::of(path)));
            new.regions = records.filter_map(|(region, record)| Some((region, record?))).collect();
        }
        let (files, changes) = match usage {
            ManifestUse::Since(old) => (changed_regions(old, files), None),
            ManifestUse::Compare(old) | ManifestUse::Update(old) => {
                (files, Some(ManifestChanges::new(old)))
            }
            _ => (files, None),
        };
        let (findings, unlisted) = (Vec::new(), Vec::new());
        Self { usage, folder, files, new, changes, findings, unlisted }
    }

    /// Returns the region files that are checked.
    pub(super) fn files(&self) -> &[(RegionPos, PathBuf)] {
        &self.files
    }

    pub(super) fn verify(
        &mut self,
        storage: &dyn ChunkStorage,
        options: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) -> VerifyReport {
        if matches!(self.usage, ManifestUse::None) {
            return verify(storage, options, found, progress);
        }
        let positions = match self.usage {
            // Other storages do not show what was written since the manifest.
            ManifestUse::Since(old) if !old.regions.is_empty() => {
                self.keep_others(old, storage);
                let chunks = |(_, path): &(RegionPos, PathBuf)| changed_chunks(old, path);
                let changed: Vec<ChunkPos> = self.files.iter().flat_map(chunks).collect();
                Box::new(changed.into_iter().map(Ok))
            }
            _ => storage.positions(),
        };
        let (chunks, changes) = (&mut self.new.chunks, &mut self.changes);
        let (findings, unlisted) = (&mut self.findings, &mut self.unlisted);
        let mut hashed = |at: ChunkPos, record: Option<&ChunkRecord>| {
            chunks.extend(record.map(|record| (at, *record)));
            findings.extend(changes.as_mut().and_then(|changes| changes.chunk(at, record)));
        };
        let mut note = |finding: &Finding| {
            let name = finding.file.as_deref().and_then(Path::file_name);
            let is_file = finding.chunk.is_none();
            let region = name.and_then(|name| RegionPos::from_file_name(name.to_str()?));
            unlisted.extend(region.filter(|_| is_file));
            found(finding);
        };
        verify_chunks(storage, positions, options, &mut note, Some(&mut hashed), progress)
    }

    /// Copies the records of chunks that are not read again.
    fn keep_others(&mut self, old: &Manifest, storage: &dyn ChunkStorage) {
        let is_changed =
            |at: &ChunkPos| self.files.iter().any(|(region, _)| *region == at.region());
        let is_stored = |at: &ChunkPos| !is_changed(at) || storage.contains(*at).unwrap_or(true);
        let kept = old.chunks.iter().filter(|(at, _)| is_stored(at));
        self.new.chunks = kept.map(|(at, record)| (*at, *record)).collect();
    }

    pub(super) fn finish(mut self, report: &VerifyReport) -> Recorded {
        if matches!(self.usage, ManifestUse::None) {
            return Recorded { findings: Vec::new(), manifest: None };
        }
        let is_complete = report.completion == hyworld_maintenance::Completion::Complete;
        if let Some(changes) = self.changes.filter(|_| is_complete) {
            let folder = self.folder.as_deref().unwrap_or(Path::new(""));
            self.findings.extend(changes.finish(&self.new, folder, &self.unlisted));
        }
        if matches!(self.usage, ManifestUse::Update(_)) {
            self.findings.iter_mut().for_each(|finding| finding.severity = Severity::Note);
        }
        Recorded { findings: self.findings, manifest: Some(self.new).filter(|_| is_complete) }
    }
}

/// Returns the records of the files of a world besides its chunks. Locks and files that programs
/// are writing are left out.
fn files_of(folder: Option<&Path>) -> std::collections::BTreeMap<String, FileRecord> {
    let mut files = std::collections::BTreeMap::new();
    for (name, path) in FOLDERS.iter().filter_map(|name| Some((name, folder?.join(name)))) {
        for entry in path.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            let file = entry.file_name().to_string_lossy().into_owned();
            let is_kept = ["json", "bak", "bson"]
                .iter()
                .any(|ending| path.extension().is_some_and(|found| found == *ending));
            let bytes = is_kept.then(|| read_regular(&path, JSON_BYTES_MAX).ok());
            if let Some(bytes) = bytes.flatten() {
                let key = if name.is_empty() { file } else { format!("{name}/{file}") };
                let record = FileRecord { bytes: bytes.len() as u64, hash: ShortHash::of(&bytes) };
                files.insert(key, record);
            }
        }
    }
    files
}
