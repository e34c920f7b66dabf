//! Entities: live while their chunk ticks, otherwise holders in its document.
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

/// Returns an entity whose UUID consists of `byte`.
pub(crate) fn entity(byte: u8, x: f64, z: f64) -> Holder {
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

pub(crate) fn put(rig: &Rig, at: ChunkPos, entities: Vec<Holder>) {
    let mut chunk = flat();
    chunk.put(&EntityChunk { entities }).unwrap();
    rig.storage.inner().inner().write(at, &chunk.encode()).unwrap();
}

/// Returns the UUID byte of each stored entity.
pub(crate) fn stored(rig: &Rig, at: ChunkPos) -> Vec<u8> {
    let document = rig.storage.inner().inner().read(at).unwrap().unwrap();
    let chunk = Chunk::decode(document).unwrap();
    let entities = chunk.get::<EntityChunk>().unwrap().unwrap();
    entities.iter().map(|entity| entity.uuid().unwrap_or([255; 16])[0]).collect()
}

fn holders(chunk: &LoadedChunk) -> usize {
    chunk.entity_holders().unwrap().len()
}

#[test]
fn ticking_makes_entities_live_without_dirtying_the_chunk() {
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
fn dropping_leftover_entities_dirties_the_chunk() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![nameplate(), entity(7, 5.0, 5.0), Holder::new()]);
    let chunk = rig.load(pos(0, 0));
    assert!(!chunk.is_dirty());
    assert_eq!(holders(&chunk), 3, "a chunk that does not tick keeps all holders");
    rig.load_ticking(pos(0, 0));
    assert_eq!((rig.store.entity_count(), chunk.is_dirty()), (1, true));
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [7]);
}

#[test]
fn a_save_stores_live_entities() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let added = rig.store.add_entity(&entity(9, 8.0, 8.0)).unwrap();
    let AddedEntity::Alive(id) = added else { panic!("{added:?}") };
    assert!(chunk.is_dirty(), "adding an entity dirties the chunk");
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [1, 9]);
    assert!(!chunk.is_dirty());
    let document =
        chunk.read(|chunk| chunk.get::<EntityChunk>().map(Option::<&EntityChunk>::cloned));
    let entities = document.unwrap().unwrap().unwrap().entities;
    assert_eq!(entities.len(), 2, "the document has the entities of the last save");
    let removed = rig.store.remove_entity(id).unwrap();
    assert_eq!(Entity(&removed).uuid(), Some([9; 16]));
    assert!(chunk.is_dirty(), "removing an entity dirties the chunk");
    rig.half_seconds(2);
    assert_eq!(stored(&rig, pos(0, 0)), [1]);
    assert!(rig.store.remove_entity(id).is_none());
}

#[test]
fn an_entity_without_components_is_not_stored() {
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
fn entities_added_to_a_chunk_that_does_not_tick_become_holders() {
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
fn entities_move_between_ticking_chunks() {
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
fn entities_that_move_to_a_chunk_that_does_not_tick_become_holders() {
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
fn an_entity_that_moves_to_an_unloaded_chunk_is_not_lost() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    put(&rig, pos(1, 0), Vec::new());
    rig.load_ticking(pos(0, 0));
    let id = rig.store.entity_by_uuid(&[1; 16]).unwrap();
    let moved = rig.store.move_entity(id, [33.0, 64.0, 5.0]);
    assert_eq!(moved, Some(EntityMove::Astray(pos(1, 0))));
    rig.half_seconds(2);
    assert_eq!(
        stored(&rig, pos(0, 0)),
        [1],
        "it is saved with its old chunk until the new one is loaded"
    );
    let chunk = rig.load(pos(1, 0));
    assert_eq!(holders(&chunk), 1);
    rig.half_seconds(2);
    assert_eq!((stored(&rig, pos(0, 0)), stored(&rig, pos(1, 0))), (vec![], vec![1]));
}

#[test]
fn unloading_a_chunk_removes_its_live_entities() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    rig.load_ticking(pos(0, 0));
    rig.half_seconds(15);
    assert_eq!((rig.store.entity_count(), rig.store.metrics().in_memory), (0, 0));
    assert_eq!(rig.writes(), 0, "nothing was changed");
    rig.load_ticking(pos(0, 0));
    assert_eq!(rig.store.entity_count(), 1);
    // Replacing a chunk removes them too.
    let regenerate = RequestFlags::NO_LOAD | RequestFlags::BYPASS_LOADED;
    rig.get(pos(0, 0), regenerate).unwrap();
    assert_eq!(rig.store.entity_count(), 0);
}

#[test]
fn two_entities_with_the_same_uuid_are_kept() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0), entity(1, 6.0, 6.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let first = rig.store.entities_in(pos(0, 0))[0];
    assert_eq!(rig.store.entity_by_uuid(&[1; 16]), Some(first));
    rig.store.stop_ticking(&chunk);
    assert_eq!(holders(&chunk), 2);
}

/// Entities that cannot be decoded stay in the document unchanged.
#[test]
fn malformed_entities_are_kept() {
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
fn transient_components_and_entities_are_not_saved() {
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
    let is_present = chunk.read(|chunk| chunk.holder().contains("mymod:Ghost"));
    assert!(is_present.unwrap(), "the chunk in memory keeps it");
}

#[test]
fn a_transient_chunk_is_never_written_and_can_be_unloaded() {
    let rig = Rig::new();
    let chunk = rig.load(pos(0, 0));
    assert!(chunk.is_dirty(), "a generated chunk is dirty");
    chunk.edit(|chunk| chunk.set_raw("NonSerialized", &document(|_| ()))).unwrap().unwrap();
    assert!(rig.store.save_all().is_complete());
    assert_eq!((rig.writes(), chunk.is_dirty()), (0, false));
}

/// A component of a mod. It is stored without being registered.
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
fn a_custom_component_survives_saving_and_loading() {
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

#[test]
fn entities_are_found_by_network_id() {
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
    assert_eq!(rig.store.network_id(new), Some(numbers[0]), "free network ids are reused");
    rig.store.stop_ticking(&chunk);
    assert_eq!(rig.store.entity_by_network_id(numbers[1]), None);
}
