//! [`Universe`]: the worlds and players of a save.

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

pub(crate) const WORLDS_FOLDER: &str = "worlds";

/// The folder to which worlds are moved for deletion. The game removes it on every start, which
/// also cleans up after an interrupted copy.
const DELETED_FOLDER: &str = "worlds-deleted";

/// A folder with worlds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Universe {
    path: PathBuf,
}

/// A world of a universe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldEntry {
    /// The name of the folder. It may be one that [`WorldName`] rejects.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
    /// Other worlds that the game considers the same, because their names differ only in case. It
    /// loads one of them and fails for the rest.
    pub collides_with: Vec<String>,
}

impl Universe {
    /// Opens the universe in a folder.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            let what = "not a universe: the folder does not exist".to_owned();
            return Err(Error::NotFound { path: path.to_owned(), what });
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Creates a universe without worlds, or opens an existing one.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let worlds = path.join(WORLDS_FOLDER);
        fs::create_dir_all(&worlds).map_err(Error::io(&worlds, "create"))?;
        Self::open(path)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the players.
    pub fn players(&self) -> Players<'static> {
        Players::of_universe(&self.path)
    }

    /// Returns the resources of the universe, in the newest versions of the game.
    pub fn resources(&self) -> Resources<'static> {
        Resources::of_universe(&self.path)
    }

    /// Reads the map of old block ids to names, which only very old universes have.
    ///
    /// # Errors
    /// Returns an error if the map exists but cannot be used.
    pub fn block_id_map(&self) -> Result<Option<BlockIdMap>> {
        BlockIdMap::load(&OsFileSystem, &self.path)
    }

    /// Returns the worlds, sorted by name. Every folder is a world, even an empty one.
    ///
    /// # Errors
    /// Returns an error if the folder of worlds cannot be listed.
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

    /// Returns the folder of a world, which need not exist. The folder is inside the universe even
    /// if there are links in the path.
    ///
    /// # Errors
    /// Returns an error if a link leads out of the universe.
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

    /// Creates a world with these settings and returns its folder. A missing UUID or seed is
    /// generated.
    ///
    /// # Errors
    /// Returns an error if a world with this name exists, ignoring case.
    pub fn create_world(&self, name: &WorldName, mut settings: WorldSettings) -> Result<PathBuf> {
        let path = self.free_path(name)?;
        let random = random_uuid().map_err(Error::io(&path, "generate a UUID for"))?;
        settings.uuid.get_or_insert(random);
        settings.seed.get_or_insert(seed_of(random));
        fs::create_dir_all(&path).map_err(Error::io(&path, "create"))?;
        let config = WorldConfig::new(settings);
        // The game would write this on the first start. It makes a later change of the provider
        // detectable.
        let storage = &config.settings.resource_storage;
        let resources = Resources::of_world(&OsFileSystem, &path, storage)?;
        resources.set_current_provider(&config.settings.chunk_storage)?;
        new_config(&path).save(&config.to_document())?;
        Ok(path)
    }

    /// Copies a world and returns the folder of the copy. The copy gets a new UUID, because the
    /// game rejects two worlds with the same one.
    ///
    /// # Errors
    /// Returns an error if another program writes the world, its configuration has a newer version,
    /// or a world with the new name exists.
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
        let uuid = random_uuid().map_err(Error::io(&source, "generate a UUID for"))?;
        config.settings.uuid = Some(uuid);
        self.copy_to_world(&source, to, &config)
    }

    /// Deletes a world: moves it out of `worlds/`, then removes it from disk.
    ///
    /// # Errors
    /// Returns an error if another program writes the world, or if it was moved to `worlds-deleted`
    /// but not removed. The game removes it on its next start.
    pub fn delete_world(&self, name: &WorldName, check: ServerCheck) -> Result<()> {
        let path = self.existing_path(name)?;
        if path.is_symlink() {
            // Other universes or programs may use the target of the link.
            return Err(Error::Link { path });
        }
        let mut permit = Some(WritePermit::of_world(&path, check)?);
        let deleted = self.deleted_path(name, "del")?;
        if cfg!(windows) {
            // On Windows a folder with an open file cannot be moved.
            permit = None;
        }
        move_folder(&path, &deleted)?;
        drop(permit);
        remove_tree(&deleted)?;
        // Removed if empty, as the game does.
        drop(fs::remove_dir(self.path.join(DELETED_FOLDER)));
        Ok(())
    }

    /// Copies a folder to a new world with this configuration. The copy has a temporary path until
    /// it is complete.
    pub(crate) fn copy_to_world(
        &self,
        source: &Path,
        to: &WorldName,
        config: &WorldConfig,
    ) -> Result<PathBuf> {
        let target = self.free_path(to)?;
        let temporary = self.deleted_path(to, "copy")?;
        fs::create_dir_all(&temporary).map_err(Error::io(&temporary, "create"))?;
        let copied = copy_tree(source, &temporary, &is_copied)
            .and_then(|()| write_config_of_copy(&temporary, config))
            .and_then(|()| move_folder(&temporary, &target));
        if copied.is_err() {
            // If this fails, the game removes the files.
            drop(remove_tree(&temporary));
        }
        drop(fs::remove_dir(self.path.join(DELETED_FOLDER)));
        copied.map(|()| target)
    }

    fn worlds_folder(&self) -> PathBuf {
        self.path.join(WORLDS_FOLDER)
    }

    /// Returns an unused path in `worlds-deleted`: `<name>_<reason><8 hexadecimal digits>`.
    fn deleted_path(&self, name: &WorldName, reason: &str) -> Result<PathBuf> {
        let folder = self.path.join(DELETED_FOLDER);
        let random = random_uuid().map_err(Error::io(&folder, "generate a name in"))?;
        let [a, b, c, d, ..] = random.to_bytes();
        let digits = u32::from_be_bytes([a, b, c, d]);
        Ok(folder.join(format!("{}_{reason}{digits:08x}", name.as_str().replace('/', "-"))))
    }

    /// Returns the folder of an existing world.
    ///
    /// # Errors
    /// Returns an error if the world does not exist.
    pub fn existing_path(&self, name: &WorldName) -> Result<PathBuf> {
        let path = self.world_path(name)?;
        if path.is_dir() {
            return Ok(path);
        }
        let known: Vec<_> = self.worlds()?.into_iter().map(|world| world.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let what = format!("no world {:?}; existing worlds: {known}", name.as_str());
        Err(Error::NotFound { path, what })
    }

    /// Returns the folder for a new world. An empty folder may exist, or one with chunks but no
    /// configuration: the game adopts both.
    ///
    /// # Errors
    /// Returns an error if a world with this name exists, ignoring case.
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

/// Returns the configuration file of a new world. A template in the same folder is ignored.
fn new_config(world: &Path) -> JsonFile<'static> {
    match config_file(&OsFileSystem, world) {
        file if file.path().ends_with(CONFIG_FILE) => file,
        _ => JsonFile::new(&OsFileSystem, world.join(CONFIG_FILE), FallbackRule::Config),
    }
}

/// Writes the configuration of a copy and removes its backup: the backup has the UUID of the
/// original, which no second world may have.
fn write_config_of_copy(world: &Path, config: &WorldConfig) -> Result<()> {
    let file = new_config(world);
    file.save(&config.to_document())?;
    let backup = file.backup_path();
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(&backup, "remove")(error))
        }
        _ => Ok(()),
    }
}

/// Returns whether a file is part of a world, as opposed to a lock or a temporary file.
fn is_copied(name: &str) -> bool {
    let is_temporary = name.strip_suffix(".tmp").is_some();
    name != LOCK_FILE && name != "recovery-tmp" && !is_temporary
}

/// Returns a random UUID.
///
/// # Errors
/// Returns an error if the operating system provides no random numbers.
pub fn random_uuid() -> io::Result<Uuid> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(Uuid::from_random(bytes))
}

fn seed_of(uuid: Uuid) -> i64 {
    // Six bytes are enough and never negative.
    let random = uuid.to_bytes().into_iter().take(6);
    random.fold(0, |seed, byte| (seed << 8) | i64::from(byte))
}
