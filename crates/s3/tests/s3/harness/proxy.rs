//! A connection to a server that is slow or cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A proxy that delays responses. Its threads end with the connections.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Proxy {
    /// Starts a proxy to a port of this machine that delays every response.
    pub(crate) fn start(to: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&is_cut);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let is_cut = Arc::clone(&shared);
                std::thread::spawn(move || connect(&client, to, delay, &is_cut));
            }
        });
        Self { port, is_cut }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Blocks or unblocks all connections.
    pub(crate) fn cut(&self, cut: bool) {
        self.is_cut.store(cut, Ordering::SeqCst);
    }
}

fn connect(client: &TcpStream, to: u16, delay: Duration, is_cut: &Arc<AtomicBool>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { return };
    let (from, onto, cut) = (client.try_clone(), server.try_clone(), Arc::clone(is_cut));
    let (Ok(from), Ok(onto)) = (from, onto) else { return };
    // Send small packets without delay.
    drop((client.set_nodelay(true), server.set_nodelay(true)));
    let there = std::thread::spawn(move || copy(from, onto, Duration::ZERO, &cut));
    if let (Ok(server), Ok(client)) = (server.try_clone(), client.try_clone()) {
        copy(server, client, delay, is_cut);
    }
    drop((client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both)));
    drop(there.join());
}

fn copy(mut from: TcpStream, mut onto: TcpStream, delay: Duration, is_cut: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        std::thread::sleep(delay);
        if is_cut.load(Ordering::SeqCst) || onto.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    drop((from.shutdown(Shutdown::Both), onto.shutdown(Shutdown::Both)));
}
