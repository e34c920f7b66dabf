//! Finds and reads the blobs of a version 0 file.
//!
//! The index table alone determines what is committed. The journal only lists chains to be freed,
//! so a reader recovers from a crash by ignoring it. This also keeps a new blob that the game's own
//! recovery would destroy: if the game crashed between the last two steps of a write, both tables
//! point to the same chain.

use std::collections::HashMap;
use std::io;

use super::{InterruptedWrite, LINK_BYTES, payload_bytes, segment_offset, segments_in};
use crate::blob_header::BlobHeader;
use crate::damage::Damage;
use crate::file_tables::read_table;
use crate::index_table::{self, Entry};
use crate::layout::{Geometry, HEADER_BYTES, SegmentIndex, SegmentRun, Slot};
use crate::raw_file::RawFile;
use crate::slot::{self, Extent, SlotState, Stored};

/// The link in a blob's last segment.
const END: i32 = i32::MIN;

/// Determines the state of every slot.
pub(crate) fn scan(
    raw: &dyn RawFile,
    geometry: Geometry,
    file_bytes: u64,
) -> io::Result<Vec<SlotState>> {
    let table = read_table(raw, geometry, HEADER_BYTES)?;
    let segment_count = segments_in(geometry, file_bytes);
    let mut walker = Walker {
        raw,
        geometry,
        file_bytes,
        segment_count,
        owners: HashMap::new(),
        shared_steps_left: segment_count,
    };
    let mut states = Vec::new();
    for (slot, entry) in geometry.slots().zip(index_table::decode(&table, geometry)) {
        states.push(walker.inspect(slot, entry)?);
    }
    slot::mark_overlaps(&mut states);
    Ok(states)
}

/// Reads the used entries of the journal table.
pub(crate) fn journal(raw: &dyn RawFile, geometry: Geometry) -> io::Result<Vec<InterruptedWrite>> {
    let offset = HEADER_BYTES.saturating_add(geometry.table_bytes());
    let table = read_table(raw, geometry, offset)?;
    let entries = geometry.slots().zip(index_table::decode(&table, geometry));
    let named = |(slot, entry): (Slot, Entry)| match entry.segment() {
        Ok(Some(segment)) => Some(InterruptedWrite { slot, segment }),
        _ => None,
    };
    Ok(entries.filter_map(named).collect())
}

/// Reads the bytes of a blob from its chain.
pub(crate) fn load(
    raw: &dyn RawFile,
    geometry: Geometry,
    chain: &[SegmentIndex],
    bytes: &mut [u8],
) -> io::Result<Result<(), Damage>> {
    let piece_bytes = usize::try_from(payload_bytes(geometry)).unwrap_or(usize::MAX);
    for (&segment, piece) in chain.iter().zip(bytes.chunks_mut(piece_bytes)) {
        let offset = segment_offset(geometry, segment).saturating_add(LINK_BYTES);
        let count = raw.read_at(piece, offset)?;
        if count < piece.len() {
            let end = offset.saturating_add(piece.len() as u64);
            let file_bytes = offset.saturating_add(count as u64);
            return Ok(Err(Damage::CutOff { end, file_bytes }));
        }
    }
    Ok(Ok(()))
}

/// Reads bytes from consecutive segments, ignoring their links: writers always produced consecutive
/// chains, and a freed chain has lost its links. Returns the number of bytes read.
pub(crate) fn load_run(
    raw: &dyn RawFile,
    geometry: Geometry,
    run: SegmentRun,
    bytes: &mut [u8],
) -> io::Result<usize> {
    let piece_bytes = usize::try_from(payload_bytes(geometry)).unwrap_or(usize::MAX);
    let mut done = 0_usize;
    for (number, piece) in (run.start.get()..run.end()).zip(bytes.chunks_mut(piece_bytes)) {
        let Some(segment) = SegmentIndex::new(number) else {
            break;
        };
        let offset = segment_offset(geometry, segment).saturating_add(LINK_BYTES);
        let count = raw.read_at(piece, offset)?;
        done = done.saturating_add(count);
        if count < piece.len() {
            break;
        }
    }
    Ok(done)
}

