//! Checks names that become paths: those of worlds, resources and player files.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::limits::WORLD_NAME_BYTES_MAX;

/// Reserved device names on Windows, with any extension.
const DEVICES: [&str; 4] = ["CON", "PRN", "AUX", "NUL"];

/// Returns why a name is not valid as one component of a path.
pub(crate) fn part_problem(part: &str) -> Option<&'static str> {
    let stem = part.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let is_port = |start| stem.len() == 4 && stem.starts_with(start);
    match part {
        "" => Some("it is empty"),
        "." | ".." => Some("it leads out of its folder"),
        _ if part.trim().is_empty() => Some("it is blank"),
        _ if part.contains(['/', '\\']) => Some("it has a / or \\"),
        _ if part.contains([':', '*', '?', '"', '<', '>', '|']) => {
            Some("it has one of : * ? \" < > |, which Windows does not allow")
        }
        _ if part.contains(char::is_control) => Some("it has a control character"),
        _ if part.ends_with(['.', ' ']) => Some("it ends with a dot or a space"),
        _ if DEVICES.contains(&stem.as_str()) || is_port("COM") || is_port("LPT") => {
            Some("it is the name of a device on Windows")
        }
        _ if part.len() > WORLD_NAME_BYTES_MAX => Some("it is too long"),
        _ => None,
    }
}

pub(crate) fn check_part(name: &str) -> Result<()> {
    match part_problem(name) {
        Some(problem) => Err(Error::Name { name: name.to_owned(), problem }),
        None => Ok(()),
    }
}

/// The name of a world: a path below `worlds/` with `/` as separator. It never leads out of that
/// folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WorldName(String);

impl WorldName {
    /// Checks the name of a world. Rejects names that are not valid on all systems, so that every
    /// world can be moved to every system.
    ///
    /// # Errors
    /// Returns an error if the name is not valid.
    pub fn new(name: &str) -> Result<Self> {
        if name.len() > WORLD_NAME_BYTES_MAX {
            return Err(Error::Name { name: name.to_owned(), problem: "it is too long" });
        }
        match name.split('/').find_map(part_problem) {
            Some(problem) => Err(Error::Name { name: name.to_owned(), problem }),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key by which the game identifies the world. It ignores case.
    pub fn key(&self) -> String {
        world_key(&self.0)
    }

    pub(crate) fn folder(&self, worlds: &Path) -> PathBuf {
        self.0.split('/').fold(worlds.to_owned(), |folder, part| folder.join(part))
    }
}

/// Returns the key by which the game identifies a world.
pub(crate) fn world_key(name: &str) -> String {
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_names_are_rejected() {
        for name in [
            "", ".", "..", "a/..", "../a", "/a", "a/", "a//b", "a\\b", "..\\a", "C:", "C:/a", " ",
            "a/ /b", "a\0b", "a\nb", "a.", "a ", "con", "Nul.txt", "COM1", "a/lpt9.x", "a*", "a|b",
        ] {
            assert!(WorldName::new(name).is_err(), "{name:?}");
        }
        assert!(WorldName::new(&"a".repeat(WORLD_NAME_BYTES_MAX + 1)).is_err());
        assert!(WorldName::new(&"a/".repeat(WORLD_NAME_BYTES_MAX)).is_err());
    }

    #[test]
    fn usual_names_are_allowed() {
        for name in [
            "default",
            "My World",
            "a/b",
            "instance-X-1",
            "welt_\u{e4}",
            "...a",
            "console",
            "comet",
        ] {
            let folder = WorldName::new(name).unwrap().folder(Path::new("worlds"));
            assert_eq!(folder, Path::new("worlds").join(name));
        }
        assert_eq!(WorldName::new("\u{c4}B").unwrap().key(), "\u{e4}b");
    }

    #[test]
    fn the_error_has_the_reason() {
        let message = WorldName::new("a/../b").unwrap_err().to_string();
        assert_eq!(message, "\"a/../b\" is not a valid name: it leads out of its folder");
    }
}
