//! [`JsonFile`]: a JSON file with a backup, replaced so that at no moment it is missing or torn.
//!
//! `docs/format/world.md` has the rules, under "JSON files".

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use hyworld_documents::Document;
use hyworld_files::{FileSystem, with_suffix};

use crate::error::{Error, Result, TextProblem};
use crate::limits::JSON_BYTES_MAX;

/// What happens when a file is missing or cannot be used. The game has three rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FallbackRule {
    /// `config.json`, `paths.json`, `instance.bson`: the backup is read if the file is missing or
    /// damaged. If that cannot be used either, it is an error; the game would take the defaults.
    Config,
    /// Players: the backup is read if the file is missing, empty or damaged. If there is none,
    /// the player is a new one.
    Player,
    /// Resources of a world: the backup is never read.
    Resource,
}

/// Where a document came from.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoadedFrom {
    /// The file itself.
    File,
    /// The file under the name that it had in old versions.
    Legacy {
        /// That file.
        path: PathBuf,
    },
    /// The backup, because the file cannot be used.
    Backup {
        /// What is wrong with the file.
        problem: TextProblem,
    },
    /// Nowhere: the document is empty, and default values count.
    Nothing {
        /// What is wrong with the file.
        problem: TextProblem,
    },
}

/// A document, and where it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct Loaded {
    /// The document; empty if it came from nowhere.
    pub document: Document,
    /// Where it came from.
    pub from: LoadedFrom,
}

/// A JSON file of a world.
#[derive(Clone, Debug)]
pub struct JsonFile<'a> {
    files: &'a dyn FileSystem,
    path: PathBuf,
    legacy: Option<PathBuf>,
    rule: FallbackRule,
}

impl<'a> JsonFile<'a> {
    /// The file with this path. It need not exist.
    pub fn new(files: &'a dyn FileSystem, path: impl Into<PathBuf>, rule: FallbackRule) -> Self {
        Self { files, path: path.into(), legacy: None, rule }
    }

