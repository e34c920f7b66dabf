//! [`check_output`]: the rule for every file that a verb writes beside its work, such as pictures,
//! plots, documents and undo bundles.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use hyworld_coords::RegionPos;
use hyworld_files::open_regular;

use crate::error::{Error, ErrorKind, Result};
use crate::location::{check_local, resolved};

/// A file that hyworld made has this name near its beginning or its end.
const MARK: &[u8] = b"hyworld";

/// Where the mark is looked for: the metadata of an archive comes after 16 KiB of directory.
const HEAD_BYTES: u64 = 32 * 1024;
const TAIL_BYTES: u64 = 4 * 1024;

/// The kind of an output file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum OutputKind {
    /// A picture of a map.
    Picture,
    /// A picture as PNG.
    Png,
    /// A plot.
    Plot,
    /// An archive of tiles.
    Archive,
    /// An undo bundle.
    Bundle,
    /// A manifest, which the caller reads first if it exists.
    Manifest,
    /// Bytes of a world, such as the document of a chunk or the file of a player.
    Document,
}

impl OutputKind {
    /// Returns the endings that a file of this kind may have; empty for any.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Picture => &["png", "webp"],
            Self::Png => &["png"],
            Self::Plot => &["svg", "png"],
            Self::Archive => &["pmtiles"],
            Self::Bundle => &["hyundo"],
            Self::Manifest | Self::Document => &[],
        }
    }

    /// Returns the first bytes of an existing file of this kind that may be replaced; empty if none
    /// may be replaced.
    fn beginnings(self) -> &'static [&'static [u8]] {
        match self {
            Self::Picture => &[b"\x89PNG\r\n\x1a\n", b"RIFF"],
            Self::Png => &[b"\x89PNG\r\n\x1a\n"],
            Self::Plot => &[b"<svg ", b"\x89PNG\r\n\x1a\n"],
            Self::Archive => &[b"PMTiles"],
            Self::Bundle | Self::Manifest | Self::Document => &[],
        }
    }
}

/// Checks that a file may be written: its name has the right ending, it is not inside a world, and
/// it does not exist or is one that hyworld made.
///
/// # Errors
/// Returns an error that says what is wrong with the name.
pub fn check_output(path: &Path, kind: OutputKind) -> Result<()> {
    check_local(path)?;
    let endings = kind.endings();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !endings.is_empty() && !endings.iter().any(|known| known.eq_ignore_ascii_case(ending)) {
        let known: Vec<_> = endings.iter().map(|ending| format!(".{ending}")).collect();
        return Err(refused(path, &format!("its name must end with {}", known.join(" or "))));
    }
    check_place(path)?;
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(refused(path, "this is a folder")),
        Ok(_) if kind == OutputKind::Manifest => Ok(()),
        Ok(found) if found.is_file() && is_own(path, kind) => Ok(()),
        Ok(_) if kind.beginnings().is_empty() => {
            Err(refused(path, "it exists already; choose another name, or remove it first"))
        }
        Ok(_) => Err(refused(
            path,
            "it exists and was not made by hyworld; choose another name, or remove it first",
        )),
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            Err(refused(path, "this is a link to a file that does not exist"))
        }
        Err(_) => Ok(()),
    }
}

/// Checks that a folder may be written: it is a local path, and not inside a world.
///
/// # Errors
/// As for [`check_output`].
pub fn check_output_folder(path: &Path) -> Result<()> {
    check_local(path)?;
    check_place(path)
}

fn check_place(path: &Path) -> Result<()> {
    let real = resolved(path);
    match real.ancestors().skip(1).find(|folder| is_world(folder)) {
        Some(world) => {
            let text = format!("it is inside the world {}; choose another folder", world.display());
            Err(refused(path, &text))
        }
        None => Ok(()),
    }
}

