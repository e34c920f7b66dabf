//! Chunks that keep their entities in sections, as games since 0.6 do. The chunks are built by
//! hand; none comes from a real world.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_chunk::{Chunk, EntityLayout, EntitySection};
use hyworld_chunk_store::EntityMove;
use hyworld_coords::SectionY;
use hyworld_providers::ChunkStorage;
use hyworld_testkit::{SectionNames, game_0_6_chunk, game_0_7_chunk};

use crate::support::{Rig, pos};

fn stored(rig: &Rig) -> Vec<u8> {
    rig.storage.inner().inner().read(pos(0, 0)).unwrap().unwrap()
}

fn in_section(chunk: &Chunk, y: u8) -> usize {
    let list = chunk.get_in::<EntitySection>(SectionY::new(y).unwrap()).unwrap();
    list.map_or(0, |list| list.entities.len())
}

#[test]
fn live_entities_are_saved_in_their_sections() {
    for document in [game_0_6_chunk(SectionNames::LIKELY), game_0_7_chunk()] {
        let rig = Rig::new();
        rig.storage.inner().inner().write(pos(0, 0), &document).unwrap();
        let chunk = rig.load_ticking(pos(0, 0));
        assert_eq!((rig.store.entity_count(), chunk.is_dirty()), (2, false));
        chunk.mark_dirty().unwrap();
        rig.half_seconds(2);
        assert!(stored(&rig) == document, "an unchanged chunk is stored as it was");

        let sheep: Vec<u8> = (0..16).collect();
        let id = rig.store.entity_by_uuid(&sheep.try_into().unwrap()).unwrap();
        let moved = rig.store.move_entity(id, [3.5, 300.0, 4.5]);
        assert_eq!(moved, Some(EntityMove::Stayed));
        rig.half_seconds(2);
        let saved = Chunk::decode(stored(&rig)).unwrap();
        assert_eq!(saved.entity_layout(), EntityLayout::Sections);
        assert_eq!([2, 5, 9].map(|y| in_section(&saved, y)), [0, 1, 1]);
        let in_memory = chunk.read(|chunk| in_section(chunk, 9));
        assert!(in_memory.is_ok_and(|count| count == 1), "the document in memory is the same");
        rig.store.stop_ticking(&chunk);
        assert_eq!(chunk.entity_holders().unwrap().len(), 2);
    }
}
