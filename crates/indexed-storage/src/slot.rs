//! The state of one slot, as read from disk and checked.

use std::io;
use std::sync::OnceLock;

use crate::blob_header::BlobHeader;
use crate::damage::Damage;
use crate::index_table::Entry;
use crate::layout::{Geometry, SegmentIndex, SegmentRun, Slot};
use crate::raw_file::RawFile;

/// A slot: its state, or its index entry if it is not inspected yet. Slots are inspected on first
/// use, and all of them before the first change, because the allocator must know all runs.
#[derive(Debug)]
pub(crate) struct SlotEntry {
    entry: Entry,
    state: OnceLock<SlotState>,
}

impl SlotEntry {
    pub(crate) fn uninspected(entry: Entry) -> Self {
        let state = OnceLock::new();
        match entry {
            Entry::EMPTY => SlotState::Empty.into(),
            _ => Self { entry, state },
        }
    }

    /// Returns whether the index has an entry for the slot.
    pub(crate) fn is_used(&self) -> bool {
        self.state.get() != Some(&SlotState::Empty)
    }

    /// Returns whether `entry` is consistent with the known state.
    pub(crate) fn matches(&self, entry: Entry) -> bool {
        match self.state.get() {
            None => self.entry == entry,
            Some(SlotState::Empty) => entry == Entry::EMPTY,
            Some(SlotState::Stored(stored)) => entry.segment() == Ok(stored.extent.first()),
            Some(SlotState::Broken(_)) => false,
        }
    }

    /// Returns the state, calling `inspect` on first use.
    pub(crate) fn state(&self, inspect: impl FnOnce(Entry) -> SlotState) -> &SlotState {
        self.state.get_or_init(|| inspect(self.entry))
    }

    pub(crate) fn known(&self) -> Option<&SlotState> {
        self.state.get()
    }

    pub(crate) fn replace(&mut self, state: SlotState) -> Option<SlotState> {
        std::mem::replace(self, state.into()).state.into_inner()
    }
}

impl From<SlotState> for SlotEntry {
    fn from(state: SlotState) -> Self {
        Self { entry: Entry::EMPTY, state: state.into() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SlotState {
    Empty,
    Stored(Stored),
    /// The entry or the blob's header is invalid; the slot owns no segments.
    Broken(Damage),
}

/// A blob with a valid position and valid lengths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stored {
    pub(crate) extent: Extent,
    pub(crate) header: BlobHeader,
    /// A slot that shares segments with it. Such segments are never reused, because the other blob
    /// may be the readable one.
    pub(crate) overlaps: Option<Slot>,
}

/// The segments of a blob.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    /// Version 1: consecutive.
    Run(SegmentRun),
    /// Version 0: linked.
    Chain(Box<[SegmentIndex]>),
}

impl Extent {
    pub(crate) fn first(&self) -> Option<SegmentIndex> {
        match self {
            Self::Run(run) => Some(run.start),
            Self::Chain(chain) => chain.first().copied(),
        }
    }

    pub(crate) fn count(&self) -> u32 {
        match self {
            Self::Run(run) => run.count,
            Self::Chain(chain) => u32::try_from(chain.len()).unwrap_or(u32::MAX),
        }
    }

