//! How much memory a walk through a large world needs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use hyworld_chunk_store::{ChunkGenerator, ChunkStore, RequestFlags, StoreOptions, TIMER_START};
use hyworld_coords::{ChunkPos, Circle};
use hyworld_providers::ChunkStorage;
use serde::Serialize;

use crate::process::resident_bytes;

/// How far the viewer sees.
const RADIUS: u32 = 8;

/// What a walk needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
pub struct Walk {
    pub chunks: u64,
    pub in_memory_max: u64,
    /// The most that may be: what is seen, what was seen in the last 7.5 seconds, and a step.
    pub in_memory_bound: u64,
    /// The resident memory of the process before, where the system tells.
    pub resident_before: Option<u64>,
    pub resident_max: Option<u64>,
    /// The memory that the process had before, and what the walk may need besides.
    pub resident_bound: Option<u64>,
}

/// Walks along a line, a chunk each half second of the world, until so many chunks were seen. What
/// is generated is saved to `scratch`.
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

/// How much memory a walk may need: the longest document for each chunk that may be in memory, and
/// two for each save that may be under way, the snapshot and what is encoded from it.
fn bytes_bound(document_bytes_max: u64) -> u64 {
    let saves = StoreOptions::default().saves_in_flight_max as u64;
    let documents = in_memory_bound().saturating_add(saves.saturating_mul(2));
    documents.saturating_mul(document_bytes_max)
}

/// A step brings a row of chunks and leaves one behind, and looks at each chunk once.
fn in_memory_bound() -> u64 {
    let seen = Circle::new(ChunkPos::new(0, 0), RADIUS).in_rows().count() as u64;
    let row = u64::from(RADIUS).saturating_mul(2).saturating_add(1);
    let steps = u64::from(TIMER_START.unsigned_abs()).saturating_add(1);
    seen.saturating_add(row.saturating_mul(steps))
}
