//! Finds orphaned blobs: older versions of chunks, removed chunks, and writes that were interrupted
//! before their commit.
//!
//! Free segments are not marked, so every segment that no readable slot refers to is searched. A
//! blob is found if its lengths, its frame and, if present, its checksum and seal are valid.

use crate::blob::EncodedBlob;
use crate::blob_header::{BLOB_HEADER_BYTES, BlobHeader};
use crate::compression;
use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, Verified};
use crate::frame;
use crate::header::FormatVersion;
use crate::layout::{SegmentIndex, SegmentRun, Slot};
use crate::limits::{BLOB_BYTES_MAX, SALVAGE_READ_FACTOR, SALVAGE_SEGMENTS_MAX};
use crate::seal::Seal;
use crate::v0;

/// First guess for the length of a frame without a header, and the read size for files with small
/// segments.
const WINDOW_BYTES: u64 = 64 * 1024;

/// Bytes needed to recognise a blob: its lengths and the magic number of its frame.
const START_BYTES: usize = 12;

/// How many bytes are searched for the frame of a slot whose index entry or header is damaged.
/// Chunks of the game have less than 40 KB.
const FRAME_BYTES_MAX: u64 = 16 << 20;

/// Below this segment size the starts of several segments are read at once.
const SMALL_SEGMENT_BYTES: u64 = 4096;

/// An orphaned blob.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SalvagedBlob {
    /// The first segment.
    pub segment: SegmentIndex,
    /// The number of segments.
    pub segment_count: u32,
    /// The byte offset in the file.
    pub offset: u64,
    /// The lengths of the blob.
    pub header: BlobHeader,
    /// The seal, if there is one.
    pub seal: Option<Seal>,
    /// The slot it belonged to, if known from its seal or, in version 0, from the journal.
    pub slot: Option<Slot>,
    /// The blob decodes, but another blob begins inside its segments, so part of it was probably
    /// overwritten. Never set for a sealed blob.
    pub doubtful: bool,
}

/// The result of a salvage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SalvageReport {
    /// The blobs, by offset.
    pub blobs: Vec<SalvagedBlob>,
    /// Whether the whole file was searched; `false` if a [limit](crate::limits) ended the search.
    pub complete: bool,
}

impl IndexedStorageFile {
    /// Searches for complete blobs in segments that no slot refers to, or only a slot that cannot
    /// be read: its lengths may be wrong and cover a salvageable blob. Changes nothing.
    ///
    /// # Errors
    /// Returns an I/O error.
    pub fn salvage(&self) -> Result<SalvageReport> {
        let bytes = self.file_bytes()?.saturating_mul(SALVAGE_READ_FACTOR);
        let mut search = Search::new(self, SALVAGE_SEGMENTS_MAX, bytes.saturating_add(16 << 20));
        let mut report = SalvageReport { complete: true, ..SalvageReport::default() };
        for run in self.runs_without_readable_blob()? {
            report.complete &= search.run(run, &mut report.blobs)?;
        }
        for blob in report.blobs.iter_mut().filter(|blob| blob.seal.is_none()) {
            blob.doubtful = is_overwritten(blob, &search.starts, search.payload_bytes());
        }
        Ok(report)
    }

    /// Reads the blob that begins at `segment`, whether or not a slot refers to it.
    ///
    /// # Errors
    /// Returns [`Error::NothingToSalvage`] if no complete blob begins there, or an I/O error.
    pub fn salvage_at(&self, segment: SegmentIndex) -> Result<EncodedBlob> {
        let end = self.segment_count()?.saturating_add(1);
        let left = end.saturating_sub(segment.get());
        let mut search = Search::new(self, 1, u64::MAX);
        let found = match SegmentRun::new(segment, left) {
            Some(run) if left > 0 => search.candidate(run)?,
            _ => None,
        };
        let intact = found.filter(|blob| blob.check_intact().is_ok());
        intact.ok_or_else(|| Error::NothingToSalvage {
            path: self.path().to_owned(),
            segment: segment.get(),
        })
    }

    /// Reads the blob that the index entry of a slot points to. Uses only its frames, and ignores
    /// the lengths in its header. Returns `None` if no complete and intact frame begins there.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchSlot`] or an I/O error.
    pub fn salvage_slot(&self, slot: Slot) -> Result<Option<(SegmentIndex, EncodedBlob)>> {
        let Some(run) = self.run_behind_entry(slot)? else { return Ok(None) };
        let mut search = Search::new(self, 1, u64::MAX);
        let room = u64::from(run.count).saturating_mul(search.payload_bytes());
        let found = search.read_without_header(run, room.min(FRAME_BYTES_MAX))?;
        let intact = found.filter(|blob| blob.check_intact().is_ok());
        Ok(intact.map(|blob| (run.start, blob)))
    }

