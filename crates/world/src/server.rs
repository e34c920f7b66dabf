//! Signs that a game server runs on a world.
//!
//! The game locks nothing, so there is no sure way to know. What it leaves: region files stay open
//! from their first use to the end, and all resources are written every ten seconds, changed or
//! not, the previous ones becoming backups.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Result};

/// A file that was written longer ago than this is no sign of a server: it would have been
/// written again, twice.
const BEAT_AGE_MAX: Duration = Duration::from_secs(25);

/// How far apart two writes of the game are, and its backups with them. A copy or an unpacked
/// archive has other distances.
const BEAT: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(9)..=Duration::from_millis(11_500);

/// What a running server was seen by.
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
    /// A resource was written a moment ago, ten seconds after the time before.
    Beat {
        /// The file.
        path: PathBuf,
        /// How long ago.
        age: Duration,
    },
}

impl fmt::Display for ServerSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenFile { pid, program, path } => {
                write!(f, "process {pid}, {program}, has {} open for writing", path.display())
            }
            Self::Beat { path, age } => {
                let age = age.as_secs();
                write!(f, "{} is written every ten seconds, last {age} s ago", path.display())
            }
        }
    }
}

/// Looks for a server on a world. Finding none is no proof: processes of other users cannot be
/// looked into, and other systems than Linux do not say which files are open.
///
/// # Errors
/// The folder of the world cannot be found.
pub fn server_sign(world: &Path, now: SystemTime) -> Result<Option<ServerSign>> {
    let world = world.canonicalize().map_err(Error::io(world, "find"))?;
    let ours = std::process::id();
    let open = open_files(Path::new("/proc"), &world).into_iter();
    let mut open =
        open.filter(|sign| !matches!(sign, ServerSign::OpenFile { pid, .. } if *pid == ours));
    Ok(open.next().or_else(|| beat(&world.join("resources"), now)))
}

/// Files under `world` that processes have open for writing, as Linux lists them in `proc`.
fn open_files(proc: &Path, world: &Path) -> Vec<ServerSign> {
    let processes = numbers_in(proc);
    let found = processes.into_iter().flat_map(|pid| {
        let process = proc.join(pid.to_string());
        let program = fs::read_to_string(process.join("comm")).unwrap_or_default();
        let files = numbers_in(&process.join("fd")).into_iter().filter_map(move |number| {
            let path = fs::read_link(process.join(format!("fd/{number}"))).ok()?;
            let flags = fs::read_to_string(process.join(format!("fdinfo/{number}"))).ok()?;
            (path.starts_with(world) && is_for_writing(&flags)).then_some(path)
        });
        let program = program.trim_end().to_owned();
        files.map(move |path| ServerSign::OpenFile { pid, program: program.clone(), path })
    });
    found.collect()
}

/// The entries of a folder whose names are numbers; none if it cannot be read.
fn numbers_in(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether the `flags:` line of a file's information, in octal, says so.
fn is_for_writing(information: &str) -> bool {
    let flags = information.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|digits| u64::from_str_radix(digits.trim(), 8).ok());
    // The lowest two bits: 0 for reading, 1 for writing, 2 for both.
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// A resource that was written just now, and whose backup is as old as the game makes them.
fn beat(resources: &Path, now: SystemTime) -> Option<ServerSign> {
    let entries = fs::read_dir(resources).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        let json = path.extension().filter(|extension| *extension == "json")?;
        let backup = path.with_extension([json.to_str()?, ".bak"].concat());
        let modified = |path: &Path| fs::metadata(path).ok()?.modified().ok();
        let (written, before) = (modified(&path)?, modified(&backup)?);
        let age = now.duration_since(written).unwrap_or_default();
        let is_beat = BEAT.contains(&written.duration_since(before).ok()?);
        (is_beat && age <= BEAT_AGE_MAX).then_some(ServerSign::Beat { path, age })
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
    fn the_beat_of_a_server_is_heard() {
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
    fn files_that_a_process_writes_are_seen() {
        let world = tempfile::tempdir().unwrap();
        let folder = world.path().canonicalize().unwrap();
        let path = folder.join("0.0.region.bin");
        write_file(&path, b"");
        let reading = File::open(&path).unwrap();
        assert_eq!(open_files(Path::new("/proc"), &folder), [], "readers do no harm");
        let writing = File::options().append(true).open(&path).unwrap();
        let found = open_files(Path::new("/proc"), &folder);
        let [ServerSign::OpenFile { pid, path: named, .. }] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((*pid, named), (std::process::id(), &path));
        assert_eq!(server_sign(&folder, SystemTime::now()).unwrap(), None, "it is ourselves");
        drop((reading, writing));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_process_is_named() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("log");
        let out = File::create(&path).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").stdout(out).spawn().unwrap();
        let sign = server_sign(world.path(), SystemTime::now());
        child.kill().unwrap();
        child.wait().unwrap();
        let text = sign.unwrap().unwrap().to_string();
        assert!(text.starts_with(&format!("process {}, ", child.id())), "{text}");
    }

    #[test]
    fn flags_are_octal() {
        assert!(is_for_writing("pos:\t0\nflags:\t0100002\n"));
        assert!(is_for_writing("flags:\t02001"));
        assert!(!is_for_writing("flags:\t0100000"));
        assert!(!is_for_writing("pos:\t2") && !is_for_writing("flags:\tx"));
    }
}
