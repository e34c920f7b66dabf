//! [`discover`]: determines what a path is and which worlds it contains.

use std::path::{Path, PathBuf};

use hyworld_coords::RegionPos;

use crate::error::{Error, Result};
use crate::instance::{find_templates, template_name, templates_folder};
use crate::provider_choice::has_region_files;
use crate::universe::{Universe, WORLDS_FOLDER, WorldEntry};
use crate::world::{CONFIG_FILE, INSTANCE_FILE, OLD_CONFIG_FILE};

/// The kind of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PathKind {
    /// The folder that a server runs in, with a universe.
    Save {
        /// The universe.
        universe: Universe,
    },
    /// A universe, or its folder of worlds.
    Universe {
        /// The universe.
        universe: Universe,
    },
    /// A world.
    World {
        /// Its folder.
        path: PathBuf,
    },
    /// An instance template.
    Template {
        /// Its folder.
        path: PathBuf,
    },
    /// An asset pack with instance templates.
    Pack {
        /// The folders of the templates.
        templates: Vec<PathBuf>,
    },
    /// Any other folder with worlds in it.
    Worlds {
        /// The folders of the worlds, sorted.
        worlds: Vec<PathBuf>,
    },
    /// A folder of region files.
    Chunks {
        /// The folder.
        path: PathBuf,
        /// The world that contains it, if any.
        world: Option<PathBuf>,
    },
    /// A region file.
    Region {
        /// The file.
        path: PathBuf,
        /// The position of the region.
        region: RegionPos,
        /// The world that contains it, if any.
        world: Option<PathBuf>,
    },
}

impl PathKind {
    /// Returns the worlds of a universe, or the single world that the path is or belongs to.
    ///
    /// # Errors
    /// Returns an error if the worlds of a universe cannot be listed.
    pub fn worlds(&self) -> Result<Vec<WorldEntry>> {
        let single = |path: &Path| {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            WorldEntry { name, path: path.to_owned(), collides_with: Vec::new() }
        };
        match self {
            Self::Save { universe } | Self::Universe { universe } => universe.worlds(),
            Self::World { path } | Self::Template { path } => Ok(vec![single(path)]),
            Self::Worlds { worlds } => Ok(worlds.iter().map(|world| single(world)).collect()),
            Self::Pack { templates } => Ok(templates
                .iter()
                .map(|path| WorldEntry { name: template_name(path), ..single(path) })
                .collect()),
            Self::Chunks { world, .. } | Self::Region { world, .. } => {
                Ok(world.iter().map(|world| single(world)).collect())
            }
        }
    }

    /// Returns a short description of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Save { .. } => "a save",
            Self::Universe { .. } => "a universe",
            Self::World { .. } => "a world",
            Self::Template { .. } => "an instance template",
            Self::Pack { .. } => "an asset pack with instance templates",
            Self::Worlds { .. } => "a folder with worlds",
            Self::Chunks { .. } => "a folder of region files",
            Self::Region { .. } => "a region file",
        }
    }
}

/// Determines the kind of a path.
///
/// # Errors
/// Returns an error if the kind is unknown. The message lists the known kinds.
pub fn discover(path: &Path) -> Result<PathKind> {
    let found = std::fs::metadata(path).map_err(Error::io(path, "find"))?;
    let kind = if found.is_dir() { folder(path)? } else { file(path) };
    kind.ok_or_else(|| {
        let what = "not a Hytale save (with universe/), universe (with worlds/), world (with \
                    config.json, chunks/ or db/), template (with instance.bson), asset pack (with \
                    Server/Instances/), folder of region files or region file (such as \
                    0.-1.region.bin)";
        Error::NotFound { path: path.to_owned(), what: what.to_owned() }
    })
}

fn file(path: &Path) -> Option<PathKind> {
    let region = RegionPos::from_file_name(path.file_name()?.to_str()?)?;
    let world = path.parent().and_then(world_of_chunks);
    Some(PathKind::Region { path: path.to_owned(), region, world })
}

