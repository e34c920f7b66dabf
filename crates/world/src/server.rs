//! Detects a game server that is running on a world.
//!
//! The game locks nothing, so detection is not certain. It uses two observations: a server keeps
//! region files open from their first use until it stops, and it writes all resources every ten
//! seconds, changed or not, and keeps the previous ones as backups.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hyworld_files::file_number;

use crate::error::{Error, Result};

/// Maximum age of the last write: a running server would have written twice in this time.
const WRITE_AGE_MAX: Duration = Duration::from_secs(25);

/// Time between two writes of the game, and so between a file and its backup. Copies and unpacked
/// archives have other intervals.
const INTERVAL: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(9)..=Duration::from_millis(11_500);

/// How a running server was detected.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ServerSign {
    /// A process has a file of the world open for writing.
    OpenFile {
        /// The process.
        pid: u32,
        /// Its name.
        program: String,
        /// The file.
        path: PathBuf,
    },
    /// A resource was just written, ten seconds after the previous time.
    PeriodicWrite {
        /// The file.
        path: PathBuf,
        /// Time since the last write.
        age: Duration,
    },
}

impl fmt::Display for ServerSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenFile { pid, program, path } => {
                write!(f, "process {pid}, {program}, has {} open for writing", path.display())
            }
            Self::PeriodicWrite { path, age } => {
                let age = age.as_secs();
                write!(f, "{} is written every ten seconds, last {age} s ago", path.display())
            }
        }
    }
}

/// Detects a server on a world. `None` does not prove that there is none: processes of other users
/// cannot be inspected, and only Linux lists open files.
///
/// # Errors
/// Returns an error if the world folder does not exist.
pub fn server_sign(world: &Path, now: SystemTime) -> Result<Option<ServerSign>> {
    let world = world.canonicalize().map_err(Error::io(world, "find"))?;
    let open = open_files(Path::new("/proc"), &world, &Parts::OfWorld).next();
    Ok(open.or_else(|| periodic_write(&world.join("resources"), now)))
}

/// Detects a program that has a region file, or files in a folder, open for writing. `path` must
/// not contain links.
pub(crate) fn storage_sign(path: &Path) -> Option<ServerSign> {
    let folder = if path.is_dir() { path } else { path.parent()? };
    let file = path.file_name().filter(|_| !path.is_dir());
    open_files(Path::new("/proc"), folder, &Parts::OfStorage { file }).next()
}

/// Selects the files of a folder that a server would have open.
#[derive(Debug)]
pub(crate) enum Parts<'a> {
    /// The folder is a world.
    OfWorld,
    /// The folder has region files or a database; or only `file` counts.
    OfStorage { file: Option<&'a OsStr> },
}

/// The folders of a world with files that a server has open; the first is the world itself.
const WORLD_FOLDERS: [&str; 4] = ["", "chunks", "db", "resources"];

impl Parts<'_> {
    /// Lists the files in a folder. Links are followed.
    fn files_in(&self, folder: &Path) -> ByNumber {
        let folders = match self {
            Self::OfWorld => &WORLD_FOLDERS[..],
            Self::OfStorage { .. } => &WORLD_FOLDERS[..1],
        };
        let mut files = ByNumber::new();
        for inside in folders.iter().map(Path::new) {
            let entries = fs::read_dir(folder.join(inside)).into_iter().flatten().flatten();
            for name in entries.map(|entry| inside.join(entry.file_name())) {
                let path = folder.join(&name);
                let is_part = self.contains(&name);
                let found = if is_part { fs::metadata(&path).ok() } else { None };
                let number = found.filter(fs::Metadata::is_file).as_ref().and_then(file_number);
                files.extend(number.map(|number| (number, path)));
            }
        }
        files
    }

    /// Returns whether a path, relative to the folder, is one of the files. Other files are
    /// ignored, such as one to which a shell redirects output.
    fn contains(&self, path: &Path) -> bool {
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
        let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
        match (self, folder) {
            (Self::OfWorld, "") => WORLD_FILES.iter().any(|file| name.starts_with(file)),
            (Self::OfWorld, "chunks") => is_region_file(name),
            (Self::OfWorld, "db") => is_database_file(name),
            (Self::OfWorld, "resources") => name.contains(".json") || name.contains(".bson"),
            (Self::OfStorage { file }, "") => {
                is_region_file(name) || is_database_file(name) || *file == path.file_name()
            }
            _ => false,
        }
    }
}

/// Prefixes of the files in a world folder; they may be followed by `.bak` or `.tmp`.
const WORLD_FILES: [&str; 5] =
    ["config.json", "config.bson", "instance.bson", "paths.json", "paths.bson"];

fn is_region_file(name: &str) -> bool {
    name.split_once(".region.bin").is_some()
}