    /// The same, with the path that it had in old versions.
    #[must_use]
    pub fn with_legacy(mut self, path: impl Into<PathBuf>) -> Self {
        self.legacy = Some(path.into());
        self
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of its backup.
    pub fn backup_path(&self) -> PathBuf {
        with_suffix(&self.path, ".bak")
    }

    /// Reads it, or what stands in for it.
    ///
    /// # Errors
    /// It is there and cannot be used, and its rule knows no substitute.
    pub fn load(&self) -> Result<Loaded> {
        let problem = match self.parse(&self.path) {
            Ok(document) => return Ok(Loaded { document, from: LoadedFrom::File }),
            Err(problem) => problem,
        };
        if problem == TextProblem::Missing
            && let Some(legacy) = &self.legacy
            && let Ok(document) = self.parse(legacy)
        {
            return Ok(Loaded { document, from: LoadedFrom::Legacy { path: legacy.clone() } });
        }
        match self.rule {
            FallbackRule::Config => self.config_fallback(problem),
            FallbackRule::Player => self.player_fallback(problem),
            FallbackRule::Resource => Ok(nothing(problem)),
        }
    }

    /// Reads its backup, whatever the file holds.
    ///
    /// # Errors
    /// The backup cannot be used.
    pub fn load_backup(&self) -> Result<Document> {
        let path = self.backup_path();
        self.parse(&path).map_err(|problem| Error::NotJson { path, problem })
    }

    fn config_fallback(&self, problem: TextProblem) -> Result<Loaded> {
        let path = self.path.clone();
        match self.parse(&self.backup_path()) {
            Ok(document) => Ok(Loaded { document, from: LoadedFrom::Backup { problem } }),
            Err(TextProblem::Missing) if problem == TextProblem::Missing => Ok(nothing(problem)),
            Err(_) => Err(Error::Unusable { path, problem }),
        }
    }

    fn player_fallback(&self, problem: TextProblem) -> Result<Loaded> {
        // A file that cannot be reached is not a player that never was.
        if let TextProblem::Unreadable(_) = problem {
            return Err(Error::NotJson { path: self.path.clone(), problem });
        }
        let path = self.backup_path();
        match self.parse(&path) {
            Ok(document) => Ok(Loaded { document, from: LoadedFrom::Backup { problem } }),
            Err(TextProblem::Missing | TextProblem::Empty) => Ok(nothing(problem)),
            Err(problem) => Err(Error::NotJson { path, problem }),
        }
    }

    fn parse(&self, path: &Path) -> Result<Document, TextProblem> {
        let bytes = self.files.read(path, JSON_BYTES_MAX).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => TextProblem::Missing,
            _ => TextProblem::Unreadable(error.to_string()),
        })?;
        parse_text(&bytes)
    }

    /// Replaces the file, keeps what was there as the backup, and makes both durable. Whether
    /// anything was written: a file that says the same already is left alone.
    ///
    /// Killed or without power at any moment, it leaves the file with the old or the new content.
    ///
    /// # Errors
    /// The file has its old content, or already the new one.
    pub fn save(&self, document: &Document) -> Result<bool> {
        let text = document.to_json();
        self.adopt_legacy()?;
        let old = match self.files.read(&self.path, JSON_BYTES_MAX) {
            Ok(old) if old == text.as_bytes() => return Ok(false),
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(&self.path, "read")(error)),
        };
        let folder = self.folder();
        self.files.create_folder(folder).map_err(Error::io(folder, "make"))?;
        let temporary = with_suffix(&self.path, ".tmp");
        self.write_durably(&temporary, text.as_bytes())?;
        if let Some(old) = old {
            self.back_up(&old)?;
        }
        self.rename(&temporary, &self.path)?;
        self.sync_folder()?;
        Ok(true)
    }

    /// Removes the file and everything that it could come back from; whether there was one.
    ///
    /// # Errors
    /// It may still be there.
    pub fn remove(&self) -> Result<bool> {
        // What it could come back from goes first.
        let mut found = self.remove_one(&self.backup_path())?;
        if let Some(legacy) = &self.legacy {
            found |= self.remove_one(legacy)?;
        }
        for suffix in [".tmp", ".bak.tmp"] {
            self.remove_one(&with_suffix(&self.path, suffix))?;
        }
        found |= self.remove_one(&self.path)?;
        if found {
            self.sync_folder()?;
        }
        Ok(found)
    }

    fn remove_one(&self, path: &Path) -> Result<bool> {
        match self.files.remove(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io(path, "remove")(error)),
        }
    }

    /// Gives a file that has its old name the present one, as the game does.
    fn adopt_legacy(&self) -> Result<()> {
        let Some(legacy) = &self.legacy else { return Ok(()) };
        if self.parse(&self.path) == Err(TextProblem::Missing) && self.parse(legacy).is_ok() {
            self.rename(legacy, &self.path)?;
        }
        Ok(())
    }

    /// Copies the old content to the backup. The game renames the file instead, and then there is
    /// a moment without the file: a resource, whose backup is never read, would be lost in it.
    fn back_up(&self, old: &[u8]) -> Result<()> {
        let backup = self.backup_path();
        let is_worth_less = parse_text(old).is_err() && self.parse(&backup).is_ok();
        if is_worth_less {
            return Ok(());
        }
        let temporary = with_suffix(&self.path, ".bak.tmp");
        self.write_durably(&temporary, old)?;
        self.rename(&temporary, &backup)
    }

    fn write_durably(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.files.write(path, bytes).map_err(Error::io(path, "write"))?;
        self.files.sync(path).map_err(Error::io(path, "sync"))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.files.rename(from, to).map_err(Error::io(from, "rename"))
    }

    fn sync_folder(&self) -> Result<()> {
        let folder = self.folder();
        self.files.sync_folder(folder).map_err(Error::io(folder, "sync the folder"))
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

fn nothing(problem: TextProblem) -> Loaded {
    Loaded { document: Document::new(), from: LoadedFrom::Nothing { problem } }
}

/// The document that some bytes are.
pub(crate) fn parse_text(bytes: &[u8]) -> Result<Document, TextProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| TextProblem::NotUtf8)?;
    if text.trim_ascii().is_empty() {
        return Err(TextProblem::Empty);
    }
    Document::from_json(text).map_err(TextProblem::Syntax)
}
