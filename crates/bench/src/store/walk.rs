//! The memory use of a walk through a large world.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use hyworld_chunk_store::{ChunkGenerator, ChunkStore, RequestFlags, StoreOptions, TIMER_START};
use hyworld_coords::{ChunkPos, Circle};
use hyworld_providers::ChunkStorage;
use serde::Serialize;

use crate::process::resident_bytes;

/// The view radius in chunks.
const RADIUS: u32 = 8;

/// The results of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
pub struct Walk {
    pub chunks: u64,
    pub in_memory_max: u64,
    /// The upper bound: chunks in view, chunks seen in the last 7.5 seconds, and one step.
    pub in_memory_bound: u64,
    /// The resident memory of the process before the walk; `None` if the system does not report it.
    pub resident_before: Option<u64>,
    pub resident_max: Option<u64>,
    /// The resident memory before the walk plus the upper bound of the walk.
    pub resident_bound: Option<u64>,
}

/// Walks along a line, one chunk per half second of the world, until `chunks` chunks were seen.
/// Generated chunks are saved to `scratch`.
pub(super) fn walk(
    scratch: &Arc<dyn ChunkStorage>,
    generator: Arc<dyn ChunkGenerator>,
    chunks: u64,
    mut progress: impl FnMut(u64),
) -> Result<Walk> {
    let options = StoreOptions { generator: Some(generator), ..StoreOptions::default() };
    let store = ChunkStore::new(Arc::clone(scratch), options)?;
    let viewer = store.add_viewer(ChunkPos::new(0, 0), RADIUS);
    let mut report = Walk {
        in_memory_bound: in_memory_bound(),
        resident_before: resident_bytes(),
        ..Walk::default()
    };
    for x in 0.. {
        let at = ChunkPos::new(x, 0);
        store.move_viewer(viewer, at, RADIUS);
        let seen = Circle::new(at, RADIUS).in_rows();
        let futures: Vec<_> = seen.map(|at| store.get(at, RequestFlags::NONE)).collect();
        for future in &futures {
            store.drive(future)?;
        }
        let metrics = store.metrics();
        report.chunks = metrics.loaded.saturating_add(metrics.generated);
        report.in_memory_max = report.in_memory_max.max(metrics.in_memory);
        report.resident_max = report.resident_max.max(resident_bytes());
        progress(report.chunks);
        if report.chunks >= chunks {
            break;
        }
        store.tick(Duration::from_millis(500));
        store.wait_for_saves();
    }
    if !store.shut_down().is_complete() {
        bail!("a chunk could not be saved");
    }
    let mut document_bytes_max = 0;
    for at in scratch.positions() {
        let raw_bytes = scratch.size(at?)?.map_or(0, |size| size.raw);
        document_bytes_max = document_bytes_max.max(raw_bytes);
    }
    let needed = bytes_bound(document_bytes_max);
    report.resident_bound = report.resident_before.map(|before| before.saturating_add(needed));
    Ok(report)
}

/// Returns the upper bound of a walk's memory: the longest document for each chunk in memory, and
/// two (snapshot and encoded document) for each save in flight.
fn bytes_bound(document_bytes_max: u64) -> u64 {
    let saves = StoreOptions::default().saves_in_flight_max as u64;
    let documents = in_memory_bound().saturating_add(saves.saturating_mul(2));
    documents.saturating_mul(document_bytes_max)
}

/// Each step adds a row of chunks and leaves one behind, and runs one round of unloading.
fn in_memory_bound() -> u64 {
    let seen = Circle::new(ChunkPos::new(0, 0), RADIUS).in_rows().count() as u64;
    let row = u64::from(RADIUS).saturating_mul(2).saturating_add(1);
    let steps = u64::from(TIMER_START.unsigned_abs()).saturating_add(1);
    seen.saturating_add(row.saturating_mul(steps))
}
