//! Bytes with compressed repetitions. The bytes of a chunk are mostly repetitions, and a fuzzer
//! learns nothing from changing one of sixteen thousand equal cells.
//!
//! Every sequence of bytes is valid. [`ESCAPE`] is followed by a distance and a length, both
//! little-endian u16: that many bytes are copied from that far back. Bytes before the start are 0.
//! A distance of 0 stands for the escape byte itself.

use std::collections::HashMap;

/// A byte that is rare in chunks.
pub const ESCAPE: u8 = 0xC5;

/// The maximum size of the expanded bytes: a chunk of ten full sections.
pub const EXPANDED_BYTES_MAX: usize = 1 << 20;

/// The minimum length of a repetition that is worth an escape.
const REPEATED_BYTES_MIN: usize = 8;

/// Expands packed bytes.
pub fn expand(mut packed: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((&byte, rest)) = packed.split_first() {
        packed = rest;
        if out.len() >= EXPANDED_BYTES_MAX {
            break;
        }
        if byte != ESCAPE {
            out.push(byte);
            continue;
        }
        let Some((&[d0, d1, l0, l1], rest)) = packed.split_first_chunk() else { break };
        packed = rest;
        match usize::from(u16::from_le_bytes([d0, d1])) {
            0 => out.push(ESCAPE),
            distance => {
                for _ in 0..u16::from_le_bytes([l0, l1]) {
                    let from = out.len().checked_sub(distance);
                    out.push(from.map_or(0, |from| out[from]));
                }
            }
        }
    }
    out.truncate(EXPANDED_BYTES_MAX);
    out
}

/// Packs bytes.
pub fn compact(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    let mut at = 0;
    while at < bytes.len() {
        let (distance, len) = repeated(bytes, at, &seen);
        let step = if len >= REPEATED_BYTES_MIN {
            put_repeated(&mut packed, distance, len);
            len
        } else {
            match bytes[at] {
                ESCAPE => put_repeated(&mut packed, 0, 0),
                byte => packed.push(byte),
            }
            1
        };
        for start in at..at + step {
            if let Some(four) = bytes.get(start..start + 4) {
                seen.insert(four, start);
            }
        }
        at += step;
    }
    packed
}

fn put_repeated(packed: &mut Vec<u8>, distance: usize, len: usize) {
    packed.push(ESCAPE);
    for number in [distance, len] {
        packed.extend(u16::try_from(number).expect("at most a u16").to_le_bytes());
    }
}

/// Returns how far back the bytes at `at` last occurred, and how many of them are equal there.
fn repeated(bytes: &[u8], at: usize, seen: &HashMap<&[u8], usize>) -> (usize, usize) {
    let last = bytes.get(at..at + 4).and_then(|four| seen.get(four));
    let Some(distance) = last.map(|last| at - last).filter(|distance| *distance < 65_536) else {
        return (0, 0);
    };
    let pairs = bytes[at..].iter().zip(&bytes[at - distance..]);
    (distance, pairs.take(65_535).take_while(|(one, other)| one == other).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_round_trip() {
        let columns: Vec<u8> = [0, 0, 0, 0, 0, 0, 0, 7].repeat(1024);
        let odd: Vec<u8> = (0..70_000_u32).map(|n| (u64::from(n).pow(2) / 7 % 256) as u8).collect();
        for bytes in [vec![], vec![ESCAPE; 5], vec![0; 200_000], columns, odd] {
            let packed = compact(&bytes);
            assert!(expand(&packed) == bytes, "{} bytes", bytes.len());
        }
        assert!(compact(&vec![0; 32_768]).len() < 10);
    }

    #[test]
    fn any_bytes_can_be_expanded() {
        assert_eq!(expand(&[1, ESCAPE, 9, 0, 3, 0, 2]), [1, 0, 0, 0, 2]);
        assert_eq!(expand(&[7, ESCAPE, 1]), [7]);
        let bomb = [ESCAPE, 1, 0, 0xff, 0xff].repeat(1000);
        assert_eq!(expand(&bomb).len(), EXPANDED_BYTES_MAX);
    }
}
