//! Credentials appear neither in errors nor in debug output nor in logs.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyworld_providers::{Access, ChunkStorage};
use hyworld_s3::S3Options;

use crate::harness::{GAME, Server, is_available};
use crate::positions;

const TOKEN: &str = "session+TOKEN/value";

/// Collects everything that any crate logs, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        writeln!(self.0.lock().unwrap(), "{} {}", record.target(), record.args()).unwrap();
    }

    fn flush(&self) {}
}

impl tracing::field::Visit for Log {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{field} {value:?}").unwrap();
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        span.record(&mut self.clone());
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// With nextest this test runs alone in its process; with `cargo test` other tests also log here,
/// which is harmless.
#[test]
fn credentials_are_shown_nowhere() {
    let log = Log::default();
    log::set_boxed_logger(Box::new(log.clone())).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    let mut shown = without_a_server();
    if is_available() {
        shown += &on_a_server();
    }
    let logged = log.0.lock().unwrap().clone();
    assert!(logged.contains("127.0.0.1"), "nothing was logged, so nothing was tested");
    for (what, text) in [("shown", shown), ("logged", logged)] {
        for secret in [GAME.secret, TOKEN] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{what}");
        }
    }
}

fn variables(secret: &str) -> Vec<(String, String)> {
    [
        ("AWS_ACCESS_KEY_ID", GAME.key),
        ("AWS_SECRET_ACCESS_KEY", secret),
        ("AWS_SESSION_TOKEN", TOKEN),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

fn without_a_server() -> String {
    let options = S3Options::new("s3://bucket/w").unwrap().variables(variables(GAME.secret));
    let options = options.endpoint("http://127.0.0.1:1").deadline(Duration::from_secs(1));
    let error = options.open().unwrap_err();
    let shown = format!("{options:?} {error} {error:?}");
    assert!(!shown.contains(GAME.key), "{shown}");
    shown
}

fn on_a_server() -> String {
    let server = Server::start();
    let storage = server.open("secrets");
    storage.write(positions(1)[0], b"x").unwrap();
    let mut shown = format!("{storage:?} {}", storage.location());
    // An unknown token, and a wrong secret.
    for secret in [GAME.secret, "wrong"] {
        let options = server.options("secrets").access(Access::ReadOnly);
        let opened = options.variables(variables(secret)).open();
        write!(shown, "{opened:?}").unwrap();
        if let Err(error) = opened {
            write!(shown, " {error}").unwrap();
        }
    }
    for name in server.names("secrets") {
        shown += &String::from_utf8_lossy(&server.get(&name).unwrap());
    }
    assert!(!shown.contains(GAME.key), "{shown}");
    shown
}
