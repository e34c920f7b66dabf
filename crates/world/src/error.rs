//! What can go wrong with a world, by meaning.

use std::io;
use std::path::{Path, PathBuf};

use hyworld_documents::JsonError;
use hyworld_files::{FileError, shell_word};

use crate::config::SettingProblem;
use crate::server::ServerSign;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done with a world, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] FileError),
    /// A file is not JSON.
    #[error("{}: {problem}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: TextProblem,
    },
    /// A file and its backup are there, and neither can be used.
    #[error(
        "{}: {problem}, and its backup cannot be used either; the game would take the default \
         values and write them over it: mend the file, or put a copy in its place",
        path.display()
    )]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: TextProblem,
    },
    /// A key of a file has a value that cannot be.
    #[error("{}: {problem}", path.display())]
    Setting {
        /// The file.
        path: PathBuf,
        /// Which key, and what is wrong with it.
        problem: SettingProblem,
    },
    /// A file was written by a newer game.
    #[error(
        "{}: version {found}; versions up to {supported} are known, so nothing is written to this \
         world: update hyworld, or open it for reading only",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest that is known.
        supported: i64,
    },
    /// A name that cannot be given to a world, a player or a resource.
    #[error("{name:?} cannot be a name: {problem}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        problem: &'static str,
    },
    /// A world was made by a generator that is not built in here.
    #[error("its chunks were made by the generator {name}, which this hyworld does not have")]
    Generator {
        /// What the world calls it.
        name: String,
    },
    /// There is something already.
    #[error(
        "{} is there already; nothing is written over it: choose another name, or move it away",
        path.display()
    )]
    Exists {
        /// What is there.
        path: PathBuf,
    },
    /// There is no such thing.
    #[error("{}: {what}", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
        /// What it should be.
        what: String,
    },
    /// A link leads out of the folder.
    #[error(
        "{} is a link or no regular file; worlds are copied only whole: replace it by what it \
         leads to, or remove it",
        path.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Another of our processes writes this world.
    #[error("{}: {holder} writes this world; wait until it is done", path.display())]
    Locked {
        /// The world.
        path: PathBuf,
        /// Who, as far as is known.
        holder: String,
    },
    /// A game server seems to run on this world.
    #[error(
        "{}: a server seems to run on this world ({sign}); what is written now could be lost or \
         damage the world: stop that program first",
        path.display()
    )]
    ServerRuns {
        /// The world.
        path: PathBuf,
        /// What it was seen by.
        sign: ServerSign,
    },
    /// Another program has a region file or a database open that belongs to no world.
    #[error(
        "{}: another program has this {what} open ({sign}); what is written now could be lost or \
         damage it: stop that program first",
        path.display()
    )]
    InUse {
        /// The file or folder.
        path: PathBuf,
        /// Which of the two it is.
        what: &'static str,
        /// Which program, and which file it has open.
        sign: ServerSign,
    },
    /// The chunks of a world are not where its configuration says.
    #[error(
        "{}: the chunks are in {from:?}, but config.json says {to:?}; move them with `hyworld \
         migrate {} --to {to}`, or set ChunkStorage in config.json back to {from:?}",
        path.display(), shell_word(path)
    )]
    NeedsMigration {
        /// The world.
        path: PathBuf,
        /// The type of the provider that has the chunks.
        from: String,
        /// The type that the configuration names.
        to: String,
    },
    /// A migration would write over chunks that it did not write.
    #[error(
        "{}: {place} has chunks already, and they are not from a migration that was interrupted; \
         move them away, or replace them with --replace",
        path.display()
    )]
    TargetHasChunks {
        /// The world.
        path: PathBuf,
        /// The storage.
        place: String,
    },
    /// A world in a format from before the game was published.
    #[error(
        "{}: has a folder rff, an ancient format that neither the game nor hyworld reads",
        path.display()
    )]
    Ancient {
        /// The world.
        path: PathBuf,
    },
    /// The world was opened for reading.
    #[error("{}: was opened for reading only", path.display())]
    ReadOnly {
        /// The world.
        path: PathBuf,
    },
    /// A backup cannot be used.
    #[error("{}: {problem}", path.display())]
    Backup {
        /// The zip.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The storage of chunks.
    #[error(transparent)]
    Provider(#[from] hyworld_providers::Error),
}

/// What is wrong with the text of a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextProblem {
    /// There is no file.
    #[error("the file is missing")]
    Missing,
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It is not UTF-8.
    #[error("the file is not UTF-8 text")]
    NotUtf8,
    /// It is no JSON object.
    #[error("not JSON: {0}")]
    Syntax(JsonError),
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

impl Error {
    /// For `map_err`: an error of the operating system about a path.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let at = FileError::at(path, action);
        move |source| Self::Io(at(source))
    }
}
