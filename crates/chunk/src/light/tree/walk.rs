//! Ways through the stored form of a tree, none of them recursive.
//!
//! Nodes are stored in the order of their cells, so a walk need not remember where a node's cells
//! begin; only which parts of the open nodes are still to come. These are kept as the bits of the
//! node's mask that are left, with one more bit above the last: the zeros below the next bit are
//! values, and the bit is a node, or the end if it is the last one.

use super::super::LightValue;
use hyworld_documents::{Malformed, Problem};

/// How far the fourth level is below the root. The nodes in its nodes have only values.
const FOURTH_LEVEL: u32 = 3;

/// A node without nodes below: its mask, and eight values.
const LAST_NODE_BYTES: usize = 17;

/// What each node adds to the length of the node that it is a part of: itself, less the value
/// that would stand in its place.
const NODE_BYTES: usize = 15;

/// The parts of a node that are left, as described above.
fn parts(mask: u8) -> u32 {
    u32::from(mask) | 1 << 8
}

/// Checks that a tree ends exactly with the bytes, and that it is not too deep.
pub(super) fn check(bytes: &[u8]) -> Result<(), Malformed> {
    let end = end_of(bytes, 0, 0)?;
    match bytes.len().checked_sub(end) {
        Some(0) => Ok(()),
        Some(left) => Err(Malformed { at: end, problem: Problem::Trailing { bytes: left } }),
        None => Err(truncated(bytes, end)),
    }
}

fn truncated(bytes: &[u8], needed: usize) -> Malformed {
    let problem = Problem::Truncated { needed, left: bytes.len() };
    Malformed { at: 0, problem }
}

fn mask_at(bytes: &[u8], at: usize) -> Result<u8, Malformed> {
    bytes.get(at).copied().ok_or_else(|| truncated(bytes, at + 1))
}

/// Where the node ends that begins at `at` and is `level` levels below the root. Values are
/// skipped without a look, so the end may lie past that of the bytes.
fn end_of(bytes: &[u8], at: usize, level: u32) -> Result<usize, Malformed> {
    if level >= FOURTH_LEVEL {
        return end_of_low(bytes, at, level);
    }
    let mut at = at + 1;
    let mut left = parts(mask_at(bytes, at - 1)?);
    // The parts left of the nodes above, the nearest one in the lowest bits. Nine bits each.
    let mut above = 0_u32;
    let mut depth = level;
    loop {
        let values = left.trailing_zeros();
        at += 2 * values as usize;
        left >>= values;
        if left == 1 {
            if depth == level {
                return Ok(at);
            }
            depth -= 1;
            left = above & 0x1ff;
            above >>= 9;
            continue;
        }
        left >>= 1;
        if depth + 1 == FOURTH_LEVEL {
            at = end_of_low(bytes, at, FOURTH_LEVEL)?;
            continue;
        }
        above = above << 9 | left;
        depth += 1;
        left = parts(mask_at(bytes, at)?);
        at += 1;
    }
}

/// As [`end_of`], for the two lowest levels. Most nodes are there, and where they end follows
/// from how many there are.
fn end_of_low(bytes: &[u8], at: usize, level: u32) -> Result<usize, Malformed> {
    let mask = mask_at(bytes, at)?;
    if level > FOURTH_LEVEL {
        return if mask == 0 { Ok(at + LAST_NODE_BYTES) } else { Err(too_deep(at, mask)) };
    }
    let nodes = mask.count_ones() as usize;
    let end = at + LAST_NODE_BYTES + NODE_BYTES * nodes;
    let Some(parts) = bytes.get(at + 1..end) else {
        return Err(truncated(bytes, end));
    };
    // Without a branch for each part, which no processor could foresee.
    let mut masks = 0;
    let mut node_at = 0;
    for part in 0..8 {
        let is_node = mask >> part & 1;
        // All ones for a node, all zeros for a value.
        masks |= parts.get(node_at).copied().unwrap_or(0) & is_node.wrapping_neg();
        node_at += 2 + NODE_BYTES * usize::from(is_node);
    }
    if masks != 0 {
        return Err(too_deep(at, masks));
    }
    Ok(end)
}

fn too_deep(at: usize, mask: u8) -> Malformed {
    let (what, expected) = ("the mask of a light node of the fifth level", "0");
    Malformed { at, problem: Problem::Value { what, found: mask.into(), expected } }
}

/// Cells that have a place in the tree together.
pub(super) enum Run {
    /// This many cells with one value.
    Same { value: LightValue, len: usize },
    /// The eight cells of a node of the fifth level.
    Eight([LightValue; 8]),
}

/// Shows all cells of a tree that was checked, in order.
pub(super) fn visit(mut bytes: &[u8], mut see: impl FnMut(Run)) {
    let mut above = 0_u32;
    let mut len = 4096;
    let mut left = parts(take(&mut bytes).map_or(0, |[mask]| mask));
    loop {
        let values = left.trailing_zeros();
        for _ in 0..values {
            see(Run::Same { value: value(take(&mut bytes).unwrap_or_default()), len });
        }
        left >>= values;
        if left == 1 {
            if len == 4096 {
                return;
            }
            left = above & 0x1ff;
            above >>= 9;
            len *= 8;
            continue;
        }
        left >>= 1;
        let [mask] = take(&mut bytes).unwrap_or_default();
        if len == 8 {
            let (values, _) = bytes.split_at_checked(16).unwrap_or_default();
            bytes = bytes.get(16..).unwrap_or_default();
            let mut eight = [LightValue::DARK; 8];
            for (to, &from) in eight.iter_mut().zip(values.as_chunks().0) {
                *to = value(from);
            }
            see(Run::Eight(eight));
            continue;
        }
        above = above << 9 | left;
        len /= 8;
        left = parts(mask);
    }
}

/// The light of the cell with this index, in a tree that was checked.
pub(super) fn value_at(bytes: &[u8], index: u16) -> LightValue {
    let mut at = 0;
    for level in 0..5 {
        let mask = bytes.get(at).copied().unwrap_or(0);
        at += 1;
        let part = index >> (12 - 3 * level) & 7;
        for before in 0..part {
            let is_node = mask >> before & 1 == 1;
            at = if is_node { end_of(bytes, at, level + 1).unwrap_or(at) } else { at + 2 };
        }
        if mask >> part & 1 == 0 {
            break;
        }
    }
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    value(found.copied().unwrap_or_default())
}

fn value(bytes: [u8; 2]) -> LightValue {
    LightValue::from_bits(u16::from_be_bytes(bytes))
}

/// Takes bytes from the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
