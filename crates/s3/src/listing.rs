//! Lists the chunks of a world page by page.

use std::sync::Arc;
use std::vec::IntoIter;

use hyworld_coords::ChunkPos;
use hyworld_providers::Result;

use crate::S3Storage;
use crate::key::S3Url;
use crate::objects::{ObjectStream, Objects};
use crate::runtime::Pending;

/// Number of objects per page, as on the server.
const BATCH: usize = 1000;

/// An iterator over positions that requests the next page in advance. At most two pages are in
/// memory.
pub(crate) struct Listing<'a> {
    storage: &'a S3Storage,
    ready: IntoIter<Result<ChunkPos>>,
    next: Option<Pending<Page>>,
}

/// The positions of a page, and the stream for the next pages.
struct Page {
    positions: Vec<Result<ChunkPos>>,
    rest: Option<ObjectStream>,
}

impl<'a> Listing<'a> {
    pub(crate) fn start(storage: &'a S3Storage) -> Self {
        let stream = storage.objects.list(&storage.url.chunks());
        let mut listing = Self { storage, ready: Vec::new().into_iter(), next: None };
        listing.request(stream);
        listing
    }

    fn request(&mut self, stream: ObjectStream) {
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
                self.request(rest);
            }
        }
    }
}

impl Page {
    async fn read(objects: Arc<Objects>, url: S3Url, mut stream: ObjectStream) -> Self {
        let mut positions = Vec::new();
        for _ in 0..BATCH {
            match objects.next(&mut stream).await {
                // Ignore objects with other names.
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
