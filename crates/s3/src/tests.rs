//! Tests with an object store in memory. `tests/s3` uses a real server.

mod faulty;
mod fenced;
mod stored;

use std::sync::Arc;

use hyworld_providers::{Access, Result};
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{Attribute, ObjectStore, ObjectStoreExt, PutOptions};

use super::{S3Options, S3Storage};

const URL: &str = "s3://bucket/w";

fn options() -> S3Options {
    S3Options::new(URL).unwrap()
}

fn memory() -> Arc<InMemory> {
    Arc::new(InMemory::new())
}

fn open(store: &Arc<InMemory>) -> Result<S3Storage> {
    options().open_on(Arc::clone(store) as Arc<dyn ObjectStore>)
}

fn read_only(store: &Arc<InMemory>) -> Result<S3Storage> {
    options().access(Access::ReadOnly).open_on(Arc::clone(store) as Arc<dyn ObjectStore>)
}

/// Runs work directly on the store, bypassing the storage.
fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn put(store: &InMemory, name: &str, bytes: &[u8], raw: Option<&str>) {
    let mut options = PutOptions::default();
    if let Some(raw) = raw {
        let name = Attribute::Metadata("hyworld-raw".into());
        options.attributes.insert(name, raw.to_owned().into());
    }
    let path = ObjectPath::parse(name).unwrap();
    wait(store.put_opts(&path, bytes.to_vec().into(), options)).unwrap();
}

fn get(store: &InMemory, name: &str) -> Option<Vec<u8>> {
    let path = ObjectPath::parse(name).unwrap();
    wait(async { Some(store.get(&path).await.ok()?.bytes().await.unwrap().to_vec()) })
}

fn names(store: &InMemory) -> Vec<String> {
    use futures_util::TryStreamExt;
    let all = wait(store.list(None).try_collect::<Vec<_>>()).unwrap();
    all.into_iter().map(|object| object.location.to_string()).collect()
}