/// The order matters: the folder of a save also has a `config.json`, that of the server.
fn folder(path: &Path) -> Result<Option<PathKind>> {
    let has_folder = |name: &str| path.join(name).is_dir();
    let has_file = |name: &str| path.join(name).is_file();
    let owned = path.to_owned();
    Ok(Some(if has_folder("universe") {
        PathKind::Save { universe: Universe::open(&path.join("universe"))? }
    } else if has_folder(WORLDS_FOLDER) {
        PathKind::Universe { universe: Universe::open(path)? }
    } else if [CONFIG_FILE, OLD_CONFIG_FILE, "config.json.bak"].into_iter().any(has_file) {
        PathKind::World { path: owned }
    } else if has_file(INSTANCE_FILE) {
        PathKind::Template { path: owned }
    } else if let Some(templates) = templates_folder(path) {
        PathKind::Pack { templates: find_templates(&templates)? }
    } else if ["chunks", "db", "resources"].into_iter().any(has_folder) || is_in_worlds(path) {
        PathKind::World { path: owned }
    } else if is_named(path, WORLDS_FOLDER) {
        PathKind::Universe { universe: Universe::open(&parent(path)?)? }
    } else if has_region_files(path) || is_named(path, "chunks") {
        PathKind::Chunks { world: world_of_chunks(path), path: owned }
    } else {
        let worlds = worlds_in(path)?;
        return Ok((!worlds.is_empty()).then_some(PathKind::Worlds { worlds }));
    }))
}

/// Returns the folders in a folder that have chunks, sorted.
fn worlds_in(path: &Path) -> Result<Vec<PathBuf>> {
    let mut worlds = Vec::new();
    for entry in path.read_dir().map_err(Error::io(path, "list"))? {
        let inside = entry.map_err(Error::io(path, "list"))?.path();
        if ["chunks", "db"].into_iter().any(|folder| inside.join(folder).is_dir()) {
            worlds.push(inside);
        }
    }
    worlds.sort();
    Ok(worlds)
}

/// Returns the parent folder, derived from the given name if it has one.
fn parent(path: &Path) -> Result<PathBuf> {
    Ok(match path.parent().filter(|_| path.file_name().is_some()) {
        Some(here) if here.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => real(path)?.parent().unwrap_or(path).to_owned(),
    })
}

/// Returns whether the folder is in `worlds/`, where every folder is a world, even an empty one.
fn is_in_worlds(path: &Path) -> bool {
    let parent = real(path).ok().and_then(|path| Some(path.parent()?.to_owned()));
    parent.is_some_and(|parent| is_named(&parent, WORLDS_FOLDER))
}

fn is_named(path: &Path, name: &str) -> bool {
    real(path).is_ok_and(|path| path.file_name().is_some_and(|found| found == name))
}

/// Returns the path without `.` and `..`, so that it has a file name.
fn real(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(Error::io(path, "find"))
}

fn world_of_chunks(chunks: &Path) -> Option<PathBuf> {
    let chunks = if chunks.as_os_str().is_empty() { Path::new(".") } else { chunks };
    let chunks = real(chunks).ok()?;
    let parent = chunks.parent()?;
    chunks.ends_with("chunks").then(|| parent.to_owned())
}

/// Returns the world that a region file, a folder of region files or a database belongs to, whether
/// or not it exists. Returns `None` if the folder around its `chunks/` or `db/` is not a world.
pub fn world_of_storage(path: &Path) -> Option<PathBuf> {
    let path = resolve(path)?;
    let mut folders = [Some(&*path), path.parent()].into_iter().flatten();
    let storage = folders.find(|folder| folder.ends_with("chunks") || folder.ends_with("db"))?;
    storage.parent().filter(|world| is_world(world)).map(Path::to_owned)
}

