//! The fence: one writer at a time, and one that was overtaken notices.
//!
//! A writer holds a lease, an object that it writes anew again and again, always on condition
//! that it is still its own. Who wants to write and finds a lease that is alive does not. Who
//! could not renew for too long stops writing *before* others may take the lease, and finds out
//! with the next renewal whether somebody did.

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

/// How often a lease that others change meanwhile is tried for.
const ATTEMPTS_MAX: u32 = 5;

/// The lease of an open storage.
pub(crate) struct Fence {
    objects: Arc<Objects>,
    url: S3Url,
    path: ObjectPath,
    /// Whether the server refuses writes whose condition does not hold.
    keeps_conditions: bool,
    time: Duration,
    /// What was last written. Locked while it is written again. Lock order: this, then `state`.
    held: tokio::sync::Mutex<Held>,
    state: Mutex<State>,
}

struct Held {
    lease: Lease,
    e_tag: Option<String>,
}

enum State {
    /// Nobody else can have it before this moment.
    Safe {
        until: Instant,
    },
    Lost {
        reason: String,
    },
}

/// What came of writing the lease.
enum Outcome {
    Written(Option<String>),
    /// Somebody else did something with it meanwhile.
    Beaten(Option<Found>),
}

struct Found {
    lease: Lease,
    e_tag: Option<String>,
    modified: i64,
}

impl Fence {
    /// Takes the lease. `single_writer` is the word of the user that nobody else writes, for
    /// servers that cannot tell.
    ///
    /// # Errors
    /// Somebody else holds it, or the server cannot keep a fence.
    pub(crate) async fn take(
        objects: Arc<Objects>,
        url: S3Url,
        time: Duration,
        single_writer: bool,
    ) -> Result<Arc<Self>> {
        let place = url.location();
        let probe_path = url.object(&format!("{PROBE_FOLDER}/{}", unique_name()));
        let started = Instant::now();
        let probe = Probe::run(&objects, &probe_path).await;
        let probe = probe.map_err(|failure| failure.into_error(&place, "write"))?;
        if !probe.keeps_conditions && !single_writer {
            let reason = "the server ignores conditional writes, so two writers of this world \
                          could not notice each other; if only one program ever writes to it, say \
                          so with \"SingleWriter\": true";
            return Err(Error::ReadOnly { place, reason: reason.to_owned() });
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

    /// `probed` is the time of the server at the moment `since` or a little later.
    async fn acquire(&self, probed: i64, since: Instant) -> Result<()> {
        let mut held = self.held.lock().await;
        let mut found = self.find().await.map_err(|failure| self.failed(failure))?;
        for _ in 0..ATTEMPTS_MAX {
            let started = Instant::now();
            if let Some(found) = &found {
                let passed = i64::try_from(since.elapsed().as_secs()).unwrap_or(i64::MAX);
                let age = probed.saturating_add(passed).saturating_sub(found.modified);
                if !found.lease.is_free(age) {
                    return Err(self.locked(found.lease.show(age)));
                }
            }
            let condition = match &found {
                None => Condition::Absent,
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
                Outcome::Beaten(by) => found = by,
            }
        }
        let holder = found.map_or_else(|| "another program".to_owned(), |found| found.lease.holder);
        Err(self.locked(holder))
    }

    /// Whether this storage may write now. Costs nothing as long as the lease is fresh.
    ///
    /// # Errors
    /// It may not: somebody else has the lease, or it cannot be known.
    pub(crate) async fn check(&self) -> Result<()> {
        if self.is_safe()? {
            return Ok(());
        }
        let mut held = self.held.lock().await;
        // Another task may have renewed it while this one waited.
        if !self.is_safe()? {
            self.renew(&mut held).await?;
        }
        self.is_safe().map(drop)
    }

    fn is_safe(&self) -> Result<bool> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Safe { until } => Ok(Instant::now() < *until),
            State::Lost { reason } => {
                Err(Error::ReadOnly { place: self.url.location(), reason: reason.clone() })
            }
        }
    }

