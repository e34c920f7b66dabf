//! [`Universe`]: all worlds of a save, and its players.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hyworld_documents::Uuid;
use hyworld_files::OsFileSystem;

use crate::block_id_map::BlockIdMap;
use crate::config::{WorldConfig, WorldSettings};
use crate::error::{Error, Result};
use crate::gate::{ServerCheck, WritePermit};
use crate::json_file::{FallbackRule, JsonFile};
use crate::lock::LOCK_FILE;
use crate::names::{WorldName, world_key};
use crate::players::Players;
use crate::resources::Resources;
use crate::tree::{copy_tree, move_folder, remove_tree};
use crate::world::{
    CONFIG_FILE, OLD_CONFIG_FILE, config_file, known_config, load_config, parse_config,
};

/// The folder of a universe that worlds are in.
pub(crate) const WORLDS_FOLDER: &str = "worlds";

/// Where worlds go to be deleted. The game removes it at every start, so what an interrupted copy
/// leaves there is cleaned up too.
const DELETED_FOLDER: &str = "worlds-deleted";

/// A folder with worlds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Universe {
    path: PathBuf,
}

/// A world of a universe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldEntry {
    /// The name of its folder. It may be one that [`WorldName`] refuses.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Other worlds that the game takes for the same, because their names differ only in case. It
    /// loads one of them and fails for the rest.
    pub collides_with: Vec<String>,
}

impl Universe {
    /// The universe in a folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            let what = "there is no such folder, so no universe".to_owned();
            return Err(Error::NotFound { path: path.to_owned(), what });
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Makes a universe without worlds, or opens one.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(path: &Path) -> Result<Self> {
        let worlds = path.join(WORLDS_FOLDER);
        fs::create_dir_all(&worlds).map_err(Error::io(&worlds, "make"))?;
        Self::open(path)
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its players.
    pub fn players(&self) -> Players<'static> {
        Players::of_universe(&self.path)
    }

