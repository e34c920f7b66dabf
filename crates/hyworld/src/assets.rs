//! Block migrations and colours from the game's assets and from mods.

mod color_cache;

use std::path::{Path, PathBuf};

use hyworld_assets::{AssetsError, Colors, Source};
use hyworld_chunk::{BlockMigrations, MigrationError};
use hyworld_world::{BlockIdMap, OsFileSystem};

use crate::error::{Error, ErrorKind, Result};

/// The folder of block migrations inside a mod.
const FOLDER: &str = "Server/Item/Block/Migrations";

/// Loads the block migrations of the game's assets (a zip or an unpacked folder), then those of the
/// mods in the save of `world`, which replace the game's migrations with the same number, and the
/// numeric block ids of a very old universe.
///
/// # Errors
/// Returns an error if the assets, a mod or the block ids cannot be read.
pub fn load_migrations(assets: Option<&Path>, world: Option<&Path>) -> Result<BlockMigrations> {
    let mut migrations = match assets {
        None => BlockMigrations::default(),
        Some(path) if path.is_dir() => BlockMigrations::from_folder(path)?,
        Some(path) => BlockMigrations::from_zip(path)?,
    };
    let world = world.and_then(|world| world.canonicalize().ok());
    let Some(world) = world else { return Ok(migrations) };
    // The world is at SAVE/universe/worlds/NAME.
    if let Some(save) = world.ancestors().nth(3).filter(|_| assets.is_some()) {
        for path in mods_in(&save.join("mods"), FOLDER) {
            match load_mod(&path) {
                Ok(found) => migrations.extend(found),
                Err(MigrationError::NoneFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    if let Some(universe) = world.ancestors().nth(2)
        && let Some(numbers) = BlockIdMap::load(&OsFileSystem, universe)?
    {
        migrations.set_numbers(numbers.iter().map(|(number, name)| (number, name.to_owned())));
    }
    Ok(migrations)
}

/// Loads the colours of blocks, fluids and environments from the game's assets (a zip or an
/// unpacked folder), then those of the mods in the save of `world`, which replace the game's assets
/// with the same id. Without assets, colours depend on names only.
///
/// # Errors
/// Returns an error if the assets or a mod cannot be read.
pub fn load_colors(assets: Option<&Path>, world: Option<&Path>) -> Result<Colors> {
    let Some(assets) = assets else { return Ok(Colors::default()) };
    let world = world.and_then(|world| world.canonicalize().ok());
    // The world is at SAVE/universe/worlds/NAME.
    let save = world.as_ref().and_then(|world| world.ancestors().nth(3));
    let mods = save.map_or_else(Vec::new, |save| mods_in(&save.join("mods"), "Server"));
    let cached = color_cache::file_for(assets, &mods);
    if let Some(colors) = cached.as_deref().and_then(color_cache::read) {
        return Ok(colors);
    }
    let mut builder = Colors::builder();
    builder.add(assets, Source::Assets)?;
    for path in mods {
        match builder.add(&path, Source::Mod) {
            Ok(_) | Err(AssetsError::NoneFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let colors = builder.build();
    if let Some(file) = cached {
        color_cache::write(&file, &colors);
    }
    Ok(colors)
}

/// Returns the mods in a folder, sorted by name: archives, and folders that contain `inside`.
fn mods_in(folder: &Path, inside: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let is_mod = |path: &PathBuf| {
        let is_archive = |end: &std::ffi::OsStr| ["zip", "jar"].into_iter().any(|zip| end == zip);
        path.join(inside).is_dir() || (path.is_file() && path.extension().is_some_and(is_archive))
    };
    let mut mods: Vec<_> = entries.map(|entry| entry.path()).filter(is_mod).collect();
    mods.sort();
    mods
}

fn load_mod(path: &Path) -> Result<BlockMigrations, MigrationError> {
    if path.is_dir() { BlockMigrations::from_folder(path) } else { BlockMigrations::from_zip(path) }
}

impl From<MigrationError> for Error {
    fn from(error: MigrationError) -> Self {
        let kind = match &error {
            MigrationError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                ErrorKind::NotFound
            }
            MigrationError::Io { .. } => ErrorKind::Io,
            _ => ErrorKind::Damaged,
        };
        Self::new(kind, error)
    }
}

impl From<AssetsError> for Error {
    fn from(error: AssetsError) -> Self {
        let kind = match &error {
            AssetsError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                ErrorKind::NotFound
            }
            AssetsError::Io { .. } => ErrorKind::Io,
            _ => ErrorKind::Damaged,
        };
        Self::new(kind, error)
    }
}
