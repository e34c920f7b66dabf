//! [`Stamp`]: whether a file changed since it was copied.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// File systems record times in steps of up to this length. A file that was just changed may change
/// again within the same step, without a new time.
const TIME_STEP: Duration = Duration::from_millis(50);

/// The size and the time of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    len: u64,
    modified: SystemTime,
}

impl Stamp {
    /// Returns the stamp of a file, and whether a later change will certainly change it.
    pub(super) fn of(path: &Path) -> io::Result<(Self, bool)> {
        let metadata = fs::metadata(path)?;
        let stamp = Self { len: metadata.len(), modified: metadata.modified()? };
        let age = SystemTime::now().duration_since(stamp.modified);
        Ok((stamp, age.is_ok_and(|age| age > TIME_STEP)))
    }

    pub(super) fn modified(self) -> SystemTime {
        self.modified
    }
}
