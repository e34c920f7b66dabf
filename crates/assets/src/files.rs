//! Reads the asset files that have colours from a zip or a folder.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The maximum size of an asset in bytes. The game's assets have up to a few hundred kilobytes.
const ASSET_BYTES_MAX: u64 = 4 << 20;

/// The maximum size of all assets of one zip or folder together, in bytes.
const TOTAL_BYTES_MAX: u64 = 1 << 30;

/// The maximum number of files in a zip or folder. The game's zip has about 60,000.
const FILES_MAX: usize = 1 << 20;

/// The maximum folder depth.
const DEPTH_MAX: usize = 32;

/// An error from reading assets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssetsError {
    /// A file or folder cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reported error.
        source: io::Error,
    },
    /// There are no blocks, fluids or environments.
    #[error(
        "{}: no assets found; expected Assets.zip or a folder with {}", path.display(), KINDS[0].0
    )]
    NoneFound {
        /// The zip or folder.
        path: PathBuf,
    },
}

/// A kind of asset that has colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Item,
    Fluid,
    Environment,
}

/// The folder of each kind.
const KINDS: [(&str, Kind); 3] = [
    ("Server/Item/Items", Kind::Item),
    ("Server/Item/Block/Fluids", Kind::Fluid),
    ("Server/Environments", Kind::Environment),
];

/// Returns the kind and the id of an asset, by its path in a zip.
fn kind_and_id(path: &str) -> Option<(Kind, &str)> {
    let is_in = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let (_, kind) = KINDS.into_iter().find(|(folder, _)| is_in(folder))?;
    let id = path.rsplit('/').next()?.strip_suffix(".json")?;
    Some((kind, id)).filter(|_| !id.is_empty())
}

/// Calls `visit` with every asset of a zip or a folder, in the order of their paths.
pub(crate) fn visit(path: &Path, visit: impl FnMut(Kind, &str, String)) -> Result<(), AssetsError> {
    let visited = if path.is_dir() { in_folder(path, visit) } else { in_zip(path, visit) };
    match visited? {
        0 => Err(AssetsError::NoneFound { path: path.to_owned() }),
        _ => Ok(()),
    }
}

fn in_zip(path: &Path, mut visit: impl FnMut(Kind, &str, String)) -> Result<usize, AssetsError> {
    let failed = |source| AssetsError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut zip =
        zip::ZipArchive::new(BufReader::new(file)).map_err(|error| failed(error.into()))?;
    if zip.len() > FILES_MAX {
        return Err(failed(too_many()));
    }
    // A name that is not valid text is not the name of an asset.
    let names = zip.file_names().filter_map(Result::ok);
    let mut names: Vec<String> =
        names.filter(|name| kind_and_id(name).is_some()).map(Cow::into_owned).collect();
    names.sort();
    let mut budget = TOTAL_BYTES_MAX;
    for name in &names {
        let failed = |source| AssetsError::Io { path: path.join(name), source };
        let entry = zip.by_name(name).map_err(|error| failed(error.into()))?;
        let text = read(entry, &mut budget).map_err(failed)?;
        if let Some((kind, id)) = kind_and_id(name) {
            visit(kind, id, text);
        }
    }
    Ok(names.len())
}

fn in_folder(root: &Path, mut visit: impl FnMut(Kind, &str, String)) -> Result<usize, AssetsError> {
    let mut budget = TOTAL_BYTES_MAX;
    let mut count = 0_usize;
    for (folder, kind) in KINDS {
        let mut files = Vec::new();
        collect(&root.join(folder), DEPTH_MAX, &mut files)?;
        files.sort();
        count = count.saturating_add(files.len());
        for path in files {
            let failed = |source| AssetsError::Io { path: path.clone(), source };
            let text =
                File::open(&path).and_then(|file| read(file, &mut budget)).map_err(failed)?;
            if let Some(id) = path.file_stem().and_then(|stem| stem.to_str()) {
                visit(kind, id, text);
            }
        }
    }
    Ok(count)
}

/// Adds the JSON files of a folder, at any depth. A missing folder has none. Links are not
/// followed.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), AssetsError> {
    let failed = |source| AssetsError::Io { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        if kind.is_dir() && depth > 0 {
            collect(&path, depth - 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
        if files.len() > FILES_MAX {
            return Err(failed(too_many()));
        }
    }
    Ok(())
}

fn too_many() -> io::Error {
    io::Error::other(format!("more than {FILES_MAX} files"))
}

/// Reads a text within the limits. Replaces invalid UTF-8, which colours do not contain.
fn read(file: impl Read, budget: &mut u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    let limit = ASSET_BYTES_MAX.min(*budget);
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes)? as u64;
    *budget = budget.checked_sub(read).filter(|_| read <= limit).ok_or_else(|| {
        io::Error::other(format!(
            "larger than {} MiB, or all assets are larger than {} MiB",
            ASSET_BYTES_MAX >> 20,
            TOTAL_BYTES_MAX >> 20
        ))
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_decides_the_kind() {
        let item = kind_and_id("Server/Item/Items/Rock/Rock_Stone.json");
        assert_eq!(item, Some((Kind::Item, "Rock_Stone")));
        let fluid = kind_and_id("Server/Item/Block/Fluids/Water.json");
        assert_eq!(fluid, Some((Kind::Fluid, "Water")));
        let environment = kind_and_id("Server/Environments/Zone1/Env_Zone1.json");
        assert_eq!(environment, Some((Kind::Environment, "Env_Zone1")));
        for other in ["Server/Item/ItemsX/a.json", "Server/Environments/a.txt", "a.json", ""] {
            assert_eq!(kind_and_id(other), None, "{other}");
        }
    }

    #[test]
    fn a_file_above_the_limit_is_refused() {
        let mut budget = 10;
        assert_eq!(read(&b"12345"[..], &mut budget).unwrap(), "12345");
        assert_eq!(budget, 5);
        read(&b"123456"[..], &mut budget).unwrap_err();
        let zeros = io::repeat(0).take(ASSET_BYTES_MAX + 1);
        read(zeros, &mut TOTAL_BYTES_MAX.clone()).unwrap_err();
    }
}
