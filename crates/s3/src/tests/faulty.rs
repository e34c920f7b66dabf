//! An object store that simulates faults of servers and networks.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// An object store with faults that tests can switch on.
#[derive(Debug, Default)]
pub(super) struct FaultyStore {
    pub(super) inner: InMemory,
    /// Writes regardless of conditions.
    pub(super) ignores_conditions: AtomicBool,
    /// Cannot be reached.
    pub(super) is_down: AtomicBool,
    /// Writes, but loses the response once.
    pub(super) loses_response: AtomicBool,
    /// Delay of writing a chunk.
    pub(super) chunk_delay: Mutex<Duration>,
}

fn broken(text: &str) -> object_store::Error {
    object_store::Error::Generic { store: "faulty", source: text.to_owned().into() }
}

impl FaultyStore {
    fn reach(&self) -> Result<()> {
        let is_down = self.is_down.load(Ordering::SeqCst);
        if is_down { Err(broken("the server is down")) } else { Ok(()) }
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyStore")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        location: &ObjectPath,
        payload: PutPayload,
        mut opts: PutOptions,
    ) -> Result<PutResult> {
        self.reach()?;
        if self.ignores_conditions.load(Ordering::SeqCst) {
            opts.mode = PutMode::Overwrite;
        }
        if location.as_ref().contains("/chunks/") {
            let delay = *self.chunk_delay.lock().unwrap();
            tokio::time::sleep(delay).await;
        }
        let mode = opts.mode.clone();
        let written = self.inner.put_opts(location, payload.clone(), opts.clone()).await?;
        if self.loses_response.swap(false, Ordering::SeqCst) {
            // The client then sends the request again.
            return self.inner.put_opts(location, payload, PutOptions { mode, ..opts }).await;
        }
        Ok(written)
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> Result<GetResult> {
        self.reach()?;
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<ObjectPath>>,
    ) -> BoxStream<'static, Result<ObjectPath>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.reach() {
            Ok(()) => self.inner.list(prefix),
            Err(error) => futures_util::stream::iter([Err(error)]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &ObjectPath,
        to: &ObjectPath,
        options: CopyOptions,
    ) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
