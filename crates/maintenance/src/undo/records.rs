//! [`Records`]: reads the records of a bundle one by one, and finds the next one after damage.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use super::record::{HEAD_BYTES, Head, Kind, MAGIC, Mark};

/// How far the header is searched for if the beginning of a bundle is damaged.
const HEADER_SEARCH_BYTES: u64 = 1 << 16;

/// How many bytes are searched for a mark at a time.
const SEARCH_BYTES: u64 = 1 << 16;

/// A part of a bundle that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BundleDamage {
    /// The offset of the first damaged byte.
    pub offset: u64,
    /// The number of bytes up to the next intact record; 0 if records are missing.
    pub bytes: u64,
    /// The number of lost records; `None` at the end of a bundle, where it is not known.
    pub records: Option<u64>,
}

impl fmt::Display for BundleDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            0 => write!(f, "records are missing at byte {}", self.offset)?,
            1 => write!(f, "byte {} is damaged", self.offset)?,
            bytes => {
                let last = self.offset.saturating_add(bytes).saturating_sub(1);
                write!(f, "bytes {} to {last} are damaged or incomplete", self.offset)?;
            }
        }
        match self.records {
            Some(1) => f.write_str(": 1 record is lost"),
            Some(count) => write!(f, ": {count} records are lost"),
            None => Ok(()),
        }
    }
}

/// A record that was read and checked.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) head: Head,
    pub(super) payload: Vec<u8>,
    /// The offset of the payload in the bundle.
    pub(super) offset: u64,
}

/// A record or damage.
#[derive(Debug)]
pub(super) enum Found {
    Record(Record),
    Damage(BundleDamage),
}

/// Reads records in order.
#[derive(Debug)]
pub(super) struct Records<R> {
    source: R,
    offset: u64,
    end: u64,
    /// The mark of the bundle; `None` until the header is read.
    mark: Option<Mark>,
    /// The number of the next record.
    number: u64,
    /// Bytes of payloads whose checksum did not match.
    wasted: u64,
    /// Bytes that heads and marks are searched in, and their offset. They are read once, however
    /// many marks they have.
    window: (u64, Vec<u8>),
}

impl<R: Read + Seek> Records<R> {
    /// Reads the records of a bundle from the beginning.
    pub(super) fn new(source: R, end: u64) -> Self {
        let offset = MAGIC.len() as u64;
        Self { source, offset, end, mark: None, number: 0, wasted: 0, window: (0, Vec::new()) }
    }

    /// Reads the records after some that were read before.
    pub(super) fn continued(source: R, mark: Mark, offset: u64, number: u64, end: u64) -> Self {
        let (mark, window) = (Some(mark), (0, Vec::new()));
        Self { source, offset, end, mark, number, wasted: 0, window }
    }

