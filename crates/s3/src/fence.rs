//! The fence: ensures that only one writer is active, and that a writer notices if it was replaced.
//!
//! A writer holds a lease: an object that it rewrites regularly, on condition that the object is
//! still its own. A program that finds an unexpired lease does not write. A writer that could not
//! renew its lease stops writing *before* others may take the lease, and the next renewal shows
//! whether another writer did.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyworld_providers::{Error, Result};
use object_store::path::Path as ObjectPath;

use crate::failure::{Failure, FailureKind};
use crate::key::S3Url;
use crate::lease::{LEASE_BYTES_MAX, Lease, unique_name};
use crate::objects::{Condition, Fetched, Objects};
use crate::probe::Probe;

const LEASE_NAME: &str = "lease.json";
const PROBE_FOLDER: &str = "probes";

/// How often acquiring is retried if others change the lease at the same time.
const ATTEMPTS_MAX: u32 = 5;

/// The lease of an open storage.
pub(crate) struct Fence {
    objects: Arc<Objects>,
    url: S3Url,
    path: ObjectPath,
    /// Whether the server rejects writes whose condition does not hold.
    keeps_conditions: bool,
    time: Duration,
    /// The lease last written. Locked while it is rewritten. Lock order: this, then `state`.
    held: tokio::sync::Mutex<Held>,
    state: Mutex<State>,
}

struct Held {
    lease: Lease,
    e_tag: Option<String>,
}

enum State {
    /// No other writer can hold the lease before this time.
    Safe {
        until: Instant,
    },
    Lost {
        reason: String,
    },
}

/// The result of writing the lease.
enum Outcome {
    Written(Option<String>),
    /// Another program changed it in the meantime.
    Conflict(Option<Found>),
}

struct Found {
    lease: Lease,
    e_tag: Option<String>,
    modified: i64,
}

impl Fence {
    /// Takes the lease. `single_writer` declares that there is no other writer, for servers without
    /// conditional writes.
    ///
    /// # Errors
    /// Returns an error if another writer holds the lease, or if the server does not support
    /// conditional writes.
    pub(crate) async fn take(
        objects: Arc<Objects>,
        url: S3Url,
        time: Duration,
        single_writer: bool,
    ) -> Result<Arc<Self>> {
        let location = url.location();
        let probe_path = url.object(&format!("{PROBE_FOLDER}/{}", unique_name()));
        let started = Instant::now();
        let probe = Probe::run(&objects, &probe_path).await;
        let probe = probe.map_err(|failure| failure.into_error(&location, "write"))?;
        if !probe.keeps_conditions && !single_writer {
            let reason = "the server ignores conditional writes, so two writers of this world \
                          could not detect each other; if only one program ever writes to it, \
                          set \"SingleWriter\": true";
            return Err(Error::ReadOnly { location, reason: reason.to_owned() });
        }
        let lease = Lease::new(u32::try_from(time.as_secs()).unwrap_or(u32::MAX));
        let fence = Self {
            path: url.object(LEASE_NAME),
            objects,
            url,
            keeps_conditions: probe.keeps_conditions,
            time,
            held: tokio::sync::Mutex::new(Held { lease, e_tag: None }),
            state: Mutex::new(State::Safe { until: started }),
        };
        fence.acquire(probe.now, started).await?;
        Ok(Arc::new(fence))
    }

    /// Acquires the lease. `probed` is the time of the server at the moment `since` or slightly
    /// later.
    async fn acquire(&self, probed: i64, since: Instant) -> Result<()> {
        let mut held = self.held.lock().await;
        let mut found = self.find().await.map_err(|failure| self.failed(failure))?;
        for _ in 0..ATTEMPTS_MAX {
            let started = Instant::now();
            if let Some(found) = &found {
                let passed = i64::try_from(since.elapsed().as_secs()).unwrap_or(i64::MAX);
                let age = probed.saturating_add(passed).saturating_sub(found.modified);
                if !found.lease.is_free(age) {
                    return Err(self.locked(found.lease.describe(age)));
                }
            }
            let condition = match &found {
                None => Condition::Missing,
                Some(found) => Condition::Unchanged(found.e_tag.clone()),
            };
            let counter = found.as_ref().map_or(0, |found| found.lease.counter);
            held.lease.counter = counter.saturating_add(1);
            let written = self.write(&held.lease, condition).await;
            match written.map_err(|failure| self.failed(failure))? {
                Outcome::Written(e_tag) => {
                    held.e_tag = e_tag;
                    self.set_state(State::Safe { until: self.safe_until(started) });
                    return Ok(());
                }
                Outcome::Conflict(other) => found = other,
            }
        }
        let holder = found.map_or_else(|| "another program".to_owned(), |found| found.lease.holder);
        Err(self.locked(holder))
    }

    /// Checks that this storage may write now. Sends no request while the lease is fresh.
    ///
    /// # Errors
    /// Returns an error if another writer has the lease, or if this cannot be determined.
    pub(crate) async fn check(&self) -> Result<()> {
        if self.is_safe()? {
            return Ok(());
        }
        let mut held = self.held.lock().await;
        // Another task may have renewed the lease in the meantime.
        if !self.is_safe()? {
            self.renew(&mut held).await?;
        }
        self.is_safe().map(drop)
    }

