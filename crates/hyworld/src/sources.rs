//! [`SourceInfo`] and `Source`: a backup, world or undo bundle from which damaged or lost data is
//! restored.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use hyworld_coords::ChunkPos;
use hyworld_documents::Uuid;
use hyworld_files::read_regular;
use hyworld_maintenance::{
    BUNDLE_SUFFIX, Bundle, BundleStorage, RepairSource, SameWorld as EdgeVerdict, agreement,
    common_positions,
};
use hyworld_providers::ChunkStorage;
use hyworld_world::limits::JSON_BYTES_MAX;
use hyworld_world::{Backup, BackupFile, BackupTime, WorldOptions, backup_folder, find_backups};

use crate::error::{Error, ErrorKind, Result};
use crate::location::{Location, find_named_world};

/// How many chunks of a source are compared with their neighbours in the world.
const SAMPLES: usize = 64;

/// Why a source is trusted, or not.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum SameWorld {
    /// Both worlds have the same UUID, or the source is an undo bundle of this world.
    Uuid,
    /// The borders of its chunks fit those of the world; the agreement in percent.
    Edges(u8),
    /// The caller trusts it.
    Trusted,
    /// The UUIDs differ.
    OtherUuid,
    /// The borders of its chunks do not fit; the agreement in percent.
    OtherEdges(u8),
    /// Neither UUIDs nor borders decide it.
    Unknown,
}

impl SameWorld {
    /// Returns whether chunks of the source may be used.
    pub fn is_accepted(self) -> bool {
        matches!(self, Self::Uuid | Self::Edges(_) | Self::Trusted)
    }
}

/// What is known about a backup, another world or an undo bundle.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SourceInfo {
    /// The path or URL, for messages.
    pub name: String,
    /// The path or URL that it is opened with.
    pub path: PathBuf,
    /// When its chunks were saved, in milliseconds since 1970, if that is known.
    pub time_ms: Option<u64>,
    /// Whether it is the same world.
    pub same_world: SameWorld,
    /// The number of its chunks that the world does not have; 0 until it is accepted.
    pub lacking: u64,
    /// Parts of it that cannot be listed: their chunks cannot be used.
    pub unlisted: Vec<String>,
}

impl SourceInfo {
    fn new(name: String, path: &Path, time_ms: Option<u64>, same_world: SameWorld) -> Self {
        let (path, unlisted) = (path.to_owned(), Vec::new());
        Self { name, path, time_ms, same_world, lacking: 0, unlisted }
    }

    /// Opens it again, for the world at `target`.
    pub(crate) fn open(&self, target: &Location) -> Result<Source> {
        let source = Source::open(&self.path, target)?;
        Ok(Source { info: self.clone(), ..source })
    }
}

/// A backup, another world or an undo bundle, open for reading.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) info: SourceInfo,
    storage: Arc<dyn ChunkStorage>,
    files: Files,
}

/// Where the other files of a source are.
#[derive(Clone, Debug)]
enum Files {
    Folder(PathBuf),
    Zip { zip: PathBuf, world: String },
    None,
}

impl Source {
    /// Returns its chunks.
    pub(crate) fn storage(&self) -> &dyn ChunkStorage {
        &*self.storage
    }

    pub(crate) fn for_repair(&self) -> RepairSource {
        let storage = Arc::clone(&self.storage);
        RepairSource { name: self.info.name.clone(), time_ms: self.info.time_ms, storage }
    }

    /// Reads a file of the world, such as `config.json` or `resources/Time.json`. Returns `None` if
    /// the source does not have it.
    pub(crate) fn world_file(&self, name: &str) -> Option<Vec<u8>> {
        match &self.files {
            Files::Folder(folder) => read_regular(&folder.join(name), JSON_BYTES_MAX).ok(),
            Files::Zip { zip, world } => {
                Backup::open(zip).ok()?.file(&format!("worlds/{world}/{name}")).ok()?
            }
            Files::None => None,
        }
    }

    /// Reads a file of the universe, such as `players/UUID.json`.
    pub(crate) fn universe_file(&self, name: &str) -> Option<Vec<u8>> {
        match &self.files {
            Files::Folder(folder) => {
                read_regular(&folder.join("../..").join(name), JSON_BYTES_MAX).ok()
            }
            Files::Zip { zip, .. } => Backup::open(zip).ok()?.file(name).ok()?,
            Files::None => None,
        }
    }