    /// Returns the next record, or the damage before it; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Found>> {
        let start = self.offset;
        while self.offset < self.end {
            let at = self.offset;
            let Some(head) = self.head_at(at)? else {
                self.offset = self.search(at.saturating_add(1))?;
                continue;
            };
            let Some(record) = self.record_at(at, head)? else {
                self.offset = self.after_damaged(at, &head)?;
                continue;
            };
            if at > start || head.number > self.number {
                let lost = head.number.saturating_sub(self.number);
                self.number = head.number;
                let damage = BundleDamage { offset: start, bytes: at - start, records: Some(lost) };
                return Ok(Some(Found::Damage(damage)));
            }
            self.mark = Some(head.mark);
            self.number = self.number.saturating_add(1);
            self.offset = at.saturating_add(head.record_bytes());
            return Ok(Some(Found::Record(record)));
        }
        let bytes = self.end.saturating_sub(start);
        let damage = BundleDamage { offset: start, bytes, records: None };
        Ok((bytes > 0).then_some(Found::Damage(damage)))
    }

    /// Reads the head of the record at an offset; `None` if there is none.
    fn head_at(&mut self, at: u64) -> io::Result<Option<Head>> {
        let head = self.window_at(at)?.first_chunk().and_then(Head::decode);
        Ok(head.filter(|head| match self.mark {
            Some(mark) => head.mark == mark && head.number >= self.number,
            None => head.kind == Kind::Header && head.number <= 1,
        }))
    }

    /// Reads the record with this head; `None` if it is damaged or incomplete.
    fn record_at(&mut self, at: u64, head: Head) -> io::Result<Option<Record>> {
        let offset = at.saturating_add(HEAD_BYTES as u64);
        if head.record_bytes() > self.end.saturating_sub(at) {
            return Ok(None);
        }
        let rest = self.read_at(offset, head.rest_bytes())?;
        Ok(head.check(rest).map(|payload| Record { head, payload, offset }))
    }

    /// Returns where the search continues after a record that is damaged.
    fn after_damaged(&mut self, at: u64, head: &Head) -> io::Result<u64> {
        // Heads that overlap, made to cost time, are skipped together with their payload.
        self.wasted = self.wasted.saturating_add(head.record_bytes());
        let end = at.saturating_add(head.record_bytes());
        if self.wasted > self.end && end < self.end { Ok(end) } else { self.search(at + 1) }
    }

    /// Returns the next offset that has the mark of the bundle, or the end.
    fn search(&mut self, from: u64) -> io::Result<u64> {
        let Some(mark) = self.mark else {
            return Ok(if from <= HEADER_SEARCH_BYTES { from } else { self.end });
        };
        let mut from = from;
        loop {
            let bytes = self.window_at(from)?;
            if let Some(at) = bytes.windows(mark.len()).position(|part| part == mark) {
                return Ok(from.saturating_add(at as u64));
            }
            if bytes.len() < mark.len() {
                return Ok(self.end);
            }
            from = from.saturating_add((bytes.len() - (mark.len() - 1)) as u64);
        }
    }

    /// Returns the bytes at an offset: at least those of a head, unless the bundle ends before.
    fn window_at(&mut self, offset: u64) -> io::Result<&[u8]> {
        let skipped = offset.checked_sub(self.window.0).and_then(|skip| usize::try_from(skip).ok());
        let known = skipped.and_then(|skipped| self.window.1.len().checked_sub(skipped));
        if known.is_none_or(|known| known < HEAD_BYTES) {
            let bytes = self.end.saturating_sub(offset).min(SEARCH_BYTES);
            self.window = (offset, self.read_at(offset, bytes)?);
        }
        let skipped = usize::try_from(offset.saturating_sub(self.window.0)).unwrap_or(usize::MAX);
        Ok(self.window.1.get(skipped..).unwrap_or_default())
    }

    /// Reads up to `bytes` bytes; fewer at the end. Memory is allocated only for bytes that exist.
    fn read_at(&mut self, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        self.source.seek(SeekFrom::Start(offset))?;
        let mut found = Vec::new();
        self.source.by_ref().take(bytes).read_to_end(&mut found)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::undo::record::{new_mark, write};

    fn bundle(payloads: &[&[u8]]) -> Vec<u8> {
        let (mut bytes, mark) = (MAGIC.to_vec(), new_mark());
        for (number, payload) in (0..).zip(payloads) {
            let kind = if number < 2 { Kind::Header } else { Kind::Range };
            write(&mut bytes, mark, number, kind, payload).unwrap();
        }
        bytes
    }

    /// Returns the payloads of all records, and the numbers of lost records.
    fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<Option<u64>>) {
        let (mut payloads, mut lost) = (Vec::new(), Vec::new());
        let mut records = Records::new(io::Cursor::new(bytes), bytes.len() as u64);
        while let Some(found) = records.next().unwrap() {
            match found {
                Found::Record(record) => payloads.push(record.payload),
                Found::Damage(damage) => lost.push(damage.records),
            }
        }
        (payloads, lost)
    }

    #[test]
    fn one_flipped_bit_loses_one_record() {
        let payloads: [&[u8]; 5] = [b"header", b"header", b"two", &[7; 300], b"four"];
        let bytes = bundle(&payloads);
        assert_eq!(read(&bytes), (payloads.map(<[u8]>::to_vec).to_vec(), Vec::new()));
        for bit in 64..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let (found, lost) = read(&flipped);
            assert_eq!((found.len(), lost.len()), (4, 1), "bit {bit}");
        }
    }

    /// A source that counts the bytes read from it.
    struct Counted(io::Cursor<Vec<u8>>, u64);

    impl Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(buffer)?;
            self.1 += read as u64;
            Ok(read)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    /// A bundle full of marks and heads is read in a time that is proportional to its length.
    #[test]
    fn marks_without_records_do_not_cost_time() {
        let mut bytes = bundle(&[b"header", b"header"]);
        let (mark, whole) = (bytes[8..16].to_vec(), bytes.len());
        bytes.extend(mark.repeat(1 << 19));
        let mut head = Vec::new();
        // The payload claims to be as long as the rest of the bundle.
        write(&mut head, mark.try_into().unwrap(), 2, Kind::Range, &vec![0; 1 << 20]).unwrap();
        bytes.extend(head[..HEAD_BYTES].repeat(1 << 16));
        let end = bytes.len() as u64;
        let mut records = Records::new(Counted(io::Cursor::new(bytes), 0), end);
        let mut found = 0;
        while records.next().unwrap().is_some() {
            found += 1;
        }
        assert_eq!(found, 3, "two headers and the damage after byte {whole}");
        assert!(records.source.1 < 8 * end, "{} bytes read of {end}", records.source.1);
    }

    #[test]
    fn missing_and_additional_bytes_are_damage() {
        let payloads: [&[u8]; 4] = [b"header", b"header", b"two", b"three"];
        let bytes = bundle(&payloads);
        let (from, to) = (bytes.len() - 44 - 46, bytes.len() - 46);
        let without_two = [&bytes[..from], &bytes[to..]].concat();
        let (found, lost) = read(&without_two);
        assert_eq!((found.len(), lost), (3, vec![Some(1)]));
        for at in [9, from, from + 3, to, bytes.len()] {
            let more = [&bytes[..at], b"\0\0\0", &bytes[at..]].concat();
            let (found, lost) = read(&more);
            assert!(found.len() >= 3 && lost.len() == 1, "{at}: {found:?} {lost:?}");
        }
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).0.len() < 4, "cut at {cut}");
        }
    }
}
