//! [`Server`]: connections, their limits, and the answers to requests.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyworld_map::VIEWER_FILES;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, broadcast, mpsc};

use crate::answer::{Answer, content_type};
use crate::api::{Api, ApiError};
use crate::live::LiveMap;
use crate::metrics::{self, Counters};
use crate::request::{Refusal, Request, is_own_host};

/// The maximum number of open connections. Others wait until one is closed.
const CONNECTIONS_MAX: usize = 512;

/// The maximum number of clients that listen for changes.
const STREAMS_MAX: usize = 128;

/// The maximum number of tiles and answers that are computed at the same time.
const WORKERS_MAX: usize = 4;

/// The maximum number of requests that wait for a worker.
const WAITING_MAX: usize = 256;

/// How long a client may take to send the head of a request.
const HEAD_SECONDS: u64 = 5;

/// How long a connection stays open, unless it listens for changes.
const CONNECTION_SECONDS: u64 = 120;

/// How often a comment is sent to clients that listen for changes, which keeps their connections
/// open.
const KEEP_ALIVE_SECONDS: u64 = 15;

/// The maximum length of the head of a request.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// A server that is bound to an address.
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

struct Shared {
    map: Arc<LiveMap>,
    api: Arc<dyn Api>,
    hosts: Vec<String>,
    counters: Counters,
    workers: Semaphore,
    waiting: Semaphore,
    streams: Arc<Semaphore>,
}

impl Server {
    /// Binds to an address.
    ///
    /// # Errors
    /// Returns an error if the address is in use or not one of this machine.
    pub fn bind(address: SocketAddr, map: Arc<LiveMap>, api: Arc<dyn Api>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Shared {
            map,
            api,
            hosts: Vec::new(),
            counters: Counters::default(),
            workers: Semaphore::new(WORKERS_MAX),
            waiting: Semaphore::new(WAITING_MAX),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        };
        Ok(Self { listener, address, shared: Arc::new(shared) })
    }

