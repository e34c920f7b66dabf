//! The process that holds a lease, and whether it has certainly ended.
//!
//! The lease of a killed process expires only after a minute. On the same machine the process
//! itself can be checked. The check must never be wrong, so it is only used where Linux is
//! unambiguous: same boot, same process namespace (containers have their own), and a process id
//! that is unused or belongs to a later process.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

/// A process, as seen by other processes on its machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Process {
    /// The boot of the machine and the process namespace of `id`.
    space: String,
    id: u32,
    /// Start time, in ticks since the boot.
    started: u64,
}

static CURRENT: LazyLock<Option<Process>> = LazyLock::new(Process::find_current);

impl Process {
    /// Returns this process, if it can be identified.
    pub(crate) fn current() -> Option<&'static Self> {
        CURRENT.as_ref()
    }

    fn find_current() -> Option<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let space = format!("{} {}", boot.trim(), namespace.display());
        let id = std::process::id();
        match State::of(id) {
            State::Since(started) => Some(Self { space, id, started }),
            State::Gone | State::Unknown => None,
        }
    }

    /// Returns whether this process has certainly ended.
    pub(crate) fn is_gone(&self) -> bool {
        let Some(current) = Self::current() else { return false };
        // If other processes are hidden, a missing one proves nothing. Process 1 always exists.
        let sees_others = matches!(State::of(1), State::Since(_));
        if current.space != self.space || !sees_others {
            return false;
        }
        match State::of(self.id) {
            State::Gone => true,
            State::Since(started) => started != self.started,
            State::Unknown => false,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"Space": self.space, "Id": self.id, "Started": self.started})
    }

    pub(crate) fn from_json(json: &Value) -> Option<Self> {
        Some(Self {
            space: json.get("Space")?.as_str()?.to_owned(),
            id: u32::try_from(json.get("Id")?.as_u64()?).ok()?,
            started: json.get("Started")?.as_u64()?,
        })
    }
}

/// What Linux reports about a process id.
enum State {
    Since(u64),
    Gone,
    Unknown,
}

impl State {
    fn of(id: u32) -> Self {
        match std::fs::read_to_string(Path::new("/proc").join(id.to_string()).join("stat")) {
            Ok(stat) => Self::parse(&stat).unwrap_or(Self::Unknown),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Gone,
            Err(_) => Self::Unknown,
        }
    }

    /// Parses `12 (name) S 1 ...`: the state is the third field, the start time the 22nd. The name
    /// may contain any characters, including brackets.
    fn parse(stat: &str) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return Some(Self::Gone);
        }
        fields.nth(18)?.parse().ok().map(Self::Since)
    }
}

/// Returns the name of this machine, for messages.
pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map_or_else(|| "an unnamed machine".to_owned(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_parsed_for_any_name() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        let parsed = State::parse(&format!("12 (a) b) S {rest}"));
        assert!(matches!(parsed, Some(State::Since(4711))));
        assert!(matches!(State::parse(&format!("12 (x) Z {rest}")), Some(State::Gone)));
        assert!(State::parse("12 (x) S 1").is_none() && State::parse("").is_none());
    }

    #[test]
    fn a_process_round_trips() {
        let process = Process { space: "boot pid:[1]".to_owned(), id: 7, started: 99 };
        assert_eq!(Process::from_json(&process.to_json()), Some(process));
        assert_eq!(Process::from_json(&json!({"Space": 1})), None);
        assert_eq!(Process::from_json(&json!(null)), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_an_ended_process_is_gone() {
        let current = Process::current().unwrap().clone();
        assert!(!current.is_gone());
        let later = Process { started: current.started + 1, ..current.clone() };
        assert!(later.is_gone(), "the id belongs to another process");
        let elsewhere = Process { space: "another boot".to_owned(), ..later };
        assert!(!elsewhere.is_gone());
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let State::Since(started) = State::of(child.id()) else { panic!("not running") };
        let process = Process { id: child.id(), started, ..current };
        assert!(!process.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process.is_gone());
    }
}
