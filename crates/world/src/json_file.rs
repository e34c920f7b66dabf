//! [`JsonFile`]: a JSON file with a backup, replaced so that it is never missing or torn.
//!
//! The rules are in `docs/format/world.md`, under "JSON files".

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use hyworld_documents::Document;
use hyworld_files::{FileSystem, with_suffix};

use crate::error::{Error, Result, TextProblem};
use crate::limits::JSON_BYTES_MAX;

/// What happens if a file is missing or cannot be used. The game has three rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FallbackRule {
    /// `config.json`, `paths.json`, `instance.bson`: the backup is read if the file is missing or
    /// damaged. If the backup cannot be used either, it is an error; the game would use the
    /// defaults.
    Config,
    /// Players: the backup is read if the file is missing, empty or damaged. If there is no backup,
    /// the player is new.
    Player,
    /// Resources of a world: the backup is never read.
    Resource,
}

/// The source of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoadedFrom {
    /// The file itself.
    File,
    /// The file under its name in old versions.
    Legacy {
        /// That file.
        path: PathBuf,
    },
    /// The backup, because the file cannot be used.
    Backup {
        /// What is wrong with the file.
        problem: TextProblem,
    },
    /// No file: the document is empty and default values apply.
    Nothing {
        /// What is wrong with the file.
        problem: TextProblem,
    },
}

/// A document and its source.
#[derive(Clone, PartialEq, Debug)]
pub struct Loaded {
    /// The document; empty if there was no file.
    pub document: Document,
    /// The source of the document.
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
    /// Creates a handle for this path. The file need not exist.
    pub fn new(files: &'a dyn FileSystem, path: impl Into<PathBuf>, rule: FallbackRule) -> Self {
        Self { files, path: path.into(), legacy: None, rule }
    }

    /// Sets the path that the file had in old versions.
    #[must_use]
    pub fn with_legacy(mut self, path: impl Into<PathBuf>) -> Self {
        self.legacy = Some(path.into());
        self
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the backup.
    pub fn backup_path(&self) -> PathBuf {
        with_suffix(&self.path, ".bak")
    }

    /// Reads the file, or its fallback.
    ///
    /// # Errors
    /// Returns an error if the file cannot be used and its rule has no fallback.
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

    /// Reads the backup, regardless of the file.
    ///
    /// # Errors
    /// Returns an error if the backup cannot be used.
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
        // An unreadable file does not mean that the player is new.
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

    /// Replaces the file, keeps the old contents as the backup, and makes both durable. Returns
    /// whether anything was written; a file with the same contents is left alone.
    ///
    /// If the process is killed or the power fails, the file has either the old or the new
    /// contents.
    ///
    /// # Errors
    /// Returns an error if an operation fails. The file then has the old or the new contents.
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
        self.files.create_folder(folder).map_err(Error::io(folder, "create"))?;
        let temporary = with_suffix(&self.path, ".tmp");
        self.write_durably(&temporary, text.as_bytes())?;
        if let Some(old) = old {
            self.back_up(&old)?;
        }
        self.rename(&temporary, &self.path)?;
        self.sync_folder()?;
        Ok(true)
    }

    /// Removes the file and everything it could be restored from. Returns whether anything existed.
    ///
    /// # Errors
    /// Returns an error if a file could not be removed.
    pub fn remove(&self) -> Result<bool> {
        // Remove the fallbacks first, or an interruption could restore the file from them.
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

    /// Renames a file from its old to its current name, as the game does.
    fn adopt_legacy(&self) -> Result<()> {
        let Some(legacy) = &self.legacy else { return Ok(()) };
        if self.parse(&self.path) == Err(TextProblem::Missing) && self.parse(legacy).is_ok() {
            self.rename(legacy, &self.path)?;
        }
        Ok(())
    }

    /// Copies the old contents to the backup. The game renames the file, and for a moment there is
    /// no file; a crash then loses a resource, because its backup is never read.
    fn back_up(&self, old: &[u8]) -> Result<()> {
        let backup = self.backup_path();
        let is_backup_better = parse_text(old).is_err() && self.parse(&backup).is_ok();
        if is_backup_better {
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

pub(crate) fn parse_text(bytes: &[u8]) -> Result<Document, TextProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| TextProblem::NotUtf8)?;
    if text.trim_ascii().is_empty() {
        return Err(TextProblem::Empty);
    }
    Document::from_json(text).map_err(TextProblem::Syntax)
}
