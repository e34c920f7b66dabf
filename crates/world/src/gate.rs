//! [`WritePermit`]: required before any change of a world's files.
//!
//! It is refused while another program has files of the world open for writing, or while another
//! hyworld process holds the world's lock.

use std::path::Path;
use std::time::SystemTime;

use crate::discover::{resolve, world_of_storage};
use crate::error::{Error, Result};
use crate::lock::{WorldLock, holder_of};
use crate::server::{ServerSign, server_sign, storage_sign};

/// What to do if another program seems to write the same files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ServerCheck {
    /// Return an error.
    #[default]
    Refuse,
    /// Do not check. For worlds that are known to be unused, such as those of a test.
    Skip,
}

/// The permission to change the files of a world, valid until it is dropped.
///
/// Everything in hyworld that writes to a world acquires it first. [`WorldOptions::open`] does so
/// for writing; a program that opens region files directly must do so too.
///
/// [`WorldOptions::open`]: crate::WorldOptions::open
///
/// ```
/// use hyworld_world::{ServerCheck, WritePermit};
///
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("0.0.region.bin");
/// let permit = WritePermit::of_storage(&file, ServerCheck::Refuse)?;
/// // Change the region file here.
/// drop(permit);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct WritePermit {
    _lock: Option<WorldLock>,
}

impl WritePermit {
    /// Acquires the permit for a world folder and takes the world's lock.
    ///
    /// # Errors
    /// Returns an error if another hyworld process writes the world, a server seems to be running
    /// on it, or the folder does not exist.
    pub fn of_world(world: &Path, check: ServerCheck) -> Result<Self> {
        if check == ServerCheck::Refuse
            && let Some(sign) = server_sign(world, SystemTime::now())?
        {
            let path = world.to_owned();
            return Err(match holder_of(world, &sign) {
                Some(holder) => Error::Locked { path, holder },
                None => Error::ServerRuns { path, sign },
            });
        }
        Ok(Self { _lock: Some(WorldLock::acquire(world)?) })
    }

    /// Acquires the permit for a region file, a folder of region files or a database, which need
    /// not exist.
    ///
    /// If it belongs to a world, the whole world is checked and locked. Otherwise only its folder
    /// is checked, and no lock file is written: region files and databases are themselves locked
    /// while they are open for writing.
    ///
    /// # Errors
    /// As for [`of_world`](Self::of_world).
    pub fn of_storage(path: &Path, check: ServerCheck) -> Result<Self> {
        // In a missing folder no file can be in use.
        let Some(real) = resolve(path) else { return Ok(Self { _lock: None }) };
        if let Some(world) = world_of_storage(&real) {
            return Self::of_world(&world, check);
        }
        let sign = storage_sign(&real).filter(|_| check == ServerCheck::Refuse);
        match sign {
            None => Ok(Self { _lock: None }),
            Some(sign) => {
                let is_file = matches!(&sign, ServerSign::OpenFile { path, .. } if *path == real);
                let what = if is_file { "file" } else { "folder" };
                Err(Error::InUse { path: path.to_owned(), what, sign })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::LOCK_FILE;
    use hyworld_testkit::write_file;
    use std::fs::{self, File};
    use std::process::{Child, Command, Stdio};

    const REGION: &str = "chunks/0.0.region.bin";

    fn world() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("chunks")).unwrap();
        write_file(&folder.path().join("config.json"), b"{}");
        write_file(&folder.path().join(REGION), b"");
        folder
    }

    /// Another program that has a file open for writing.
    struct Program(Child);

    impl Program {
        fn with_open(path: &Path) -> Self {
            let file = File::options().append(true).create(true).open(path).unwrap();
            let mut command = Command::new("sleep");
            Self(command.arg("600").stdout(file).stdin(Stdio::null()).spawn().unwrap())
        }
    }

    impl Drop for Program {
        fn drop(&mut self) {
            self.0.kill().and_then(|()| self.0.wait()).unwrap();
        }
    }

    #[test]
    fn a_file_of_a_world_locks_the_world() {
        let world = world();
        for path in [REGION, "chunks/9.9.region.bin", "chunks", "db"] {
            let permit = WritePermit::of_storage(&world.path().join(path), ServerCheck::Refuse);
            let permit = permit.unwrap();
            assert!(world.path().join(LOCK_FILE).exists(), "{path}");
            let second = WritePermit::of_world(world.path(), ServerCheck::Refuse);
            assert!(matches!(second, Err(Error::Locked { .. })), "{path}: {second:?}");
            drop(permit);
            assert!(!cfg!(unix) || !world.path().join(LOCK_FILE).exists(), "{path}");
        }
    }

    #[test]
    fn no_lock_file_is_written_outside_of_worlds() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("chunks")).unwrap();
        for path in ["a.bin", "chunks/0.0.region.bin", "chunks", "none/chunks/0.0.region.bin"] {
            let path = folder.path().join(path);
            let permit = WritePermit::of_storage(&path, ServerCheck::Refuse).unwrap();
            let locks = ["", "chunks"].map(|name| folder.path().join(name).join(LOCK_FILE));
            assert!(!locks.iter().any(|lock| lock.exists()), "{}", path.display());
            drop(permit);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_has_a_file_open_is_reported() {
        let world = world();
        let program = Program::with_open(&world.path().join(REGION));
        for path in [REGION, "chunks/9.9.region.bin", "chunks", "db"] {
            let path = world.path().join(path);
            let error = WritePermit::of_storage(&path, ServerCheck::Refuse).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&format!("process {}, sleep, has ", program.0.id())), "{text}");
            assert!(!world.path().join(LOCK_FILE).exists());
            drop(WritePermit::of_storage(&path, ServerCheck::Skip).unwrap());
        }
        drop(program);
        drop(WritePermit::of_world(world.path(), ServerCheck::Refuse).unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_without_a_world_is_checked_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let program = Program::with_open(&path("a.bin"));
        let of = |name: &str| WritePermit::of_storage(&path(name), ServerCheck::Refuse);
        assert!(matches!(of("a.bin"), Err(Error::InUse { what: "file", .. })));
        drop(of("b.bin").unwrap());
        std::os::unix::fs::symlink(path("a.bin"), path("link")).unwrap();
        assert!(matches!(of("link"), Err(Error::InUse { .. })), "links are followed");
        drop(program);
        drop(of("a.bin").unwrap());
    }

