//! Single requests, each with a deadline and with errors that are safe to show.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use hyworld_indexed_storage::limits::BLOB_BYTES_MAX;
use object_store::path::Path as ObjectPath;
use object_store::{
    Attribute, GetOptions, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, UpdateVersion,
};

use crate::failure::{Failure, FailureKind, Secrets};

/// The metadata key for the length of the document: `x-amz-meta-hyworld-raw`.
const RAW_BYTES: &str = "hyworld-raw";

/// The object store, and the time limit of a request.
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    deadline: Duration,
    secrets: Secrets,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) bytes: u64,
    pub(crate) e_tag: Option<String>,
    /// Time of the last write, in seconds since 1970 by the clock of the server.
    pub(crate) modified: i64,
    /// Length of the document, if the object has it.
    pub(crate) raw_bytes: Option<u32>,
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    pub(crate) head: Head,
    pub(crate) bytes: Vec<u8>,
}

/// The result of requesting an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fetched {
    Missing,
    /// The object still has the given e-tag.
    Unchanged,
    Found(Object),
}

/// The condition for writing an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    None,
    /// The object does not exist.
    Missing,
    /// The existing object has this e-tag.
    Unchanged(Option<String>),
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, deadline: Duration, secrets: Secrets) -> Self {
        Self { store, deadline, secrets }
    }

    /// Reads an object of at most `bytes_max` bytes, unless it has the e-tag `known`.
    pub(crate) async fn get(
        &self,
        path: &ObjectPath,
        known: Option<String>,
        bytes_max: u32,
    ) -> Result<Fetched, Failure> {
        let options = GetOptions { if_none_match: known, ..GetOptions::default() };
        let found = self.in_time(async {
            let result = self.store.get_opts(path, options).await?;
            let head = Head::of(&result);
            if head.bytes > u64::from(bytes_max) {
                return Ok((head, None));
            }
            Ok((head, Some(result.bytes().await?.into())))
        });
        match found.await {
            Ok((head, Some(bytes))) => Ok(Fetched::Found(Object { head, bytes })),
            Ok((head, None)) => {
                let text = format!("it has {} bytes, above the limit of {bytes_max}", head.bytes);
                Err(Failure::new(FailureKind::TooLarge, text))
            }
            Err(failure) => match failure.kind {
                FailureKind::NoSuchKey => Ok(Fetched::Missing),
                FailureKind::NotModified => Ok(Fetched::Unchanged),
                _ => Err(failure),
            },
        }
    }

    /// Reads the metadata of an object. Returns `None` if it does not exist.
    pub(crate) async fn head(&self, path: &ObjectPath) -> Result<Option<Head>, Failure> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let asked = self.in_time(async {
            let result = self.store.get_opts(path, options).await?;
            Ok(Head::of(&result))
        });
        match asked.await {
            Ok(head) => Ok(Some(head)),
            Err(failure) if failure.kind == FailureKind::NoSuchKey => Ok(None),
            // The response to GET distinguishes a missing object from a missing bucket.
            Err(failure) if failure.kind == FailureKind::NotFound => {
                match self.get(path, None, BLOB_BYTES_MAX).await? {
                    Fetched::Found(object) => Ok(Some(object.head)),
                    Fetched::Missing | Fetched::Unchanged => Ok(None),
                }
            }
            Err(failure) => Err(failure),
        }
    }

    /// Writes an object, completely or not at all. Returns its e-tag, if the server sends one.
    pub(crate) async fn put(
        &self,
        path: &ObjectPath,
        bytes: Vec<u8>,
        raw_bytes: Option<u32>,
        condition: Condition,
    ) -> Result<Option<String>, Failure> {
        let mode = match condition {
            Condition::None => PutMode::Overwrite,
            Condition::Missing => PutMode::Create,
            Condition::Unchanged(e_tag) => PutMode::Update(UpdateVersion { e_tag, version: None }),
        };
        let mut options = PutOptions { mode, ..PutOptions::default() };
        if let Some(raw_bytes) = raw_bytes {
            let name = Attribute::Metadata(RAW_BYTES.into());
            options.attributes.insert(name, raw_bytes.to_string().into());
        }
        let payload = PutPayload::from(bytes);
        self.in_time(async { Ok(self.store.put_opts(path, payload, options).await?.e_tag) }).await
    }

    /// Removes an object. A missing object is not an error.
    pub(crate) async fn delete(&self, path: &ObjectPath) -> Result<(), Failure> {
        match self.in_time(self.store.delete(path)).await {
            Err(failure) if failure.kind == FailureKind::NoSuchKey => Ok(()),
            other => other,
        }
    }

    /// Lists the objects with this prefix, page by page.
    pub(crate) fn list(&self, prefix: &ObjectPath) -> ObjectStream {
        self.store.list(Some(prefix))
    }

    /// Returns the next object of a listing.
    pub(crate) async fn next(
        &self,
        stream: &mut ObjectStream,
    ) -> Option<Result<ObjectMeta, Failure>> {
        use futures_util::TryStreamExt;
        self.in_time(stream.try_next()).await.transpose()
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, Failure> {
        let Ok(outcome) = tokio::time::timeout(self.deadline, work).await else {
            let text = format!("no response within {} s", self.deadline.as_secs_f32());
            return Err(Failure::new(FailureKind::Other, text));
        };
        outcome.map_err(|error| Failure::of(&error, &self.secrets))
    }
}

pub(crate) type ObjectStream = BoxStream<'static, object_store::Result<ObjectMeta>>;

impl Head {
    fn of(result: &GetResult) -> Self {
        let raw = result.attributes.get(&Attribute::Metadata(RAW_BYTES.into()));
        Self {
            bytes: result.meta.size,
            e_tag: result.meta.e_tag.clone(),
            modified: result.meta.last_modified.timestamp(),
            raw_bytes: raw.and_then(|raw| raw.parse().ok()),
        }
    }
}
