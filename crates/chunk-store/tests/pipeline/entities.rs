//! Entities: holders while a chunk rests, alive while it ticks.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use hyworld_chunk::bson::{DocumentWriter, RawDocument};
use hyworld_chunk::{Chunk, Component, ComponentRegistry, Entity, EntityChunk, Fields, Holder};
use hyworld_chunk_store::{AddedEntity, ChunkError, EntityMove, LoadedChunk, RequestFlags};
use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorage;

use crate::support::{Rig, flat, pos};

fn document(write: impl FnOnce(&mut DocumentWriter)) -> Vec<u8> {
    let mut writer = DocumentWriter::new();
    write(&mut writer);
    writer.finish()
}

fn position(x: f64, z: f64) -> Vec<u8> {
    let axes = document(|writer| {
        writer.double("X", x);
        writer.double("Y", 64.0);
        writer.double("Z", z);
    });
    document(|writer| writer.document("Position", &axes))
}

/// An entity with a UUID of this byte.
fn entity(byte: u8, x: f64, z: f64) -> Holder {
    let mut holder = Holder::new();
    holder.set_raw("UUID", &document(|writer| writer.binary("UUID", 4, &[byte; 16]))).unwrap();
    holder.set_raw("Transform", &position(x, z)).unwrap();
    holder
}

fn nameplate() -> Holder {
    let mut holder = Holder::new();
    holder.set_raw("Nameplate", &document(|writer| writer.string("Text", "Bob"))).unwrap();
    holder
}

fn put(rig: &Rig, at: ChunkPos, entities: Vec<Holder>) {
    let mut chunk = flat();
    chunk.put(&EntityChunk { entities }).unwrap();
    rig.storage.inner().inner().write(at, &chunk.encode()).unwrap();
}

/// The UUIDs of the entities that are stored.
fn stored(rig: &Rig, at: ChunkPos) -> Vec<u8> {
    let document = rig.storage.inner().inner().read(at).unwrap().unwrap();
    let chunk = Chunk::decode(document).unwrap();
    let entities = chunk.get::<EntityChunk>().unwrap().unwrap();
    entities.iter().map(|entity| entity.uuid().unwrap_or([255; 16])[0]).collect()
}

fn holders(chunk: &LoadedChunk) -> usize {
    chunk.entity_holders().unwrap().len()
}

#[test]
fn they_live_while_their_chunk_ticks_and_that_is_no_change() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0), entity(2, 6.0, 6.0)]);
    let chunk = rig.load(pos(0, 0));
    assert_eq!((rig.store.entity_count(), holders(&chunk)), (0, 2));
    rig.events.take();
    rig.load_ticking(pos(0, 0));
    let expected = ["ticking true", "entity_added Load", "entity_added Load"];
    assert_eq!(rig.events.take(), expected);
    assert_eq!((rig.store.entity_count(), holders(&chunk), chunk.is_dirty()), (2, 2, false));
    let id = rig.store.entity_by_uuid(&[2; 16]).unwrap();
    assert_eq!(rig.store.entities_in(pos(0, 0))[1], id);
    assert_eq!(Entity(&rig.store.entity(id).unwrap()).uuid(), Some([2; 16]));

    rig.store.stop_ticking(&chunk);
    let expected = ["entity_removed Unload", "entity_removed Unload", "ticking false"];
    assert_eq!(rig.events.take(), expected);
    assert_eq!((rig.store.entity_count(), holders(&chunk), chunk.is_dirty()), (0, 2, false));
    assert_eq!(rig.store.entity_by_uuid(&[2; 16]), None);
}

#[test]
fn leftovers_are_dropped_and_that_is_a_change() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![nameplate(), entity(7, 5.0, 5.0), Holder::new()]);
    let chunk = rig.load(pos(0, 0));
    assert!(!chunk.is_dirty());
    assert_eq!(holders(&chunk), 3, "while it rests all are kept");
    rig.load_ticking(pos(0, 0));
    assert_eq!((rig.store.entity_count(), chunk.is_dirty()), (1, true));
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [7]);
}

#[test]
fn a_save_stores_those_that_live() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let added = rig.store.add_entity(&entity(9, 8.0, 8.0)).unwrap();
    let AddedEntity::Alive(id) = added else { panic!("{added:?}") };
    assert!(chunk.is_dirty(), "an entity that comes is a change");
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [1, 9]);
    assert!(!chunk.is_dirty());
    let document =
        chunk.read(|chunk| chunk.get::<EntityChunk>().map(Option::<&EntityChunk>::cloned));
    let entities = document.unwrap().unwrap().unwrap().entities;
    assert_eq!(entities.len(), 2, "the document says what was last stored");
    let removed = rig.store.remove_entity(id).unwrap();
    assert_eq!(Entity(&removed).uuid(), Some([9; 16]));
    assert!(chunk.is_dirty(), "and so is one that goes");
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [1]);
    assert!(rig.store.remove_entity(id).is_none());
}

