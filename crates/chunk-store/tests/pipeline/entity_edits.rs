//! Edits of a chunk whose entities are live: they must not change the entities.

use hyworld_chunk::Chunk;
use hyworld_chunk_store::ChunkError;

use crate::entities::{entity, put, stored};
use crate::support::{Rig, cell, pos};

/// Edits a ticking chunk with two entities, and returns the result and the entities that are
/// stored afterwards.
fn edit_ticking(change: impl FnOnce(&mut Chunk)) -> (Result<(), ChunkError>, Vec<u8>, Rig) {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0), entity(2, 6.0, 6.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    let edited = chunk.edit(change);
    assert!(rig.store.shut_down().is_complete());
    let stored = stored(&rig, pos(0, 0));
    (edited, stored, rig)
}

#[test]
fn an_edit_of_a_ticking_chunk_cannot_change_its_entities() {
    let refused = || Err(ChunkError::LiveEntities { at: pos(0, 0) });
    let pushed = |chunk: &mut Chunk| {
        chunk.entities_mut().push(entity(3, 7.0, 7.0)).unwrap();
        chunk.set_block(cell(80), "Rock_Stone").unwrap();
    };
    let (edited, stored, rig) = edit_ticking(pushed);
    assert_eq!((edited, stored), (refused(), vec![1, 2]));
    assert_eq!(rig.stored_block(pos(0, 0), 80).as_deref(), Some("Rock_Stone"), "others are kept");
    let removed = |chunk: &mut Chunk| chunk.entities_mut().retain(|_| false).unwrap();
    let (edited, stored, _) = edit_ticking(removed);
    assert_eq!((edited, stored), (refused(), vec![1, 2]));
}

#[test]
fn an_edit_of_a_ticking_chunk_may_look_at_its_entities() {
    let (edited, stored, _) = edit_ticking(|chunk| {
        chunk.entities_mut().retain(|_| true).unwrap();
        chunk.set_block(cell(80), "Rock_Stone").unwrap();
    });
    assert_eq!((edited, stored), (Ok(()), vec![1, 2]));
}

#[test]
fn refused_entities_are_not_in_the_chunk() {
    let rig = Rig::new();
    put(&rig, pos(0, 0), vec![entity(1, 5.0, 5.0)]);
    let chunk = rig.load_ticking(pos(0, 0));
    chunk.edit(|chunk| chunk.entities_mut().push(entity(3, 7.0, 7.0)).unwrap()).unwrap_err();
    assert_eq!(chunk.read(|chunk| chunk.entities().unwrap().count()), Ok(1));
    assert!(rig.store.stop_ticking(&chunk));
    chunk.edit(|chunk| chunk.entities_mut().push(entity(3, 7.0, 7.0)).unwrap()).unwrap();
    assert!(rig.store.shut_down().is_complete());
    assert_eq!(stored(&rig, pos(0, 0)), [1, 3], "a chunk that does not tick stores its entities");
}
