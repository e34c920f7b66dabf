//! Tests whether a server supports conditional writes; many claim to and do not.

use object_store::path::Path as ObjectPath;

use crate::failure::{Failure, FailureKind};
use crate::objects::{Condition, Objects};

/// An e-tag that no object has.
const WRONG_E_TAG: &str = "\"00000000000000000000000000000000\"";

/// The result of testing a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Probe {
    /// Whether it rejects a write whose condition does not hold.
    pub(crate) keeps_conditions: bool,
    /// The time of the server, in seconds since 1970.
    pub(crate) now: i64,
}

impl Probe {
    /// Tests the server with the object `path`, and removes it afterwards.
    pub(crate) async fn run(objects: &Objects, path: &ObjectPath) -> Result<Self, Failure> {
        let keeps_conditions = keeps_conditions(objects, path).await;
        let now = match &keeps_conditions {
            Ok(_) => objects.head(path).await,
            Err(failure) => Err(failure.clone()),
        };
        // Failing to remove it is harmless: the object is small.
        drop(objects.delete(path).await);
        let missing =
            || Failure::new(FailureKind::Other, format!("{path} disappeared during the test"));
        Ok(Self { keeps_conditions: keeps_conditions?, now: now?.ok_or_else(missing)?.modified })
    }
}

async fn keeps_conditions(objects: &Objects, path: &ObjectPath) -> Result<bool, Failure> {
    let put = |condition| objects.put(path, b"{}".to_vec(), None, condition);
    let e_tag = match put(Condition::Missing).await {
        Ok(e_tag) => e_tag,
        Err(failure) if failure.kind == FailureKind::NotImplemented => {
            return put(Condition::None).await.map(|_| false);
        }
        Err(failure) => return Err(failure),
    };
    if e_tag.is_none() || !is_rejected(put(Condition::Missing).await)? {
        return Ok(false);
    }
    let wrong = Condition::Unchanged(Some(WRONG_E_TAG.to_owned()));
    if !is_rejected(put(wrong).await)? {
        return Ok(false);
    }
    // A condition that holds must not be rejected.
    Ok(!is_rejected(put(Condition::Unchanged(e_tag)).await)?)
}

fn is_rejected(outcome: Result<Option<String>, Failure>) -> Result<bool, Failure> {
    match outcome {
        Ok(_) => Ok(false),
        Err(failure) if failure.kind == FailureKind::Condition => Ok(true),
        Err(failure) => Err(failure),
    }
}