    /// Opens what a user named as a source of the chunks at `target`.
    fn open(path: &Path, target: &Location) -> Result<Self> {
        if path.is_file() && path.to_string_lossy().ends_with(BUNDLE_SUFFIX) {
            return Self::of_bundle(path, target);
        }
        let location = location_of(path, target)?;
        let files = match &location {
            Location::Backup { zip, world } => {
                Files::Zip { zip: zip.clone(), world: world.clone() }
            }
            other => other.world_folder().map_or(Files::None, Files::Folder),
        };
        let storage: Arc<dyn ChunkStorage> = location.open()?.into();
        let (name, time_ms) = (location.name(), time_of(&location));
        let same_world = match (uuid_of(&location), uuid_of(target)) {
            (Some(source), Some(target)) if source == target => SameWorld::Uuid,
            (Some(_), Some(_)) => SameWorld::OtherUuid,
            _ => SameWorld::Unknown,
        };
        let info = SourceInfo::new(name, path, time_ms, same_world);
        Ok(Self { info, storage, files })
    }

    /// Decides by the borders of its chunks whether it is the world in `storage`. `damaged` are
    /// compared first, then a sample of all chunks of the source.
    pub(crate) fn judge_by_edges(
        &mut self,
        storage: &dyn ChunkStorage,
        damaged: impl Iterator<Item = ChunkPos>,
    ) {
        let mut positions: Vec<ChunkPos> = damaged.take(SAMPLES).collect();
        positions.extend(common_positions(&*self.storage, storage, SAMPLES));
        let found = agreement(&*self.storage, storage, &positions);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a score from 0 to 1"
        )]
        let percent = (found.reached().unwrap_or_default().clamp(0.0, 1.0) * 100.0).round() as u8;
        self.info.same_world = match found.verdict() {
            EdgeVerdict::Same => SameWorld::Edges(percent),
            EdgeVerdict::Other => SameWorld::OtherEdges(percent),
            EdgeVerdict::Unknown => SameWorld::Unknown,
        };
    }

    /// Counts its chunks that a world does not have.
    pub(crate) fn count_lacking(&mut self, world: &dyn ChunkStorage) {
        let stored: HashSet<ChunkPos> = world.positions().filter_map(Result::ok).collect();
        for found in self.storage.positions() {
            match found {
                Ok(at) => {
                    let is_lacking = u64::from(!stored.contains(&at));
                    self.info.lacking = self.info.lacking.saturating_add(is_lacking);
                }
                Err(error) => self.info.unlisted.push(error.to_string()),
            }
        }
    }

    fn of_bundle(path: &Path, target: &Location) -> Result<Self> {
        let bundle = Bundle::open(path)?;
        let worlds = &bundle.header().worlds;
        let same_world = match uuid_of(target) {
            Some(uuid) if worlds.contains(&uuid.to_string()) => SameWorld::Uuid,
            Some(_) if !worlds.is_empty() => SameWorld::OtherUuid,
            _ if is_recorded_root(&bundle, target) => SameWorld::Uuid,
            _ => SameWorld::Unknown,
        };
        let (name, time_ms) = (path.display().to_string(), Some(bundle.header().time_ms));
        let storage = Arc::new(BundleStorage::new(bundle));
        let info = SourceInfo::new(name, path, time_ms, same_world);
        Ok(Self { info, storage, files: Files::None })
    }
}

/// Returns whether a bundle was written for the folder of a location, under its present path.
fn is_recorded_root(bundle: &Bundle, target: &Location) -> bool {
    let root = target.world_folder().or_else(|| target.folder().map(Path::to_owned));
    let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    root.is_some_and(|root| full(&root) == full(&bundle.header().root))
}

/// Resolves a source: if it has several worlds, the one with the name of the target's.
fn location_of(path: &Path, target: &Location) -> Result<Location> {
    match Location::source(path) {
        Err(error) if error.kind() == ErrorKind::SeveralWorlds => {
            let folder = target.world_folder();
            let name = folder.as_ref().and_then(|folder| folder.file_name()?.to_str());
            let name = name.ok_or(error)?;
            Location::source(&find_named_world(path, name)?)
        }
        found => found,
    }
}

