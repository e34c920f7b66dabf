//! Restoring chosen parts of a backup: chunks, players, files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, ChunkRect, RegionPos};
use hyworld_files::read_regular;
use hyworld_maintenance::{Finding, Progress, has_errors};
use hyworld_providers::ChunkStorage;
use hyworld_world::Universe;
use hyworld_world::limits::JSON_BYTES_MAX;

use crate::change::{Change, ChangeOptions, Plan, Seen};
use crate::error::{Error, ErrorKind, Result};
use crate::location::{Location, find_universe};
use crate::players::find_player;
use crate::sources::{SameWorld, Source, SourceInfo, find_sources};
use crate::world_at::World;

/// What to restore.
#[derive(Clone, Debug, Default)]
pub struct RestoreOptions {
    /// The backup, world, folder or undo bundle to restore from.
    pub from: PathBuf,
    /// Restore from a source that is not proven to be the same world.
    pub trust_source: bool,
    /// Chunks to restore.
    pub chunks: Vec<ChunkPos>,
    /// Restore all chunks of the source in this area.
    pub area: Option<ChunkRect>,
    /// Remove chunks of the area that the source does not have.
    pub remove_others: bool,
    /// Players to restore, by name or UUID.
    pub players: Vec<String>,
    /// Files of the world to restore, such as `config.json`.
    pub files: Vec<String>,
}

/// The planned change of one chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RestoredChunk {
    /// The chunk.
    pub at: ChunkPos,
    /// What happens to it.
    pub action: RestoreAction,
}

/// What restoring does to a chunk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RestoreAction {
    /// The stored chunk is replaced.
    Replace,
    /// The chunk is missing and is written.
    Create,
    /// The stored chunk is damaged and is replaced.
    ReplaceDamaged,
    /// The source does not have the chunk; it is removed.
    Remove,
    /// The stored chunk is equal to that of the source.
    Equal,
    /// The chunk of the source is damaged, so nothing is changed.
    DamagedInSource,
    /// The source does not have the chunk, so nothing is changed.
    MissingInSource,
}

impl RestoreAction {
    /// Returns whether the chunk is changed.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Replace | Self::Create | Self::ReplaceDamaged | Self::Remove)
    }
}

/// A file to restore, with its new contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RestoredFile {
    /// The file.
    pub path: PathBuf,
    /// Whether the file has these contents already.
    pub is_equal: bool,
    bytes: Vec<u8>,
}

/// A planned restore.
#[derive(Clone, Debug)]
pub struct Restore {
    location: Location,
    seen: Seen,
    /// The universe whose players are restored.
    universe: Option<PathBuf>,
    /// The source.
    pub source: SourceInfo,
    /// The chunks.
    pub chunks: Vec<RestoredChunk>,
    /// The players and other files.
    pub files: Vec<RestoredFile>,
    /// Region files of the source or the world that cannot be listed: their chunks of the area are
    /// not restored.
    pub unlisted: Vec<Finding>,
}

/// The result of restoring.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RestoreReport {
    /// Chunks that were restored.
    pub restored: u64,
    /// Chunks that were removed.
    pub removed: u64,
    /// Files that were restored.
    pub files: u64,
}

impl World {
    /// Compares the chosen parts of a source with the world.
    ///
    /// # Errors
    /// Returns an error if the source cannot be opened, is another world or does not have a chosen
    /// player or file.
    pub fn plan_restore(
        &self,
        options: &RestoreOptions,
        progress: &dyn Progress,
    ) -> Result<Restore> {
        let location = self.location().clone();
        let mut universe = None;
        if !options.players.is_empty() {
            universe = Some(find_universe_of(&location)?.path().to_owned());
        }
        let source = find_source(options, &location)?;
        let mut wanted =
            Wanted { chunks: options.chunks.iter().copied().collect(), ..Wanted::default() };
        if let Some(area) = options.area {
            wanted.add(source.storage(), area);
            if options.remove_others {
                wanted.add(self.storage(), area);
            }
        }
        let Wanted { chunks: wanted, unlisted } = wanted;
        let files: BTreeSet<_> =
            wanted.iter().filter_map(|at| location.region_file_of(*at)).collect();
        let mut seen = Seen::of(files);
        progress.expect(Some(wanted.len() as u64));
        let mut chunks = Vec::new();
        for at in wanted {
            let action = action_of(at, &source, self.storage(), options.remove_others);
            chunks.push(RestoredChunk { at, action });
            progress.advance(1);
        }
        let files = files_of(options, &source, &location, universe.as_deref())?;
        seen.add(files.iter().map(|file| file.path.clone()));
        let source = source.info;
        Ok(Restore { location, seen, universe, source, chunks, files, unlisted })
    }
}

impl Restore {
    /// Returns the name of the world's location.
    pub fn location(&self) -> String {
        self.location.name()
    }

    /// Returns whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        !self.chunks.iter().any(|chunk| chunk.action.is_change())
            && self.files.iter().all(|file| file.is_equal)
    }

    /// Begins the change: of the world, and of all worlds of the universe if players are restored.
    ///
    /// # Errors
    /// Returns an error if another program uses the world.
    pub fn begin(&self, world: &World, options: &ChangeOptions) -> Result<Change> {
        match &self.universe {
            None => world.change_with(self.verb(), options),
            Some(path) => {
                let universe = Universe::open(path)?;
                Change::of_world_and_universe(world, &universe, self.verb(), options)
            }
        }
    }
}

impl Plan for Restore {
    type Report = RestoreReport;

