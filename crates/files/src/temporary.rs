//! Temporary files without a name, for data that is too large for memory.

use std::fs::File;
use std::io;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried: other programs may use some of them.
const ATTEMPTS: u32 = 100;

/// Creates an empty file for reading and writing in the system's temporary folder. It disappears
/// when it is closed, also if the process is killed.
///
/// # Errors
/// Returns an error if the file cannot be created.
pub fn temporary_file() -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut last = io::ErrorKind::AlreadyExists.into();
    for _ in 0..ATTEMPTS {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hyworld-{}-{number}.tmp", process::id());
        match create(&std::env::temp_dir().join(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            created => return created,
        }
    }
    Err(last)
}

#[cfg(unix)]
fn create(path: &std::path::Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // Backups can contain what others on this machine must not read.
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

#[cfg(windows)]
fn create(path: &std::path::Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = File::options();
    options.read(true).write(true).create_new(true).custom_flags(DELETE_ON_CLOSE).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn files_are_independent_and_have_no_name() {
        let (mut a, mut b) = (temporary_file().unwrap(), temporary_file().unwrap());
        a.write_all(b"one").unwrap();
        b.write_all(b"other").unwrap();
        a.rewind().unwrap();
        let mut text = String::new();
        a.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
        let own = format!("hyworld-{}-", process::id());
        let names = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let mut names = names.filter_map(|entry| entry.file_name().into_string().ok());
        assert!(!cfg!(unix) || !names.any(|name| name.starts_with(&own)));
    }
}
