//! Where chunks can be written to, and where they must not be.

use std::path::{Path, PathBuf};

use hyworld_world::{PathKind, discover};

use super::{
    CHUNKS_FOLDER, DATABASE_FOLDER, Location, ROCKSDB_SCHEME, S3_SCHEME, bad_location,
    region_files_in, region_of,
};
use crate::error::Result;

impl Location {
    /// Finds where chunks can be written to. The location need not exist.
    ///
    /// # Errors
    /// Chunks cannot be written there: it is a file, a save or a universe, or it is named as one
    /// of those or as a region file.
    pub fn target(name: &Path) -> Result<Self> {
        if let Some(remote) = Self::of_url(name) {
            return Ok(remote);
        }
        check_address(name)?;
        if name.exists() && !name.is_dir() {
            let problem = "a world or a folder of region files is needed here, not a file";
            return Err(bad_location(name, problem));
        }
        if region_of(name).is_some() {
            let problem = "a region file has such a name, and a folder is needed here";
            return Err(bad_location(name, problem));
        }
        let is_chunks_folder = name.file_name().is_some_and(|last| last == CHUNKS_FOLDER);
        if is_chunks_folder || (name.is_dir() && !region_files_in(name)?.is_empty()) {
            return Ok(Self::Regions(name.to_owned()));
        }
        if let Some(worlds) = worlds_folder(name) {
            let example = worlds.join("NAME");
            let problem = format!("this holds worlds; name one in it, as {}", example.display());
            return Err(bad_location(name, &problem));
        }
        Self::of_world(name)
    }

    /// As [`target`](Self::target), for a copy of chunks from elsewhere.
    ///
    /// # Errors
    /// Also if it is inside of the source, or of the save or universe that `source_name` names but
    /// not among its worlds.
    pub fn target_of_copy(name: &Path, source: &Self, source_name: &Path) -> Result<Self> {
        let target = Self::target(name)?;
        let Some(path) = target.folder().map(resolved) else { return Ok(target) };
        let inside = |root: &Path| path.starts_with(root) && path != root;
        let (storage, world) = (source.folder().map(resolved), source.world_folder());
        if storage.is_some_and(|storage| inside(&storage)) {
            return Err(bad_location(name, "it is inside of the chunks that would be copied"));
        }
        if let Some(world) = world.map(|world| resolved(&world))
            && inside(&world)
            && ![CHUNKS_FOLDER, DATABASE_FOLDER].map(|folder| world.join(folder)).contains(&path)
        {
            return Err(bad_location(name, "it is inside of the world that would be copied"));
        }
        if let Some(worlds) = worlds_folder(source_name).map(|worlds| resolved(&worlds))
            && inside(&resolved(source_name))
            && !inside(&worlds)
        {
            let problem = format!(
                "it is inside of the source but not among its worlds, which are in {}",
                worlds.display()
            );
            return Err(bad_location(name, &problem));
        }
        Ok(target)
    }
}

/// The folder of worlds of a save or universe, or of what is going to be one.
fn worlds_folder(path: &Path) -> Option<PathBuf> {
    match discover(path) {
        Ok(PathKind::Save { universe } | PathKind::Universe { universe }) => {
            Some(universe.path().join("worlds"))
        }
        _ => None,
    }
}

/// Refuses what was probably meant as an address.
pub(super) fn check_address(name: &Path) -> Result<()> {
    let text = name.to_string_lossy();
    let lower = text.to_ascii_lowercase();
    let scheme = |scheme: &str| lower.starts_with(scheme.trim_end_matches('/'));
    let problem = if scheme(S3_SCHEME) {
        "an object store is named as in s3://BUCKET/PREFIX"
    } else if scheme(ROCKSDB_SCHEME) {
        "a database is named as in rocksdb:PATH"
    } else if text.contains("://") {
        "there is no such kind of storage: a path, rocksdb:PATH or s3://BUCKET/PREFIX"
    } else {
        return Ok(());
    };
    Err(bad_location(name, problem))
}

/// The absolute path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
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