    /// What it remembers, in the newest games.
    pub fn resources(&self) -> Resources<'static> {
        Resources::of_universe(&self.path)
    }

    /// Asks to change what belongs to no single world, such as players: no server may run on any of
    /// its worlds. Holds the locks of all worlds.
    ///
    /// # Errors
    /// As for [`WritePermit::of_world`].
    pub fn permit(&self, check: ServerCheck) -> Result<Vec<WritePermit>> {
        let worlds = self.worlds()?.into_iter();
        worlds.map(|world| WritePermit::of_world(&world.path, check)).collect()
    }

    /// Names of blocks by their old numbers, in very old universes.
    ///
    /// # Errors
    /// They are there and cannot be used.
    pub fn block_id_map(&self) -> Result<Option<BlockIdMap>> {
        BlockIdMap::load(&OsFileSystem, &self.path)
    }

    /// Its worlds, sorted by name. Every folder is one, also an empty one.
    ///
    /// # Errors
    /// The folder of worlds cannot be listed.
    pub fn worlds(&self) -> Result<Vec<WorldEntry>> {
        let folder = self.worlds_folder();
        let mut names = Vec::new();
        match folder.read_dir() {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.map_err(Error::io(&folder, "list"))?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    names.extend(entry.path().is_dir().then(|| (name, entry.path())));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(&folder, "list")(error)),
        }
        names.sort();
        let mut by_key: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, _) in &names {
            by_key.entry(world_key(name)).or_default().push(name.clone());
        }
        let entry = |(name, path): (String, PathBuf)| {
            let same = by_key.get(&world_key(&name)).into_iter().flatten();
            let collides_with = same.filter(|other| **other != name).cloned().collect();
            WorldEntry { name, path, collides_with }
        };
        Ok(names.into_iter().map(entry).collect())
    }

    /// The folder of a world, which need not exist. It is inside the universe, also if folders
    /// on the way are links.
    ///
    /// # Errors
    /// A link leads out of the universe.
    pub fn world_path(&self, name: &WorldName) -> Result<PathBuf> {
        let worlds = self.worlds_folder();
        let path = name.folder(&worlds);
        let existing = path.ancestors().find(|folder| folder.exists()).unwrap_or(&worlds);
        let real = |path: &Path| path.canonicalize().map_err(Error::io(path, "find"));
        if worlds.exists() && existing.starts_with(&worlds) {
            let is_world_itself = existing == path;
            let checked = if is_world_itself { path.parent().unwrap_or(&worlds) } else { existing };
            if !real(checked)?.starts_with(real(&worlds)?) {
                return Err(Error::Link { path: existing.to_owned() });
            }
        }
        Ok(path)
    }

    /// Makes a world with these settings; its folder. Without a UUID or a seed it gets random
    /// ones.
    ///
    /// # Errors
    /// There is a world of that name, or of one that the game takes for the same.
    pub fn create_world(&self, name: &WorldName, mut settings: WorldSettings) -> Result<PathBuf> {
        let path = self.free_path(name)?;
        let random = random_uuid().map_err(Error::io(&path, "make a UUID for"))?;
        settings.uuid.get_or_insert(random);
        settings.seed.get_or_insert(seed_of(random));
        fs::create_dir_all(&path).map_err(Error::io(&path, "make"))?;
        let config = WorldConfig::new(settings);
        // What the game would write at the first start; with it, a later change of the provider
        // is noticed.
        let storage = &config.settings.resource_storage;
        let resources = Resources::of_world(&OsFileSystem, &path, storage)?;
        resources.set_current_provider(&config.settings.chunk_storage)?;
        new_config(&path).save(&config.to_document())?;
        Ok(path)
    }

    /// Copies a world; the folder of the copy. It gets a UUID of its own: the game refuses two
    /// worlds with the same.
    ///
    /// # Errors
    /// Somebody writes the world, its configuration is newer than what is known, or there is a
    /// world of the new name.
    pub fn copy_world(
        &self,
        from: &WorldName,
        to: &WorldName,
        check: ServerCheck,
    ) -> Result<PathBuf> {
        let source = self.existing_path(from)?;
        let _permit = WritePermit::of_world(&source, check)?;
        let mut config =
            known_config(&source, parse_config(&load_config(&OsFileSystem, &source)?))?;
        let uuid = random_uuid().map_err(Error::io(&source, "make a UUID for"))?;
        config.settings.uuid = Some(uuid);
        self.place_copy(&source, to, &config)
    }

    /// Deletes a world: it leaves `worlds/` at once, and then the disk.
    ///
    /// # Errors
    /// Somebody writes the world; or it is in `worlds-deleted` and could not be removed from
    /// there, which the game will do at its next start.
    pub fn delete_world(&self, name: &WorldName, check: ServerCheck) -> Result<()> {
        let path = self.existing_path(name)?;
        if path.is_symlink() {
            // What a link leads to belongs to somebody else.
            return Err(Error::Link { path });
        }
        let mut permit = Some(WritePermit::of_world(&path, check)?);
        let place = self.deleted_place(name, "del")?;
        if cfg!(windows) {
            // A folder cannot be moved there while a file in it is open.
            permit = None;
        }
        move_folder(&path, &place)?;
        drop(permit);
        remove_tree(&place)?;
        // As after the game's own deletions.
        drop(fs::remove_dir(self.path.join(DELETED_FOLDER)));
        Ok(())
    }

    /// Copies a folder to a new world with this configuration, under another name until it is
    /// whole.
    pub(crate) fn place_copy(
        &self,
        source: &Path,
        to: &WorldName,
        config: &WorldConfig,
    ) -> Result<PathBuf> {
        let target = self.free_path(to)?;
        let place = self.deleted_place(to, "copy")?;
        fs::create_dir_all(&place).map_err(Error::io(&place, "make"))?;
        let copied = copy_tree(source, &place, &is_copied)
            .and_then(|()| write_config_of_copy(&place, config))
            .and_then(|()| move_folder(&place, &target));
        if copied.is_err() {
            // What is left over there is removed by the game, if not now.
            drop(remove_tree(&place));
        }
        drop(fs::remove_dir(self.path.join(DELETED_FOLDER)));
        copied.map(|()| target)
    }

    fn worlds_folder(&self) -> PathBuf {
        self.path.join(WORLDS_FOLDER)
    }

    /// A place in `worlds-deleted` that is not taken: `<name>_<why><8 hexadecimal digits>`.
    fn deleted_place(&self, name: &WorldName, why: &str) -> Result<PathBuf> {
        let folder = self.path.join(DELETED_FOLDER);
        let random = random_uuid().map_err(Error::io(&folder, "find a name in"))?;
        let [a, b, c, d, ..] = random.to_bytes();
        let digits = u32::from_be_bytes([a, b, c, d]);
        Ok(folder.join(format!("{}_{why}{digits:08x}", name.as_str().replace('/', "-"))))
    }

    /// The folder of a world that must be there.
    ///
    /// # Errors
    /// There is no such world.
    pub fn existing_path(&self, name: &WorldName) -> Result<PathBuf> {
        let path = self.world_path(name)?;
        if path.is_dir() {
            return Ok(path);
        }
        let known: Vec<_> = self.worlds()?.into_iter().map(|world| world.name).collect();
        let known = if known.is_empty() { "no world at all".to_owned() } else { known.join(", ") };
        let what = format!("there is no world {:?}, only {known}", name.as_str());
        Err(Error::NotFound { path, what })
    }

    /// The folder for a world that must not be there yet. An empty folder will do, and one with
    /// chunks and no configuration: the game adopts both.
    ///
    /// # Errors
    /// There is a world of that name, or of one that the game takes for the same.
    pub fn free_path(&self, name: &WorldName) -> Result<PathBuf> {
        let path = self.world_path(name)?;
        let key = name.key();
        let same = self.worlds()?.into_iter().find(|world| world_key(&world.name) == key);
        if let Some(same) = same.filter(|world| world.name != name.as_str()) {
            return Err(Error::Exists { path: same.path });
        }
        let is_taken = |file: &str| path.join(file).exists();
        let taken = [CONFIG_FILE, OLD_CONFIG_FILE, "config.json.bak"].into_iter().any(is_taken);
        if taken { Err(Error::Exists { path }) } else { Ok(path) }
    }
}