    /// Decompresses the beginning of the document that the index entry of a slot points to, as far
    /// as zstd can decode it. Empty if nothing can be decoded.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchSlot`] or an I/O error.
    pub fn salvage_prefix(&self, slot: Slot) -> Result<Vec<u8>> {
        let Some(run) = self.run_behind_entry(slot)? else { return Ok(Vec::new()) };
        let bytes = self.read_run(run, FRAME_BYTES_MAX)?;
        let frames = bytes.get(BLOB_HEADER_BYTES as usize..).unwrap_or_default();
        Ok(compression::decompress_prefix(frames, BLOB_BYTES_MAX))
    }

    /// Returns the segments from the one that a slot's index entry names to the end of the file.
    fn run_behind_entry(&self, slot: Slot) -> Result<Option<SegmentRun>> {
        self.slot_exists(slot)?;
        let Ok(Some(segment)) = self.entry(slot)?.segment() else { return Ok(None) };
        let end = self.segment_count()?.saturating_add(1);
        Ok(SegmentRun::new(segment, end.saturating_sub(segment.get())).filter(|run| run.count > 0))
    }

    fn runs_without_readable_blob(&self) -> Result<Vec<SegmentRun>> {
        let mut unreadable = Vec::new();
        for slot in self.occupied() {
            if let Verified::Damaged(damage) = self.verify(slot)?
                && !damage.is_readable()
            {
                unreadable.push(slot);
            }
        }
        self.runs_without(|slot| unreadable.binary_search(&slot).is_err())
    }

    fn slot_of(&self, segment: SegmentIndex, seal: Option<&Seal>) -> Option<Slot> {
        let journal = self.interrupted().iter().find(|write| write.segment == segment);
        seal.map(|seal| seal.slot).or(journal.map(|write| write.slot))
    }
}

struct Search<'a> {
    file: &'a IndexedStorageFile,
    /// Segments at which a blob seems to begin, in ascending order.
    starts: Vec<Start>,
    segments_left: u32,
    bytes_left: u64,
    /// Bytes of the file that were read at once.
    window: Vec<u8>,
    window_offset: u64,
}

impl<'a> Search<'a> {
    fn new(file: &'a IndexedStorageFile, segments_left: u32, bytes_left: u64) -> Self {
        let (starts, window) = (Vec::new(), Vec::new());
        Self { file, starts, segments_left, bytes_left, window, window_offset: 0 }
    }

    /// Searches every segment of a run. Returns `false` if a limit ended the search.
    fn run(&mut self, run: SegmentRun, found: &mut Vec<SalvagedBlob>) -> Result<bool> {
        for number in run.start.get()..run.end() {
            let left = self.segments_left.checked_sub(1).filter(|_| self.bytes_left > 0);
            let (Some(left), Some(segment)) = (left, SegmentIndex::new(number)) else {
                return Ok(false);
            };
            self.segments_left = left;
            let rest = SegmentRun { start: segment, count: run.end().saturating_sub(number) };
            if let Some(blob) = self.candidate(rest)?
                && let Ok(seal) = blob.check_intact()
            {
                found.push(self.describe(segment, &blob, seal));
            }
        }
        Ok(true)
    }

    fn describe(
        &self,
        segment: SegmentIndex,
        blob: &EncodedBlob,
        seal: Option<Seal>,
    ) -> SalvagedBlob {
        let per_segment = self.payload_bytes().max(1);
        let count = blob.header().stored_bytes().div_ceil(per_segment);
        SalvagedBlob {
            segment,
            segment_count: u32::try_from(count).unwrap_or(u32::MAX),
            offset: self.file.segment_offset(segment),
            header: blob.header(),
            slot: self.file.slot_of(segment, seal.as_ref()),
            seal,
            doubtful: false,
        }
    }

    /// Reads the blob that seems to begin at the start of `run`, if it fits into the run.
    fn candidate(&mut self, run: SegmentRun) -> Result<Option<EncodedBlob>> {
        let head = self.head(run)?;
        let Some((header, magic)) = head.split_first_chunk() else {
            return Ok(None);
        };
        let header = BlobHeader::decode(*header);
        // A blob with a zeroed header must begin with a zstd frame. A skippable frame could be the
        // seal of a blob whose payload happens to end here.
        let is_start = match header {
            Ok(_) => frame::starts_frame(magic),
            Err(_) => frame::starts_zstd_frame(magic),
        };
        if !is_start {
            return Ok(None);
        }
        let is_clean = header.is_ok() || head.starts_with(&[0; BLOB_HEADER_BYTES as usize]);
        self.starts.push(Start { segment: run.start.get(), is_clean });
        let room = u64::from(run.count).saturating_mul(self.payload_bytes());
        if let Ok(header) = header {
            let len = header.stored_bytes();
            if len > room || self.file.length_limit(header).is_err() {
                return Ok(None);
            }
            let bytes = self.read(run, len)?;
            let is_complete = bytes.len() as u64 == len;
            return Ok(is_complete.then(|| EncodedBlob::from_stored(header, bytes)));
        }
        self.read_without_header(run, room)
    }

