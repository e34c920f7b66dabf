//! A disk for crash tests: it keeps live and durable bytes apart, can fail or stop at the n-th
//! operation, and can tear the write during which it stops.
//!
//! All randomness comes from one seed, so that a failure can be replayed.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::RawFile;
use super::memory::{copy_in, copy_out};

/// Unsynced writes survive a power cut in units of this size, as on a real disk.
const SECTOR_BYTES: usize = 512;

/// The faults to inject. Operations (writes, changes of length, syncs) are counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FaultPlan {
    /// The operation at which the disk stops: it and all later ones fail, including reads.
    pub stop_at: Option<u64>,
    /// The single operation that fails, without effect.
    pub fail_at: Option<u64>,
    /// Whether the write during which the disk stops leaves part of its bytes.
    pub tear: bool,
    /// Determines how much of a torn write remains.
    pub seed: u64,
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    SetLen(u64),
}

#[derive(Debug)]
struct State {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// The changes since the last sync, in order.
    unsynced: Vec<Change>,
    operations: u64,
    syncs: u64,
    stopped: bool,
}

/// A file that injects the faults of a [`FaultPlan`].
#[derive(Debug)]
pub struct FaultyFile {
    plan: FaultPlan,
    state: Mutex<State>,
}

impl FaultyFile {
    /// Creates a disk with these durable bytes.
    pub fn new(bytes: Vec<u8>, plan: FaultPlan) -> Self {
        let state = State {
            live: bytes.clone(),
            durable: bytes,
            unsynced: Vec::new(),
            operations: 0,
            syncs: 0,
            stopped: false,
        };
        Self { plan, state: Mutex::new(state) }
    }

    /// Returns the number of attempted operations.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Returns the number of successful syncs.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Returns the bytes after the process was killed: all writes, the last one possibly torn.
    pub fn after_kill(&self) -> Vec<u8> {
        self.state().live.clone()
    }

    /// Returns the bytes after a power cut: the durable bytes, and of each unsynced change all,
    /// some sectors, or nothing, determined by the seed. Without `tear`, all or nothing.
    pub fn after_power_cut(&self, seed: u64, tear: bool) -> Vec<u8> {
        let state = self.state();
        let mut random = Random(seed);
        let mut bytes = state.durable.clone();
        for change in &state.unsynced {
            match change {
                Change::SetLen(len) if random.coin() => apply_len(&mut bytes, *len),
                Change::SetLen(_) => {}
                Change::Write { offset, bytes: new } if !tear || new.len() <= 4 => {
                    if random.coin() {
                        apply(&mut bytes, new, *offset);
                    }
                }
                Change::Write { offset, bytes: new } => {
                    write_some_sectors(&mut bytes, new, *offset, &mut random);
                }
            }
        }
        bytes
    }

