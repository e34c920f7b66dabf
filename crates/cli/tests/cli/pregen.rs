//! `pregen`: missing chunks are generated, stored ones are kept.

use hyworld_chunk::Chunk;
use hyworld_chunk_store::{ChunkGenerator, GenerateRequest, SampleTerrain};
use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_world::{ServerCheck, WritePermit};

use crate::generated;
use crate::run::{Sandbox, keys};
use crate::world;

fn slot(at: ChunkPos) -> Slot {
    Slot::new(at.slot().index().into())
}

#[test]
fn a_square_is_generated_and_stored_chunks_are_kept() {
    let sandbox = generated::world("Sample", false);
    let command = ["pregen", "world", "--radius", "2", "--center", "-1,1", "--json"];
    let dry = sandbox.run(&[&command[..], &["--dry-run"]].concat()).ends(0).json();
    assert_eq!((&dry["chunks"], &dry["already"]), (&25.into(), &0.into()));
    assert!(!sandbox.path("world/chunks").exists(), "a dry run writes nothing");
    let report = sandbox.run(&command).ends(0).json();
    let expected = [
        "world",
        "chunks",
        "already",
        "generated",
        "loaded",
        "saved",
        "failed",
        "findings",
        "in_memory_max",
        "ms",
        "chunks_per_second",
        "finished",
        "dry_run",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!((&report["generated"], &report["saved"]), (&25.into(), &25.into()));
    assert_eq!((&report["failed"], &report["finished"]), (&0.into(), &true.into()));
    sandbox.run(&["verify", "world"]).ends(0);
    let request = |at| GenerateRequest { at, seed: 77, still_needed: None };
    let name = "world/chunks/-1.0.region.bin";
    let at = ChunkPos::new(-3, 2);
    let file = IndexedStorageFile::open(sandbox.path(name)).unwrap();
    let stored = Chunk::decode(file.read(slot(at)).unwrap().unwrap()).unwrap();
    assert_eq!(stored, SampleTerrain.generate(&request(at)).unwrap().unwrap());
    // One chunk is removed, another is changed: the first is generated again, the second is kept.
    file.remove(slot(ChunkPos::new(-2, 0))).unwrap();
    file.write(slot(at), &world::sample().encode()).unwrap();
    file.close().unwrap();
    let again = sandbox.run(&command).ends(0).json();
    assert_eq!((&again["already"], &again["generated"]), (&24.into(), &1.into()));
    assert_eq!(sandbox.documents(name)[&slot(at).get()], world::sample().encode());
    let text = sandbox.run(&["pregen", "world", "--radius", "3", "--center", "-1,1"]).ok();
    let expected = "world: 49 chunks, (-4, -2) to (2, 4): 25 already there, 24 generated, 24 \
                    saved, 0 failed, in ";
    assert!(text.starts_with(expected) && text.contains(" chunks/s, at most "), "{text}");
}

#[test]
fn memory_is_bounded() {
    let sandbox = generated::world("Flat", false);
    let report = sandbox.run(&["pregen", "world", "--radius", "20", "--json"]).ends(0).json();
    assert_eq!((&report["saved"], &report["chunks"]), (&1681.into(), &1681.into()));
    assert!(report["in_memory_max"].as_u64().unwrap() < 600, "{report}");
}

#[test]
fn chunks_of_a_damaged_region_are_not_generated_again() {
    let sandbox = generated::world("Flat", false);
    sandbox.run(&["pregen", "world", "--radius", "1"]).ends(0);
    let name = "world/chunks/0.0.region.bin";
    let original = sandbox.bytes(name);
    let mut no_region_file = original.clone();
    no_region_file[3] ^= 1;
    // The entries of chunk 2,0 and others are after this position, and could look empty.
    let truncated = original[..40].to_vec();
    for bytes in [no_region_file, truncated] {
        sandbox.file(name, &bytes);
        let run = sandbox.run(&["pregen", "world", "--radius", "2"]).ends(1);
        assert!(run.err.contains("0.0.region.bin"), "{}", run.err);
        assert_eq!(sandbox.bytes(name), bytes);
    }
}

#[test]
fn only_worlds_with_a_built_in_generator_are_pregenerated() {
    let sandbox = world::with_chunk(&world::sample());
    sandbox.file("world/config.json", b"{\"Version\": 4, \"Seed\": 1}");
    let error = sandbox.run(&["pregen", "world", "--radius", "1"]).fails(1);
    let advice = "create a world with hyworld world create UNIVERSE NAME --generator sample";
    assert!(error.starts_with("world: this world has no hyworld generator"), "{error}");
    assert!(error.ends_with(advice), "{error}");
    let missing = Sandbox::new().run(&["pregen", "none", "--radius", "1"]).fails(2);
    assert_eq!(missing, "none: no such folder");
    sandbox.run(&["pregen", "world"]).ends(2);
}

#[test]
fn a_world_that_another_program_writes_is_refused() {
    let sandbox = generated::world("Flat", false);
    let path = sandbox.path("world");
    let permit = WritePermit::of_world(&path, ServerCheck::Skip).unwrap();
    let error = sandbox.run(&["pregen", "world", "--radius", "1"]).fails(3);
    assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
    drop(permit);
    sandbox.run(&["pregen", "world", "--radius", "1"]).ends(0);
}