/// Returns whether a folder is a world, or the `chunks/` folder of one. A file may be written
/// beside a copy of a region file.
fn is_world(folder: &Path) -> bool {
    let any = |names: &[&str]| names.iter().any(|name| folder.join(name).exists());
    let is_configured = any(&["config.json", "config.bson", "config.json.bak", "instance.bson"]);
    if is_configured && any(&["chunks", "db", "resources"]) {
        return true;
    }
    if !folder.ends_with("chunks") {
        return false;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.any(|name| name.to_str().is_some_and(|name| RegionPos::from_file_name(name).is_some()))
}

/// Returns whether an existing file is of this kind and was made by hyworld.
fn is_own(path: &Path, kind: OutputKind) -> bool {
    let Ok((head, tail)) = ends_of(path) else { return false };
    let is_kind = kind.beginnings().iter().any(|beginning| head.starts_with(beginning));
    let has_mark = |bytes: &[u8]| bytes.windows(MARK.len()).any(|window| window == MARK);
    is_kind && (has_mark(&head) || has_mark(&tail))
}

/// Reads the beginning and the end of a file.
fn ends_of(path: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut file, mut head, mut tail) = (open_regular(path)?, Vec::new(), Vec::new());
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    let start = file.metadata()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    Ok((head, tail))
}

fn refused(path: &Path, reason: &str) -> Error {
    Error::new(ErrorKind::BadLocation, format!("{}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n tEXtSoftware\0hyworld";

    #[test]
    fn only_own_files_of_the_right_kind_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let check = |name: &str, kind| check_output(&folder.path().join(name), kind);
        for name in ["own.png", "own.PNG"] {
            write_file(&folder.path().join(name), PNG);
            check(name, OutputKind::Picture).unwrap();
        }
        write_file(&folder.path().join("photo.png"), b"\x89PNG\r\n\x1a\n a photo");
        write_file(&folder.path().join("text.png"), b"about hyworld");
        write_file(&folder.path().join("0.0.region.bin"), b"HytaleIndexedStorage");
        for name in ["photo.png", "text.png"] {
            assert!(check(name, OutputKind::Picture).is_err(), "{name}");
        }
        for kind in [OutputKind::Picture, OutputKind::Document, OutputKind::Bundle] {
            assert!(check("0.0.region.bin", kind).is_err(), "{kind:?}");
            assert!(check("own.png", kind).is_ok() == (kind == OutputKind::Picture), "{kind:?}");
        }
    }

    #[test]
    fn names_and_places_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["new.png", "new.webp", "sub/new.png"] {
            check_output(&path(name), OutputKind::Picture).unwrap();
        }
        for name in ["new", "new.txt", "new.svg", "new.region.bin"] {
            assert!(check_output(&path(name), OutputKind::Picture).is_err(), "{name}");
        }
        for name in ["s3://b/p.png", "rocksdb:x.png", "S3:/b/p.png", "http://h/p.png"] {
            assert!(check_output(Path::new(name), OutputKind::Picture).is_err(), "{name}");
            assert!(check_output_folder(Path::new(name)).is_err(), "{name}");
        }
        fs::create_dir_all(path("world/chunks")).unwrap();
        write_file(&path("world/config.json"), b"{}");
        fs::create_dir_all(path("old/chunks")).unwrap();
        write_file(&path("old/chunks/0.0.region.bin"), b"");
        for name in ["world/a.png", "world/chunks/a.png", "world/x/y/a.png", "old/chunks/a.png"] {
            assert!(check_output(&path(name), OutputKind::Picture).is_err(), "{name}");
            assert!(check_output_folder(&path(name)).is_err(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink(path("none.png"), path("dangling.png")).unwrap();
        assert!(check_output(&path("dangling.png"), OutputKind::Picture).is_err());
        fs::create_dir(path("chunks")).unwrap();
        write_file(&path("chunks/0.0.region.bin"), b"");
        std::os::unix::fs::symlink(path("chunks"), path("link")).unwrap();
        assert!(check_output(&path("link/a.png"), OutputKind::Picture).is_err());
    }
}
