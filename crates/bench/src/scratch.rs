//! A temporary folder for the files of a measurement.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A new folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    /// Creates it in `parent`, or in the system's folder for temporary files.
    pub(crate) fn create(parent: Option<&Path>) -> Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let folder = parent.join(format!("hyworld-bench-{}", std::process::id()));
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The error cannot be reported here.
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}
