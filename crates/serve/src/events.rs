//! Streams of changes of the world, as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use tokio::sync::{Semaphore, broadcast, mpsc};

use crate::live::LiveMap;
use crate::request::Refusal;

/// How often a comment is sent to clients that listen for changes, which keeps their connections
/// open.
const KEEP_ALIVE_SECONDS: u64 = 15;

/// Starts a stream of changes. `limit` has a permit for each further stream.
pub(crate) fn stream(map: &LiveMap, limit: &Arc<Semaphore>) -> Result<Response<Events>, Refusal> {
    let permit = Arc::clone(limit).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal(503, "too many clients listen for changes"))?;
    let (sender, receiver) = mpsc::channel(4);
    let mut changes = map.events();
    tokio::spawn(async move {
        let mut text = ": connected\n\n".to_owned();
        loop {
            if sender.send(Bytes::from(text)).await.is_err() {
                break;
            }
            let keep_alive = tokio::time::sleep(Duration::from_secs(KEEP_ALIVE_SECONDS));
            text = tokio::select! {
                change = changes.recv() => match change {
                    Ok(change) => format!("event: changed\ndata: {change}\n\n"),
                    Err(broadcast::error::RecvError::Lagged(_)) => continue_text(),
                    Err(broadcast::error::RecvError::Closed) => break,
                },
                () = keep_alive => continue_text(),
                () = sender.closed() => break,
            };
        }
        drop(permit);
    });
    let mut response = Response::new(Events(receiver));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// A comment, which keeps a stream open.
fn continue_text() -> String {
    ": still here\n\n".to_owned()
}

/// The body of a stream of changes.
pub(crate) struct Events(mpsc::Receiver<Bytes>);

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
