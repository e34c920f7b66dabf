//! Locations to write chunks to.

use std::path::{Path, PathBuf};

use hyworld_world::{PathKind, discover};

use super::{
    CHUNKS_FOLDER, DATABASE_FOLDER, Location, ROCKSDB_SCHEME, S3_SCHEME, bad_location,
    region_files_in, region_of,
};
use crate::error::Result;

impl Location {
    /// Resolves a location to write chunks to. It need not exist.
    ///
    /// # Errors
    /// Returns an error if the location is a file, a save or a universe, or has the name of a
    /// region file.
    pub fn target(name: &Path) -> Result<Self> {
        if let Some(remote) = Self::of_url(name) {
            return Ok(remote);
        }
        check_url(name)?;
        if name.exists() && !name.is_dir() {
            let reason = "this is a file; name a world or a folder of region files";
            return Err(bad_location(name, reason));
        }
        check_folder_name(name)?;
        let is_chunks_folder = name.file_name().is_some_and(|last| last == CHUNKS_FOLDER);
        if is_chunks_folder || (name.is_dir() && !region_files_in(name)?.is_empty()) {
            return Ok(Self::Regions(name.to_owned()));
        }
        if let Some(worlds) = worlds_folder(name) {
            let example = worlds.join("NAME");
            let reason =
                format!("this is a folder of worlds; name one, as in {}", example.display());
            return Err(bad_location(name, &reason));
        }
        Self::of_world(name)
    }

    /// Like [`target`](Self::target), for a copy of the chunks of `source`.
    ///
    /// # Errors
    /// Also returns an error if the target is inside the source, or inside the save or universe at
    /// `source_name` but outside its `worlds` folder.
    pub fn target_of_copy(name: &Path, source: &Self, source_name: &Path) -> Result<Self> {
        let target = Self::target(name)?;
        let Some(path) = target.folder().map(resolved) else { return Ok(target) };
        let inside = |root: &Path| path.starts_with(root) && path != root;
        let (storage, world) = (source.folder().map(resolved), source.world_folder());
        if storage.is_some_and(|storage| inside(&storage)) {
            return Err(bad_location(name, "the target is inside the chunks folder to be copied"));
        }
        if let Some(world) = world.map(|world| resolved(&world))
            && inside(&world)
            && ![CHUNKS_FOLDER, DATABASE_FOLDER].map(|folder| world.join(folder)).contains(&path)
        {
            return Err(bad_location(name, "the target is inside the world to be copied"));
        }
        if let Some(worlds) = worlds_folder(source_name).map(|worlds| resolved(&worlds))
            && inside(&resolved(source_name))
            && !inside(&worlds)
        {
            let reason = format!(
                "the target is inside the source but outside its folder of worlds, {}",
                worlds.display()
            );
            return Err(bad_location(name, &reason));
        }
        Ok(target)
    }
}

/// Returns the folder of worlds of a save or universe.
fn worlds_folder(path: &Path) -> Option<PathBuf> {
    match discover(path) {
        Ok(PathKind::Save { universe } | PathKind::Universe { universe }) => {
            Some(universe.path().join("worlds"))
        }
        _ => None,
    }
}

/// Returns an error for a new folder whose name is that of a region file or a backup.
fn check_folder_name(name: &Path) -> Result<()> {
    let text = name.to_string_lossy().to_ascii_lowercase();
    let is_zip = name.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
    let kind = match () {
        () if name.is_dir() && region_of(name).is_none() => return Ok(()),
        () if region_of(name).is_some() || text.ends_with(".region.bin") => "a region file",
        () if is_zip => "a backup, which only the game writes",
        () if text.ends_with(hyworld_maintenance::BUNDLE_SUFFIX) => "an undo bundle",
        () => return Ok(()),
    };
    Err(bad_location(name, &format!("this is the name of {kind}; name a folder")))
}

/// Returns an error for a location that is not a path on this machine.
pub(crate) fn check_local(name: &Path) -> Result<()> {
    match Location::of_url(name) {
        Some(_) => Err(bad_location(name, "this must be a path on this machine")),
        None => check_url(name),
    }
}

/// Returns an error for a path that was probably meant as a URL.
pub(super) fn check_url(name: &Path) -> Result<()> {
    let text = name.to_string_lossy();
    let lower = text.to_ascii_lowercase();
    let scheme = |scheme: &str| lower.starts_with(scheme.trim_end_matches('/'));
    let reason = if scheme(S3_SCHEME) {
        "write an object store as s3://BUCKET/PREFIX"
    } else if scheme(ROCKSDB_SCHEME) {
        "write a database as rocksdb:PATH"
    } else if text.contains("://") {
        "unknown kind of storage; use a path, rocksdb:PATH or s3://BUCKET/PREFIX"
    } else {
        return Ok(());
    };
    Err(bad_location(name, reason))
}

/// Returns the absolute path with symbolic links resolved; missing components are kept.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = PathBuf::new();
    for ancestor in path.ancestors() {
        if let Ok(found) = ancestor.canonicalize() {
            missing = path.strip_prefix(ancestor).map(Path::to_owned).unwrap_or(missing);
            return if missing.as_os_str().is_empty() { found } else { found.join(missing) };
        }
    }
    path
}
