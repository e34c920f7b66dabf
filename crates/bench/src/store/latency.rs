//! The latency of loads during saves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hyworld_chunk_store::{ChunkStore, RequestFlags};
use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorage;
use serde::Serialize;

use super::{load_all, options};
use crate::chunk::touch;
use crate::timing::{Micros, Sorted};

/// The number of chunks that are changed repeatedly, one every `CHANGE_EVERY`. Each is changed
/// again only after it was saved. That is 125 changes per second, more than the required 100 saves,
/// because the changes of the last half second are not saved in time.
const CHANGED: usize = 100;
const CHANGE_EVERY: Duration = Duration::from_millis(8);

/// The minimum number of chunks, so that at least one can be loaded during saves.
pub const LATENCY_CHUNKS_MIN: usize = CHANGED + 1;

/// The times of loads.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LoadLatency {
    pub loads: usize,
    pub saves_per_second: f64,
    pub p50_us: Micros,
    pub p99_us: Micros,
    pub max_us: Micros,
}

pub(super) fn measure(
    scratch: &Arc<dyn ChunkStorage>,
    positions: &[ChunkPos],
    time: Duration,
) -> Result<LoadLatency> {
    let (changed, others) = positions.split_at_checked(CHANGED).context("too few chunks")?;
    let store = ChunkStore::new(Arc::clone(scratch), options())?;
    let edited = load_all(&store, changed)?;
    let world = store.run_world(Duration::from_millis(20))?;
    let is_done = AtomicBool::new(false);
    let times = thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            for (number, chunk) in (0_u32..).zip(edited.iter().cycle()) {
                let is_changed = || matches!(chunk.edit(touch), Ok(Ok(())));
                if is_done.load(Ordering::Relaxed) || !is_changed() {
                    return;
                }
                // Scheduled by the clock, so that slow changes do not reduce their number.
                thread::sleep((CHANGE_EVERY * number).saturating_sub(start.elapsed()));
            }
        });
        let times = load_for(&store, others, time);
        is_done.store(true, Ordering::Relaxed);
        times
    });
    let saved = store.metrics().saved;
    drop(world);
    if !store.shut_down().is_complete() {
        bail!("a chunk could not be saved");
    }
    let times = Sorted::new(times?);
    let saved = f64::from(u32::try_from(saved).unwrap_or(u32::MAX));
    Ok(LoadLatency {
        loads: times.len(),
        saves_per_second: saved / time.as_secs_f64(),
        p50_us: times.percentile(50),
        p99_us: times.percentile(99),
        max_us: times.percentile(100),
    })
}

/// Loads each chunk from the storage, even if it is in memory.
fn load_for(store: &ChunkStore, positions: &[ChunkPos], time: Duration) -> Result<Vec<Duration>> {
    let (start, mut times) = (Instant::now(), Vec::new());
    let flags = RequestFlags::NO_GENERATE | RequestFlags::BYPASS_LOADED;
    for at in positions.iter().cycle() {
        if start.elapsed() >= time {
            return Ok(times);
        }
        let one = Instant::now();
        store.get(*at, flags).wait()?.context("a chunk is not stored")?;
        times.push(one.elapsed());
    }
    bail!("too few chunks")
}