#[test]
fn one_without_components_is_not_stored() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0), entity(2, 5.0, 5.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let id = rig.store.entity_by_uuid(&[1; 16]).unwrap();
    rig.store.update_entity(id, |holder| *holder = Holder::new()).unwrap();
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [2]);
    rig.store.stop_ticking(&chunk);
    assert_eq!(holders(&chunk), 1);
}

#[test]
fn a_resting_chunk_gets_holders() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), Vec::new());
    let missing = rig.store.add_entity(&entity(3, 40.0, 1.0));
    assert_eq!(missing, Err(ChunkError::Unloaded { at: pos(1, 0) }));
    let chunk = rig.load(pos(0, 0));
    assert_eq!(rig.store.add_entity(&entity(3, 4.0, 1.0)), Ok(AddedEntity::Stored));
    assert_eq!((rig.store.entity_count(), holders(&chunk), chunk.is_dirty()), (0, 1, true));
}

#[test]
fn a_change_of_an_entity_is_saved() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let id = rig.store.entity_by_uuid(&[1; 16]).unwrap();
    assert_eq!(rig.store.move_entity(id, [7.5, 70.0, 31.9]), Some(EntityMove::Stayed));
    assert!(chunk.is_dirty());
    rig.half_seconds(2);
    let holders = chunk.entity_holders().unwrap();
    assert_eq!(Entity(&holders[0]).position(), Some([7.5, 70.0, 31.9]));
    assert_eq!(stored(&rig, pos(0, 0)), [1]);
}

#[test]
fn they_move_between_chunks_that_tick() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    put(&rig, pos(-1, 0), Vec::new());
    let (from, to) = (rig.load_ticking(pos(0, 0)), rig.load_ticking(pos(-1, 0)));
    let id = rig.store.entity_by_uuid(&[1; 16]).unwrap();
    let moved = rig.store.move_entity(id, [-0.5, 64.0, 5.0]);
    assert_eq!(moved, Some(EntityMove::Moved(pos(-1, 0))));
    assert!(from.is_dirty() && to.is_dirty());
    assert_eq!(rig.store.entities_in(pos(-1, 0)), [id]);
    assert_eq!(rig.store.entities_in(pos(0, 0)), []);
    rig.half_seconds(2);
    assert_eq!((stored(&rig, pos(0, 0)), stored(&rig, pos(-1, 0))), (vec![], vec![1]));
}

#[test]
fn in_a_chunk_that_rests_they_become_holders() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    put(&rig, pos(1, 0), Vec::new());
    rig.load_ticking(pos(0, 0));
    let rests = rig.load(pos(1, 0));
    let id = rig.store.entity_by_uuid(&[1; 16]).unwrap();
    let moved = rig.store.move_entity(id, [33.0, 64.0, 5.0]);
    assert_eq!(moved, Some(EntityMove::Stored(pos(1, 0))));
    assert_eq!((rig.store.entity_count(), holders(&rests)), (0, 1));
    rig.half_seconds(2);
    assert_eq!((stored(&rig, pos(0, 0)), stored(&rig, pos(1, 0))), (vec![], vec![1]));
}

#[test]
fn one_that_walks_into_the_unknown_is_not_lost() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    put(&rig, pos(1, 0), Vec::new());
    rig.load_ticking(pos(0, 0));
    let id = rig.store.entity_by_uuid(&[1; 16]).unwrap();
    let moved = rig.store.move_entity(id, [33.0, 64.0, 5.0]);
    assert_eq!(moved, Some(EntityMove::Astray(pos(1, 0))));
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [1], "until the chunk is there it stays where it was");
    let chunk = rig.load(pos(1, 0));
    assert_eq!(holders(&chunk), 1);
    rig.half_seconds(2);
    assert_eq!((stored(&rig, pos(0, 0)), stored(&rig, pos(1, 0))), (vec![], vec![1]));
}

#[test]
fn an_unloaded_chunk_takes_its_entities_with_it() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    rig.load_ticking(pos(0, 0));
    rig.half_seconds(15);
    assert_eq!((rig.store.entity_count(), rig.store.metrics().in_memory), (0, 0));
    assert_eq!(rig.writes(), 0, "nothing was changed");
    rig.load_ticking(pos(0, 0));
    assert_eq!(rig.store.entity_count(), 1);
    // A chunk that is replaced loses them.
    let regenerate = RequestFlags::NO_LOAD | RequestFlags::BYPASS_LOADED;
    rig.get(pos(0, 0), regenerate).unwrap();
    assert_eq!(rig.store.entity_count(), 0);
}

#[test]
fn of_two_with_one_uuid_both_are_kept() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0), entity(1, 6.0, 6.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let first = rig.store.entities_in(pos(0, 0))[0];
    assert_eq!(rig.store.entity_by_uuid(&[1; 16]), Some(first));
    rig.store.stop_ticking(&chunk);
    assert_eq!(holders(&chunk), 2);
}