/// Opens the sources that a user named, and with `own_backups` also the backups of the save itself,
/// newest first. A folder of backups stands for all backups in it. Sources that cannot be opened
/// are returned with their errors.
///
/// # Errors
/// Returns an error if a named source does not exist.
pub(crate) fn find_sources(
    named: &[PathBuf],
    own_backups: bool,
    target: &Location,
) -> Result<(Vec<Source>, Vec<Error>)> {
    let (mut sources, mut failed) = (Vec::new(), Vec::new());
    for path in named {
        let zips = if path.is_dir() { find_backups(path)? } else { Vec::new() };
        if zips.is_empty() {
            sources.push(Source::open(path, target)?);
        }
        add_backups(zips.into_iter().map(|zip| zip.path), target, &mut sources, &mut failed);
    }
    if own_backups && let Some(folder) = own_backup_folder(target) {
        let zips = find_backups(&folder)?.into_iter().map(|zip| zip.path);
        add_backups(zips, target, &mut sources, &mut failed);
    }
    let here = target.identity();
    let is_other = |info: &SourceInfo| info.name != target.name() && here.to_string() != info.name;
    sources.retain(|source| is_other(&source.info));
    sources.sort_by_key(|source| std::cmp::Reverse(source.info.time_ms));
    sources.dedup_by(|a, b| a.info.name == b.info.name);
    Ok((sources, failed))
}

fn add_backups(
    zips: impl Iterator<Item = PathBuf>,
    target: &Location,
    sources: &mut Vec<Source>,
    failed: &mut Vec<Error>,
) {
    for zip in zips {
        match Source::open(&zip, target) {
            Ok(source) => sources.push(source),
            Err(error) => failed.push(error),
        }
    }
}

/// Returns the backup folder of the save that a world belongs to.
fn own_backup_folder(target: &Location) -> Option<PathBuf> {
    let world = target.world_folder()?;
    let worlds = world.parent().filter(|worlds| worlds.ends_with("worlds"))?;
    Some(backup_folder(worlds.parent()?))
}

/// Returns the UUID in the configuration of a world.
fn uuid_of(location: &Location) -> Option<Uuid> {
    if let Location::Backup { zip, world } = location {
        let config = Backup::open(zip).ok()?.document(&format!("worlds/{world}/config.json"));
        return Uuid::from_value(config.ok()??.get("UUID")?);
    }
    uuid_of_world(&location.world_folder()?)
}

/// Returns the UUID in the configuration of the world in a folder.
pub(crate) fn uuid_of_world(folder: &Path) -> Option<Uuid> {
    let world = WorldOptions::new().without_chunks().open(folder).ok()?;
    world.config().ok()?.settings.uuid
}

/// Returns the time of a source: the one in the name of a backup, otherwise the newest modification
/// time of its files.
pub(crate) fn time_of(location: &Location) -> Option<u64> {
    if let Location::Backup { zip, .. } = location {
        // The parent of a name without a folder is empty.
        let folder = zip.parent().filter(|folder| !folder.as_os_str().is_empty());
        let backups = find_backups(folder.unwrap_or(Path::new("."))).ok()?;
        let is_it = |backup: &BackupFile| backup.path.file_name() == zip.file_name();
        let known = backups.into_iter().find(is_it);
        return known.map(|known| millis(known.time)).or_else(|| modified(zip));
    }
    let files = location.region_files().ok()?.into_iter().map(|(_, path)| path);
    files.filter_map(|path| modified(&path)).max().or_else(|| modified(location.folder()?))
}

fn modified(path: &Path) -> Option<u64> {
    let time = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(time.as_millis()).ok()
}

/// Converts a date and time of the Gregorian calendar to milliseconds since 1970. The zone of the
/// server is not known; UTC is assumed.
fn millis([year, month, day, hour, minute, second]: BackupTime) -> u64 {
    let (year, month, day) = (u64::from(year), u64::from(month), u64::from(day));
    // Years begin in March, so that leap days are last.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.saturating_sub(1), month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day;
    // The first of March of year 0 is 719,469 days before 1970.
    let days = days.saturating_sub(719_469);
    let seconds = u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second);
    (days * 86_400 + seconds) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_converted() {
        assert_eq!(millis([1970, 1, 1, 0, 0, 0]), 0);
        assert_eq!(millis([2000, 2, 29, 0, 0, 1]), 951_782_401_000);
        assert_eq!(millis([2026, 11, 17, 12, 30, 0]), 1_794_918_600_000);
    }
}
