//! In which order the game writes the components of a holder.
//!
//! It goes through a hash table, so the order follows from the names and the size of the table.
//! Any order loads, and what was read keeps its own; this is for what we make, so that it looks
//! as if the game had made it.

use std::collections::BTreeSet;

/// Whose components they are, which decides how large the game makes the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum HolderKind {
    /// A chunk.
    Chunk,
    /// A section of a chunk.
    Section,
    /// An entity or block entity. Their tables are of 128 or 256 places, which cannot be told
    /// from the outside; we take 256.
    Entity,
}

/// The component ids in the order in which the game writes them; each one once.
///
/// Where two names want the same place, the game's order depends on which came first. Here it is
/// the one that sorts first, which is right in every holder of the real worlds we have.
pub fn component_order<'a>(
    kind: HolderKind,
    ids: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    let least = match kind {
        HolderKind::Chunk if ids.contains("ChunkSpawnedNPCData") => 64,
        HolderKind::Chunk => 32,
        HolderKind::Section if ids.contains("BlockPhysics") => 32,
        HolderKind::Section => 16,
        HolderKind::Entity => 256,
    };
    hash_order(&ids, least)
}

/// Puts names into a table of at least `least` places, a power of two and never more than three
/// quarters full, and reads it from the end.
fn hash_order<'a>(ids: &BTreeSet<&'a str>, least: usize) -> Vec<&'a str> {
    let places = ids.len().saturating_mul(4).div_ceil(3).max(least).next_power_of_two();
    let mut table: Vec<Option<&str>> = vec![None; places];
    for id in ids {
        let wanted = usize::try_from(spread(java_hash(id))).unwrap_or_default() & (places - 1);
        // From there on upwards, and from the end to the beginning.
        let (before, after) = table.split_at_mut(wanted);
        if let Some(free) = after.iter_mut().chain(before).find(|place| place.is_none()) {
            *free = Some(id);
        }
    }
    table.into_iter().rev().flatten().collect()
}

/// `String.hashCode` of Java, which counts in UTF-16.
fn java_hash(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// How the game's tables mix a hash before they take its low bits.
fn spread(hash: u32) -> u32 {
    let product = hash.wrapping_mul(0x9E37_79B9);
    product ^ product >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks and sections: all that the real worlds have. Entities: two of many.
    const GOLDEN: [(HolderKind, &[&str]); 6] = [
        (
            HolderKind::Chunk,
            &[
                "BlockComponentChunk",
                "EnvironmentChunk",
                "ChunkColumn",
                "WorldChunk",
                "BlockHealthChunk",
                "BlockChunk",
                "EntityChunk",
            ],
        ),
        (
            HolderKind::Chunk,
            &[
                "BlockComponentChunk",
                "ChunkColumn",
                "WorldChunk",
                "BlockHealthChunk",
                "ChunkSpawnedNPCData",
                "EnvironmentChunk",
                "BlockChunk",
                "EntityChunk",
            ],
        ),
        (HolderKind::Section, &["Fluid", "ChunkSection", "Block"]),
        (HolderKind::Section, &["ChunkSection", "BlockPhysics", "Fluid", "Block"]),
        (
            HolderKind::Entity,
            &[
                "EffectController",
                "DisplayName",
                "RefId",
                "UIComponentList",
                "Transform",
                "Velocity",
                "Interactions",
                "Model",
                "UUID",
                "EntityStats",
                "SpawnMarkerReference",
                "WorldGenId",
                "NPC",
                "HeadRotation",
            ],
        ),
        (HolderKind::Entity, &["PlacedByInteraction", "BlockSpawner"]),
    ];

    #[test]
    fn golden_orders() {
        for (kind, order) in GOLDEN {
            let mut ids = order.to_vec();
            for _ in 0..ids.len() {
                assert_eq!(component_order(kind, ids.iter().copied()), order, "{ids:?}");
                ids.rotate_left(1);
                ids.reverse();
            }
        }
    }

    /// In a table of 128 places some of these want the same one.
    #[test]
    fn golden_order_where_places_are_taken() {
        let order = [
            "PreventItemMerging",
            "Prop",
            "BlockEntity",
            "Transform",
            "UUID",
            "PreventPickup",
            "EntityScale",
            "Item",
            "PrefabCopyable",
            "HeadRotation",
        ];
        assert_eq!(hash_order(&order.into_iter().collect(), 128), order);
    }

    #[test]
    fn hashes_are_those_of_java() {
        let golden = [("", 0), ("a", 97), ("Aa", 2112), ("BB", 2112), ("hello", 99_162_322)];
        for (text, hash) in golden {
            assert_eq!(java_hash(text), hash, "{text}");
        }
        // Two units of UTF-16: 0xD83D and 0xDE00.
        assert_eq!(java_hash("\u{1F600}"), 0xD83D * 31 + 0xDE00);
    }

    #[test]
    fn every_name_comes_once_however_many_there_are() {
        for count in [0, 1, 15, 16, 17, 48, 49, 3000] {
            let names: Vec<String> = (0..count).map(|number| format!("Plugin{number}")).collect();
            let twice = names.iter().chain(&names).map(String::as_str);
            let mut order = component_order(HolderKind::Section, twice);
            order.sort_unstable();
            let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
            expected.sort_unstable();
            assert_eq!(order, expected, "{count} names");
        }
    }

    /// A name at the last place of the table goes on at the first.
    #[test]
    fn the_table_is_a_circle() {
        let places = 16;
        let last: Vec<String> = (0..)
            .map(|number| format!("n{number:03}"))
            .filter(|name| spread(java_hash(name)) % places == places - 1)
            .take(3)
            .collect();
        let [a, b, c] = [&last[0], &last[1], &last[2]];
        let order = component_order(HolderKind::Section, last.iter().map(String::as_str));
        assert_eq!(order, [a, c, b], "{a} at 15, {b} at 0, {c} at 1");
    }
}
