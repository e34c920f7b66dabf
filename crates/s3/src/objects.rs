//! Single requests, each with a deadline, and with errors in our words.

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

/// The name under which an object says how long its document is: `x-amz-meta-hyworld-raw`.
const RAW_BYTES: &str = "hyworld-raw";

/// The store, and how long an answer may take.
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    deadline: Duration,
    secrets: Secrets,
}

/// What is known about an object without its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) bytes: u64,
    pub(crate) e_tag: Option<String>,
    /// When it was written, in seconds since 1970 by the clock of the server.
    pub(crate) modified: i64,
    /// How long its document is, where it says so.
    pub(crate) raw_bytes: Option<u32>,
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    pub(crate) head: Head,
    pub(crate) content: Vec<u8>,
}

/// What came of asking for an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fetched {
    Absent,
    /// It is still the one whose e-tag was given.
    Unchanged,
    Found(Object),
}

/// Under which condition an object is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    None,
    /// There is none yet.
    Absent,
    /// The one that is there has this e-tag.
    Unchanged(Option<String>),
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, deadline: Duration, secrets: Secrets) -> Self {
        Self { store, deadline, secrets }
    }

    /// An object of at most `bytes_max` bytes, unless it is the one with the e-tag `known`.
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
            Ok((head, Some(content))) => Ok(Fetched::Found(Object { head, content })),
            Ok((head, None)) => {
                let text = format!("it has {} bytes; at most {bytes_max} are read", head.bytes);
                Err(Failure::new(FailureKind::TooLarge, text))
            }
            Err(failure) => match failure.kind {
                FailureKind::NoSuchKey => Ok(Fetched::Absent),
                FailureKind::NotModified => Ok(Fetched::Unchanged),
                _ => Err(failure),
            },
        }
    }

    /// What is known about an object; `None` if there is none.
    pub(crate) async fn head(&self, path: &ObjectPath) -> Result<Option<Head>, Failure> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let asked = self.in_time(async {
            let result = self.store.get_opts(path, options).await?;
            Ok(Head::of(&result))
        });
        match asked.await {
            Ok(head) => Ok(Some(head)),
            Err(failure) if failure.kind == FailureKind::NoSuchKey => Ok(None),
            // Is it the object or the bucket that is missing? The answer to GET says it.
            Err(failure) if failure.kind == FailureKind::NotFound => {
                match self.get(path, None, BLOB_BYTES_MAX).await? {
                    Fetched::Found(object) => Ok(Some(object.head)),
                    Fetched::Absent | Fetched::Unchanged => Ok(None),
                }
            }
            Err(failure) => Err(failure),
        }
    }

    /// Writes an object, whole or not at all; its e-tag, if the server gives one.
    pub(crate) async fn put(
        &self,
        path: &ObjectPath,
        content: Vec<u8>,
        raw_bytes: Option<u32>,
        condition: Condition,
    ) -> Result<Option<String>, Failure> {
        let mode = match condition {
            Condition::None => PutMode::Overwrite,
            Condition::Absent => PutMode::Create,
            Condition::Unchanged(e_tag) => PutMode::Update(UpdateVersion { e_tag, version: None }),
        };
        let mut options = PutOptions { mode, ..PutOptions::default() };
        if let Some(raw_bytes) = raw_bytes {
            let name = Attribute::Metadata(RAW_BYTES.into());
            options.attributes.insert(name, raw_bytes.to_string().into());
        }
        let payload = PutPayload::from(content);
        self.in_time(async { Ok(self.store.put_opts(path, payload, options).await?.e_tag) }).await
    }

    /// Removes an object. It is no error if there is none.
    pub(crate) async fn delete(&self, path: &ObjectPath) -> Result<(), Failure> {
        match self.in_time(self.store.delete(path)).await {
            Err(failure) if failure.kind == FailureKind::NoSuchKey => Ok(()),
            other => other,
        }
    }

    /// The objects whose names begin with `prefix`, page by page.
    pub(crate) fn list(&self, prefix: &ObjectPath) -> ObjectStream {
        self.store.list(Some(prefix))
    }

    /// The next of a list.
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
            let text = format!("no answer within {} s", self.deadline.as_secs_f32());
            return Err(Failure::new(FailureKind::Other, text));
        };
        outcome.map_err(|error| Failure::of(&error, &self.secrets))
    }
}

/// Objects that are being listed.
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
