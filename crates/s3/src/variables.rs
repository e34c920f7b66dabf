//! Environment variables as a value, so that tests and programs can replace them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Prefix of the variables that are used, besides those of the home folder.
const PREFIX: &str = "AWS_";
const HOMES: [&str; 2] = ["HOME", "USERPROFILE"];

/// Variables by name. Debug output shows only names, because values may be secrets.
#[derive(Clone, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(crate) fn of_process() -> Self {
        let all = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::new(all)
    }

    pub(crate) fn new(all: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_used = |name: &str| name.starts_with(PREFIX) || HOMES.contains(&name);
        Self(all.into_iter().filter(|(name, value)| is_used(name) && !value.is_empty()).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the file set by a variable, or the default file in the folder `.aws`.
    pub(crate) fn file(&self, name: &str, default: &str) -> Option<PathBuf> {
        let home = || HOMES.iter().find_map(|home| self.get(home));
        let in_home = || Some(PathBuf::from(home()?).join(".aws").join(default));
        self.get(name).map(PathBuf::from).or_else(in_home)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