/// Entities that cannot be decoded stay in the document as they are.
#[test]
fn what_cannot_be_decoded_is_kept() {
    let rig = Rig::new();
    let mut chunk = flat();
    let broken = document(|writer| writer.document("Other", &document(|_| ())));
    let list = document(|writer| writer.document("0", &broken));
    let entities =
        document(|writer| writer.raw("Entities", hyworld_chunk::bson::Kind::ARRAY, &list));
    chunk.set_raw("EntityChunk", &entities).unwrap();
    let before = chunk.encode();
    rig.storage.inner().inner().write(pos(0, 0), &before).unwrap();
    let chunk = rig.load_ticking(pos(0, 0));
    assert!(chunk.is_ticking() && chunk.entity_holders().is_err());
    chunk.mark_dirty().unwrap();
    rig.half_seconds(2);
    rig.store.stop_ticking(&chunk);
    assert_eq!(rig.storage.inner().inner().read(pos(0, 0)).unwrap().unwrap(), before);
}

fn marked(mut holder: Holder, id: &str) -> Holder {
    holder.set_raw(id, &document(|_| ())).unwrap();
    holder
}

#[test]
fn what_is_not_serialized_is_not_saved() {
    let rig = Rig::with(|options| {
        let mut registry = ComponentRegistry::with_game_components();
        registry.register_not_serialized("mymod:Ghost");
        options.registry = Arc::new(registry);
    });
    put(&rig, pos(0, 0), vec![entity(1, 1.0, 1.0)]);
    let chunk = rig.get(pos(0, 0), RequestFlags::SET_TICKING).unwrap().unwrap();
    rig.store.add_entity(&marked(entity(2, 2.0, 2.0), "NonSerialized")).unwrap();
    rig.store.add_entity(&marked(entity(3, 3.0, 3.0), "mymod:Ghost")).unwrap();
    chunk.edit(|chunk| chunk.set_raw("mymod:Ghost", &document(|_| ()))).unwrap().unwrap();
    assert!(rig.store.save_all().is_complete());
    assert_eq!(stored(&rig, pos(0, 0)), [1, 3]);
    let document = rig.storage.inner().inner().read(pos(0, 0)).unwrap().unwrap();
    let saved = Chunk::decode(document).unwrap();
    assert!(!saved.holder().contains("mymod:Ghost"));
    let entities = saved.get::<EntityChunk>().unwrap().unwrap();
    assert!(!entities.entities.iter().any(|entity| entity.contains("mymod:Ghost")));
    let is_there = chunk.read(|chunk| chunk.holder().contains("mymod:Ghost"));
    assert!(is_there.unwrap(), "in memory nothing changes");
}

#[test]
fn a_chunk_that_is_marked_is_never_written_and_may_leave() {
    let rig = Rig::new();
    let chunk = rig.load(pos(0, 0));
    assert!(chunk.is_dirty(), "it is new");
    chunk.edit(|chunk| chunk.set_raw("NonSerialized", &document(|_| ()))).unwrap().unwrap();
    assert!(rig.store.save_all().is_complete());
    assert_eq!((rig.writes(), chunk.is_dirty()), (0, false));
}

/// A component of a program: no registration is needed for it to be stored.
#[derive(Clone, Debug, PartialEq)]
struct Claim(String);

impl Component for Claim {
    const ID: &'static str = "mymod:Claim";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self, hyworld_chunk::Error> {
        let owner = document.get("Owner")?.and_then(|owner| owner.as_str());
        Ok(Self(owner.unwrap_or_default().to_owned()))
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        fields.string("Owner", &self.0);
    }
}

#[test]
fn a_component_of_a_program_survives_saving_and_loading() {
    let rig = Rig::new();
    let claim = Claim("Alice".to_owned());
    let chunk = rig.load(pos(0, 0));
    chunk.edit(|chunk| chunk.put(&claim)).unwrap().unwrap();
    assert!(rig.store.shut_down().is_complete());
    let again = Rig::new();
    let document = rig.storage.inner().inner().read(pos(0, 0)).unwrap().unwrap();
    again.storage.inner().inner().write(pos(0, 0), &document).unwrap();
    let chunk = again.load(pos(0, 0));
    let found = chunk.read(|chunk| chunk.get::<Claim>().unwrap().cloned());
    assert_eq!(found.unwrap(), Some(claim));
}

/// As the game's store of entities: by UUID, and by a number for the protocol.
#[test]
fn they_are_found_by_network_id_too() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0), entity(2, 6.0, 6.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let ids = rig.store.entities_in(pos(0, 0));
    let numbers: Vec<_> = ids.iter().map(|id| rig.store.network_id(*id).unwrap()).collect();
    assert_ne!(numbers[0], numbers[1]);
    for (id, number) in ids.iter().zip(&numbers) {
        assert_eq!(rig.store.entity_by_network_id(*number), Some(*id));
    }
    rig.store.remove_entity(ids[0]).unwrap();
    assert_eq!(rig.store.entity_by_network_id(numbers[0]), None);
    assert_eq!(rig.store.network_id(ids[0]), None);
    let added = rig.store.add_entity(&entity(3, 7.0, 7.0)).unwrap();
    let AddedEntity::Alive(new) = added else { panic!("{added:?}") };
    assert_eq!(rig.store.network_id(new), Some(numbers[0]), "free numbers are used again");
    rig.store.stop_ticking(&chunk);
    assert_eq!(rig.store.entity_by_network_id(numbers[1]), None);
}