    /// Returns the same disk for the next process after this one was killed. Unsynced changes
    /// remain unsynced.
    #[must_use]
    pub fn next_process(&self, plan: FaultPlan) -> Self {
        let state = self.state();
        let state = State {
            live: state.live.clone(),
            durable: state.durable.clone(),
            unsynced: state.unsynced.clone(),
            operations: 0,
            syncs: 0,
            stopped: false,
        };
        Self { plan, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation and returns the error it fails with, if any.
    fn begin(&self, state: &mut State) -> io::Result<()> {
        if state.stopped {
            return Err(io::Error::other("the disk has stopped"));
        }
        let number = state.operations;
        state.operations = number.saturating_add(1);
        if self.plan.stop_at == Some(number) {
            state.stopped = true;
            return Err(io::Error::other("the disk stops here"));
        }
        if self.plan.fail_at == Some(number) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

/// Writes a random subset of the sectors of `new`, aligned to the sectors of the disk.
fn write_some_sectors(bytes: &mut Vec<u8>, new: &[u8], offset: u64, random: &mut Random) {
    let within = usize::try_from(offset).unwrap_or(0) % SECTOR_BYTES;
    let mut rest = new;
    let mut at = offset;
    let mut room = SECTOR_BYTES.saturating_sub(within);
    while !rest.is_empty() {
        let (piece, later) = rest.split_at(room.min(rest.len()));
        if random.coin() {
            apply(bytes, piece, at);
        }
        at = at.saturating_add(piece.len() as u64);
        rest = later;
        room = SECTOR_BYTES;
    }
}

fn apply(bytes: &mut Vec<u8>, new: &[u8], offset: u64) {
    if copy_in(bytes, new, offset).is_err() {
        bytes.clear();
    }
}

fn apply_len(bytes: &mut Vec<u8>, len: u64) {
    bytes.resize(usize::try_from(len).unwrap_or(0), 0);
}

impl RawFile for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().live.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state();
        if state.stopped {
            return Err(io::Error::other("the disk has stopped"));
        }
        Ok(copy_out(&state.live, buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let state = &mut *self.state();
        let was_running = !state.stopped;
        let begun = self.begin(state);
        let kept = match &begun {
            Ok(()) => bytes,
            // The write during which the disk stops may be torn anywhere, except 4-byte writes.
            Err(_) if was_running && state.stopped && self.plan.tear && bytes.len() > 4 => {
                let mut random = Random(self.plan.seed);
                bytes.get(..random.below(bytes.len())).unwrap_or_default()
            }
            Err(_) => return begun,
        };
        copy_in(&mut state.live, kept, offset)?;
        state.unsynced.push(Change::Write { offset, bytes: kept.to_vec() });
        begun
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let state = &mut *self.state();
        self.begin(state)?;
        apply_len(&mut state.live, len);
        state.unsynced.push(Change::SetLen(len));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let state = &mut *self.state();
        self.begin(state)?;
        state.durable.clone_from(&state.live);
        state.unsynced.clear();
        state.syncs = state.syncs.saturating_add(1);
        Ok(())
    }
}

/// `SplitMix64`: a small seeded generator, sufficient to choose crash points.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_synced_bytes_always_survive_a_power_cut() {
        let disk = FaultyFile::new(Vec::new(), FaultPlan::default());
        disk.write_at(b"sure", 0).unwrap();
        disk.sync().unwrap();
        disk.write_at(b"maybe", 4).unwrap();
        let images: Vec<_> = (0..32).map(|seed| disk.after_power_cut(seed, false)).collect();
        assert!(images.iter().all(|image| image.starts_with(b"sure")));
        assert!(images.contains(&b"sure".to_vec()));
        assert!(images.contains(&b"suremaybe".to_vec()));
        assert_eq!(disk.after_kill(), b"suremaybe");
    }

    #[test]
    fn torn_writes_survive_by_sectors() {
        let disk = FaultyFile::new(vec![0; 2048], FaultPlan::default());
        disk.write_at(&[1; 1500], 100).unwrap();
        let torn = (0..64).map(|seed| disk.after_power_cut(seed, true)).any(|image| {
            let set: usize = image.iter().map(|&byte| usize::from(byte)).sum();
            // Byte 100 and byte 511 are in the same sector, so both were written or neither.
            set != 0 && set != 1500 && image[100] == image[511]
        });
        assert!(torn);
    }

    #[test]
    fn after_a_stop_all_operations_fail_and_the_last_write_may_be_torn() {
        let plan = FaultPlan { stop_at: Some(1), tear: true, seed: 3, ..FaultPlan::default() };
        let disk = FaultyFile::new(Vec::new(), plan);
        disk.write_at(b"one", 0).unwrap();
        assert!(disk.write_at(&[7; 100], 3).is_err());
        assert!(disk.sync().is_err());
        assert!(disk.read_at(&mut [0; 1], 0).is_err());
        let left = disk.after_kill();
        assert!(left.starts_with(b"one") && left.len() < 103, "{}", left.len());
    }

    #[test]
    fn operations_succeed_after_a_single_failure() {
        let plan = FaultPlan { fail_at: Some(0), ..FaultPlan::default() };
        let disk = FaultyFile::new(Vec::new(), plan);
        assert!(disk.write_at(b"x", 0).is_err());
        disk.write_at(b"y", 0).unwrap();
        assert_eq!(disk.after_kill(), b"y");
        assert_eq!((disk.operations(), disk.syncs()), (2, 0));
    }
}
