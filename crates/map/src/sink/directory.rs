//! The header and the directories of a `PMTiles` archive, version 3.
//!
//! A directory lists tiles by id: the number of all tiles of lower zooms, plus the position on a
//! Hilbert curve. If the list is too long for the start of the file, it is divided into leaves, and
//! the root lists those. Integers have seven bits per byte, the lowest first.

/// The length of the header.
pub(super) const HEADER_BYTES: usize = 127;

/// The root directory must end before this offset.
pub(super) const ROOT_END: usize = 16_384;

/// The number of entries of a leaf.
const LEAF_ENTRIES: usize = 4_096;

/// The greatest zoom whose tile ids fit into 64 bits.
pub(super) const ZOOM_MAX: u32 = 31;

/// A tile, or a leaf if `run` is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) id: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) run: u64,
}

/// The positions of the parts of an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Header {
    pub(super) root: (u64, u64),
    pub(super) metadata: (u64, u64),
    pub(super) leaves: (u64, u64),
    pub(super) data: (u64, u64),
    pub(super) tiles: u64,
    pub(super) tile_type: u8,
    pub(super) zooms: (u8, u8),
}

impl Header {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = b"PMTiles\x03".to_vec();
        for (offset, length) in [self.root, self.metadata, self.leaves, self.data] {
            out.extend(offset.to_le_bytes());
            out.extend(length.to_le_bytes());
        }
        for _addressed_entries_contents in 0..3 {
            out.extend(self.tiles.to_le_bytes());
        }
        // In the order of their ids; directories and tiles are not compressed further.
        out.extend([1, 1, 1, self.tile_type, self.zooms.0, self.zooms.1]);
        // The bounds in degrees, times ten million, and the centre. A world has no degrees.
        for degrees in [-1_800_000_000_i32, -850_000_000, 1_800_000_000, 850_000_000] {
            out.extend(degrees.to_le_bytes());
        }
        out.push(self.zooms.0);
        out.extend([0; 8]);
        out
    }

    /// Decodes a header. Returns `None` if it is not one that this module writes.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.get(..HEADER_BYTES)?.strip_prefix(b"PMTiles\x03")?;
        let number = |index: usize| {
            let bytes = rest.get(8 * index..8 * index + 8)?.first_chunk::<8>()?;
            Some(u64::from_le_bytes(*bytes))
        };
        let part = |index: usize| Some((number(2 * index)?, number(2 * index + 1)?));
        let flags = rest.get(88..94)?;
        let (&[1, 1, 1, tile_type, low, high], _) = flags.split_first_chunk::<6>()? else {
            return None;
        };
        Some(Self {
            root: part(0)?,
            metadata: part(1)?,
            leaves: part(2)?,
            data: part(3)?,
            tiles: number(8)?,
            tile_type,
            zooms: (low, high),
        })
    }
}

/// Returns the root directory and the leaves for entries in ascending order of ids.
pub(super) fn encode_directories(entries: &[Entry]) -> (Vec<u8>, Vec<u8>) {
    let root = encode(entries);
    if root.len().saturating_add(HEADER_BYTES) <= ROOT_END {
        return (root, Vec::new());
    }
    let mut size = LEAF_ENTRIES;
    loop {
        let (mut leaves, mut pointers) = (Vec::new(), Vec::new());
        for leaf in entries.chunks(size) {
            let bytes = encode(leaf);
            let id = leaf.first().map_or(0, |entry| entry.id);
            let (offset, length) = (leaves.len() as u64, bytes.len() as u64);
            pointers.push(Entry { id, offset, length, run: 0 });
            leaves.extend(bytes);
        }
        let root = encode(&pointers);
        if root.len().saturating_add(HEADER_BYTES) <= ROOT_END {
            return (root, leaves);
        }
        size = size.saturating_mul(2);
    }
}

fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, entries.len() as u64);
    let mut previous = 0;
    for entry in entries {
        put(&mut out, entry.id.saturating_sub(previous));
        previous = entry.id;
    }
    for number in entries.iter().map(|entry| entry.run) {
        put(&mut out, number);
    }
    for number in entries.iter().map(|entry| entry.length) {
        put(&mut out, number);
    }
    let mut next = None;
    for entry in entries {
        let is_next = next == Some(entry.offset);
        put(&mut out, if is_next { 0 } else { entry.offset.saturating_add(1) });
        next = entry.offset.checked_add(entry.length);
    }
    out
}

