//! Parses the command line into a [`Cli`], and formats the first screen and argument errors.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};

use super::{Cli, shapes};

/// The verbs on the first screen.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Inspect",
        &[
            "info",
            "saves",
            "ls",
            "chunk",
            "block",
            "map",
            "colors",
            "serve",
            "dump",
            "fingerprint",
            "player",
            "resource",
        ],
    ),
    ("Search and compare", &["find", "stats", "select", "diff"]),
    (
        "Check and repair",
        &["verify", "repair", "restore", "undelete", "undo", "seal", "unseal", "region"],
    ),
    ("Change", &["world", "trim", "upgrade", "compact", "pregen"]),
    ("Convert", &["convert", "migrate", "snapshot"]),
    ("Measure and try out", &["bench", "stress", "demo"]),
    ("Help", &["completions", "man", "help"]),
];

/// Parses the command line. Prints help and errors itself; `Err` is then the exit code.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    let matches = first_screen(Cli::command()).try_get_matches_from(command_line());
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| {
        if is_help(error.kind()) {
            // If stdout and stderr are closed, only the exit code reports the result.
            error.print().unwrap_or_default();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
        let text = one_line(&error.render().to_string(), &verb_of(command_line()));
        crate::exit::report(&crate::exit::usage(text)).into()
    })
}

fn is_help(kind: ErrorKind) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    [DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion].contains(&kind)
}

/// Joins clap's error paragraphs into one line that ends with the help command of the verb.
fn one_line(text: &str, verb: &str) -> String {
    let is_kept = |paragraph: &&str| {
        !["Usage: ", "For more information"].iter().any(|start| paragraph.starts_with(start))
    };
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts: Vec<_> = text.trim().split("\n\n").filter(is_kept).map(one_line).collect();
    format!("{}; try `{verb} --help`", parts.join("; ").trim_start_matches("error: "))
}

/// Returns the program name and the verb of a command line, such as `hyworld region verify`.
fn verb_of(words: impl Iterator<Item = OsString>) -> String {
    let (mut command, mut verb) = (Cli::command(), "hyworld".to_owned());
    for word in words.skip(1) {
        let Some(found) = command.find_subcommand(&word) else { continue };
        verb.extend([" ", found.get_name()]);
        command = found.clone();
    }
    verb
}

/// Groups the verbs on the first help screen.
fn first_screen(command: Command) -> Command {
    let about = |name: &str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        about.map_or_else(
            || "Print this help, or the help of a verb".to_owned(),
            ToString::to_string,
        )
    };
    let width = GROUPS.iter().flat_map(|(_, verbs)| *verbs).map(|verb| verb.len()).max();
    let mut verbs = String::new();
    for (title, names) in GROUPS {
        verbs.extend([title, ":\n"]);
        for name in names {
            let width = width.unwrap_or_default();
            verbs.extend([format!("  {name:width$}  {}\n", about(name))]);
        }
        verbs.push('\n');
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Returns the command for the man pages, which include the JSON shapes.
pub(crate) fn manual() -> Command {
    with_shapes(Cli::command(), "")
}

fn with_shapes(command: Command, path: &str) -> Command {
    let shape = shapes::whole(path);
    let command = if shape.is_empty() { command } else { command.after_long_help(shape) };
    command.mut_subcommands(|verb| {
        let path = format!("{path} {}", verb.get_name());
        with_shapes(verb, path.trim())
    })
}

/// Returns the command line with `./` before names such as `-1.0.region.bin`, which clap would
/// take for flags. Every world has such files.
fn command_line() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|word| match word.to_str() {
        Some(text) if is_region_name(text) => format!("./{text}").into(),
        _ => word,
    })
}

fn is_region_name(word: &str) -> bool {
    let number = word.strip_prefix('-').unwrap_or_default();
    number.starts_with(|first: char| first.is_ascii_digit()) && word.contains(".region.bin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group() {
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        grouped.retain(|verb| *verb != "help");
        grouped.sort_unstable();
        let command = Cli::command();
        let mut verbs: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }

    #[test]
    fn argument_errors_are_one_line_and_name_the_help() {
        let wrong = |words: &[&str]| {
            let error = Cli::command().try_get_matches_from(words).unwrap_err();
            let verb = verb_of(words.iter().map(OsString::from));
            one_line(&error.render().to_string(), &verb)
        };
        let expected = "the following required arguments were not provided: <PATH>";
        assert_eq!(
            wrong(&["hyworld", "verify"]),
            format!("{expected}; try `hyworld verify --help`")
        );
        assert_eq!(
            wrong(&["hyworld", "region", "explode"]),
            "unrecognized subcommand 'explode'; try `hyworld region --help`"
        );
        let text = wrong(&["hyworld", "verify", "a", "--jason"]);
        assert!(text.starts_with("unexpected argument '--jason' found; tip: "), "{text}");
    }

    #[test]
    fn names_of_region_files_are_not_flags() {
        for name in ["-1.0.region.bin", "-12.-3.region.bin", "-1.0.region.bin.old"] {
            assert!(is_region_name(name), "{name}");
        }
        for other in ["0.0.region.bin", "./-1.0.region.bin", "-7", "--1.region.bin", "-o"] {
            assert!(!is_region_name(other), "{other}");
        }
    }
}
