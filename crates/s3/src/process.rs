//! Which process holds a lease, and whether it is gone for certain.
//!
//! A lease of a process that was killed runs out by itself, but only after a minute. On the same
//! machine one can do better and look whether the process is still there. That must never be
//! wrong, so it is only done where Linux tells beyond doubt: same boot, same process namespace
//! (containers have their own), and a number that no process has or that a later one has.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

/// A process, as the others of its machine see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Process {
    /// The boot of the machine and the namespace in which `id` counts.
    space: String,
    id: u32,
    /// When it started, in ticks since the boot.
    started: u64,
}

static CURRENT: LazyLock<Option<Process>> = LazyLock::new(Process::find_current);

impl Process {
    /// This process, where it can be told from others.
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

    /// Whether it is certain that this process has ended.
    pub(crate) fn is_gone(&self) -> bool {
        let Some(current) = Self::current() else { return false };
        // Where others are hidden, none of them can be missed; the first one is always there.
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

/// What Linux says about a process number.
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

    /// `12 (name) S 1 ...`: the state is the third field, the start the 22nd. The name may have
    /// anything in it, brackets too.
    fn parse(stat: &str) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return Some(Self::Gone);
        }
        fields.nth(18)?.parse().ok().map(Self::Since)
    }
}

/// The name of this machine, for people.
pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map_or_else(|| "an unnamed machine".to_owned(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_found_whatever_the_name_is() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        let parsed = State::parse(&format!("12 (a) b) S {rest}"));
        assert!(matches!(parsed, Some(State::Since(4711))));
        assert!(matches!(State::parse(&format!("12 (x) Z {rest}")), Some(State::Gone)));
        assert!(State::parse("12 (x) S 1").is_none() && State::parse("").is_none());
    }

    #[test]
    fn a_process_comes_back_from_json() {
        let process = Process { space: "boot pid:[1]".to_owned(), id: 7, started: 99 };
        assert_eq!(Process::from_json(&process.to_json()), Some(process));
        assert_eq!(Process::from_json(&json!({"Space": 1})), None);
        assert_eq!(Process::from_json(&json!(null)), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_a_process_that_certainly_ended_is_gone() {
        let current = Process::current().unwrap().clone();
        assert!(!current.is_gone());
        let later = Process { started: current.started + 1, ..current.clone() };
        assert!(later.is_gone(), "the number belongs to another process now");
        let elsewhere = Process { space: "another boot".to_owned(), ..later };
        assert!(!elsewhere.is_gone());
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let State::Since(started) = State::of(child.id()) else { panic!("not there") };
        let process = Process { id: child.id(), started, ..current };
        assert!(!process.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process.is_gone());
    }
}
