//! [`Players`]: `players/<uuid>.json`, one document per player.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hyworld_documents::{Document, Uuid};
use hyworld_files::{FileSystem, OsFileSystem, with_suffix};

use crate::error::{Error, Result};
use crate::json_file::{FallbackRule, JsonFile, Loaded};

const FOLDER: &str = "players";

/// The players of a universe. Each document is an entity: `{"Components": {...}}`.
#[derive(Clone, Debug)]
pub struct Players<'a> {
    files: &'a dyn FileSystem,
    folder: PathBuf,
}

/// A stored player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayerEntry {
    /// The UUID of the player.
    pub uuid: Uuid,
    /// There is only a backup, because the file was lost in a crash. The game does not list the
    /// player but loads the backup when the player joins.
    pub is_only_backup: bool,
}

impl Players<'static> {
    /// Returns the players of a universe.
    pub fn of_universe(universe: &Path) -> Self {
        Self::in_folder(&OsFileSystem, universe.join(FOLDER))
    }
}

impl<'a> Players<'a> {
    /// Returns the players in a folder, which need not exist. A server's configuration can set it.
    pub fn in_folder(files: &'a dyn FileSystem, folder: impl Into<PathBuf>) -> Self {
        Self { files, folder: folder.into() }
    }

    /// Returns all stored players, sorted by UUID.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be listed.
    pub fn list(&self) -> Result<Vec<PlayerEntry>> {
        let entries = match self.files.list(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(&self.folder, "list")(error)),
        };
        let mut found = BTreeMap::new();
        for entry in entries.iter().filter(|entry| !entry.is_folder) {
            let (stem, is_backup) = match entry.name.strip_suffix(".bak") {
                Some(name) => (name.strip_suffix(".json"), true),
                None => (entry.name.strip_suffix(".json"), false),
            };
            if let Some(uuid) = stem.and_then(|stem| stem.parse::<Uuid>().ok()) {
                let is_only_backup = found.entry(uuid).or_insert(true);
                *is_only_backup &= is_backup;
            }
        }
        let entry = |(uuid, is_only_backup)| PlayerEntry { uuid, is_only_backup };
        Ok(found.into_iter().map(entry).collect())
    }

    /// Reads a player. Returns an empty document for an unknown player.
    ///
    /// # Errors
    /// Returns an error if the file and its backup are damaged.
    pub fn load(&self, uuid: Uuid) -> Result<Loaded> {
        self.file(uuid).load()
    }

    /// Replaces a player's document. Returns whether anything was written.
    ///
    /// # Errors
    /// Returns an error if writing fails. The file then has the old or the new contents.
    pub fn save(&self, uuid: Uuid, document: &Document) -> Result<bool> {
        self.file(uuid).save(document)
    }

    /// Removes the file of a player and its backup. The game keeps the backup, and later restores
    /// the player from it. Returns whether the player existed.
    ///
    /// # Errors
    /// Returns an error if a file could not be removed.
    pub fn remove(&self, uuid: Uuid) -> Result<bool> {
        self.file(uuid).remove()
    }

    /// Removes a player from the universe but keeps the files, renamed so that the game does not
    /// read them. Returns the file with the player's document.
    ///
    /// # Errors
    /// Returns an error if renaming fails. The player may still be in the universe; nothing is
    /// lost.
    pub fn set_aside(&self, uuid: Uuid) -> Result<Option<PathBuf>> {
        let file = self.file(uuid);
        let entries = self.files.list(&self.folder).map_err(Error::io(&self.folder, "list"))?;
        let has = |path: &Path| {
            entries.iter().any(|entry| path.file_name().is_some_and(|name| name == &*entry.name))
        };
        let free = |path: &Path| {
            let numbered = (1_u32..).map(|number| match number {
                1 => with_suffix(path, ".removed"),
                number => with_suffix(path, &format!(".removed-{number}")),
            });
            numbered.into_iter().find(|path| !has(path))
        };
        let mut kept = None;
        // Rename the backup first: the game would restore the player from it.
        for path in [file.backup_path(), file.path().to_owned()] {
            let Some(aside) = free(&path).filter(|_| has(&path)) else { continue };
            self.files.rename(&path, &aside).map_err(Error::io(&path, "rename"))?;
            kept = Some(aside);
        }
        self.files.sync_folder(&self.folder).map_err(Error::io(&self.folder, "sync"))?;
        Ok(kept)
    }

    fn file(&self, uuid: Uuid) -> JsonFile<'a> {
        let path = self.folder.join(format!("{uuid}.json"));
        JsonFile::new(self.files, path, FallbackRule::Player)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_file::LoadedFrom;
    use hyworld_documents::Value;
    use hyworld_files::MemoryFileSystem;

    const ANNA: &str = "00000000-0000-0000-0000-00000000000a";
    const BERT: &str = "00000000-0000-0000-0000-00000000000b";

    fn document(number: i32) -> Document {
        let mut document = Document::new();
        document.set("Components", Value::Int32(number));
        document
    }

    #[test]
    fn players_are_listed_by_their_files() {
        let files = MemoryFileSystem::new();
        for name in [
            format!("{ANNA}.json"),
            format!("{ANNA}.json.bak"),
            format!("{BERT}.json.bak"),
            format!("{BERT}.json.tmp"),
            "notes.json".to_owned(),
            format!("{ANNA}.JSON"),
            format!("{ANNA}.json/inside"),
        ] {
            files.write(&Path::new("p").join(name), b"{}").unwrap();
        }
        let players = Players::in_folder(&files, "p");
        let entry = |uuid: &str, is_only_backup| PlayerEntry {
            uuid: uuid.parse().unwrap(),
            is_only_backup,
        };
        assert_eq!(players.list().unwrap(), [entry(ANNA, false), entry(BERT, true)]);
    }

    #[test]
    fn a_removed_player_is_not_restored() {
        let files = MemoryFileSystem::new();
        let players = Players::in_folder(&files, "p");
        let anna = ANNA.parse().unwrap();
        players.save(anna, &document(1)).unwrap();
        players.save(anna, &document(2)).unwrap();
        assert_eq!(players.load(anna).unwrap().document, document(2));
        assert!(players.remove(anna).unwrap());
        let loaded = players.load(anna).unwrap();
        assert_eq!(loaded.document, Document::new());
        assert!(matches!(loaded.from, LoadedFrom::Nothing { .. }));
        assert!(players.list().unwrap().is_empty());
        assert!(!players.remove(anna).unwrap());
    }

    #[test]
    fn players_that_are_set_aside_are_kept() {
        let files = MemoryFileSystem::new();
        let players = Players::in_folder(&files, "p");
        let anna = ANNA.parse().unwrap();
        for (number, name) in [(1, "json.removed"), (3, "json.removed-2")] {
            players.save(anna, &document(number)).unwrap();
            players.save(anna, &document(number + 1)).unwrap();
            let kept = players.set_aside(anna).unwrap().unwrap();
            assert_eq!(kept, Path::new("p").join(format!("{ANNA}.{name}")));
            let text = String::from_utf8(files.read(&kept, 1000).unwrap()).unwrap();
            assert_eq!(text, document(number + 1).to_json());
            assert!(players.list().unwrap().is_empty());
        }
        let backup = Path::new("p").join(format!("{ANNA}.json.bak.removed"));
        assert!(files.read(&backup, 1000).is_ok());
        assert_eq!(players.set_aside(anna).unwrap(), None);
    }

    #[test]
    fn a_missing_folder_has_no_players() {
        let folder = tempfile::tempdir().unwrap();
        let players = Players::of_universe(&folder.path().join("universe"));
        assert!(players.list().unwrap().is_empty());
        players.save(ANNA.parse().unwrap(), &document(1)).unwrap();
        assert_eq!(players.list().unwrap().len(), 1);
    }
}