    /// Accepts requests for other host names too, such as that of a proxy in front of this server.
    #[must_use]
    pub fn hosts(mut self, hosts: Vec<String>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.hosts = hosts;
        }
        self
    }

    /// Returns the address, with the port that the system chose if it was 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub fn run(self) -> io::Result<()> {
        self.run_until(&AtomicBool::new(false))
    }

    /// Serves until `stop` is set.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub fn run_until(self, stop: &AtomicBool) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(WORKERS_MAX + 2)
            .enable_all()
            .build()?;
        std::thread::scope(|scope| {
            let map = Arc::clone(&self.shared.map);
            // Also ends a drawing, which may take minutes.
            let is_stopped = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&is_stopped);
            let watch = move || map.watch(&flag);
            std::thread::Builder::new().spawn_scoped(scope, watch)?;
            let served = runtime.block_on(async {
                let listener = TcpListener::from_std(self.listener)?;
                let accepting = tokio::spawn(accept(listener, self.shared));
                while !stop.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                accepting.abort();
                io::Result::Ok(())
            });
            is_stopped.store(true, Ordering::Relaxed);
            served
        })?;
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // Always succeeds, because the semaphore is never closed.
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    shared.counters.connections.fetch_add(1, Ordering::Relaxed);
                    serve_connection(stream, &shared).await;
                    shared.counters.connections.fetch_sub(1, Ordering::Relaxed);
                    drop(permit);
                });
            }
            // The system has no room for another connection right now.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn serve_connection(stream: TcpStream, shared: &Arc<Shared>) {
    let is_stream = Arc::new(AtomicBool::new(false));
    let service = {
        let is_stream = Arc::clone(&is_stream);
        let shared = Arc::clone(shared);
        service_fn(move |request| {
            let (shared, is_stream) = (Arc::clone(&shared), Arc::clone(&is_stream));
            async move { Ok::<_, Infallible>(shared.reply(&request, &is_stream).await) }
        })
    };
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(HEAD_SECONDS))
        .max_buf_size(HEAD_BYTES_MAX)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    loop {
        tokio::select! {
            // Errors are ignored, because the client caused them.
            _ended = connection.as_mut() => return,
            () = tokio::time::sleep(Duration::from_secs(CONNECTION_SECONDS)) => {
                if !is_stream.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
}

type Reply = Response<Either<Full<Bytes>, Events>>;

impl Shared {
    async fn reply(
        self: &Arc<Self>,
        request: &hyper::Request<Incoming>,
        is_stream: &AtomicBool,
    ) -> Reply {
        self.counters.requests.fetch_add(1, Ordering::Relaxed);
        let has_body = request.method() != Method::HEAD;
        let answer = match self.checked(request) {
            Ok(Request::Events) => match self.events() {
                Ok(events) => {
                    is_stream.store(true, Ordering::Relaxed);
                    return events;
                }
                Err(refusal) => refusal.into(),
            },
            Ok(checked) => {
                let is_versioned = request.uri().query().is_some_and(|it| it.starts_with("v="));
                self.answer(checked, is_versioned).await
            }
            Err(refusal) => refusal.into(),
        };
        if answer.status >= 400 {
            self.counters.refused.fetch_add(1, Ordering::Relaxed);
        }
        answer.response(has_body).map(Either::Left)
    }

    fn checked(&self, request: &hyper::Request<Incoming>) -> Result<Request, Refusal> {
        let host = request.headers().get(HOST).ok_or(Refusal(400, "Host is missing"))?;
        let host = host.to_str().map_err(|_| Refusal(400, "Host is not a name"))?;
        if request.headers().get_all(HOST).iter().count() > 1 {
            return Err(Refusal(400, "several Hosts"));
        }
        if !is_own_host(host, &self.hosts) {
            return Err(Refusal(421, "this server has another name; start it with --host NAME"));
        }
        Request::parse(request.method(), request.uri())
    }

    async fn answer(self: &Arc<Self>, request: Request, is_versioned: bool) -> Answer {
        match request {
            Request::Viewer(number) => match VIEWER_FILES.get(number) {
                Some((name, bytes)) => Answer::new(content_type(name), *bytes),
                None => Refusal(404, "nothing is here").into(),
            },
            Request::List => Answer::new(content_type("map.js"), self.map.list()),
            Request::World(id) => match self.map.page(&id) {
                Some(page) => Answer::new(content_type("world.js"), page),
                None => Refusal(404, "no such world, or it is not ready yet").into(),
            },
            Request::Metrics => {
                let text = metrics::text(&self.map, &self.counters);
                Answer::new("text/plain; version=0.0.4; charset=utf-8", text)
            }
            Request::Events => Refusal(404, "nothing is here").into(),
            other => self.work(other, is_versioned).await,
        }
    }

    /// Answers requests that read the world, a few at a time.
    async fn work(self: &Arc<Self>, request: Request, is_versioned: bool) -> Answer {
        let busy = || Answer::from(Refusal(503, "too many requests; try again later"));
        let Ok(_waiting) = self.waiting.try_acquire() else { return busy() };
        let Ok(_worker) = self.workers.acquire().await else { return busy() };
        let shared = Arc::clone(self);
        let worked = tokio::task::spawn_blocking(move || shared.compute(request, is_versioned));
        worked.await.unwrap_or_else(|_| Refusal(500, "the request failed").into())
    }

    fn compute(&self, request: Request, is_versioned: bool) -> Answer {
        let from_api = |answer: Result<Vec<u8>, ApiError>| match answer {
            Ok(json) => Answer::json(200, json),
            Err(ApiError::NotFound(text)) => error_json(404, &text),
            Err(ApiError::Failed(text)) => error_json(500, &text),
        };
        match request {
            Request::Info => from_api(self.api.info()),
            Request::Chunk(at) => from_api(self.api.chunk(at)),
            Request::Block(at) => from_api(self.api.block(at)),
            Request::Tile { world, layer, at } => match self.map.tile(&world, &layer, at) {
                Ok(Some(bytes)) => {
                    let name = if layer == "info" { "tile.js" } else { "tile.webp" };
                    let seconds = u32::from(is_versioned);
                    Answer { seconds, ..Answer::new(content_type(name), bytes) }
                }
                Ok(None) => Refusal(404, "no such tile").into(),
                Err(_) => Refusal(500, "the tile cannot be drawn").into(),
            },
            _ => Refusal(404, "nothing is here").into(),
        }
    }

    /// Starts a stream of changes.
    fn events(&self) -> Result<Reply, Refusal> {
        let permit = Arc::clone(&self.streams).try_acquire_owned();
        let permit = permit.map_err(|_| Refusal(503, "too many clients listen for changes"))?;
        let (sender, receiver) = mpsc::channel(4);
        let mut changes = self.map.events();
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
        let mut response = Response::new(Either::Right(Events(receiver)));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

/// A comment, which keeps a stream open.
fn continue_text() -> String {
    ": still here\n\n".to_owned()
}

fn error_json(status: u16, text: &str) -> Answer {
    Answer::json(status, serde_json::json!({ "error": text }).to_string())
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