    fn verb(&self) -> &'static str {
        "restore"
    }

    fn apply_to(&self, change: &mut Change, progress: &dyn Progress) -> Result<RestoreReport> {
        self.seen.check()?;
        let mut report = RestoreReport::default();
        let source = self.source.open(&self.location)?;
        for chunk in self.chunks.iter().filter(|chunk| chunk.action.is_change()) {
            if chunk.action == RestoreAction::Remove {
                change.remove(chunk.at)?;
                report.removed = report.removed.saturating_add(1);
            } else {
                let document = source.storage().read(chunk.at)?.ok_or_else(|| {
                    let text = format!("{}: changed since the plan was made", self.source.name);
                    Error::new(ErrorKind::InUse, text)
                })?;
                change.put(chunk.at, &document)?;
                report.restored = report.restored.saturating_add(1);
            }
            progress.advance(1);
        }
        for file in self.files.iter().filter(|file| !file.is_equal) {
            change.replace_file(&file.path, &file.bytes)?;
            report.files = report.files.saturating_add(1);
        }
        Ok(report)
    }
}

/// The chunks to restore.
#[derive(Default)]
struct Wanted {
    chunks: BTreeSet<ChunkPos>,
    /// Region files that overlap the area and cannot be listed.
    unlisted: Vec<Finding>,
}

impl Wanted {
    /// Adds the chunks of a storage in an area.
    fn add(&mut self, storage: &dyn ChunkStorage, area: ChunkRect) {
        for found in storage.positions() {
            match found {
                Ok(at) if area.contains(at) => drop(self.chunks.insert(at)),
                Err(error) if may_overlap(&error, area) => {
                    self.unlisted.push(Finding::of_storage(&error));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// Returns whether an error of listing a storage may hide chunks of an area.
fn may_overlap(error: &hyworld_providers::Error, area: ChunkRect) -> bool {
    let name = error.region_file().and_then(|path| path.file_name()?.to_str());
    let region = name.and_then(RegionPos::from_file_name).and_then(RegionPos::chunks);
    region.is_none_or(|region| region.intersection(area).is_some())
}

/// Opens the source and checks that it is the same world.
fn find_source(options: &RestoreOptions, location: &Location) -> Result<Source> {
    let (sources, failed) = find_sources(std::slice::from_ref(&options.from), false, location)?;
    let none = || {
        let text = format!("{}: no backup found here", options.from.display());
        failed.into_iter().next().unwrap_or_else(|| Error::new(ErrorKind::NotAWorld, text))
    };
    let mut source = sources.into_iter().next().ok_or_else(none)?;
    if options.trust_source && !source.info.same_world.is_accepted() {
        source.info.same_world = SameWorld::Trusted;
    }
    if source.info.same_world == SameWorld::OtherUuid {
        let text = format!(
            "{}: this is another world: its UUID differs; add --trust-source to use it anyway",
            source.info.name
        );
        return Err(Error::new(ErrorKind::BadLocation, text));
    }
    Ok(source)
}

/// Compares a chunk of the source with that of the world.
fn action_of(
    at: ChunkPos,
    source: &Source,
    storage: &dyn ChunkStorage,
    remove_others: bool,
) -> RestoreAction {
    let own = storage.read(at);
    let theirs = match source.storage().read(at) {
        Ok(Some(theirs)) => theirs,
        Ok(None) if remove_others && !matches!(own, Ok(None)) => return RestoreAction::Remove,
        Ok(None) => return RestoreAction::MissingInSource,
        Err(_) => return RestoreAction::DamagedInSource,
    };
    match own {
        Ok(Some(own)) if own == theirs => RestoreAction::Equal,
        _ if has_errors(at, theirs) => RestoreAction::DamagedInSource,
        Ok(Some(_)) => RestoreAction::Replace,
        Ok(None) => RestoreAction::Create,
        Err(_) => RestoreAction::ReplaceDamaged,
    }
}

/// Reads the chosen players and files of the source.
fn files_of(
    options: &RestoreOptions,
    source: &Source,
    location: &Location,
    universe: Option<&Path>,
) -> Result<Vec<RestoredFile>> {
    let missing = |name: &str| {
        let text = format!("{}: does not have {name}", source.info.name);
        Error::new(ErrorKind::NotFound, text)
    };
    let mut files = Vec::new();
    for player in &options.players {
        let root = universe.ok_or_else(|| missing(player))?;
        let name = player_file(player, source, root).ok_or_else(|| missing(player))?;
        let bytes = source.universe_file(&name).ok_or_else(|| missing(&name))?;
        files.push(restored(root.join(name), bytes));
    }
    for name in &options.files {
        let folder = location.world_folder().ok_or_else(|| missing(name))?;
        let is_inside = Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        let bytes = source.world_file(name).filter(|_| is_inside).ok_or_else(|| missing(name))?;
        files.push(restored(folder.join(name), bytes));
    }
    Ok(files)
}

fn restored(path: PathBuf, bytes: Vec<u8>) -> RestoredFile {
    let is_equal = read_regular(&path, JSON_BYTES_MAX).is_ok_and(|found| found == bytes);
    RestoredFile { path, is_equal, bytes }
}

/// Returns the file of a player, given by UUID or by the name in the world or the source.
fn player_file(player: &str, source: &Source, universe: &Path) -> Option<String> {
    let by_uuid = format!("players/{}.json", player.to_ascii_lowercase());
    if source.universe_file(&by_uuid).is_some() {
        return Some(by_uuid);
    }
    let universe = Universe::open(universe).ok()?;
    let uuid = find_player(&universe, player).ok()?.uuid;
    Some(format!("players/{uuid}.json"))
}

/// Returns the universe of a world.
fn find_universe_of(location: &Location) -> Result<Universe> {
    let world = location.world_folder();
    let universe = world.as_ref().and_then(|world| world.parent()?.parent());
    find_universe(universe.unwrap_or(Path::new(&location.name())))
}
