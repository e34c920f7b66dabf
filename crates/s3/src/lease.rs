//! The lease object of the writer, see `docs/format/objects.md`.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::process::{Process, host_name};

/// Maximum size of a lease object. A lease has a few hundred bytes.
pub(crate) const LEASE_BYTES_MAX: u32 = 1 << 16;

/// A lease must be this many seconds past its expiry before others take it: the time of an object
/// has whole seconds, and servers round it.
const GRACE_SECONDS: i64 = 2;

/// The right to write, until it expires.
///
/// It expires a number of seconds after it was last written, by the clock of the server. The clocks
/// of the machines that share a world are never compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lease {
    /// Unique to one opened storage.
    pub(crate) owner: String,
    /// Describes the owner for messages.
    pub(crate) holder: String,
    process: Option<Process>,
    /// Increases with every write of the lease, by any writer.
    pub(crate) counter: u64,
    pub(crate) seconds: u32,
    /// Whether it was released and any writer may take it.
    released: bool,
}

impl Lease {
    /// Creates a lease for a storage that this process opens.
    pub(crate) fn new(seconds: u32) -> Self {
        let id = std::process::id();
        let version = env!("CARGO_PKG_VERSION");
        Self {
            owner: unique_name(),
            holder: printable(&format!("process {id} on {} (hyworld {version})", host_name())),
            process: Process::current().cloned(),
            counter: 0,
            seconds,
            released: false,
        }
    }

    /// Returns the lease to write next, to renew or to release it.
    pub(crate) fn next(&self, released: bool) -> Self {
        Self { counter: self.counter.saturating_add(1), released, ..self.clone() }
    }

    /// Returns whether another writer may take it: it was released, its process has certainly
    /// ended, or it has expired at an age of `age` seconds.
    pub(crate) fn is_free(&self, age: i64) -> bool {
        let ran_out = age > i64::from(self.seconds).saturating_add(GRACE_SECONDS);
        self.released || ran_out || self.process.as_ref().is_some_and(Process::is_gone)
    }

    /// Describes the holder and the time until the lease expires.
    pub(crate) fn describe(&self, age: i64) -> String {
        let limit = i64::from(self.seconds).saturating_add(GRACE_SECONDS);
        let left = limit.saturating_sub(age).max(0).saturating_add(1);
        format!("{}, whose lease expires in {left} s unless it is renewed,", self.holder)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        json!({
            "Owner": self.owner,
            "Holder": self.holder,
            "Process": self.process.as_ref().map(Process::to_json),
            "Counter": self.counter,
            "Seconds": self.seconds,
            "Released": self.released,
        })
        .to_string()
        .into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let json: Value = serde_json::from_slice(bytes).ok()?;
        let text = |key| Some(json.get(key)?.as_str()?.to_owned());
        Some(Self {
            owner: text("Owner")?,
            holder: printable(&text("Holder")?),
            process: json.get("Process").and_then(Process::from_json),
            counter: json.get("Counter")?.as_u64()?,
            seconds: u32::try_from(json.get("Seconds")?.as_u64()?).ok()?,
            released: json.get("Released")?.as_bool()?,
        })
    }
}

/// Makes text of other programs safe to show: removes control characters and limits its length.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

pub(crate) fn unique_name() -> String {
    struct Hex(u64);

    impl fmt::Display for Hex {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{:016x}", self.0)
        }
    }

    // Each `RandomState` has different keys; the first ones of a thread are random.
    let half = || Hex(RandomState::new().hash_one((SystemTime::now(), std::process::id())));
    format!("{}{}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_round_trips() {
        let mut lease = Lease::new(60);
        lease.counter = 7;
        assert_eq!(Lease::decode(&lease.encode()).unwrap(), lease);
        let without = Lease { process: None, released: true, ..lease };
        assert_eq!(Lease::decode(&without.encode()).unwrap(), without);
    }

    #[test]
    fn invalid_leases_are_rejected() {
        let bytes = Lease::new(60).encode();
        for len in 0..bytes.len() {
            assert_eq!(Lease::decode(&bytes[..len]), None, "{len} bytes");
        }
        for other in ["[]", "null", "{}", r#"{"Owner":"a","Holder":"b","Counter":-1}"#] {
            assert_eq!(Lease::decode(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_lease_is_free_when_released_or_expired() {
        let lease = Lease { process: None, ..Lease::new(60) };
        assert!(!lease.is_free(0) && !lease.is_free(62) && !lease.is_free(-5));
        assert!(lease.is_free(63));
        assert!(Lease { released: true, ..lease.clone() }.is_free(0));
        assert!(!Lease::new(60).is_free(0), "this process is still running");
    }

    #[test]
    fn control_characters_of_holders_are_removed() {
        let mut lease = Lease::new(60);
        lease.holder = format!("\x1b[31mred\n{}", "x".repeat(1000));
        let shown = Lease::decode(&lease.encode()).unwrap().describe(40);
        assert!(shown.starts_with("[31mredx") && shown.len() < 300, "{shown}");
        assert!(shown.ends_with("expires in 23 s unless it is renewed,"), "{shown}");
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::HashSet<_> = (0..100).map(|_| unique_name()).collect();
        assert_eq!(names.len(), 100);
    }
}
