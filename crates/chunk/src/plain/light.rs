//! Light trees in their stored form.

use crate::wire::Reader;

/// The last level of a tree, whose nodes hold only values. The root has level 0.
const LAST_LEVEL: u32 = 4;

/// The size of a node without nested nodes.
const NODE_BYTES: usize = 17;

/// Checks the next light and returns the change id of its tree; `Some(None)` if it has no tree. The
/// tree must be as the game builds it: no node except the root has eight equal values.
#[expect(clippy::option_option, reason = "the outer one means that the light is not plain")]
pub(super) fn skip_light(reader: &mut Reader<'_>) -> Option<Option<u16>> {
    let change_id = reader.u16().ok()?;
    match reader.u8().ok()? {
        0 => Some(None),
        1 => {
            let len = usize::try_from(reader.i32().ok()?).ok()?;
            let tree = reader.bytes(len).ok()?;
            (end_of(tree, 0, 0)? == tree.len()).then_some(Some(change_id))
        }
        _ => None,
    }
}

/// Returns the end of the node at `at`.
fn end_of(tree: &[u8], at: usize, level: u32) -> Option<usize> {
    let mask = *tree.get(at)?;
    if mask == 0 {
        let end = at.checked_add(NODE_BYTES)?;
        let values = tree.get(at.checked_add(1)?..end)?;
        return (level == 0 || !are_equal(values)).then_some(end);
    }
    if level == LAST_LEVEL {
        return None;
    }
    let mut at = at.checked_add(1)?;
    for part in 0..8_u32 {
        let is_node = mask >> part & 1 == 1;
        at = if is_node { end_of(tree, at, level.saturating_add(1))? } else { at.checked_add(2)? };
    }
    (at <= tree.len()).then_some(at)
}

/// Returns whether the eight values are equal.
fn are_equal(values: &[u8]) -> bool {
    // Shifted by one value, they are the same.
    values.get(2..) == values.get(..14)
}
