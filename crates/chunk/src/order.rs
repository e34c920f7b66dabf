//! The order in which the game writes the components of a holder.
//!
//! The game iterates over a hash table, so the order follows from the ids and the table size. The
//! game reads any order, and decoded holders keep theirs. This module gives new holders the order
//! that the game would have written.

use std::collections::BTreeSet;

/// The kind of a holder. It determines the size of the game's hash table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum HolderKind {
    /// A chunk.
    Chunk,
    /// A section of a chunk.
    Section,
    /// An entity or block entity. The game uses tables of 128 or 256 slots; the stored data does
    /// not show which. This crate uses 256.
    Entity,
}

/// Returns the component ids in the order in which the game writes them, without duplicates.
///
/// When two ids hash to the same slot, the game's order depends on which was inserted first. This
/// function inserts ids in sorted order, which matches every holder of the sample worlds.
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

/// Inserts ids into a hash table and returns them from the last slot to the first. The table has
/// at least `least` slots, a power of two, and is at most three quarters full.
fn hash_order<'a>(ids: &BTreeSet<&'a str>, least: usize) -> Vec<&'a str> {
    let slots = ids.len().saturating_mul(4).div_ceil(3).max(least).next_power_of_two();
    let mut table: Vec<Option<&str>> = vec![None; slots];
    for id in ids {
        let home = usize::try_from(spread(java_hash(id))).unwrap_or_default() & (slots - 1);
        // Linear probing upwards from the home slot, wrapping around at the end.
        let (before, after) = table.split_at_mut(home);
        if let Some(free) = after.iter_mut().chain(before).find(|slot| slot.is_none()) {
            *free = Some(id);
        }
    }
    table.into_iter().rev().flatten().collect()
}

/// Computes Java's `String.hashCode`, which works on UTF-16 units.
fn java_hash(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// Mixes a hash as the game's tables do before they use its low bits.
fn spread(hash: u32) -> u32 {
    let product = hash.wrapping_mul(0x9E37_79B9);
    product ^ product >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of chunks and sections in the sample worlds, and two of their many entity orders.
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

    /// In a table of 128 slots some of these ids collide.
    #[test]
    fn golden_order_with_collisions() {
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
    fn every_id_is_returned_once() {
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

    /// If two ids hash to the last slot, the second one gets the first slot.
    #[test]
    fn probing_wraps_around() {
        let slots = 16;
        let last: Vec<String> = (0..)
            .map(|number| format!("n{number:03}"))
            .filter(|name| spread(java_hash(name)) % slots == slots - 1)
            .take(3)
            .collect();
        let [a, b, c] = [&last[0], &last[1], &last[2]];
        let order = component_order(HolderKind::Section, last.iter().map(String::as_str));
        assert_eq!(order, [a, c, b], "{a} at 15, {b} at 0, {c} at 1");
    }
}
