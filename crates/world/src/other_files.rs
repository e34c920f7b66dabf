//! [`other_files`]: lists the files in a folder of the game that hyworld keeps but does not read.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::lock::LOCK_FILE;
use crate::provider_switch::NOTE_FILE;
use crate::tree::tree_size;

/// A file or folder that hyworld keeps but does not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherFile {
    /// The name; the name of a folder ends with `/`.
    pub name: String,
    /// A description, or `None` if it is unknown.
    pub what: Option<&'static str>,
    /// The number of files.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// The kinds of folders that can be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FolderKind {
    /// The folder that a server runs in.
    Save,
    /// A folder with worlds.
    Universe,
    /// A world.
    World,
}

/// Names that are not listed, because hyworld reads them.
const READ: [(FolderKind, &[&str]); 3] = [
    (FolderKind::Save, &["universe", "backup", "config.json", "config.json.bak"]),
    (FolderKind::Universe, &["worlds", "players", "resources", "worlds-deleted"]),
    (
        FolderKind::World,
        &[
            "chunks",
            "db",
            "resources",
            "config.json",
            "config.json.bak",
            "config.bson",
            "instance.bson",
            "paths.json",
            "paths.json.bak",
            "paths.bson",
            LOCK_FILE,
            NOTE_FILE,
        ],
    ),
];

/// Prefix of the folders in which hyworld keeps replaced chunks.
pub const UNDO_PREFIX: &str = "hyworld-undo-";

/// Descriptions of other known names.
const KNOWN: [(FolderKind, &str, &str); 17] = [
    (FolderKind::Save, "permissions.json", "permissions"),
    (FolderKind::Save, "bans.json", "bans"),
    (FolderKind::Save, "whitelist.json", "whitelist"),
    (FolderKind::Save, "whitelist.json.migrated", "whitelist before game 0.6"),
    (FolderKind::Save, "client_metadata.json", "metadata of the client"),
    (FolderKind::Save, "auth.enc", "credentials of the server"),
    (FolderKind::Save, "telemetry/", "telemetry"),
    (FolderKind::Save, "logs/", "logs"),
    (FolderKind::Save, "mods/", "mods"),
    (FolderKind::Universe, "memories.json", "memories before game 0.6"),
    (FolderKind::Universe, "memories.json.bak", "backup of the memories"),
    (FolderKind::Universe, "warps.json", "warps"),
    (FolderKind::Universe, "warps.json.bak", "backup of the warps"),
    (FolderKind::Universe, "blockIdMap.json", "numbers of blocks"),
    (FolderKind::Universe, "blockIdMap.legacy.json", "numbers of blocks"),
    (FolderKind::World, "recovery-tmp/", "remains of a recovery"),
    (FolderKind::World, "instance.bson.bak", "backup of the template"),
];

/// Lists the files and folders that hyworld does not read, by name.
///
/// # Errors
/// Returns an error if the folder cannot be listed.
pub fn other_files(folder: &Path, kind: FolderKind) -> Result<Vec<OtherFile>> {
    let mut found = list(folder, kind)?;
    let mods = folder.join("mods");
    if kind == FolderKind::Save && mods.is_dir() {
        // Plugins keep their data in folders next to them.
        let data = list(&mods, FolderKind::World)?.into_iter();
        found.extend(data.filter(|entry| entry.name.ends_with('/')).map(|entry| OtherFile {
            name: format!("mods/{}", entry.name),
            what: Some("data folder of a plugin"),
            ..entry
        }));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn list(folder: &Path, kind: FolderKind) -> Result<Vec<OtherFile>> {
    let read = READ.iter().filter(|(of, _)| *of == kind).flat_map(|(_, names)| *names);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        if read.clone().any(|known| **known == name) {
            continue;
        }
        // The metadata of the entry itself: links are not followed.
        let metadata = entry.metadata().map_err(Error::io(folder, "inspect"))?;
        let (mut files, mut bytes) = (1, metadata.len());
        if metadata.is_dir() {
            let size = tree_size(&entry.path())?;
            (files, bytes) = (size.files, size.bytes);
            name.push('/');
        }
        let what = description(&name, &entry.path(), kind);
        found.push(OtherFile { name, what, files, bytes });
    }
    Ok(found)
}

fn description(name: &str, path: &Path, kind: FolderKind) -> Option<&'static str> {
    let mut known = KNOWN.iter().filter(|known| known.0 == kind && known.1 == name);
    let known = known.next().map(|(_, _, what)| *what);
    if kind == FolderKind::World && name.starts_with(UNDO_PREFIX) {
        return Some("chunks as they were before an upgrade");
    }
    let is_store = || kind == FolderKind::Universe && name.ends_with('/') && has_records(path);
    known.or_else(|| is_store().then_some("data store of a plugin"))
}

/// Returns whether a folder has records as plugins store them: `<id>.bson` or `<id>.json`.
fn has_records(folder: &Path) -> bool {
    let mut entries = folder.read_dir().into_iter().flatten().flatten();
    let is_record = |end: &OsStr| end == "bson" || end == "json";
    entries.any(|entry| entry.path().extension().is_some_and(is_record))
}

/// Returns whether a folder is inside the launcher's installation, which updates replace.
pub fn is_in_installation(folder: &Path) -> bool {
    let Ok(path) = folder.canonicalize() else { return false };
    let names: Vec<_> = path.iter().collect();
    names.windows(2).any(|pair| {
        matches!(pair, [install, line] if *install == "install"
            && (*line == "release" || *line == "pre-release"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;

    #[test]
    fn all_other_files_are_listed_with_a_description() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["worlds/a", "auctions", "notes"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        write_file(&root.join("auctions/1.bson"), b"12345");
        write_file(&root.join("notes/readme"), b"x");
        write_file(&root.join("memories.json"), b"{}");
        let found = other_files(root, FolderKind::Universe).unwrap();
        let other =
            |name: &str, what, bytes| OtherFile { name: name.to_owned(), what, files: 1, bytes };
        let expected = [
            other("auctions/", Some("data store of a plugin"), 5),
            other("memories.json", Some("memories before game 0.6"), 2),
            other("notes/", None, 1),
        ];
        assert_eq!(found, expected);
        let names = |kind| other_files(root, kind).unwrap().len();
        assert_eq!((names(FolderKind::Save), names(FolderKind::World)), (4, 4));
        fs::create_dir_all(root.join("hyworld-undo-1")).unwrap();
        let found = other_files(root, FolderKind::World).unwrap();
        let undo = found.iter().find(|file| file.name == "hyworld-undo-1/").unwrap();
        assert_eq!(undo.what, Some("chunks as they were before an upgrade"));
        fs::remove_dir(root.join("hyworld-undo-1")).unwrap();
        fs::create_dir_all(root.join("mods/Group_Shop")).unwrap();
        write_file(&root.join("mods/shop.jar"), b"");
        let found = other_files(root, FolderKind::Save).unwrap();
        let names: Vec<_> = found.iter().map(|file| &*file.name).collect();
        let expected =
            ["auctions/", "memories.json", "mods/", "mods/Group_Shop/", "notes/", "worlds/"];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_folder_of_the_launcher_is_recognized() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, expected) in [
            ("Hytale/install/release/package/game/latest/Server/universe", true),
            ("Hytale/install/pre-release/universe", true),
            ("Hytale/UserData/Saves/install/universe", false),
        ] {
            fs::create_dir_all(path(name)).unwrap();
            assert_eq!(is_in_installation(&path(name)), expected, "{name}");
        }
        assert!(!is_in_installation(&path("missing/install/release")));
    }
}
