//! [`Server`]: connections, their limits, and the answers to requests.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyworld_map::VIEWER_FILES;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::answer::{Answer, content_type};
use crate::api::{Api, ApiError};
use crate::events::{self, Events};
use crate::live::LiveMap;
use crate::metrics::{self, Counters};
use crate::request::{Refusal, Request};

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

/// How long drawing, and then requests, may continue after the server was asked to stop. Both may
/// wait for a disk that does not answer.
const GRACE: Duration = Duration::from_millis(700);

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
    access: Access,
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
            access: Access::default(),
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
            shared.access.hosts = hosts;
        }
        self
    }

    /// Lets pages of other sites show the map in a frame.
    #[must_use]
    pub fn allow_framing(mut self, is_allowed: bool) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.access.is_framing_allowed = is_allowed;
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

    /// Serves until `stop` is set, and then for up to two seconds while requests end. Threads that
    /// still read the world after that time continue; end the process, or they hold the map.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub fn run_until(self, stop: &AtomicBool) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(WORKERS_MAX + 2)
            .enable_all()
            .build()?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (map, flag) = (Arc::clone(&self.shared.map), Arc::clone(&is_stopped));
        let (watching, has_ended) = std::sync::mpsc::channel::<Infallible>();
        let watch = move || {
            map.watch(&flag);
            drop(watching);
        };
        std::thread::Builder::new().spawn(watch)?;
        let served = runtime.block_on(async {
            let listener = TcpListener::from_std(self.listener)?;
            let accepting = tokio::spawn(accept(listener, self.shared));
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            accepting.abort();
            io::Result::Ok(())
        });
        // Also ends a drawing, which may take minutes.
        is_stopped.store(true, Ordering::Relaxed);
        // Returns when the thread ends, which closes the channel, or after the time.
        let _ended = has_ended.recv_timeout(GRACE);
        runtime.shutdown_timeout(GRACE);
        served
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
        let mut reply = match self.checked(request) {
            Ok(Request::Events) => match events::stream(&self.map, &self.streams) {
                Ok(events) => {
                    is_stream.store(true, Ordering::Relaxed);
                    events.map(Either::Right)
                }
                Err(refusal) => self.complete(refusal.into(), request),
            },
            Ok(checked) => {
                let is_versioned = request.uri().query().is_some_and(|it| it.starts_with("v="));
                self.complete(self.answer(checked, is_versioned).await, request)
            }
            Err(refusal) => self.complete(refusal.into(), request),
        };
        self.access.protect(reply.headers_mut());
        reply
    }

    fn complete(&self, answer: Answer, request: &hyper::Request<Incoming>) -> Reply {
        if answer.status >= 400 {
            self.counters.refused.fetch_add(1, Ordering::Relaxed);
        }
        answer.response(request.method() != Method::HEAD).map(Either::Left)
    }

    fn checked(&self, request: &hyper::Request<Incoming>) -> Result<Request, Refusal> {
        self.access.check(request.headers())?;
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
}

fn error_json(status: u16, text: &str) -> Answer {
    Answer::json(status, serde_json::json!({ "error": text }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::NoApi;
    use crate::live::{LiveOptions, lock};
    use std::io::Write;

    use hyworld_coords::{BlockPos, ChunkPos};
    use hyworld_providers::{ChunkStorage, RegionFiles};

    /// An API whose answers never come.
    struct Hanging;

    impl Api for Hanging {
        fn info(&self) -> Result<Vec<u8>, ApiError> {
            std::thread::sleep(Duration::from_mins(1));
            Ok(Vec::new())
        }

        fn chunk(&self, _at: ChunkPos) -> Result<Vec<u8>, ApiError> {
            self.info()
        }

        fn block(&self, _at: BlockPos) -> Result<Vec<u8>, ApiError> {
            self.info()
        }
    }

    fn server(api: Arc<dyn Api>) -> (tempfile::TempDir, Arc<LiveMap>, Server) {
        let folder = tempfile::tempdir().unwrap();
        let storage = RegionFiles::open(folder.path()).unwrap();
        storage.write(ChunkPos::new(0, 0), b"one").unwrap();
        let map = Arc::new(LiveMap::open(folder.path(), LiveOptions::default()).unwrap());
        let server = Server::bind(([127, 0, 0, 1], 0).into(), Arc::clone(&map), api).unwrap();
        (folder, map, server)
    }

    /// Runs a server, and stops it after `meanwhile`. It must end within two seconds.
    fn run_and_stop(server: Server, meanwhile: impl FnOnce()) {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = std::sync::mpsc::channel();
        let flag = Arc::clone(&stop);
        std::thread::spawn(move || sender.send(server.run_until(&flag)));
        meanwhile();
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        let ended = receiver.recv_timeout(Duration::from_secs(2));
        assert!(ended.is_ok_and(|ended| ended.is_ok()), "still running after 2 s");
    }

    #[test]
    fn a_disk_that_does_not_answer_does_not_delay_the_end() {
        let (_folder, map, server) = server(Arc::new(NoApi));
        // The thread that watches waits for this lock as long as it would for a disk.
        let hanging = lock(&map.worlds.first().unwrap().watch);
        run_and_stop(server, || ());
        assert!(map.tile_folder().exists());
        map.close();
        assert!(!map.tile_folder().exists(), "the temporary folder is left behind");
        drop(hanging);
    }

    #[test]
    fn a_request_that_is_not_answered_does_not_delay_the_end() {
        let (_folder, _map, server) = server(Arc::new(Hanging));
        let mut client = std::net::TcpStream::connect(server.address()).unwrap();
        run_and_stop(server, || {
            client.write_all(b"GET /api/v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        });
    }
}
