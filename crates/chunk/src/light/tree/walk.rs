//! Non-recursive walks over the stored form of a tree.
//!
//! Nodes are stored in cell order, so a walk only has to remember which parts of the open nodes are
//! left. It keeps the remaining bits of each node's mask, plus one bit above the last. The zeros
//! below the next set bit are values; the set bit is a node, or the end if it is the last one.

use super::super::LightValue;
use hyworld_documents::{Malformed, Problem};

/// The depth of the fourth level below the root. Nodes nested in it contain only values.
const FOURTH_LEVEL: u32 = 3;

/// The size of a node without nested nodes: its mask and eight values.
const LAST_NODE_BYTES: usize = 17;

/// The size that a nested node adds to its parent: its own size minus the value it replaces.
const NODE_BYTES: usize = 15;

/// Returns the remaining parts of a node, in the form described above.
fn parts(mask: u8) -> u32 {
    u32::from(mask) | 1 << 8
}

/// Checks that a tree ends exactly at the end of the bytes, and that it is not too deep.
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

/// Returns the end of the node at `at`, which is `level` levels below the root. Values are skipped
/// unread, so the end may be past the end of the bytes.
fn end_of(bytes: &[u8], at: usize, level: u32) -> Result<usize, Malformed> {
    if level >= FOURTH_LEVEL {
        return end_of_low(bytes, at, level);
    }
    let mut at = at + 1;
    let mut left = parts(mask_at(bytes, at - 1)?);
    // The remaining parts of the parents, nine bits each, with the nearest parent in the low bits.
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

/// Does the same as [`end_of`] for the two lowest levels, which hold most nodes. Their end follows
/// from the number of nodes.
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
    // Without a branch for each part, because such branches are unpredictable.
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

/// Cells that are stored together.
pub(super) enum Run {
    /// Cells with one value.
    Same { value: LightValue, len: usize },
    /// The eight cells of a node of the fifth level.
    Eight([LightValue; 8]),
}

/// Calls `see` for all cells of a checked tree, in order.
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

/// Counts the nodes below the root of a checked tree that have eight equal values.
pub(super) fn idle_nodes(bytes: &[u8]) -> usize {
    let mut idle = 0;
    count_idle(bytes, 0, 0, &mut idle);
    idle
}

/// Counts in the node at `at` and returns its end. A checked tree has at most five levels.
fn count_idle(bytes: &[u8], at: usize, level: u32, idle: &mut usize) -> usize {
    let mask = bytes.get(at).copied().unwrap_or(0);
    let mut next = at + 1;
    if mask == 0 {
        let values = bytes.get(next..at + LAST_NODE_BYTES).unwrap_or_default();
        // All eight values are equal if the bytes equal themselves shifted by one value.
        let is_idle = level > 0 && values.get(2..) == values.get(..14);
        *idle += usize::from(is_idle);
        return at + LAST_NODE_BYTES;
    }
    for part in 0..8 {
        let is_node = mask >> part & 1 == 1;
        next = if is_node { count_idle(bytes, next, level + 1, idle) } else { next + 2 };
    }
    next
}

/// Returns the light of the cell with this index in a checked tree.
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

/// Removes and returns the first bytes.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
