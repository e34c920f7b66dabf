//! Does a server do what a fence needs? It is tried, because many say so and do not.

use object_store::path::Path as ObjectPath;

use crate::failure::{Failure, FailureKind};
use crate::objects::{Condition, Objects};

/// An e-tag that no object has.
const WRONG_E_TAG: &str = "\"00000000000000000000000000000000\"";

/// What was found out about a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Probe {
    /// Whether it refuses a write whose condition does not hold.
    pub(crate) keeps_conditions: bool,
    /// Its clock, in seconds since 1970.
    pub(crate) now: i64,
}

impl Probe {
    /// Writes an object of its own, `path`, and removes it again.
    pub(crate) async fn run(objects: &Objects, path: &ObjectPath) -> Result<Self, Failure> {
        let keeps_conditions = keeps_conditions(objects, path).await;
        let now = match &keeps_conditions {
            Ok(_) => objects.head(path).await,
            Err(failure) => Err(failure.clone()),
        };
        // It is small and harms nobody; that it could not be removed is no reason to stop.
        drop(objects.delete(path).await);
        let gone =
            || Failure::new(FailureKind::Other, format!("{path} vanished while it was used"));
        Ok(Self { keeps_conditions: keeps_conditions?, now: now?.ok_or_else(gone)?.modified })
    }
}

async fn keeps_conditions(objects: &Objects, path: &ObjectPath) -> Result<bool, Failure> {
    let put = |condition| objects.put(path, b"{}".to_vec(), None, condition);
    let e_tag = match put(Condition::Absent).await {
        Ok(e_tag) => e_tag,
        Err(failure) if failure.kind == FailureKind::NotImplemented => {
            return put(Condition::None).await.map(|_| false);
        }
        Err(failure) => return Err(failure),
    };
    if e_tag.is_none() || !is_refused(put(Condition::Absent).await)? {
        return Ok(false);
    }
    let wrong = Condition::Unchanged(Some(WRONG_E_TAG.to_owned()));
    if !is_refused(put(wrong).await)? {
        return Ok(false);
    }
    // And one that holds must not be refused.
    Ok(!is_refused(put(Condition::Unchanged(e_tag)).await)?)
}

fn is_refused(outcome: Result<Option<String>, Failure>) -> Result<bool, Failure> {
    match outcome {
        Ok(_) => Ok(false),
        Err(failure) if failure.kind == FailureKind::Condition => Ok(true),
        Err(failure) => Err(failure),
    }
}