    pub(crate) fn runs(&self) -> impl Iterator<Item = SegmentRun> {
        let (run, chain) = match self {
            Self::Run(run) => (Some(*run), [].as_slice()),
            Self::Chain(chain) => (None, &**chain),
        };
        run.into_iter().chain(chain.iter().map(|&start| SegmentRun { start, count: 1 }))
    }
}

/// Follows an index entry of a version 1 file to its blob's header.
///
/// # Errors
/// Returns only I/O errors. Invalid bytes result in [`SlotState::Broken`].
pub(crate) fn inspect(
    raw: &dyn RawFile,
    geometry: Geometry,
    file_bytes: u64,
    entry: Entry,
) -> io::Result<SlotState> {
    let segment = match entry.segment() {
        Ok(Some(segment)) => segment,
        Ok(None) => return Ok(SlotState::Empty),
        Err(damage) => return Ok(SlotState::Broken(damage)),
    };
    let offset = geometry.segment_offset(segment);
    let mut bytes = [0; 8];
    if offset >= file_bytes || raw.read_at(&mut bytes, offset)? < bytes.len() {
        return Ok(SlotState::Broken(Damage::PastEnd { offset, file_bytes }));
    }
    let header = match BlobHeader::decode(bytes) {
        Ok(header) => header,
        Err(damage) => return Ok(SlotState::Broken(damage)),
    };
    let end = offset.saturating_add(header.stored_bytes());
    let run = geometry
        .segments_for(header.stored_bytes())
        .and_then(|count| SegmentRun::new(segment, count));
    Ok(match run {
        Some(run) if end <= file_bytes => {
            SlotState::Stored(Stored { extent: Extent::Run(run), header, overlaps: None })
        }
        _ => SlotState::Broken(Damage::CutOff { end, file_bytes }),
    })
}

/// Records, for each blob that overlaps another, which one it overlaps.
pub(crate) fn mark_overlaps(states: &mut [SlotState]) {
    let mut runs: Vec<(SegmentRun, usize)> = Vec::new();
    for (number, state) in states.iter().enumerate() {
        if let SlotState::Stored(stored) = state {
            runs.extend(stored.extent.runs().map(|run| (run, number)));
        }
    }
    runs.sort_unstable();
    let mut furthest: Option<(u32, usize)> = None;
    for (run, number) in runs {
        if let Some((end, other)) = furthest
            && run.start.get() < end
        {
            set_overlap(states, number, other);
            set_overlap(states, other, number);
        }
        if furthest.is_none_or(|(end, _)| run.end() > end) {
            furthest = Some((run.end(), number));
        }
    }
}

fn set_overlap(states: &mut [SlotState], number: usize, other: usize) {
    if let (Some(SlotState::Stored(stored)), Ok(other)) =
        (states.get_mut(number), u32::try_from(other))
    {
        stored.overlaps.get_or_insert(Slot::new(other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_file::MemoryFile;

    fn segment(number: u32) -> SegmentIndex {
        SegmentIndex::new(number).unwrap()
    }

    fn stored(start: u32, count: u32) -> SlotState {
        let extent = Extent::Run(SegmentRun::new(segment(start), count).unwrap());
        let header = BlobHeader { raw_bytes: 1, compressed_bytes: 1 };
        SlotState::Stored(Stored { extent, header, overlaps: None })
    }

    fn overlaps(states: &[SlotState]) -> Vec<Option<u32>> {
        states
            .iter()
            .map(|state| match state {
                SlotState::Stored(stored) => stored.overlaps.map(Slot::get),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn overlaps_are_found_in_any_order() {
        let mut states = vec![
            stored(10, 5),
            SlotState::Empty,
            stored(1, 2),
            stored(14, 1),
            stored(3, 7),
            stored(20, 1),
            stored(20, 1),
        ];
        mark_overlaps(&mut states);
        assert_eq!(overlaps(&states), [Some(3), None, None, Some(0), None, Some(6), Some(5)]);
    }

    #[test]
    fn a_run_inside_a_longer_one_is_found_after_others() {
        let mut states = vec![stored(1, 9), stored(2, 1), stored(8, 1)];
        mark_overlaps(&mut states);
        assert_eq!(overlaps(&states), [Some(1), Some(0), Some(0)]);
    }

    /// A file of 2 slots with segments of 16 bytes and one header at segment 1.
    fn inspect_header(raw: i32, compressed: i32, file_bytes: usize) -> SlotState {
        let geometry = Geometry::new(2, 16).unwrap();
        let mut bytes = vec![0; 40];
        bytes.extend(raw.to_be_bytes());
        bytes.extend(compressed.to_be_bytes());
        bytes.resize(file_bytes, 0);
        let file = MemoryFile::new(bytes);
        inspect(&file, geometry, file_bytes as u64, Entry::to(segment(1))).unwrap()
    }

    #[test]
    fn lengths_decide_the_run() {
        for (compressed, count) in [(1, 1), (8, 1), (9, 2), (24, 2), (25, 3)] {
            let SlotState::Stored(found) = inspect_header(5, compressed, 200) else {
                panic!("{compressed}");
            };
            assert_eq!((found.extent.first(), found.extent.count()), (Some(segment(1)), count));
        }
    }

    #[test]
    fn a_blob_may_end_at_the_last_byte_of_the_file() {
        assert!(matches!(inspect_header(5, 10, 58), SlotState::Stored(_)));
        assert_eq!(
            inspect_header(5, 10, 57),
            SlotState::Broken(Damage::CutOff { end: 58, file_bytes: 57 })
        );
        for file_bytes in 0..48 {
            assert_eq!(
                inspect_header(5, 10, file_bytes),
                SlotState::Broken(Damage::PastEnd { offset: 40, file_bytes: file_bytes as u64 })
            );
        }
    }

    #[test]
    fn invalid_lengths_break_only_the_slot() {
        for compressed in [0, -1, i32::MIN] {
            assert!(matches!(inspect_header(5, compressed, 90), SlotState::Broken(_)));
        }
        for compressed in [i32::MAX, i32::MAX - 7, 1000] {
            let state = inspect_header(5, compressed, 90);
            assert!(matches!(state, SlotState::Broken(Damage::CutOff { .. })), "{state:?}");
        }
    }
}
