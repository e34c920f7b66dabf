//! Light as a tree over the indices of a section's cells.
//!
//! A node splits a run of cells into eight parts of equal length. It is stored as a mask byte,
//! which has a bit for each part that is a node, followed by the eight parts in order. A part is
//! either a nested node, or the big-endian value of all its cells. The root covers 32,768 cells; a
//! node of the fifth and last level covers eight.

mod walk;

use std::fmt;

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock, SectionArray};

use super::LightValue;
use crate::shared_bytes::SharedBytes;
use crate::wire::Reader;
use hyworld_documents::{Malformed, Problem};

/// The number of nodes in a full tree: 1 + 8 + 64 + 512 + 4096.
const NODES_MAX: usize = 4681;

/// Returns the size of a tree: one byte per node, and two per value. Each node has eight parts, and
/// all parts except the nested nodes are values.
const fn bytes_of(nodes: usize) -> usize {
    15 * nodes + 2
}

/// The light of all cells of a section in its stored form.
///
/// The game never stores a node with eight equal values, except the root. A stored tree with such
/// nodes is kept as it is; [`from_values`](Self::from_values) does not build one.
#[derive(Clone, PartialEq, Eq)]
pub struct LightTree {
    /// The stored flag, kept as it was read. The game writes 1; any value except 0 is accepted.
    flag: u8,
    /// Checked: every node and value is within the bytes.
    bytes: SharedBytes,
}

impl LightTree {
    /// Creates a tree with the same light everywhere.
    pub fn filled(value: LightValue) -> Self {
        let [high, low] = value.bits().to_be_bytes();
        let bytes = [0].into_iter().chain([high, low].into_iter().cycle().take(16)).collect();
        Self { flag: 1, bytes: SharedBytes::new(bytes) }
    }

    /// Creates the smallest tree with these values.
    pub fn from_values(values: &SectionArray<LightValue>) -> Self {
        let mut values = values.values().as_slice();
        let mut bytes = Vec::new();
        put_node(&mut bytes, &mut values, BLOCKS_PER_SECTION.into());
        Self { flag: 1, bytes: SharedBytes::new(bytes) }
    }

    /// Returns the stored form of the root and all nested nodes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Returns the number of nodes, 1 to 4681.
    pub fn nodes(&self) -> usize {
        (self.as_bytes().len() - 2) / 15
    }

    /// Returns the light of one cell. Walks over everything stored before that cell; for many cells
    /// [`expand`](Self::expand) is faster.
    pub fn get(&self, cell: LocalBlock) -> LightValue {
        walk::value_at(self.as_bytes(), cell.index())
    }

    /// Returns the light of every cell.
    pub fn expand(&self) -> SectionArray<LightValue> {
        let mut values = Vec::with_capacity(BLOCKS_PER_SECTION.into());
        walk::visit(self.as_bytes(), |run| match run {
            walk::Run::Same { value, len } => values.resize(values.len() + len, value),
            walk::Run::Eight(eight) => values.extend(eight),
        });
        SectionArray::from_vec(values).unwrap_or_else(|| SectionArray::filled(LightValue::DARK))
    }

    /// Returns the runs of consecutive cells with the same light, each with its length.
    pub(crate) fn runs(&self) -> Vec<(LightValue, u32)> {
        let mut runs: Vec<(LightValue, u32)> = Vec::new();
        let mut add = |value, len| match runs.last_mut() {
            Some((last, sum)) if *last == value => *sum += len,
            _ => runs.push((value, len)),
        };
        walk::visit(self.as_bytes(), |run| match run {
            walk::Run::Same { value, len } => add(value, u32::try_from(len).unwrap_or(u32::MAX)),
            walk::Run::Eight(eight) => eight.into_iter().for_each(|value| add(value, 1)),
        });
        runs
    }

    /// Returns the light of all cells if it is the same everywhere.
    pub fn uniform(&self) -> Option<LightValue> {
        let first = walk::value_at(self.as_bytes(), 0);
        let mut same = true;
        walk::visit(self.as_bytes(), |run| {
            same &= match run {
                walk::Run::Same { value, .. } => value == first,
                walk::Run::Eight(eight) => eight == [first; 8],
            }
        });
        same.then_some(first)
    }

    /// Returns whether all cells have the same light.
    pub fn is_uniform(&self) -> bool {
        self.uniform().is_some()
    }

    /// Returns the number of nodes with eight equal values, which the game would store as one
    /// value. The root does not count.
    pub fn idle_nodes(&self) -> usize {
        walk::idle_nodes(self.as_bytes())
    }

    /// Returns whether the stored flag is 1, as the game writes it.
    pub(crate) fn has_usual_flag(&self) -> bool {
        self.flag == 1
    }

    /// Reads the bytes after the flag.
    pub(super) fn decode(flag: u8, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let at = reader.at();
        let found = reader.i32()?;
        let fits =
            |len: &usize| *len <= bytes_of(NODES_MAX) && *len > 2 && (len - 2).is_multiple_of(15);
        let Some(len) = usize::try_from(found).ok().filter(fits) else {
            let (what, expected) = ("the length of a light tree", "15 n + 2, n from 1 to 4681");
            return Err(Malformed {
                at,
                problem: Problem::Value { what, found: found.into(), expected },
            });
        };
        let at = reader.at();
        let bytes = reader.shared_bytes(len)?;
        walk::check(bytes.as_slice()).map_err(|inner| Malformed { at: at + inner.at, ..inner })?;
        Ok(Self { flag, bytes })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.flag);
        // At most 70,217 bytes, see `NODES_MAX`.
        out.extend(u32::try_from(self.as_bytes().len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend(self.as_bytes());
    }
}

/// Appends the node for the next `len` values and removes them from `values`.
fn put_node(out: &mut Vec<u8>, values: &mut &[LightValue], len: usize) {
    let mask_at = out.len();
    let mut mask = 0_u8;
    out.push(mask);
    for part in 0..8 {
        let (run, rest) = values.split_at_checked(len / 8).unwrap_or((values, &[]));
        let first = run.first().copied().unwrap_or_default();
        if run.iter().all(|&value| value == first) {
            out.extend(first.bits().to_be_bytes());
            *values = rest;
        } else {
            mask |= 1 << part;
            put_node(out, values, len / 8);
        }
    }
    if let Some(byte) = out.get_mut(mask_at) {
        *byte = mask;
    }
}

/// Prints the number of nodes.
impl fmt::Debug for LightTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LightTree({} nodes)", self.nodes())
    }
}

#[cfg(test)]
mod tests;