/// Returns whether this is a file of a RocksDB database that only its owner opens for writing.
fn is_database_file(name: &str) -> bool {
    let has_number = |ending: &str| {
        let number = name.strip_suffix(ending).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    name == "LOCK"
        || name == "LOG"
        || name.starts_with("MANIFEST-")
        || [".log", ".sst", ".blob"].into_iter().any(has_number)
}

/// Finds files of a folder that other processes have open for writing, as Linux lists them in
/// `proc`. Files are compared by device and number: the open file can have any other name, by a
/// link in the folder, by a hard link, or in a container.
fn open_files(proc: &Path, folder: &Path, parts: &Parts<'_>) -> impl Iterator<Item = ServerSign> {
    let files = parts.files_in(folder);
    let others = numbers_in(proc).into_iter().filter(|pid| *pid != std::process::id());
    others.filter_map(move |pid| {
        let process = proc.join(pid.to_string());
        let mut open = numbers_in(&process.join("fd")).into_iter();
        let path = open.find_map(|number| open_file(&process, number, &files))?;
        let program = fs::read_to_string(process.join("comm")).unwrap_or_default();
        Some(ServerSign::OpenFile { pid, program: program.trim_end().to_owned(), path })
    })
}

/// Files by device and number.
type ByNumber = HashMap<(u64, u64), PathBuf>;

/// Returns the one of `files` that the descriptor `number` of a process has open for writing.
fn open_file(process: &Path, number: u32, files: &ByNumber) -> Option<PathBuf> {
    let opened = fs::metadata(process.join(format!("fd/{number}"))).ok()?;
    let path = files.get(&file_number(&opened)?)?;
    let information = fs::read_to_string(process.join(format!("fdinfo/{number}"))).ok()?;
    is_for_writing(&information).then(|| path.clone())
}

/// Returns the numeric names in a folder, or nothing if it cannot be read.
fn numbers_in(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns whether the octal `flags:` line of a file's information includes writing.
fn is_for_writing(information: &str) -> bool {
    let flags = information.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|digits| u64::from_str_radix(digits.trim(), 8).ok());
    // The lowest two bits: 0 for reading, 1 for writing, 2 for both.
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// Finds a resource that was just written and whose backup has the age the game produces.
fn periodic_write(resources: &Path, now: SystemTime) -> Option<ServerSign> {
    let entries = fs::read_dir(resources).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        let json = path.extension().filter(|extension| *extension == "json")?;
        let backup = path.with_extension([json.to_str()?, ".bak"].concat());
        let modified = |path: &Path| fs::metadata(path).ok()?.modified().ok();
        let (written, before) = (modified(&path)?, modified(&backup)?);
        let age = now.duration_since(written).unwrap_or_default();
        let is_periodic = INTERVAL.contains(&written.duration_since(before).ok()?);
        (is_periodic && age <= WRITE_AGE_MAX).then_some(ServerSign::PeriodicWrite { path, age })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;
    use std::fs::File;

    fn resource(world: &Path, name: &str, written: SystemTime) {
        let path = world.join("resources").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_file(&path, b"{}");
        File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
    }

    #[test]
    fn periodic_writes_of_a_server_are_detected() {
        let now = SystemTime::now();
        let ago = |seconds| now - Duration::from_secs(seconds);
        for (name, backup, age, is_sign) in [
            ("written every ten seconds", 13, 3, true),
            ("a late write", 34, 23, true),
            ("stopped a minute ago", 70, 60, false),
            ("just copied", 1, 1, false),
            ("edited by hand after an hour", 3_600, 2, false),
        ] {
            let world = tempfile::tempdir().unwrap();
            resource(world.path(), "Time.json", ago(age));
            resource(world.path(), "Time.json.bak", ago(backup));
            let sign = server_sign(world.path(), now).unwrap();
            assert_eq!(sign.is_some(), is_sign, "{name}");
        }
        let world = tempfile::tempdir().unwrap();
        resource(world.path(), "New.json", ago(1));
        assert_eq!(server_sign(world.path(), now).unwrap(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_open_for_writing_by_another_process_are_detected() {
        let world = tempfile::tempdir().unwrap();
        let folder = world.path().canonicalize().unwrap();
        let path = folder.join("chunks/0.0.region.bin");
        fs::create_dir(folder.join("chunks")).unwrap();
        write_file(&path, b"");
        let sign = || server_sign(&folder, SystemTime::now()).unwrap();
        let sleep = |file: File, is_input: bool| {
            let mut command = std::process::Command::new("sleep");
            let command = if is_input { command.stdin(file) } else { command.stdout(file) };
            command.arg("60").spawn().unwrap()
        };
        let mut reader = sleep(File::open(&path).unwrap(), true);
        let writing = File::options().append(true).open(&path).unwrap();
        assert_eq!(sign(), None, "readers and this process are ignored");
        let mut writer = sleep(writing, false);
        let found = sign();
        for child in [&mut reader, &mut writer] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let program = "sleep".to_owned();
        assert_eq!(found, Some(ServerSign::OpenFile { pid: writer.id(), program, path }));
    }

    #[test]
    fn only_files_of_a_world_count() {
        let is_part = |path: &str| Parts::OfWorld.contains(Path::new(path));
        for path in [
            "config.json",
            "config.json.bak",
            "instance.bson",
            "paths.json.tmp",
            "chunks/-1.0.region.bin",
            "chunks/0.0.region.bin.compact.tmp",
            "db/000012.sst",
            "db/MANIFEST-000004",
            "db/LOCK",
            "resources/Time.json",
        ] {
            assert!(is_part(path), "{path}");
        }
        for path in ["out.txt", "log", "x.json", "chunks/out.txt", "db/out.txt", "db/my.log", ""] {
            assert!(!is_part(path), "{path}");
        }
        let name = Path::new("a.bin");
        assert!(Parts::OfStorage { file: Some(name.as_os_str()) }.contains(name));
        assert!(!Parts::OfStorage { file: None }.contains(name));
    }

    #[test]
    fn flags_are_octal() {
        assert!(is_for_writing("pos:\t0\nflags:\t0100002\n"));
        assert!(is_for_writing("flags:\t02001"));
        assert!(!is_for_writing("flags:\t0100000"));
        assert!(!is_for_writing("pos:\t2") && !is_for_writing("flags:\tx"));
    }
}
