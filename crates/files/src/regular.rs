//! Opens and reads regular files only. Opening a pipe blocks until another program writes to
//! it, and a device such as `/dev/zero` never ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// Returns an error if the file cannot be opened, or is a folder, a pipe or a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let not_regular = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    if !path.metadata()?.is_file() {
        return Err(not_regular());
    }
    let file = File::open(path)?;
    // The file may have been replaced meanwhile.
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Reads a file of at most `bytes_max` bytes.
///
/// # Errors
/// As for [`open_regular`]; also if the file is larger.
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Reads a text file of at most `bytes_max` bytes.
///
/// # Errors
/// As for [`read_regular`]; also if the file is not UTF-8.
pub fn read_regular_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let bytes = read_regular(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        crate::replace(&path, b"12345").unwrap();
        assert_eq!(read_regular(&path, 5).unwrap(), b"12345");
        assert_eq!(read_regular_text(&path, 9).unwrap(), "12345");
        assert_eq!(read_regular(&path, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(read_regular(folder.path(), 4).is_err());
        crate::replace(&path, b"\xff").unwrap();
        assert!(read_regular_text(&path, 9).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_links_to_them_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("zero");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [Path::new("/dev/zero"), &link] {
            assert_eq!(open_regular(path).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
