//! Where files are made while measuring.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// A folder that is gone when the measurement ends, however it ends.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn make(parent: Option<&Path>) -> anyhow::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let folder = parent.join(format!("hyworld-bench-{}", std::process::id()));
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // There is nobody to tell, and the system cleans its folder for temporary files.
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}
