#![doc = include_str!("../README.md")]

mod cache;
mod connect;
mod failure;
mod fence;
mod key;
mod lease;
mod listing;
mod manifest;
mod objects;
mod options;
mod probe;
mod process;
mod profile;
mod runtime;
mod storage;
#[cfg(test)]
mod tests;
mod variables;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyworld_providers::{
    Access, ChunkStorage, Error, OpenContext, ProviderConfig, ProviderRegistry, Result,
};
use object_store::ObjectStore;
use tokio::sync::Semaphore;

use cache::Cache;
pub use cache::CacheStats;
use connect::{Connected, FIRST_ANSWER_LIMIT};
use failure::Secrets;
use fence::Fence;
use key::S3Url;
use manifest::Found;
use objects::Objects;
pub use options::S3Options;
use runtime::Runtime;

/// How long closing waits for the lease to be released. Otherwise the lease expires.
const RELEASE_LIMIT: Duration = Duration::from_secs(5);

/// The chunks of a world as objects of a bucket.
///
/// - Each write is one object, written completely or not at all. It is durable when it returns, by
///   the rules of the server.
/// - One program writes at a time. It holds a lease, which two background threads renew. A second
///   program gets [`Error::Locked`] when it opens the world. A program whose lease was taken over,
///   because it could not reach the server for long, gets [`Error::ReadOnly`] from then on. Any
///   number may read.
/// - Requests that fail for temporary reasons are retried for up to a minute; the very first one
///   for ten seconds, because the address may be wrong.
/// - It may be used from any thread. On threads of an asynchronous runtime it blocks.
pub struct S3Storage {
    url: S3Url,
    objects: Arc<Objects>,
    /// `None` if it is open for reading.
    fence: Option<Arc<Fence>>,
    cache: Option<Cache>,
    /// Maximum number of concurrent requests for chunks per call.
    in_flight_max: usize,
    /// Limits the concurrent requests of all threads together.
    permits: Arc<Semaphore>,
    level: i32,
    runtime: Runtime,
}

impl S3Storage {
    /// Opens a world at `s3://bucket/prefix` for reading and writing. Server and credentials are
    /// taken from the environment; see [`S3Options`].
    ///
    /// # Errors
    /// As for [`S3Options::open`].
    pub fn open(url: &str) -> Result<Self> {
        S3Options::new(url)?.open()
    }

    /// Opens a world at `s3://bucket/prefix` for reading.
    ///
    /// # Errors
    /// As for [`S3Options::open`].
    pub fn open_read_only(url: &str) -> Result<Self> {
        S3Options::new(url)?.access(Access::ReadOnly).open()
    }

    /// Returns the statistics of the cache, or `None` if there is no cache.
    pub fn cache_stats(&self) -> Option<CacheStats> {
        self.cache.as_ref().map(Cache::current_stats)
    }

    fn start(options: &S3Options, connected: Connected) -> Result<Self> {
        let url = options.url().clone();
        let thread_failed = |source: std::io::Error| Error::Engine {
            location: url.location(),
            action: "start threads",
            source: source.into(),
        };
        let Connected { store, first, secrets, server } = connected;
        let runtime = Runtime::start().map_err(thread_failed)?;
        let first_limit = options.deadline.min(FIRST_ANSWER_LIMIT);
        let first = Objects::new(first, first_limit, secrets.clone());
        let objects = Arc::new(Objects::new(store, options.deadline, secrets));
        let mut storage = Self {
            cache: options.open_cache(&format!("{server} {}", url.location()))?,
            objects,
            url,
            fence: None,
            in_flight_max: options.in_flight_max,
            permits: Arc::new(Semaphore::new(options.in_flight_max)),
            level: options.compression_level,
            runtime,
        };
        storage.fence = storage.enter(options, first)?;
        if let Some(fence) = &storage.fence {
            storage.runtime.spawn(Arc::clone(fence).keep_renewing());
        }
        Ok(storage)
    }

    /// Checks the stored world, and takes the lease if the storage is opened for writing.
    fn enter(&self, options: &S3Options, first: Objects) -> Result<Option<Arc<Fence>>> {
        let (objects, url) = (Arc::clone(&self.objects), self.url.clone());
        let (access, time) = (options.access, options.lease_time);
        let (single_writer, building) = (options.single_writer, options.building.clone());
        let entered = self.runtime.run(async move {
            let building = building.as_deref();
            let found = manifest::find(&first, &url).await?;
            manifest::admit(&url, &found, access, building)?;
            if access == Access::ReadOnly {
                return Ok(None);
            }
            let fence = Fence::take(Arc::clone(&objects), url.clone(), time, single_writer).await?;
            if found == Found::Nothing
                && let Err(error) = manifest::write(&objects, &url, building).await
            {
                fence.release().await;
                return Err(error);
            }
            Ok(Some(fence))
        });
        entered.unwrap_or_else(|| Err(self.panicked("open")))
    }

    /// Marks a copy that was started with [`S3Options::building`] as complete.
    ///
    /// # Errors
    /// Returns an error if the server fails or another writer took over.
    pub fn finish_building(&self) -> Result<()> {
        let (objects, url, fence) = (Arc::clone(&self.objects), self.url.clone(), self.fence()?);
        let finished = self.runtime.run(async move {
            fence.check().await?;
            manifest::write(&objects, &url, None).await
        });
        finished.unwrap_or_else(|| Err(self.panicked("finish the copy")))
    }

    fn fence(&self) -> Result<Arc<Fence>> {
        self.fence.clone().ok_or_else(|| Error::ReadOnly {
            location: self.url.location(),
            reason: "it was opened for reading".to_owned(),
        })
    }

    fn panicked(&self, action: &'static str) -> Error {
        let source = "a task of this program panicked".into();
        Error::Engine { location: self.url.location(), action, source }
    }
}

impl Drop for S3Storage {
    fn drop(&mut self) {
        if let Some(fence) = self.fence.take() {
            self.runtime.begin(async move { fence.release().await }).wait_for(RELEASE_LIMIT);
        }
    }
}

/// Shows the location, but nothing about the connection.
impl fmt::Debug for S3Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("S3Storage");
        shown.field("location", &self.url.location()).field("is_writable", &self.fence.is_some());
        shown.field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// Adds the type `hyworld:S3` to a registry.
pub fn register(registry: &mut ProviderRegistry) {
    registry.register(key::TYPE_NAME, open_from_config);
}

fn open_from_config(
    config: &ProviderConfig,
    context: &OpenContext<'_>,
) -> Result<Box<dyn ChunkStorage>> {
    let options = S3Options::from_config(config, context.world)?.access(context.access);
    Ok(Box::new(options.open()?))
}

/// Wraps a store that needs no connection.
fn without_connection(store: Arc<dyn ObjectStore>) -> Connected {
    let server = store.to_string();
    Connected { first: Arc::clone(&store), store, secrets: Secrets::default(), server }
}
