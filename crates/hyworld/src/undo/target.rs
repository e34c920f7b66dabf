//! Finding the world that a bundle belongs to.

use std::path::{Path, PathBuf};

use hyworld_maintenance::BundleHeader;

use crate::error::{Error, ErrorKind, Result};
use crate::location::{is_database, region_files_in};

/// What an undo changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// The folder of a world, a universe, region files or a database.
    Folder(PathBuf),
    /// The URL of an object store.
    Storage(String),
}

/// Returns the world that the caller names, or the folder beside the bundle that has the recorded
/// name. The recorded path itself is not used: a bundle of unknown origin could name any folder.
pub(super) fn find_target(
    bundle: &Path,
    header: &BundleHeader,
    named: Option<&Path>,
) -> Result<Target> {
    if let Some(url) = &header.storage {
        if named == Some(Path::new(url)) {
            return Ok(Target::Storage(url.clone()));
        }
        let text = format!("{}: it belongs to {url}; confirm it with --at", bundle.display());
        return Err(Error::new(ErrorKind::BadLocation, text));
    }
    if let Some(folder) = named {
        if folder.is_dir() {
            return Ok(Target::Folder(folder.to_owned()));
        }
        let text = format!("{}: no such folder", folder.display());
        return Err(Error::new(ErrorKind::NotFound, text));
    }
    find_beside(bundle, header).map(Target::Folder).ok_or_else(|| {
        let text = format!(
            "{}: the folder it belongs to is not beside it; name the folder with --at (it was {})",
            bundle.display(),
            header.root.display()
        );
        Error::new(ErrorKind::NotFound, text)
    })
}

/// Returns the folder with the recorded name beside the bundle or around it.
fn find_beside(bundle: &Path, header: &BundleHeader) -> Option<PathBuf> {
    let bundle = bundle.canonicalize().ok()?;
    let (name, around) = (header.root.file_name()?, bundle.parent()?);
    // The bundle of one region file is in the folder of the file.
    let is_around = around.file_name() == Some(name);
    let folders = [Some(around.join(name)), is_around.then(|| around.to_owned())];
    folders.into_iter().flatten().find(|folder| has_world(folder))
}

/// Returns whether a folder has files of a world, so that a bundle cannot choose another one.
fn has_world(folder: &Path) -> bool {
    let is_universe = folder.join("worlds").is_dir();
    let is_world = folder.join("config.json").is_file() || folder.join("chunks").is_dir();
    let has_regions = || region_files_in(folder).is_ok_and(|files| !files.is_empty());
    folder.is_dir() && (is_universe || is_world || is_database(folder) || has_regions())
}

/// Returns what a caller must name to undo a bundle, a folder or URL; `None` if the world is beside
/// the bundle or the bundle cannot be read.
pub fn location_to_name(bundle: &Path) -> Option<PathBuf> {
    let header = BundleHeader::read(bundle).ok()?;
    match (&header.storage, find_beside(bundle, &header)) {
        (Some(url), _) => Some(PathBuf::from(url)),
        (None, Some(_)) => None,
        (None, None) => Some(header.root),
    }
}
