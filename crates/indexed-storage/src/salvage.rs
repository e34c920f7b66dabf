//! Finding blobs that no slot refers to: older versions of chunks, removed chunks, writes that
//! were interrupted before their commit.
//!
//! Nothing marks a free segment, so every unreferenced one is looked at. What counts is a blob
//! that is whole: lengths, frame and, where there is one, checksum and seal agree.

use crate::blob::EncodedBlob;
use crate::blob_header::{BLOB_HEADER_BYTES, BlobHeader};
use crate::error::{Error, Result};
use crate::file::IndexedStorageFile;
use crate::frame;
use crate::header::FormatVersion;
use crate::layout::{BlobIndex, SegmentIndex, SegmentRun};
use crate::limits::{SALVAGE_READ_FACTOR, SALVAGE_SEGMENTS_MAX};
use crate::seal::Seal;
use crate::v0;

/// First guess for the length of a frame whose header is gone.
const WINDOW_BYTES: u64 = 64 * 1024;

/// A blob that no slot refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SalvagedBlob {
    /// Where it begins.
    pub segment: SegmentIndex,
    /// How many segments it occupies.
    pub segment_count: u32,
    /// Its position in the file.
    pub offset: u64,
    /// Its lengths.
    pub header: BlobHeader,
    /// Its seal, if it has one.
    pub seal: Option<Seal>,
    /// The slot that it belonged to, if that can be known: from its seal, or in version 0 from
    /// the journal.
    pub slot: Option<BlobIndex>,
    /// It decodes, but another blob begins inside its segments, so part of it was overwritten
    /// and only chance or uncompressed data let it pass. Never set for a blob with a checksum.
    pub doubtful: bool,
}

/// What salvage found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SalvageReport {
    /// The blobs, by position.
    pub blobs: Vec<SalvagedBlob>,
    /// Whether everything was looked at; otherwise a [limit](crate::limits) ended the search.
    pub complete: bool,
}

impl IndexedStorageFile {
    /// Looks for complete blobs in segments that no slot refers to. Reads only.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn salvage(&self) -> Result<SalvageReport> {
        let mut search = Search {
            file: self,
            segments_left: SALVAGE_SEGMENTS_MAX,
            bytes_left: self
                .file_bytes()?
                .saturating_mul(SALVAGE_READ_FACTOR)
                .saturating_add(16 << 20),
        };
        let mut report = SalvageReport {
            complete: true,
            ..SalvageReport::default()
        };
        for run in self.unreferenced()? {
            report.complete &= search.run(run, &mut report.blobs)?;
        }
        mark_doubtful(&mut report.blobs);
        Ok(report)
    }

    /// Reads the blob that begins at an unreferenced segment.
    ///
    /// # Errors
    /// [`Error::NothingToSalvage`] if none does, or what the operating system reports.
    pub fn salvage_at(&self, segment: SegmentIndex) -> Result<EncodedBlob> {
        let holds = |run: &SegmentRun| run.start <= segment && segment.get() < run.end();
        let run = self.unreferenced()?.into_iter().find(holds);
        let left = run.map_or(0, |run| run.end().saturating_sub(segment.get()));
        let mut search = Search {
            file: self,
            segments_left: 1,
            bytes_left: u64::MAX,
        };
        let found = match SegmentRun::new(segment, left) {
            Some(run) if left > 0 => search.candidate(run)?,
            _ => None,
        };
        let whole = found.filter(|blob| blob.check_whole().is_ok());
        whole.ok_or_else(|| Error::NothingToSalvage {
            path: self.path().to_owned(),
            segment: segment.get(),
        })
    }

    fn slot_of(&self, segment: SegmentIndex, seal: Option<&Seal>) -> Option<BlobIndex> {
        let journal = self
            .interrupted()
            .iter()
            .find(|write| write.segment == segment);
        seal.map(|seal| seal.slot)
            .or(journal.map(|write| write.slot))
    }
}

struct Search<'a> {
    file: &'a IndexedStorageFile,
    segments_left: u32,
    bytes_left: u64,
}

impl Search<'_> {
    /// Looks at every segment of a run; whether it got to the end.
    fn run(&mut self, run: SegmentRun, found: &mut Vec<SalvagedBlob>) -> Result<bool> {
        for number in run.start.get()..run.end() {
            let left = self
                .segments_left
                .checked_sub(1)
                .filter(|_| self.bytes_left > 0);
            let (Some(left), Some(segment)) = (left, SegmentIndex::new(number)) else {
                return Ok(false);
            };
            self.segments_left = left;
            let rest = SegmentRun {
                start: segment,
                count: run.end().saturating_sub(number),
            };
            if let Some(blob) = self.candidate(rest)?
                && let Ok(seal) = blob.check_whole()
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

    /// The blob that seems to begin at the start of `run` and fits into it.
    fn candidate(&mut self, run: SegmentRun) -> Result<Option<EncodedBlob>> {
        let head = self.read(run, 12)?;
        let Some((header, magic)) = head.split_first_chunk() else {
            return Ok(None);
        };
        if !frame::starts_frame(magic) {
            return Ok(None);
        }
        let room = u64::from(run.count).saturating_mul(self.payload_bytes());
        if let Ok(header) = BlobHeader::decode(*header) {
            let len = header.stored_bytes();
            if len > room || self.file.length_limit(header).is_err() {
                return Ok(None);
            }
            let bytes = self.read(run, len)?;
            let is_all = bytes.len() as u64 == len;
            return Ok(is_all.then(|| EncodedBlob::from_stored(header, bytes)));
        }
        self.headless(run, room)
    }

    /// A frame without the lengths before it. They are zeroed when space becomes free under
    /// relaxed durability; the frame knows both by itself.
    fn headless(&mut self, run: SegmentRun, room: u64) -> Result<Option<EncodedBlob>> {
        let mut window = WINDOW_BYTES.min(room);
        loop {
            let bytes = self.read(run, window)?;
            let frames = bytes.get(BLOB_HEADER_BYTES as usize..).unwrap_or_default();
            if let Some(blob) = blob_from_frames(frames) {
                let fits = self.file.length_limit(blob.header()).is_ok();
                return Ok(fits.then_some(blob));
            }
            let is_all = (bytes.len() as u64) < window || window == room;
            if is_all || self.bytes_left == 0 {
                return Ok(None);
            }
            window = window.saturating_mul(2).min(room);
        }
    }

    /// Up to `len` bytes of the blob that begins with `run`.
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

/// The first frame of `bytes`, with the seal behind it if there is one.
fn blob_from_frames(bytes: &[u8]) -> Option<EncodedBlob> {
    let mut parts = frame::frames(bytes);
    let first = parts.next()?.ok()?;
    let raw_bytes = zstd_safe::get_frame_content_size(first).ok()??;
    let second = parts.next().and_then(Result::ok).map_or(0, <[u8]>::len);
    let with_seal = bytes.get(..first.len().saturating_add(second))?;
    let frames = match Seal::find(with_seal) {
        Ok(Some(_)) => with_seal,
        _ => first,
    };
    EncodedBlob::from_frames(u32::try_from(raw_bytes).ok()?, frames).ok()
}

/// A blob that begins inside another one was written later, over it.
fn mark_doubtful(blobs: &mut [SalvagedBlob]) {
    let starts: Vec<u32> = blobs.iter().map(|blob| blob.segment.get()).collect();
    for (number, blob) in blobs.iter_mut().enumerate() {
        let end = blob.segment.get().saturating_add(blob.segment_count);
        let next = starts.get(number.saturating_add(1));
        blob.doubtful = blob.seal.is_none() && next.is_some_and(|&start| start < end);
    }
}
