//! Reads every container and item of the sample worlds through the typed view, and compares the
//! counts with a walk over the document as JSON that does not know paths or types.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::Mutex;

use hyworld_chunk::bson::{Document, RawDocument};
use hyworld_chunk::{
    BlockComponentChunk, Chunk, ContainerPath, ContainerRole, EntityChunk, Holder, ItemStack,
};
use hyworld_testkit::{WORLDS, shared};
use serde_json::Value;

use super::for_each_chunk;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    containers: usize,
    slots: u64,
    stacks: usize,
    items: i64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.containers += other.containers;
        self.slots += other.slots;
        self.stacks += other.stacks;
        self.items += other.items;
    }
}

/// Counts the containers of a holder. Writes each one back, which must change nothing.
fn viewed(holder: &Holder, roles: &mut BTreeMap<ContainerRole, usize>) -> Counts {
    let mut counts = Counts::default();
    let mut again = holder.clone();
    for path in ContainerPath::find(holder).unwrap() {
        let items = path.read(holder).unwrap();
        path.write(&mut again, &items).unwrap();
        assert!(!again.is_changed(), "{path}");
        *roles.entry(path.role()).or_default() += 1;
        assert!(items.iter().all(|(slot, _)| slot < items.capacity()), "{path}");
        let active = path.active_slot(holder).unwrap();
        assert!(active.is_none_or(|slot| slot < items.capacity()), "{path}");
        let quantity = items.iter().map(|(_, stack)| i64::from(stack.quantity())).sum();
        let (slots, stacks) = (items.capacity().into(), items.len());
        counts += Counts { containers: 1, slots, stacks, items: quantity };
    }
    assert_eq!(again.encode(), holder.encode());
    counts
}

/// Counts containers by field names only.
fn walked(value: &Value) -> Counts {
    let mut counts = Counts::default();
    let Value::Object(object) = value else {
        value.as_array().into_iter().flatten().for_each(|value| counts += walked(value));
        return counts;
    };
    if let (Some(capacity), Some(items)) = (object.get("Capacity"), object.get("Items")) {
        let stacks = items.as_object().unwrap();
        let items = stacks.values().map(|stack| stack["Quantity"].as_i64().unwrap()).sum();
        let slots = capacity.as_u64().unwrap();
        counts += Counts { containers: 1, slots, stacks: stacks.len(), items };
    } else if object.len() == 1 && object.get("Id") == Some(&"Empty".into()) {
        counts.containers += 1;
    }
    object.values().for_each(|value| counts += walked(value));
    counts
}

fn json(holder: &Holder) -> Value {
    let bytes = holder.encode();
    let document = Document::from_raw(RawDocument::new(&bytes).unwrap()).unwrap();
    serde_json::from_str(&document.to_json()).unwrap()
}

#[derive(Default)]
struct Seen {
    roles: BTreeMap<ContainerRole, usize>,
    blocks: Counts,
    entities: Counts,
    dropped: usize,
}

fn look_at(document: Vec<u8>, seen: &mut Seen) {
    let chunk = Chunk::decode(document).unwrap();
    for (_, block) in chunk.get::<BlockComponentChunk>().unwrap().unwrap().iter() {
        let found = viewed(block, &mut seen.roles);
        assert_eq!(found, walked(&json(block)));
        seen.blocks += found;
    }
    for entity in &chunk.get::<EntityChunk>().unwrap().unwrap().entities {
        let found = viewed(entity, &mut seen.roles);
        assert_eq!(found, walked(&json(entity)));
        seen.entities += found;
        if let Some(item) = ItemStack::of_dropped(entity).unwrap() {
            let mut again = entity.clone();
            item.put_dropped(&mut again).unwrap();
            assert!(!again.is_changed());
            assert_eq!(json(entity)["Components"]["Item"]["Item"]["Id"], item.id());
            seen.dropped += 1;
        }
    }
}

#[test]
fn every_container_round_trips() {
    let seen = Mutex::new(Seen::default());
    for world in WORLDS {
        let done = for_each_chunk(world, |_, document| {
            look_at(document, &mut seen.lock().unwrap());
        });
        if done.is_none() {
            return;
        }
    }
    let Seen { roles, blocks, entities, dropped } = seen.into_inner().unwrap();
    println!("blocks: {blocks:?}; entities: {entities:?}; {dropped} on the ground; {roles:?}");
    let blocks_expected = Counts { containers: 19, slots: 359, stacks: 26, items: 78 };
    assert_eq!(blocks, blocks_expected);
    let entities_expected = Counts { containers: 48, slots: 68, stacks: 15, items: 15 };
    assert_eq!(entities, entities_expected);
    assert_eq!(dropped, 28);
    assert_eq!(roles.get(&ContainerRole::Block), Some(&16));
    assert_eq!(roles.get(&ContainerRole::Hotbar), Some(&8));
    assert_eq!(roles.get(&ContainerRole::Other), None);
}

/// Player files are holders with the same inventories, as JSON.
#[test]
fn inventories_of_players_round_trip() {
    let (mut players, mut counts, mut roles) = (0, Counts::default(), BTreeMap::new());
    for world in ["explored-2026-01", "ocean-2026-01", "flat-2026-02"] {
        let Some(folder) = shared(&format!("worlds/{world}/universe/players")) else { return };
        for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            let text = std::fs::read_to_string(path).unwrap();
            let document = Document::from_json(&text).unwrap();
            let player = Holder::decode(document.to_bytes()).unwrap();
            let found = viewed(&player, &mut roles);
            assert_eq!(found, walked(&serde_json::from_str(&text).unwrap()));
            counts += found;
            players += 1;
        }
    }
    println!("{players} players: {counts:?}; {roles:?}");
    assert_eq!((players, counts.containers, counts.stacks), (5, 32, 128));
    assert_eq!(roles.get(&ContainerRole::Tools), Some(&5));
    assert_eq!(roles.get(&ContainerRole::SavedHotbar), Some(&2));
}