/// Resolves links. The last component of the path need not exist.
pub(crate) fn resolve(path: &Path) -> Option<PathBuf> {
    if let Ok(path) = path.canonicalize() {
        return Some(path);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or_else(|| Path::new(".")).canonicalize().ok()?;
    Some(parent.join(path.file_name()?))
}

/// Returns whether a folder has a file that only worlds have, or is in `worlds/`.
fn is_world(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    let files = [CONFIG_FILE, OLD_CONFIG_FILE, "config.json.bak", INSTANCE_FILE, "resources"];
    files.into_iter().any(has) || (folder.is_dir() && is_in_worlds(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;
    use std::fs;

    fn save() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["universe/worlds/a/chunks", "universe/worlds/empty", "universe/players"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        write_file(&root.join("config.json"), b"{}");
        write_file(&root.join("universe/worlds/a/config.json"), b"{}");
        write_file(&root.join("universe/worlds/a/chunks/0.-1.region.bin"), b"");
        folder
    }

    #[test]
    fn every_level_of_a_save_is_found() {
        let folder = save();
        let root = folder.path().canonicalize().unwrap();
        for (path, expected, worlds) in [
            ("", "a save", &["a", "empty"][..]),
            ("universe", "a universe", &["a", "empty"]),
            ("universe/worlds", "a universe", &["a", "empty"]),
            ("universe/worlds/a", "a world", &["a"]),
            ("universe/worlds/empty", "a world", &["empty"]),
            ("universe/worlds/empty/../a/.", "a world", &["a"]),
            ("universe/worlds/a/chunks", "a folder of region files", &["a"]),
            ("universe/worlds/a/chunks/0.-1.region.bin", "a region file", &["a"]),
        ] {
            let kind = discover(&root.join(path)).unwrap();
            assert_eq!(kind.kind(), expected, "{path}");
            let found: Vec<_> = kind.worlds().unwrap();
            let names: Vec<_> = found.iter().map(|world| world.name.as_str()).collect();
            assert_eq!(names, worlds, "{path}");
            assert!(found.iter().all(|world| world.path.is_dir()), "{path}");
        }
    }

    #[test]
    fn a_folder_of_worlds_keeps_the_given_path() {
        let folder = save();
        let worlds = folder.path().join("universe/worlds/a/../../worlds");
        let kind = discover(&worlds).unwrap();
        let PathKind::Universe { universe } = &kind else { panic!("{kind:?}") };
        assert_eq!(universe.path(), worlds.parent().unwrap());
        let unnamed = discover(&folder.path().join("universe/worlds/a/..")).unwrap();
        assert_eq!(unnamed.worlds().unwrap().len(), 2);
    }

    #[test]
    fn parts_without_a_world_are_found_too() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("t/chunks")).unwrap();
        fs::create_dir_all(root.join("loose")).unwrap();
        write_file(&root.join("t/instance.bson"), b"{}");
        write_file(&root.join("loose/3.4.region.bin"), b"");
        assert_eq!(discover(&root.join("t")).unwrap().kind(), "an instance template");
        let loose = discover(&root.join("loose")).unwrap();
        assert!(matches!(&loose, PathKind::Chunks { world: None, .. }), "{loose:?}");
        assert!(loose.worlds().unwrap().is_empty());
        let region = discover(&root.join("loose/3.4.region.bin")).unwrap();
        let PathKind::Region { region, world: None, .. } = region else { panic!("{region:?}") };
        assert_eq!(region, RegionPos::new(3, 4));
        // A world copied from a template: the game uses config.json from then on.
        write_file(&root.join("t/config.json"), b"{}");
        assert_eq!(discover(&root.join("t")).unwrap().kind(), "a world");
        fs::create_dir_all(root.join("bare/db")).unwrap();
        assert_eq!(discover(&root.join("bare")).unwrap().kind(), "a world");
    }

    #[test]
    fn the_templates_of_a_pack_are_found_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        // Packs may be stored anywhere, even in a folder whose subfolders are otherwise worlds.
        let pack = folder.path().join("worlds/pack");
        for name in ["Sky/Old_Ship", "Cave", "Cave/chunks", "Empty"] {
            fs::create_dir_all(pack.join("Server/Instances").join(name)).unwrap();
        }
        for name in ["Sky/Old_Ship", "Cave", "Cave/chunks"] {
            write_file(&pack.join("Server/Instances").join(name).join(INSTANCE_FILE), b"{}");
        }
        let kind = discover(&pack).unwrap();
        assert_eq!(kind.kind(), "an asset pack with instance templates");
        let found = kind.worlds().unwrap();
        let names: Vec<_> = found.iter().map(|world| world.name.as_str()).collect();
        assert_eq!(names, ["Cave", "Sky/Old_Ship"]);
        assert!(found.iter().all(|world| world.path.join(INSTANCE_FILE).is_file()));
    }

    #[test]
    fn the_error_for_other_paths_lists_the_known_kinds() {
        let folder = tempfile::tempdir().unwrap();
        write_file(&folder.path().join("notes.txt"), b"");
        for path in ["", "notes.txt"] {
            let message = discover(&folder.path().join(path)).unwrap_err().to_string();
            assert!(message.contains("not a Hytale save (with universe/)"), "{message}");
        }
        assert!(matches!(discover(&folder.path().join("none")), Err(Error::Io { .. })));
    }
}
