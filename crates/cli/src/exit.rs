//! The four exit codes, and the one-line error message that explains them.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use hyworld::ErrorKind;
use hyworld_indexed_storage::Error;
use hyworld_maintenance::SelectError;

/// The exit code of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Exit {
    /// Success, without findings.
    Clean,
    /// The data is at fault: damage, an empty slot, a file that is not a region file.
    Problems,
    /// The command line is at fault.
    Usage,
    /// The work failed: disk, permissions, a lock, a bug in hyworld.
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

/// Returns the exit code for data that is clean or has problems.
pub(crate) fn clean_if(is_clean: bool) -> Exit {
    if is_clean { Exit::Clean } else { Exit::Problems }
}

/// An error raised by the CLI itself, with its exit code.
#[derive(Debug)]
struct CliError {
    exit: Exit,
    text: String,
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for CliError {}

/// Returns an error about the command line.
pub(crate) fn usage(text: impl Into<String>) -> anyhow::Error {
    CliError { exit: Exit::Usage, text: text.into() }.into()
}

/// Returns an error about the data.
pub(crate) fn problem(text: impl Into<String>) -> anyhow::Error {
    CliError { exit: Exit::Problems, text: text.into() }.into()
}

/// Returns an error about work that failed.
pub(crate) fn failure(text: impl Into<String>) -> anyhow::Error {
    CliError { exit: Exit::Failure, text: text.into() }.into()
}

/// Returns a library error with advice appended.
pub(crate) fn advise(error: &Error, advice: &str) -> anyhow::Error {
    CliError { exit: exit_of(error), text: format!("{error}; {advice}") }.into()
}

/// Prints an error and returns its exit code. A closed stdout is not an error, so that
/// `hyworld region ls FILE | head` ends cleanly.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if is_broken_pipe(error) {
        return Exit::Clean;
    }
    complain(error);
    code_of(error)
}

/// Returns the exit code of an error.
pub(crate) fn code_of(error: &anyhow::Error) -> Exit {
    let own = error.downcast_ref::<CliError>().map(|own| own.exit);
    let own = own.or(error.downcast_ref::<SelectError>().map(|_| Exit::Usage));
    let library = error.downcast_ref::<Error>().map(exit_of);
    let chunk = error.downcast_ref::<hyworld_chunk::Error>().map(|_| Exit::Problems);
    let world = error.downcast_ref::<hyworld_world::Error>().map(exit_of_world);
    let front = error.downcast_ref::<hyworld::Error>().map(exit_of_kind);
    let storage = error.downcast_ref::<hyworld_providers::Error>();
    let damage = storage.filter(|error| error.is_damage()).map(|_| Exit::Problems);
    own.or(library).or(chunk).or(world).or(front).or(damage).unwrap_or(Exit::Failure)
}

/// Returns the exit code for an error of the `hyworld` crate.
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

/// Returns the exit code for an error about a world.
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
        | Error::ProviderChange { .. }
        | Error::Ancient { .. }
        | Error::Backup { .. } => Exit::Problems,
        _ => Exit::Failure,
    }
}

/// Prints an error; the caller continues.
pub(crate) fn complain(error: &anyhow::Error) {
    let line = match error.downcast_ref::<SelectError>() {
        // Three lines: the reason, the text, and a caret below it.
        Some(error) => format!("hyworld: {error}\n"),
        None => format!("hyworld: {}\n", one_line(error)),
    };
    // If stderr is closed, the error cannot be reported anywhere.
    io::stderr().write_all(line.as_bytes()).unwrap_or_default();
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    stdout_error(error).is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns the I/O error if writing to stdout failed. All other I/O errors carry a path.
fn stdout_error(error: &anyhow::Error) -> Option<&io::Error> {
    error.chain().next()?.downcast_ref()
}

/// Returns the exit code for an error of a library crate.
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

/// Formats an error and its causes as one line, without causes already included in the text.
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
    fn a_closed_pipe_is_not_an_error() {
        let error = io::Error::from(io::ErrorKind::BrokenPipe).into();
        assert_eq!(report(&error), Exit::Clean);
    }
}