    /// A server in a container opens the same file under another name.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_file_is_detected_under_another_name() {
        let (world, elsewhere) = (world(), tempfile::tempdir().unwrap());
        fs::create_dir(elsewhere.path().join("chunks")).unwrap();
        let other = elsewhere.path().join(REGION);
        fs::hard_link(world.path().join(REGION), &other).unwrap();
        let _program = Program::with_open(&other);
        let permit = WritePermit::of_world(world.path(), ServerCheck::Refuse);
        assert!(matches!(permit, Err(Error::ServerRuns { .. })), "{permit:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linked_files_and_hard_links_under_other_names_are_detected() {
        let elsewhere = tempfile::tempdir().unwrap();
        let moved = elsewhere.path().join("moved.bin");
        write_file(&moved, b"");
        let link = world();
        std::os::unix::fs::symlink(&moved, link.path().join("chunks/1.0.region.bin")).unwrap();
        let hard = world();
        fs::hard_link(&moved, hard.path().join("chunks/1.0.region.bin")).unwrap();
        let folder = world();
        fs::remove_dir_all(folder.path().join("chunks")).unwrap();
        fs::hard_link(&moved, elsewhere.path().join("1.0.region.bin")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("chunks")).unwrap();
        let _program = Program::with_open(&moved);
        for world in [link, hard, folder] {
            let permit = WritePermit::of_world(world.path(), ServerCheck::Refuse);
            assert!(matches!(permit, Err(Error::ServerRuns { .. })), "{permit:?}");
            let chunks = world.path().join("chunks");
            let permit = WritePermit::of_storage(&chunks, ServerCheck::Refuse);
            assert!(permit.is_err(), "{permit:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn other_open_files_in_a_world_are_ignored() {
        let world = world();
        for name in ["out.txt", "chunks/out.txt", "notes.json", "log"] {
            let _program = Program::with_open(&world.path().join(name));
            drop(WritePermit::of_world(world.path(), ServerCheck::Refuse).unwrap());
        }
    }

    #[test]
    fn a_missing_world_cannot_be_changed() {
        let world = tempfile::tempdir().unwrap();
        let missing = world.path().join("none");
        for check in [ServerCheck::Refuse, ServerCheck::Skip] {
            assert!(matches!(WritePermit::of_world(&missing, check), Err(Error::Io { .. })));
        }
    }
}