/// Follows segment chains and detects invalid links and cycles.
struct Walker<'a> {
    raw: &'a dyn RawFile,
    geometry: Geometry,
    file_bytes: u64,
    segment_count: u32,
    /// The slot that first claimed each segment.
    owners: HashMap<SegmentIndex, Slot>,
    /// In an undamaged file no segment is visited twice. A crafted file could make each of its many
    /// slots visit all segments; this budget bounds such visits.
    shared_steps_left: u32,
}

impl Walker<'_> {
    fn inspect(&mut self, slot: Slot, entry: Entry) -> io::Result<SlotState> {
        let first = match entry.segment() {
            Ok(Some(segment)) => segment,
            Ok(None) => return Ok(SlotState::Empty),
            Err(damage) => return Ok(SlotState::Broken(damage)),
        };
        let offset = segment_offset(self.geometry, first).saturating_add(LINK_BYTES);
        let mut bytes = [0; 8];
        if offset >= self.file_bytes || self.raw.read_at(&mut bytes, offset)? < bytes.len() {
            let file_bytes = self.file_bytes;
            return Ok(SlotState::Broken(Damage::PastEnd { offset, file_bytes }));
        }
        let header = match BlobHeader::decode(bytes) {
            Ok(header) => header,
            Err(damage) => return Ok(SlotState::Broken(damage)),
        };
        Ok(match self.walk(slot, first, header)? {
            Ok(chain) => {
                SlotState::Stored(Stored { extent: Extent::Chain(chain), header, overlaps: None })
            }
            Err(damage) => SlotState::Broken(damage),
        })
    }

    /// Collects the segment chain of a blob.
    fn walk(
        &mut self,
        slot: Slot,
        first: SegmentIndex,
        header: BlobHeader,
    ) -> io::Result<Result<Box<[SegmentIndex]>, Damage>> {
        let stored = header.stored_bytes();
        let needed = stored.div_ceil(payload_bytes(self.geometry));
        if needed > u64::from(self.segment_count) {
            let end = segment_offset(self.geometry, first).saturating_add(stored);
            return Ok(Err(Damage::CutOff { end, file_bytes: self.file_bytes }));
        }
        let mut chain = Vec::new();
        let mut segment = first;
        loop {
            if let Err(damage) = self.claim(slot, segment) {
                return Ok(Err(damage));
            }
            chain.push(segment);
            let is_full = chain.len() as u64 == needed;
            match self.link(segment)? {
                END if is_full => return Ok(Ok(chain.into_boxed_slice())),
                END | 0 => {
                    let held = (chain.len() as u64).saturating_mul(payload_bytes(self.geometry));
                    let found = held.min(stored);
                    return Ok(Err(Damage::ChainShort { expected: stored, found }));
                }
                _ if is_full => {
                    return Ok(Err(Damage::ChainLong { segment: segment.get() }));
                }
                link => match self.segment(link) {
                    Some(next) => segment = next,
                    None => {
                        return Ok(Err(Damage::ChainBroken { segment: segment.get(), link }));
                    }
                },
            }
        }
    }

    /// Records that a segment belongs to a slot.
    fn claim(&mut self, slot: Slot, segment: SegmentIndex) -> Result<(), Damage> {
        match self.owners.get(&segment) {
            None => {
                self.owners.insert(segment, slot);
                Ok(())
            }
            Some(&owner) if owner == slot => Err(Damage::ChainCycle { segment: segment.get() }),
            Some(&other) => {
                let left = self.shared_steps_left.checked_sub(1);
                self.shared_steps_left = left.ok_or(Damage::Overlap { other })?;
                Ok(())
            }
        }
    }

    fn segment(&self, link: i32) -> Option<SegmentIndex> {
        let segment = SegmentIndex::new(u32::try_from(link).ok()?)?;
        (segment.get() <= self.segment_count).then_some(segment)
    }

    /// Reads the link of a segment. Past the end of the file it is 0, as in the game.
    fn link(&self, segment: SegmentIndex) -> io::Result<i32> {
        let mut link = [0; 4];
        let count = self.raw.read_at(&mut link, segment_offset(self.geometry, segment))?;
        Ok(if count < link.len() { 0 } else { i32::from_be_bytes(link) })
    }
}
