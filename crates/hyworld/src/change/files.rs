//! Changes of region files as a whole.

use std::fs;
use std::path::Path;

use hyworld_files::{FileError, remove_if_present, with_suffix};
use hyworld_maintenance::prepared_path;

use super::Change;
use crate::error::{Error, ErrorKind, Result};

/// The maximum length of a file that is copied: 16 GiB. Real ones have up to 60 MB.
const FILE_BYTES_MAX: u64 = 16 << 30;

/// The endings of files that operations on a copy leave beside it. The bundle has the old bytes.
const LEFT: [&str; 2] = [".compact.tmp", ".old"];

impl Change {
    /// Replaces a file by a copy that `rewrite` changed. It returns whether it changed the copy.
    pub(crate) fn rewrite_file<T>(
        &mut self,
        path: &Path,
        rewrite: impl FnOnce(&Path) -> Result<(T, bool)>,
    ) -> Result<T> {
        let prepared = prepared_path(path)?;
        let done = copy_file(path, &prepared).and_then(|()| rewrite(&prepared));
        // Errors name the copy.
        let done = done.map_err(|error| error.about_file(path));
        let replaced = done.and_then(|(done, is_changed)| {
            if is_changed {
                self.replace_with(path, &prepared)?;
            }
            Ok(done)
        });
        remove_if_present(&prepared)?;
        for ending in LEFT {
            remove_if_present(&with_suffix(&prepared, ending))?;
        }
        replaced
    }
}

/// Copies a file. Refuses what cannot be copied: pipes, and damaged, sparse files that would fill
/// the disk.
pub(crate) fn copy_file(path: &Path, to: &Path) -> Result<()> {
    let found = fs::metadata(path).map_err(FileError::at(path, "inspect"))?;
    let reason = match found.len() {
        // Copying a pipe would wait for a program that writes to it.
        _ if !found.is_file() => "not a regular file".to_owned(),
        bytes if bytes > FILE_BYTES_MAX => {
            format!("{bytes} bytes long, more than a region can have")
        }
        _ => {
            fs::copy(path, to).map_err(FileError::at(path, "copy"))?;
            return Ok(());
        }
    };
    Err(Error::new(ErrorKind::Damaged, format!("{}: {reason}", path.display())))
}