/// The configuration of a new world. What lies beside it does not count.
fn new_config(world: &Path) -> JsonFile<'static> {
    match config_file(&OsFileSystem, world) {
        file if file.path().ends_with(CONFIG_FILE) => file,
        _ => JsonFile::new(&OsFileSystem, world.join(CONFIG_FILE), FallbackRule::Config),
    }
}

/// Writes the configuration of a copy, without a backup: that would be the one of the original,
/// whose UUID no second world may have.
fn write_config_of_copy(place: &Path, config: &WorldConfig) -> Result<()> {
    let file = new_config(place);
    file.save(&config.to_document())?;
    let backup = file.backup_path();
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(&backup, "remove")(error))
        }
        _ => Ok(()),
    }
}

/// What is part of a world, and not of what is being done with it.
fn is_copied(name: &str) -> bool {
    let is_left_over = name.strip_suffix(".tmp").is_some();
    name != LOCK_FILE && name != "recovery-tmp" && !is_left_over
}

/// Returns a random UUID.
///
/// # Errors
/// The operating system has no random numbers.
pub fn random_uuid() -> io::Result<Uuid> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(Uuid::from_random(bytes))
}

fn seed_of(uuid: Uuid) -> i64 {
    // Six bytes are enough, and never negative.
    let random = uuid.to_bytes().into_iter().take(6);
    random.fold(0, |seed, byte| (seed << 8) | i64::from(byte))
}
