//! Numbers for Prometheus.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use hyworld::indexed_storage::IndexedStorageFile;
use hyworld_coords::RegionPos;

use crate::live::{LiveMap, lock};

/// What was measured when a world was last drawn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) chunks: u64,
    /// The length of all region files.
    pub(crate) bytes: u64,
    /// Slots whose blobs cannot be read, and region files that cannot be opened.
    pub(crate) damaged_slots: u64,
    /// When the world was drawn, in milliseconds since 1970.
    pub(crate) scanned_ms: u64,
    /// Why the last drawing failed.
    pub(crate) last_error: Option<String>,
}

impl Numbers {
    pub(crate) fn measure(files: &[(RegionPos, PathBuf)], chunks: u64) -> Self {
        let bytes = files.iter().filter_map(|(_, path)| path.metadata().ok());
        let bytes = bytes.map(|metadata| metadata.len()).sum();
        let damaged_slots = files.iter().map(|(_, path)| damaged(path)).sum();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let scanned_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        Self { chunks, bytes, damaged_slots, scanned_ms, last_error: None }
    }
}

/// Returns the number of slots of a region file that cannot be read.
fn damaged(path: &PathBuf) -> u64 {
    let Ok(file) = IndexedStorageFile::open_read_only(path) else { return 1 };
    let is_damaged = |slot: &hyworld::indexed_storage::Slot| file.stat(*slot).is_err();
    file.occupied().iter().filter(|slot| is_damaged(slot)).count() as u64
}

/// Counts of the server.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) connections: AtomicU64,
}

/// Returns the text for Prometheus.
pub(crate) fn text(map: &LiveMap, counters: &Counters) -> String {
    let mut out = String::new();
    let mut family = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        // Writing to a string cannot fail.
        let _written = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _written = writeln!(out, "{name}{labels} {value}");
        }
    };
    let of_worlds = |value: fn(&Numbers) -> u64| -> Vec<(String, f64)> {
        let worlds = map.worlds.iter();
        worlds.map(|world| (label(&world.name), number(value(&lock(&world.numbers))))).collect()
    };
    let chunks = of_worlds(|numbers| numbers.chunks);
    family("hyworld_chunks", "gauge", "Chunks of the world.", &chunks);
    let bytes = of_worlds(|numbers| numbers.bytes);
    family("hyworld_region_bytes", "gauge", "Length of all region files.", &bytes);
    let damaged = of_worlds(|numbers| numbers.damaged_slots);
    family("hyworld_damaged_slots", "gauge", "Slots that cannot be read.", &damaged);
    let failed = of_worlds(|numbers| u64::from(numbers.last_error.is_some()));
    family("hyworld_draw_failed", "gauge", "Whether the last drawing failed.", &failed);
    let scanned = of_worlds(|numbers| numbers.scanned_ms / 1_000);
    let help = "When the world was last drawn, in seconds since 1970.";
    family("hyworld_last_scan_timestamp_seconds", "gauge", help, &scanned);
    let count = |value: &AtomicU64| [(String::new(), number(value.load(Ordering::Relaxed)))];
    family("hyworld_tiles_drawn_total", "counter", "Tiles drawn.", &count(&map.drawn_tiles));
    family("hyworld_http_requests_total", "counter", "Requests.", &count(&counters.requests));
    family("hyworld_http_refused_total", "counter", "Refused requests.", &count(&counters.refused));
    let open = &counters.connections;
    family("hyworld_http_connections", "gauge", "Open connections.", &count(open));
    out
}

fn label(name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{{world=\"{escaped}\"}}")
}

/// Returns a number as Prometheus stores it.
#[expect(clippy::cast_precision_loss, reason = "Prometheus has only 64-bit floating point numbers")]
fn number(value: u64) -> f64 {
    value as f64
}
