//! [`Info`]: the universe, worlds and chunks at a path.

mod storage;
mod world;

use std::path::Path;

use hyworld_maintenance::{Class, Finding, Findings, Progress, ScanOptions};
use hyworld_providers::{Access, RegionFilesOptions};
use hyworld_world::{
    Backup, FolderKind, OtherFile, PathKind, Universe, backup_folder, discover, find_backups,
    is_in_installation, other_files,
};
use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::location::{Location, not_found};

pub use storage::StorageInfo;
pub use world::{ConfigInfo, SpawnInfo, WorldInfo};

/// The maximum number of findings in the JSON.
const LISTED_MAX: usize = 100;

/// The options of [`Info::gather`].
#[derive(Clone, Debug, Default)]
pub struct InfoOptions {
    /// Do not read the chunks, and do not count their entities.
    pub fast: bool,
    /// The options of reading chunks.
    pub scan: ScanOptions,
}

/// A description of a path. Serializes to the JSON of `hyworld info`.
#[derive(Debug, Serialize)]
pub struct Info {
    /// The path.
    pub path: String,
    /// The kind of path, for example "a save".
    pub kind: &'static str,
    /// The universe, without its worlds.
    pub universe: Option<UniverseInfo>,
    /// The worlds.
    pub worlds: Vec<WorldInfo>,
    /// The chunks, if the path is only a part of a world or a storage outside of a world.
    pub storage: Option<StorageInfo>,
    /// Parts that could not be read.
    #[serde(flatten, serialize_with = "findings_as_text")]
    pub findings: Findings,
}

/// A universe, without its worlds.
#[derive(Debug, Serialize)]
pub struct UniverseInfo {
    /// Its folder.
    pub path: String,
    /// The number of players.
    pub players: usize,
    /// The number of players of whom only a backup exists.
    pub players_only_backup: usize,
    /// The ids of its resources.
    pub resources: Vec<String>,
    /// Its backups.
    pub backups: BackupsInfo,
    /// Other files in its folder.
    pub others: Vec<OtherInfo>,
    /// Other files in the save that contains it.
    pub others_in_save: Vec<OtherInfo>,
    /// Whether it is inside the launcher's installation, where updates delete it.
    pub in_installation: bool,
}

/// A file or folder that hyworld keeps but does not read.
#[derive(Debug, Serialize)]
pub struct OtherInfo {
    /// Its name; names of folders end with `/`.
    pub name: String,
    /// A description, if it is known.
    pub what: Option<&'static str>,
    /// The number of files.
    pub files: u64,
    /// The total size of the files.
    pub bytes: u64,
}

impl From<OtherFile> for OtherInfo {
    fn from(OtherFile { name, what, files, bytes }: OtherFile) -> Self {
        Self { name, what, files, bytes }
    }
}

/// The backups of a universe.
#[derive(Debug, Serialize)]
pub struct BackupsInfo {
    /// The folder that contains them.
    pub folder: String,
    /// The number of backups.
    pub count: usize,
    /// The path of the newest backup.
    pub newest: Option<String>,
    /// The worlds in the newest backup; `None` if it cannot be opened.
    pub newest_worlds: Option<Vec<String>>,
}

impl Info {
    /// Describes a save, universe, world, instance template, asset pack, folder of region files,
    /// region file, backup, database or object store. Nothing is written. Parts that cannot be read
    /// become findings.
    ///
    /// # Errors
    /// Returns an error if the path does not exist or has no data of the game.
    pub fn gather(path: &Path, options: &InfoOptions, progress: &dyn Progress) -> Result<Self> {
        if let Some((location, kind)) = storage_outside_world(path)? {
            return Self::of_storage(path, &location, kind, options, progress);
        }
        let found = find(path)?;
        let mut findings = Findings::default();
        let universe = universe_at(path, &found, &mut findings);
        let storage = part_of_world(path, &found, options, progress, &mut findings)?;
        let mut worlds = Vec::new();
        for entry in found.worlds()? {
            let mut world = WorldInfo::of(&entry, &mut findings);
            if storage.is_none() {
                world.add_chunks(options, progress, &mut findings);
            }
            worlds.push(world);
        }
        let (path, kind) = (path.display().to_string(), found.kind());
        Ok(Self { path, kind, universe, worlds, storage, findings })
    }

    /// Describes a storage that is not inside a world's folder.
    fn of_storage(
        path: &Path,
        location: &Location,
        kind: &'static str,
        options: &InfoOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let storage = location.open()?;
        let mut findings = Findings::default();
        let mut add = |finding| findings.add(finding);
        let storage = StorageInfo::of(&*storage, None, options, progress, &mut add);
        let (path, storage) = (path.display().to_string(), Some(storage));
        Ok(Self { path, kind, universe: None, worlds: Vec::new(), storage, findings })
    }