    /// Reads the first bytes of a run, padded with zeros at the end of the file. With small
    /// segments, reads those of many runs at once.
    fn head(&mut self, run: SegmentRun) -> Result<[u8; START_BYTES]> {
        let is_small = u64::from(self.file.geometry().segment_bytes()) < SMALL_SEGMENT_BYTES;
        let mut head = [0; START_BYTES];
        if self.file.version() == FormatVersion::V0 || !is_small {
            let bytes = self.read(run, START_BYTES as u64)?;
            head.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
            return Ok(head);
        }
        let offset = self.file.segment_offset(run.start);
        let window_end = self.window_offset.saturating_add(self.window.len() as u64);
        if offset < self.window_offset || offset.saturating_add(START_BYTES as u64) > window_end {
            self.window_offset = offset;
            self.window = self.read(run, WINDOW_BYTES)?;
        }
        let start = usize::try_from(offset.saturating_sub(self.window_offset)).unwrap_or(0);
        let bytes = self.window.get(start..).unwrap_or_default();
        head.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Ok(head)
    }

    /// Reads a frame without a valid header. Headers are zeroed when space is freed under relaxed
    /// durability; the frame itself stores both lengths.
    fn read_without_header(&mut self, run: SegmentRun, room: u64) -> Result<Option<EncodedBlob>> {
        let mut window = WINDOW_BYTES.min(room);
        loop {
            let bytes = self.read(run, window)?;
            let frames = bytes.get(BLOB_HEADER_BYTES as usize..).unwrap_or_default();
            let at_end = (bytes.len() as u64) < window || window == room;
            if let Some(blob) = blob_from_frames(frames, at_end) {
                let fits = self.file.length_limit(blob.header()).is_ok();
                return Ok(fits.then_some(blob));
            }
            if at_end || self.bytes_left == 0 {
                return Ok(None);
            }
            window = window.saturating_mul(2).min(room);
        }
    }

    fn read(&mut self, run: SegmentRun, len: u64) -> Result<Vec<u8>> {
        self.bytes_left = self.bytes_left.saturating_sub(len);
        self.file.read_run(run, len)
    }

    fn payload_bytes(&self) -> u64 {
        match self.file.version() {
            FormatVersion::V0 => v0::payload_bytes(self.file.geometry()),
            FormatVersion::V1 => u64::from(self.file.geometry().segment_bytes()),
        }
    }
}

/// Builds a blob from the first frame of `bytes` and the seal after it, if there is one. Unless
/// `at_end` is set, `bytes` may be cut off inside the seal.
fn blob_from_frames(bytes: &[u8], at_end: bool) -> Option<EncodedBlob> {
    let mut parts = frame::frames(bytes);
    let first = parts.next()?.ok()?;
    if !at_end && first.len().saturating_add(Seal::BYTES_MAX) > bytes.len() {
        return None;
    }
    let raw_bytes = zstd_safe::get_frame_content_size(first).ok()??;
    let second = parts.next().and_then(Result::ok).map_or(0, <[u8]>::len);
    let with_seal = bytes.get(..first.len().saturating_add(second))?;
    let frames = match Seal::find(with_seal) {
        Ok(Some(_)) => with_seal,
        _ => first,
    };
    EncodedBlob::from_frames(u32::try_from(raw_bytes).ok()?, frames).ok()
}

/// A segment at which a blob seems to begin.
struct Start {
    segment: u32,
    /// Whether its 8-byte header is valid, or zeroed because the space was freed.
    is_clean: bool,
}

/// Returns whether part of `blob` was overwritten later: another blob begins inside it.
///
/// If `blob` ends within the first bytes of a segment, the bytes after its end can belong to an
/// earlier blob that `blob` itself overwrote. Such a segment counts only if it begins with a valid
/// header.
fn is_overwritten(blob: &SalvagedBlob, starts: &[Start], segment_bytes: u64) -> bool {
    let first = blob.segment.get();
    let inside = starts.partition_point(|start| start.segment <= first);
    let inside = starts.get(inside..).unwrap_or_default();
    inside.iter().take_while(|start| start.segment < first.saturating_add(blob.segment_count)).any(
        |start| {
            let before = u64::from(start.segment.saturating_sub(first));
            let tail =
                blob.header.stored_bytes().saturating_sub(before.saturating_mul(segment_bytes));
            tail >= START_BYTES as u64 || start.is_clean
        },
    )
}
