//! Light trees in their stored form.

use crate::wire::Reader;

/// The last level of a tree, whose nodes hold only values. The root has level 0.
const LAST_LEVEL: u32 = 4;

/// The size of a node without nested nodes: a mask of 0 and eight values.
const LEAF_BYTES: usize = 17;

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
            skip_node(tree, 0)?.is_empty().then_some(Some(change_id))
        }
        _ => None,
    }
}

/// Checks the first node and returns the bytes after it.
fn skip_node(bytes: &[u8], level: u32) -> Option<&[u8]> {
    let (&mask, parts) = bytes.split_first()?;
    if mask == 0 {
        let (values, rest) = parts.split_first_chunk()?;
        return (level == 0 || !are_equal(values)).then_some(rest);
    }
    if level.saturating_add(1) == LAST_LEVEL {
        return skip_leaves(parts, mask);
    }
    let (mut rest, mut nodes, mut next) = (parts, mask, 0);
    while nodes != 0 {
        let part = nodes.trailing_zeros();
        rest = skip_node(skip_values(rest, next, part)?, level.saturating_add(1))?;
        (nodes, next) = (nodes & nodes.wrapping_sub(1), part.saturating_add(1));
    }
    skip_values(rest, next, 8)
}

/// Skips the values of the parts from `next` on, up to `end`.
fn skip_values(bytes: &[u8], next: u32, end: u32) -> Option<&[u8]> {
    bytes.get(end.saturating_sub(next).saturating_mul(2) as usize..)
}

/// Checks the parts of a node whose nested nodes are of the last level. All of those have the same
/// size, so none has to be read to find the next one.
fn skip_leaves(parts: &[u8], mask: u8) -> Option<&[u8]> {
    // A part is a value of 2 bytes or a nested node of 17 bytes.
    let (mut nodes, mut at, mut is_plain) = (mask, 0_usize, true);
    while nodes != 0 {
        let start = at.saturating_add(nodes.trailing_zeros().saturating_mul(2) as usize);
        let leaf: &[u8; LEAF_BYTES] = parts.get(start..)?.first_chunk()?;
        let (mask, values) = leaf.split_first()?;
        is_plain &= *mask == 0 && !are_equal(values.as_array()?);
        (nodes, at) = (nodes & nodes.wrapping_sub(1), at.saturating_add(LEAF_BYTES - 2));
    }
    parts.get(at.saturating_add(16)..).filter(|_| is_plain)
}

/// Returns whether the eight values are equal.
fn are_equal(values: &[u8; 16]) -> bool {
    let values = u128::from_le_bytes(*values);
    values == values.rotate_left(16)
}

#[cfg(test)]
mod tests {
    use hyworld_testkit::Random;

    use super::*;
    use crate::light::Light;

    /// Appends a node with values below `values`.
    fn put_node(out: &mut Vec<u8>, random: &mut Random, level: u32, values: u32) {
        let (at, mut mask) = (out.len(), 0);
        out.push(mask);
        for part in 0..8 {
            if level < LAST_LEVEL && random.below(3) == 0 {
                mask |= 1 << part;
                put_node(out, random, level + 1, values);
            } else {
                out.extend([0, u8::try_from(random.below(values)).unwrap()]);
            }
        }
        out[at] = mask;
    }

    fn is_plain(light: &[u8]) -> bool {
        let mut reader = Reader::new(light);
        skip_light(&mut reader).is_some() && reader.left() == 0
    }

    /// Decodes the light and looks for nodes that the game does not write.
    fn is_plain_decoded(bytes: &[u8]) -> bool {
        let mut reader = Reader::new(bytes);
        let light = Light::decode(&mut reader).ok().filter(|_| reader.left() == 0);
        let is_plain = |light: Light| {
            light.tree.is_none_or(|tree| tree.has_usual_flag() && tree.idle_nodes() == 0)
        };
        light.is_some_and(is_plain)
    }

    #[test]
    fn trees_are_plain_if_decoding_finds_nothing() {
        let (mut random, mut plain) = (Random::new(5), 0);
        for round in 0..400 {
            let mut tree = Vec::new();
            put_node(&mut tree, &mut random, 0, [2, 200][round % 2]);
            let len = u32::try_from(tree.len()).unwrap().to_be_bytes();
            let mut light = [&[0, 7, 1][..], &len, &tree].concat();
            assert_eq!(is_plain(&light), is_plain_decoded(&light));
            plain += usize::from(is_plain(&light));
            let at = random.below(u32::try_from(light.len()).unwrap()) as usize;
            light[at] ^= 1 << random.below(8);
            assert_eq!(is_plain(&light), is_plain_decoded(&light), "byte {at}");
            light.truncate(at);
            assert_eq!(is_plain(&light), is_plain_decoded(&light), "{at} bytes");
        }
        assert!((250..390).contains(&plain), "{plain}");
    }
}
