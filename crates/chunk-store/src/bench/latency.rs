//! How long a load takes while others save.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorage;

use super::{Result, load_all, options, touch};
use crate::flags::RequestFlags;
use crate::store::ChunkStore;

/// Chunks that are changed over and over, one every so many milliseconds. Each is changed again
/// only after it was saved. That is 125 a second: the changes of the last half second are not
/// saved within the time.
const CHANGED: usize = 100;
const CHANGE_EVERY: Duration = Duration::from_millis(8);

/// How long loads took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LoadLatency {
    /// Loads.
    pub loads: usize,
    /// Saves per second meanwhile.
    pub saves_per_second: f64,
    /// Half of the loads took no longer.
    pub p50: Duration,
    /// 99 % of the loads took no longer.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

/// Loads chunks of `scratch` one after the other for `time`, while at least 100 saves run each
/// second, if the machine can.
///
/// # Errors
/// There are fewer than 101 chunks, or one cannot be loaded or saved.
pub fn load_latency(
    scratch: &Arc<dyn ChunkStorage>,
    positions: &[ChunkPos],
    time: Duration,
) -> Result<LoadLatency> {
    let (changed, others) = positions.split_at_checked(CHANGED).ok_or("too few chunks")?;
    let store = ChunkStore::new(Arc::clone(scratch), options(None))?;
    let edited = load_all(&store, changed)?;
    let world = store.run_world(Duration::from_millis(20))?;
    let is_done = AtomicBool::new(false);
    let times = thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            for (number, chunk) in (0_u32..).zip(edited.iter().cycle()) {
                if is_done.load(Ordering::Relaxed) || touch(chunk, number / 100).is_err() {
                    return;
                }
                // By the clock, so that what a change takes does not make fewer of them.
                thread::sleep((CHANGE_EVERY * number).saturating_sub(start.elapsed()));
            }
        });
        let times = load_for(&store, others, time);
        is_done.store(true, Ordering::Relaxed);
        times
    });
    let saved = store.metrics().saved;
    drop(world);
    let report = store.shut_down();
    if !report.is_complete() {
        return Err("a chunk could not be saved".into());
    }
    let mut times = times?;
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let count = f64::from(u32::try_from(saved).unwrap_or(u32::MAX));
    Ok(LoadLatency {
        loads: times.len(),
        saves_per_second: count / time.as_secs_f64(),
        p50: at(50),
        p99: at(99),
        max: times.last().copied().unwrap_or_default(),
    })
}

/// From memory nothing would be measured, so each is loaded anew.
fn load_for(store: &ChunkStore, positions: &[ChunkPos], time: Duration) -> Result<Vec<Duration>> {
    let (start, mut times) = (Instant::now(), Vec::new());
    let flags = RequestFlags::NO_GENERATE | RequestFlags::BYPASS_LOADED;
    for at in positions.iter().cycle() {
        if start.elapsed() >= time {
            return Ok(times);
        }
        let one = Instant::now();
        store.get(*at, flags).wait()?.ok_or("a chunk is not stored")?;
        times.push(one.elapsed());
    }
    Err("too few chunks".into())
}