    fn is_safe(&self) -> Result<bool> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Safe { until } => Ok(Instant::now() < *until),
            State::Lost { reason } => {
                Err(Error::ReadOnly { location: self.url.location(), reason: reason.clone() })
            }
        }
    }

    /// Rewrites the lease, or detects that it is lost.
    async fn renew(&self, held: &mut Held) -> Result<()> {
        let started = Instant::now();
        let lease = held.lease.next(false);
        let mut condition = Condition::Unchanged(held.e_tag.clone());
        for _ in 0..ATTEMPTS_MAX {
            let written = self.write(&lease, condition).await;
            match written.map_err(|failure| self.failed(failure))? {
                Outcome::Written(e_tag) => {
                    *held = Held { lease, e_tag };
                    self.set_state(State::Safe { until: self.safe_until(started) });
                    return Ok(());
                }
                // The stored lease is the one last written here, with another e-tag.
                Outcome::Conflict(Some(found)) if found.lease == held.lease => {
                    condition = Condition::Unchanged(found.e_tag);
                }
                Outcome::Conflict(other) => {
                    let reason = lost_reason(other.as_ref());
                    self.set_state(State::Lost { reason });
                    return Ok(());
                }
            }
        }
        let text = "the e-tag of the lease changes with every request".to_owned();
        Err(self.failed(Failure::new(FailureKind::Other, text)))
    }

    /// Renews the lease until it is lost.
    pub(crate) async fn keep_renewing(self: Arc<Self>) {
        let (normal, short) = (self.time / 4, self.time / 16);
        let mut pause = normal;
        loop {
            tokio::time::sleep(pause).await;
            let mut held = self.held.lock().await;
            if self.is_safe().is_err() {
                return;
            }
            pause = if self.renew(&mut held).await.is_ok() { normal } else { short };
        }
    }

    /// Releases the lease, so that the next writer need not wait.
    pub(crate) async fn release(&self) {
        let held = self.held.lock().await;
        if self.is_safe().is_err() {
            return;
        }
        let lease = held.lease.next(true);
        // If this fails, the lease expires.
        drop(self.write(&lease, Condition::Unchanged(held.e_tag.clone())).await);
        self.set_state(State::Lost { reason: "it was closed".to_owned() });
    }

    /// Writes a lease if `condition` holds.
    async fn write(&self, lease: &Lease, condition: Condition) -> Result<Outcome, Failure> {
        if !self.keeps_conditions {
            return self.write_unfenced(lease, condition).await;
        }
        match self.objects.put(&self.path, lease.encode(), None, condition).await {
            Ok(e_tag) => Ok(Outcome::Written(e_tag)),
            Err(failure) if failure.kind == FailureKind::Condition => match self.find().await? {
                // The response was lost and the request sent again: the lease was written.
                Some(found) if found.lease == *lease => Ok(Outcome::Written(found.e_tag)),
                other => Ok(Outcome::Conflict(other)),
            },
            Err(failure) => Err(failure),
        }
    }

    /// Writes a lease on a server without conditional writes, after checking the condition.
    async fn write_unfenced(
        &self,
        lease: &Lease,
        condition: Condition,
    ) -> Result<Outcome, Failure> {
        let found = self.find().await?;
        let holds = match (&condition, &found) {
            (Condition::None, _) | (Condition::Missing, None) => true,
            (Condition::Unchanged(e_tag), Some(found)) => found.e_tag == *e_tag,
            (Condition::Missing, Some(_)) | (Condition::Unchanged(_), None) => false,
        };
        if !holds {
            return Ok(Outcome::Conflict(found));
        }
        let put = self.objects.put(&self.path, lease.encode(), None, Condition::None);
        put.await.map(Outcome::Written)
    }

    async fn find(&self) -> Result<Option<Found>, Failure> {
        match self.objects.get(&self.path, None, LEASE_BYTES_MAX).await? {
            Fetched::Found(object) => {
                let Some(lease) = Lease::decode(&object.bytes) else {
                    let text = format!(
                        "{} is not a lease of a supported version; if no program writes to this \
                         world, remove it",
                        self.url.show(&self.path)
                    );
                    return Err(Failure::new(FailureKind::Other, text));
                };
                let (e_tag, modified) = (object.head.e_tag, object.head.modified);
                Ok(Some(Found { lease, e_tag, modified }))
            }
            Fetched::Missing | Fetched::Unchanged => Ok(None),
        }
    }

    /// Returns until when a lease requested at `started` is certainly valid. A quarter of its time
    /// is reserved for writes in progress.
    fn safe_until(&self, started: Instant) -> Instant {
        started.checked_add(self.time / 4 * 3).unwrap_or(started)
    }

    fn set_state(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn locked(&self, holder: String) -> Error {
        Error::Locked { location: self.url.location(), holder }
    }

    fn failed(&self, failure: Failure) -> Error {
        failure.into_error(&self.url.location(), "write the lease")
    }
}

/// Describes why the lease was lost.
fn lost_reason(other: Option<&Found>) -> String {
    let event = match other {
        Some(found) => format!("{} took over the lease", found.lease.holder),
        None => "another program removed the lease".to_owned(),
    };
    format!("{event} while the world was open here; close it and open it again to continue")
}
