//! A whole chunk, from a document or from parts, is decoded, read, changed and encoded.
#![no_main]

use hyworld_chunk::{
    BlockChunk, BlockComponentChunk, BlockHealthChunk, BlockPhysics, BlockSection, Chunk,
    ChunkSpawnedNpcData, Component, Entity, EntityChunk, EnvironmentChunk, FluidSection, Holder,
};
use hyworld_fuzz::{edits, parts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, bytes)) = hyworld_fuzz::split(data) else { return };
    let document = match choices.byte() & 1 {
        0 => bytes,
        _ => parts::build(&parts::read(&bytes)),
    };
    let Ok(chunk) = Chunk::decode(document.clone()) else { return };
    assert!(!chunk.is_changed() && chunk.encode() == document);
    check_component::<BlockChunk>(chunk.holder());
    check_component::<EnvironmentChunk>(chunk.holder());
    check_component::<BlockHealthChunk>(chunk.holder());
    check_component::<ChunkSpawnedNpcData>(chunk.holder());
    check_component::<BlockComponentChunk>(chunk.holder());
    check_component::<EntityChunk>(chunk.holder());
    for section in chunk.section_holders().iter().take(3) {
        check_component::<BlockSection>(section);
        check_component::<FluidSection>(section);
        check_component::<BlockPhysics>(section);
    }
    check_entities(&chunk);
    edits::check(&chunk, &mut choices);
});

/// Checks that a component written over its stored document round-trips.
fn check_component<C: Component>(holder: &Holder) {
    let Ok(Some(component)) = holder.get::<C>() else { return };
    let mut written = holder.clone();
    // Decoding may stop before a malformed element at the end of the document.
    if written.put(component).is_err() {
        return;
    }
    let written = Holder::decode(written.encode()).expect("just encoded");
    let again = written.get::<C>().expect("just encoded").expect("just encoded");
    let mut twice = written.clone();
    twice.put(again).expect("just encoded");
    assert!(twice.encode() == written.encode(), "{}", C::ID);
    // A value that counts as changed is encoded like a new one.
    let mut changed = holder.clone();
    assert!(changed.get_mut::<C>().expect("it was read before").is_some());
    assert!(changed.encode() == written.encode(), "{}", C::ID);
}

fn check_entities(chunk: &Chunk) {
    if let Ok(Some(entities)) = chunk.get::<EntityChunk>() {
        for Entity(holder) in entities.iter() {
            let entity = Entity(holder);
            let _ = (entity.uuid(), entity.position(), entity.rotation());
            let _ = (entity.model(), entity.role_name());
        }
    }
    if let Ok(Some(blocks)) = chunk.get::<BlockComponentChunk>() {
        let mut blocks = blocks.clone();
        let found: Vec<_> = blocks.iter().map(|(at, _)| at).collect();
        let count = blocks.len();
        for at in &found {
            assert!(blocks.get(*at).is_some() && blocks.remove(*at).is_some());
        }
        assert_eq!(blocks.len(), count - found.len());
        assert_eq!(blocks.iter().count(), 0);
    }
}
