//! The chunks of a world, listed page by page.

use std::sync::Arc;
use std::vec::IntoIter;

use hyworld_coords::ChunkPos;
use hyworld_providers::Result;

use crate::S3Storage;
use crate::key::S3Url;
use crate::objects::{ObjectStream, Objects};
use crate::runtime::Pending;

/// How many objects are handed over at once: a page of the server.
const BATCH: usize = 1000;

/// Yields positions while the next page is already on its way. Two pages are in memory at most.
pub(crate) struct Listing<'a> {
    storage: &'a S3Storage,
    ready: IntoIter<Result<ChunkPos>>,
    next: Option<Pending<Page>>,
}

/// Some positions, and where the others come from.
struct Page {
    positions: Vec<Result<ChunkPos>>,
    rest: Option<ObjectStream>,
}

impl<'a> Listing<'a> {
    pub(crate) fn start(storage: &'a S3Storage) -> Self {
        let stream = storage.objects.list(&storage.url.chunks());
        let mut listing = Self { storage, ready: Vec::new().into_iter(), next: None };
        listing.ask(stream);
        listing
    }

    fn ask(&mut self, stream: ObjectStream) {
        let (objects, url) = (Arc::clone(&self.storage.objects), self.storage.url.clone());
        self.next = Some(self.storage.runtime.begin(Page::read(objects, url, stream)));
    }
}

impl Iterator for Listing<'_> {
    type Item = Result<ChunkPos>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(at) = self.ready.next() {
                return Some(at);
            }
            let Some(page) = self.next.take()?.wait() else {
                return Some(Err(self.storage.panicked("list")));
            };
            self.ready = page.positions.into_iter();
            if let Some(rest) = page.rest {
                self.ask(rest);
            }
        }
    }
}

impl Page {
    async fn read(objects: Arc<Objects>, url: S3Url, mut stream: ObjectStream) -> Self {
        let mut positions = Vec::new();
        for _ in 0..BATCH {
            match objects.next(&mut stream).await {
                // Objects with other names are not ours.
                Some(Ok(object)) => positions.extend(url.chunk_at(&object.location).map(Ok)),
                Some(Err(failure)) => {
                    positions.push(Err(failure.into_error(&url.location(), "list all chunks")));
                    return Self { positions, rest: None };
                }
                None => return Self { positions, rest: None },
            }
        }
        Self { positions, rest: Some(stream) }
    }
}