    /// Writes the lease anew, or finds out that it is lost.
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
                // It is what we last wrote, under another e-tag.
                Outcome::Beaten(Some(found)) if found.lease == held.lease => {
                    condition = Condition::Unchanged(found.e_tag);
                }
                Outcome::Beaten(by) => {
                    let reason = lost(by.as_ref());
                    self.set_state(State::Lost { reason });
                    return Ok(());
                }
            }
        }
        let text = "the lease changes its e-tag with every look at it".to_owned();
        Err(self.failed(Failure::new(FailureKind::Other, text)))
    }

    /// Renews the lease for as long as it is ours.
    pub(crate) async fn keep(self: Arc<Self>) {
        let (calm, hurried) = (self.time / 4, self.time / 16);
        let mut pause = calm;
        loop {
            tokio::time::sleep(pause).await;
            let mut held = self.held.lock().await;
            if self.is_safe().is_err() {
                return;
            }
            pause = if self.renew(&mut held).await.is_ok() { calm } else { hurried };
        }
    }

    /// Gives the lease back, so that the next one need not wait.
    pub(crate) async fn release(&self) {
        let held = self.held.lock().await;
        if self.is_safe().is_err() {
            return;
        }
        let lease = held.lease.next(true);
        // If that does not work, it runs out by itself.
        drop(self.write(&lease, Condition::Unchanged(held.e_tag.clone())).await);
        self.set_state(State::Lost { reason: "it was closed".to_owned() });
    }

    /// Writes a lease, if it is still as `condition` says.
    async fn write(&self, lease: &Lease, condition: Condition) -> Result<Outcome, Failure> {
        if !self.keeps_conditions {
            return self.write_unfenced(lease, condition).await;
        }
        match self.objects.put(&self.path, lease.encode(), None, condition).await {
            Ok(e_tag) => Ok(Outcome::Written(e_tag)),
            Err(failure) if failure.kind == FailureKind::Condition => match self.find().await? {
                // It was ours: an answer was lost, and the request was sent again.
                Some(found) if found.lease == *lease => Ok(Outcome::Written(found.e_tag)),
                by => Ok(Outcome::Beaten(by)),
            },
            Err(failure) => Err(failure),
        }
    }

    /// On a server without conditions: a look before each write is better than nothing.
    async fn write_unfenced(
        &self,
        lease: &Lease,
        condition: Condition,
    ) -> Result<Outcome, Failure> {
        let found = self.find().await?;
        let holds = match (&condition, &found) {
            (Condition::None, _) | (Condition::Absent, None) => true,
            (Condition::Unchanged(e_tag), Some(found)) => found.e_tag == *e_tag,
            (Condition::Absent, Some(_)) | (Condition::Unchanged(_), None) => false,
        };
        if !holds {
            return Ok(Outcome::Beaten(found));
        }
        let put = self.objects.put(&self.path, lease.encode(), None, Condition::None);
        put.await.map(Outcome::Written)
    }

    async fn find(&self) -> Result<Option<Found>, Failure> {
        match self.objects.get(&self.path, None, LEASE_BYTES_MAX).await? {
            Fetched::Found(object) => {
                let Some(lease) = Lease::decode(&object.content) else {
                    let text = format!(
                        "{} is no lease that this version knows; if nobody writes to this world, \
                         remove it",
                        self.url.show(&self.path)
                    );
                    return Err(Failure::new(FailureKind::Other, text));
                };
                let (e_tag, modified) = (object.head.e_tag, object.head.modified);
                Ok(Some(Found { lease, e_tag, modified }))
            }
            Fetched::Absent | Fetched::Unchanged => Ok(None),
        }
    }

    /// Until when a lease is certainly ours that was asked for at `started`: a quarter is left
    /// for a write that is under way.
    fn safe_until(&self, started: Instant) -> Instant {
        started.checked_add(self.time / 4 * 3).unwrap_or(started)
    }

    fn set_state(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn locked(&self, holder: String) -> Error {
        Error::Locked { place: self.url.location(), holder }
    }

    fn failed(&self, failure: Failure) -> Error {
        failure.into_error(&self.url.location(), "write the lease of its writer")
    }
}

/// Why nothing more is written.
fn lost(by: Option<&Found>) -> String {
    let who = match by {
        Some(found) => format!("{} took over its lease", found.lease.holder),
        None => "somebody removed its lease".to_owned(),
    };
    format!("{who} while it was open here; close it, and open it again to go on")
}