/// Decodes a directory. Returns `None` if it is malformed.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut rest = bytes;
    let count = usize::try_from(take(&mut rest)?).ok()?;
    // Each entry has at least four bytes.
    if count > rest.len() / 4 {
        return None;
    }
    let mut entries = vec![Entry { id: 0, offset: 0, length: 0, run: 0 }; count];
    let mut id = 0_u64;
    for entry in &mut entries {
        id = id.checked_add(take(&mut rest)?)?;
        entry.id = id;
    }
    for entry in &mut entries {
        entry.run = take(&mut rest)?;
    }
    for entry in &mut entries {
        entry.length = take(&mut rest)?;
    }
    let mut next = 0_u64;
    for entry in &mut entries {
        entry.offset = take(&mut rest)?.checked_sub(1).unwrap_or(next);
        next = entry.offset.checked_add(entry.length)?;
    }
    Some(entries)
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Returns the id of a tile; `None` if the zoom is too great or the tile outside of it.
pub(super) fn tile_id(zoom: u32, x: u32, y: u32) -> Option<u64> {
    let end = 1_u64.checked_shl(zoom).filter(|_| zoom <= ZOOM_MAX)?;
    if u64::from(x.max(y)) >= end {
        return None;
    }
    // All tiles of lower zooms: (4^zoom - 1) / 3.
    let before = (1_u64.checked_shl(2 * zoom)? - 1) / 3;
    let (mut x, mut y, mut index) = (u64::from(x), u64::from(y), 0_u64);
    for bit in (0..zoom).rev() {
        let size = 1_u64 << bit;
        let (right, low) = (u64::from(x & size != 0), u64::from(y & size != 0));
        index += size * size * ((3 * right) ^ low);
        rotate(size, &mut x, &mut y, right, low);
    }
    Some(before + index)
}

/// Returns the zoom and the coordinates of a tile.
pub(super) fn tile_of(id: u64) -> Option<(u32, u32, u32)> {
    let mut before = 0_u64;
    let mut zoom = 0;
    loop {
        let count = 1_u64.checked_shl(2 * zoom).filter(|_| zoom <= ZOOM_MAX)?;
        if id - before < count {
            break;
        }
        before = before.checked_add(count)?;
        zoom += 1;
    }
    let (mut x, mut y, mut index) = (0_u64, 0_u64, id - before);
    for bit in 0..zoom {
        let size = 1_u64 << bit;
        let right = (index / 2) & 1;
        let low = (index ^ right) & 1;
        rotate(size, &mut x, &mut y, right, low);
        x += size * right;
        y += size * low;
        index /= 4;
    }
    Some((zoom, u32::try_from(x).ok()?, u32::try_from(y).ok()?))
}

/// Turns a quarter of the curve.
fn rotate(size: u64, x: &mut u64, y: &mut u64, right: u64, low: u64) {
    if low == 0 {
        if right == 1 {
            let mask = size - 1;
            (*x, *y) = (mask.wrapping_sub(*x) & mask, mask.wrapping_sub(*y) & mask);
        }
        std::mem::swap(x, y);
    }
    let mask = size - 1;
    (*x, *y) = (*x & mask, *y & mask);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_specification() {
        // Examples of the public specification.
        let ids = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0), (2, 0, 0)];
        let ids = ids.map(|(zoom, x, y)| tile_id(zoom, x, y).unwrap());
        assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
        assert_eq!(tile_id(12, 3_423, 1_763), Some(19_078_479));
        assert_eq!((tile_id(1, 2, 0), tile_id(32, 0, 0)), (None, None));
    }

    #[test]
    fn ids_can_be_converted_back() {
        for id in (0..30_000).chain([u64::MAX / 5, 19_078_479]) {
            let (zoom, x, y) = tile_of(id).unwrap();
            assert_eq!(tile_id(zoom, x, y), Some(id));
        }
        assert_eq!(tile_of(u64::MAX), None);
    }

    fn entries(count: u64) -> Vec<Entry> {
        let entry = |number: u64| {
            let length = number % 97 + 1;
            Entry { id: number * number, offset: number * 1_000_003, length, run: 1 }
        };
        (0..count).map(entry).collect()
    }

    #[test]
    fn directories_round_trip() {
        for count in [0, 1, 2, 500] {
            let entries = entries(count);
            let (root, leaves) = encode_directories(&entries);
            assert_eq!((decode(&root), leaves.len()), (Some(entries), 0));
        }
        let many = entries(100_000);
        let (root, leaves) = encode_directories(&many);
        assert!(root.len() + HEADER_BYTES <= ROOT_END);
        let mut found = Vec::new();
        for leaf in decode(&root).unwrap() {
            let (start, end) = (leaf.offset, leaf.offset + leaf.length);
            let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            assert_eq!(leaf.run, 0);
            found.extend(decode(&leaves[range]).unwrap());
        }
        assert!(found == many);
    }

    #[test]
    fn damaged_directories_are_rejected() {
        let (root, _) = encode_directories(&entries(50));
        for end in 0..root.len() {
            assert_eq!(decode(&root[..end]), None);
        }
        assert_eq!(decode(&[0xff; 30]), None);
        for position in 0..root.len() {
            for bit in 0..8 {
                let mut flipped = root.clone();
                flipped[position] ^= 1 << bit;
                // Must not panic or use much memory.
                assert!(decode(&flipped).is_none_or(|found| found.len() <= root.len()));
            }
        }
    }

    #[test]
    fn headers_round_trip() {
        let header = Header {
            root: (127, 5),
            metadata: (132, 6),
            leaves: (138, 7),
            data: (145, u64::MAX),
            tiles: 9,
            tile_type: 4,
            zooms: (1, 3),
        };
        let bytes = header.encode();
        assert_eq!((bytes.len(), Header::decode(&bytes)), (HEADER_BYTES, Some(header)));
        assert_eq!(Header::decode(&bytes[..126]), None);
        assert_eq!(Header::decode(&[0; 127]), None);
    }
}