    /// Calls `each` for every world at a path, with the number of its chunks. Chunks are not read.
    ///
    /// # Errors
    /// Returns an error if the path does not exist or has no data of the game.
    pub fn worlds(
        path: &Path,
        options: &InfoOptions,
        mut each: impl FnMut(WorldInfo),
    ) -> Result<Findings> {
        let options = InfoOptions { fast: true, ..options.clone() };
        let mut findings = Findings::default();
        for entry in find(path)?.worlds()? {
            let mut world = WorldInfo::of(&entry, &mut findings);
            world.add_chunks(&options, &hyworld_maintenance::NoProgress, &mut findings);
            each(world);
        }
        Ok(findings)
    }
}

fn universe_at(path: &Path, found: &PathKind, findings: &mut Findings) -> Option<UniverseInfo> {
    match found {
        PathKind::Save { universe } => Some(UniverseInfo {
            others_in_save: others(path, FolderKind::Save, findings),
            ..UniverseInfo::of(universe, findings)
        }),
        PathKind::Universe { universe } => Some(UniverseInfo::of(universe, findings)),
        _ => None,
    }
}

/// Returns the storage that a URL or a path into a backup refers to, with its kind; `None` for any
/// other path.
pub(crate) fn storage_outside_world(path: &Path) -> Result<Option<(Location, &'static str)>> {
    if path.is_dir() {
        return Ok(None);
    }
    Ok(match Location::source(path)? {
        database @ Location::RocksDb(_) => Some((database, "a database")),
        objects @ Location::S3(_) => Some((objects, "an object store")),
        backup @ Location::Backup { .. } => Some((backup, "a world in a backup")),
        _ => None,
    })
}

pub(crate) fn find(path: &Path) -> Result<PathKind> {
    if !path.exists() {
        return Err(not_found(path, "no such file or folder"));
    }
    Ok(discover(path)?)
}

/// Describes the chunks if the path is only a part of a world.
fn part_of_world(
    path: &Path,
    found: &PathKind,
    options: &InfoOptions,
    progress: &dyn Progress,
    findings: &mut Findings,
) -> Result<Option<StorageInfo>> {
    let read_only = RegionFilesOptions::new().access(Access::ReadOnly);
    let files = match found {
        PathKind::Chunks { path, .. } => read_only.open(path)?,
        PathKind::Region { path, region, .. } => {
            // An empty folder name means the current folder.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            read_only.only(*region).open(folder.unwrap_or_else(|| Path::new(".")))?
        }
        _ => return Ok(None),
    };
    let mut add = |finding| findings.add(Finding { file: Some(path.to_owned()), ..finding });
    let stored = StorageInfo::of(&files, Some(&files), options, progress, &mut add);
    Ok(Some(StorageInfo { location: path.display().to_string(), ..stored }))
}

impl UniverseInfo {
    fn of(universe: &Universe, findings: &mut Findings) -> Self {
        let players = or_empty(universe.players().list(), findings);
        let folder = backup_folder(universe.path());
        let backups = or_empty(find_backups(&folder), findings);
        let newest = backups.first().map(|backup| backup.path.as_path());
        let opened = newest.map(Backup::open).and_then(|opened| {
            opened.map_err(|error| findings.add(Finding::new(Class::WorldFile, error))).ok()
        });
        Self {
            path: universe.path().display().to_string(),
            players: players.len(),
            players_only_backup: players.iter().filter(|player| player.is_only_backup).count(),
            resources: or_empty(universe.resources().ids(), findings),
            backups: BackupsInfo {
                folder: folder.display().to_string(),
                count: backups.len(),
                newest: newest.map(|path| path.display().to_string()),
                newest_worlds: opened.map(|backup| backup.worlds()),
            },
            others: others(universe.path(), FolderKind::Universe, findings),
            others_in_save: Vec::new(),
            in_installation: is_in_installation(universe.path()),
        }
    }
}

fn others(folder: &Path, kind: FolderKind, findings: &mut Findings) -> Vec<OtherInfo> {
    let found = or_empty(other_files(folder, kind), findings);
    found.into_iter().map(OtherInfo::from).collect()
}

fn or_empty<T>(found: hyworld_world::Result<Vec<T>>, findings: &mut Findings) -> Vec<T> {
    found.unwrap_or_else(|error| {
        findings.add(Finding::new(Class::WorldFile, error));
        Vec::new()
    })
}

fn findings_as_text<S: Serializer>(findings: &Findings, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Texts {
        finding_count: u64,
        findings: Vec<String>,
    }
    let listed = findings.kept().iter().take(LISTED_MAX);
    let texts = listed.map(ToString::to_string).collect();
    Texts { finding_count: findings.total(), findings: texts }.serialize(serializer)
}
