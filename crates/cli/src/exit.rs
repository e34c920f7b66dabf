//! How the program ends: four exit codes, and the one line that says why.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use hyworld::ErrorKind;
use hyworld_indexed_storage::Error;

/// The four ways to end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Exit {
    /// All is well.
    Clean,
    /// The data is the problem: damage, a slot that is empty, a file that is no region file.
    Problems,
    /// The command line is the problem.
    Usage,
    /// The work could not be done: the disk, permissions, a lock, a fault of ours.
    Failure,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Problems => 1,
            Self::Usage => 2,
            Self::Failure => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error that the command line itself makes, with the exit code it leads to.
#[derive(Debug)]
struct Complaint {
    exit: Exit,
    text: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Complaint {}

/// The command line cannot mean this.
pub(crate) fn usage(text: impl Into<String>) -> anyhow::Error {
    Complaint { exit: Exit::Usage, text: text.into() }.into()
}

/// The data does not allow this.
pub(crate) fn problem(text: impl Into<String>) -> anyhow::Error {
    Complaint { exit: Exit::Problems, text: text.into() }.into()
}

/// The work could not be done.
pub(crate) fn failure(text: impl Into<String>) -> anyhow::Error {
    Complaint { exit: Exit::Failure, text: text.into() }.into()
}

/// An error of the library with what to do about it behind it.
pub(crate) fn advise(error: &Error, advice: &str) -> anyhow::Error {
    Complaint { exit: exit_of(error), text: format!("{error}; {advice}") }.into()
}

/// Writes the line for an error, and chooses the exit code. A reader that went away is no error:
/// `hyworld region ls FILE | head` is a fine thing to do.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if is_broken_pipe(error) {
        return Exit::Clean;
    }
    complain(error);
    let own = error.downcast_ref::<Complaint>().map(|own| own.exit);
    let library = error.downcast_ref::<Error>().map(exit_of);
    let chunk = error.downcast_ref::<hyworld_chunk::Error>().map(|_| Exit::Problems);
    let world = error.downcast_ref::<hyworld_world::Error>().map(exit_of_world);
    let front = error.downcast_ref::<hyworld::Error>().map(exit_of_kind);
    let storage = error.downcast_ref::<hyworld_providers::Error>();
    let damage = storage.filter(|error| error.is_damage()).map(|_| Exit::Problems);
    own.or(library).or(chunk).or(world).or(front).or(damage).unwrap_or(Exit::Failure)
}

/// Which exit code an error of the front door leads to.
fn exit_of_kind(error: &hyworld::Error) -> Exit {
    if let Some(world) = error.cause().downcast_ref() {
        return exit_of_world(world);
    }
    if let Some(region) = error.cause().downcast_ref() {
        return exit_of(region);
    }
    let storage = error.cause().downcast_ref::<hyworld_providers::Error>();
    if storage.is_some_and(hyworld_providers::Error::is_damage) {
        return Exit::Problems;
    }
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::BadLocation | ErrorKind::SeveralWorlds => Exit::Usage,
        ErrorKind::NotAWorld
        | ErrorKind::MissingChunk
        | ErrorKind::Damaged
        | ErrorKind::NewerVersion
        | ErrorKind::NotReady => Exit::Problems,
        _ => Exit::Failure,
    }
}

/// Which exit code an error about a world leads to.
fn exit_of_world(error: &hyworld_world::Error) -> Exit {
    use hyworld_world::Error;
    match error {
        Error::Name { .. } | Error::Exists { .. } => Exit::Usage,
        Error::NotFound { .. }
        | Error::NotJson { .. }
        | Error::Unusable { .. }
        | Error::Setting { .. }
        | Error::Newer { .. }
        | Error::Generator { .. }
        | Error::NeedsMigration { .. }
        | Error::Ancient { .. }
        | Error::Backup { .. } => Exit::Problems,
        _ => Exit::Failure,
    }
}

/// Writes the line for an error and goes on.
pub(crate) fn complain(error: &anyhow::Error) {
    let line = format!("hyworld: {}\n", one_line(error));
    // Nobody is left to tell that stderr is gone.
    io::stderr().write_all(line.as_bytes()).unwrap_or_default();
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    stdout_error(error).is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The failure to write to stdout. All other I/O errors come with what they were about.
fn stdout_error(error: &anyhow::Error) -> Option<&io::Error> {
    error.chain().next()?.downcast_ref()
}

/// Which exit code an error of the library leads to.
fn exit_of(error: &Error) -> Exit {
    match error {
        Error::Header { .. }
        | Error::Damaged { .. }
        | Error::NeedsUpgrade { .. }
        | Error::TooLarge { .. }
        | Error::WouldDropDamaged { .. }
        | Error::SearchUnfinished { .. }
        | Error::WrongGeometry { .. }
        | Error::NothingToSalvage { .. }
        | Error::NotABlob { .. } => Exit::Problems,
        Error::NoSuchSlot { .. }
        | Error::IdentityTooLong { .. }
        | Error::HeaderIntact { .. }
        | Error::NotAFile { .. } => Exit::Usage,
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Exit::Usage,
        _ => Exit::Failure,
    }
}

/// The error and its causes in one line. Causes that the text names already are left out.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    if stdout_error(error).is_some() {
        line.push_str("cannot write to stdout");
    }
    for cause in error.chain() {
        let text = cause.to_string();
        if line.is_empty() {
            line = text;
        } else if !line.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
    }
    crate::output::text::printable(&line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_follow_their_context_and_are_not_repeated() {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "not there");
        let error = Err::<(), _>(missing()).context("outer").unwrap_err();
        assert_eq!(one_line(&error), "outer: not there");
        let stdout = missing().into();
        assert_eq!(one_line(&stdout), "cannot write to stdout: not there");
        let library = Error::Io { path: "f".into(), action: "open", source: missing() };
        assert_eq!(one_line(&library.into()), "f: cannot open: not there");
    }

    #[test]
    fn names_with_line_breaks_stay_on_one_line() {
        let error = problem("a\nb: no such file");
        assert_eq!(one_line(&error), "a\\nb: no such file");
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        let error = io::Error::from(io::ErrorKind::BrokenPipe).into();
        assert_eq!(report(&error), Exit::Clean);
    }
}
