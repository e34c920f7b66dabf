//! Hand-made chunks in the format of games 0.6 and 0.7: reading, counting, editing in place, and
//! identical bytes. Not verified with real data.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_chunk::bson::{Document, DocumentWriter, Value};
use hyworld_chunk::{
    BlockComponentSection, Chunk, ComponentRegistry, ContainerOwner, Entity, EntityChunk,
    EntityLayout, EntitySection, Error, Fingerprint, Holder, ItemStack, ReadableChunk,
};
use hyworld_coords::{ChunkBlock, ChunkPos, LocalColumn, SectionY};
use hyworld_testkit::{SectionNames, game_0_6_chunk, game_0_7_chunk};

/// Unknown names, which are recognised by their shape.
const OTHER_NAMES: SectionNames =
    SectionNames { entities: ("Creatures", "List"), blocks: ("BlockThings", "Map") };
/// The likely ids with other field names.
const OTHER_FIELDS: SectionNames = SectionNames {
    entities: ("EntitySection", "Holders"),
    blocks: ("BlockComponentSection", "Blocks"),
};

const NEWER: &str = "written by game 0.7 or newer: Block version 7 is not supported yet";

fn decode(document: &[u8]) -> Chunk {
    Chunk::decode(document.to_vec()).unwrap()
}

fn y(index: u8) -> SectionY {
    SectionY::new(index).unwrap()
}

fn chest_at() -> ChunkBlock {
    ChunkBlock::new(5, 65, 9).unwrap()
}

fn all() -> [Vec<u8>; 4] {
    let names = [SectionNames::LIKELY, OTHER_NAMES, OTHER_FIELDS];
    let [likely, names, fields] = names.map(game_0_6_chunk);
    [likely, names, fields, game_0_7_chunk()]
}

fn roles(chunk: &Chunk) -> Vec<String> {
    let name = |entity: Entity<'_>| entity.role_name().unwrap_or("-").to_owned();
    chunk.entities().unwrap().map(name).collect()
}

fn entity(role: &str, height: f64) -> Holder {
    let set = |fields: &[(&str, Value)]| {
        let mut document = Document::new();
        for (key, value) in fields {
            document.set(key, value.clone());
        }
        document
    };
    let at = [("X", 1.0), ("Y", height), ("Z", 1.0)].map(|(axis, at)| (axis, Value::Double(at)));
    let mut holder = Holder::new();
    let position = set(&[("Position", Value::Document(set(&at)))]);
    holder.set_raw("Transform", &position.to_bytes()).unwrap();
    let npc = set(&[("RoleName", Value::String(role.to_owned()))]);
    holder.set_raw("NPC", &npc.to_bytes()).unwrap();
    holder
}

#[test]
fn round_trips_are_identical() {
    for document in all() {
        let mut chunk = decode(&document);
        assert!(chunk.encode() == document);
        assert_eq!(roles(&chunk), ["Sheep", "-"]);
        assert_eq!(chunk.entity_layout(), EntityLayout::Sections);
        assert!(chunk.encode() == document, "after its entities were read");
        chunk.entities_mut().retain(|_| true).unwrap();
        chunk.block_entities_mut().retain(|_| true).unwrap();
        assert!(chunk.is_changed() && chunk.encode() == document, "through its codecs");
        let entities: Vec<Holder> = chunk.entities().unwrap().map(|one| one.0.clone()).collect();
        chunk.entities_mut().replace(entities).unwrap();
        assert!(chunk.encode() == document, "entities replaced by themselves");
        let before = chunk.entity_documents();
        chunk.entities_mut().replace(Vec::new()).unwrap();
        assert_eq!(chunk.entities().unwrap().count(), 0);
        chunk.set_entity_documents(&before).unwrap();
        assert!(chunk.encode() == document, "entities put back");
    }
}

#[test]
fn block_entities_and_containers_are_found() {
    for document in all() {
        let chunk = decode(&document);
        let blocks: Vec<_> = chunk.block_entities().unwrap().map(|(at, _)| at).collect();
        assert_eq!(blocks, [chest_at()]);
        assert_eq!(chunk.block_entity_count(), Ok(1));
        assert!(chunk.block_entity(chest_at()).unwrap().unwrap().contains("ItemContainerBlock"));
        let other = ChunkBlock::new(5, 33, 9).unwrap();
        assert!(chunk.block_entity(other).unwrap().is_none(), "the same cell of another section");
        let containers = chunk.containers().unwrap();
        assert_eq!(containers.len(), 1);
        assert!(
            matches!(containers[0].owner, ContainerOwner::Block { at, .. } if at == chest_at())
        );
        assert_eq!(containers[0].items.get(4).map(ItemStack::id), Some("Weapon_Sword_Iron"));
    }
    let found = Fingerprint::of(game_0_6_chunk(SectionNames::LIKELY)).unwrap();
    assert_eq!((found.entities, found.block_components), (2, 1));
}

#[test]
fn edits_stay_in_place() {
    for document in all() {
        let mut chunk = decode(&document);
        let has_root_lists = chunk.holder().contains("EntityChunk");
        let mut change = |holder: &mut Holder| {
            holder.set_raw("Mark", &DocumentWriter::new().finish()).unwrap();
            true
        };
        chunk.entities_mut().retain(&mut change).unwrap();
        let mut blocks = chunk.block_entities_mut();
        change(blocks.get_mut(chest_at()).unwrap().unwrap());
        let low = ChunkBlock::new(0, 0, 0).unwrap();
        assert!(blocks.insert(low, entity("Old", 0.0)).unwrap().is_none());
        assert!(blocks.insert(low, Holder::new()).unwrap().is_some(), "removed");
        assert!(blocks.insert(low, entity("Old", 0.0)).unwrap().is_none());
        assert!(blocks.insert(low, entity("New", 0.0)).unwrap().is_some());
        chunk.entities_mut().push(entity("Below", -3.0)).unwrap();
        chunk.entities_mut().push(entity("Wolf", 95.9)).unwrap();
        let again = decode(&chunk.encode());
        let layout = again.section_holders().iter().map(|one| one.ids().collect::<Vec<_>>());
        let layout: Vec<_> = layout.collect();
        assert_eq!(roles(&again), ["Below", "Sheep", "Wolf", "-"], "{layout:?}");
        assert_eq!(again.entities().unwrap().filter(|one| one.0.contains("Mark")).count(), 2);
        assert!(again.block_entity(chest_at()).unwrap().unwrap().contains("Mark"));
        assert!(again.block_entity(low).unwrap().unwrap().contains("NPC"));
        assert_eq!(again.entity_layout(), EntityLayout::Sections);
        assert_eq!(again.holder().contains("EntityChunk"), has_root_lists);
        assert_eq!(again.holder().contains("BlockComponentChunk"), has_root_lists);
        let ids = again.section_holder(y(0)).unwrap().ids().skip(3).collect::<Vec<_>>();
        let others = decode(&document);
        let others = others.section_holder(y(2)).unwrap().ids().collect::<Vec<_>>();
        assert!(ids.iter().filter(|id| others.contains(id)).count() >= 2, "{ids:?} {others:?}");
        let mut chunk = again;
        assert!(chunk.block_entities_mut().remove(chest_at()).unwrap().is_some());
        assert!(chunk.block_entities_mut().remove(chest_at()).unwrap().is_none());
        assert_eq!(decode(&chunk.encode()).block_entity_count(), Ok(1));
    }
}

#[test]
fn an_entity_that_moves_goes_to_its_new_section() {
    let document = game_0_6_chunk(SectionNames::LIKELY);
    let mut chunk = decode(&document);
    let mut entities: Vec<_> = chunk.entities().unwrap().map(|one| one.0.clone()).collect();
    let moved = entity("Sheep", 97.0);
    entities[0].set_raw("Transform", moved.raw("Transform").unwrap().as_bytes()).unwrap();
    chunk.entities_mut().replace(entities).unwrap();
    let chunk = decode(&chunk.encode());
    let count = |index| chunk.get_in::<EntitySection>(y(index)).unwrap().unwrap().entities.len();
    assert_eq!((count(2), count(3), count(5)), (0, 1, 1));
}

/// Lists from before game 0.6 stay in place, and new entities are added to the sections.
#[test]
fn a_chunk_with_both_kinds_of_lists() {
    let mut chunk = decode(&game_0_6_chunk(SectionNames::LIKELY));
    chunk.put(&EntityChunk { entities: vec![entity("Old", 64.0)] }).unwrap();
    let document = chunk.encode();
    let mut chunk = decode(&document);
    assert_eq!(chunk.entity_layout(), EntityLayout::Both);
    assert_eq!(roles(&chunk), ["Old", "Sheep", "-"]);
    chunk.entities_mut().push(entity("New", 64.0)).unwrap();
    let root = |chunk: &Chunk| chunk.get::<EntityChunk>().unwrap().unwrap().entities.len();
    assert_eq!((root(&chunk), chunk.entities().unwrap().count()), (1, 4));
    let all: Vec<_> = chunk.entities().unwrap().map(|one| one.0.clone()).collect();
    chunk.entities_mut().replace(all).unwrap();
    assert_eq!(root(&chunk), 1);
    let mut old = Chunk::new();
    old.entities_mut().push(entity("Old", 64.0)).unwrap();
    assert_eq!((old.entity_layout(), root(&old)), (EntityLayout::Chunk, 1));
}

/// A plugin may also store lists of holders in a section: they are not entities.
#[test]
fn lists_of_plugins_are_not_entities() {
    let plugins = SectionNames { entities: ("mymod:Queue", "List"), blocks: ("mymod:Map", "Map") };
    let chunk = decode(&game_0_6_chunk(plugins));
    assert_eq!(chunk.entities().unwrap().count(), 0);
    assert_eq!(chunk.entity_layout(), EntityLayout::Chunk);
    let likely = decode(&game_0_6_chunk(SectionNames::LIKELY));
    let list = likely.section_holder(y(2)).unwrap().raw("EntitySection").unwrap();
    let mut chunk = likely.clone();
    chunk.section_mut(y(7)).set_raw("Lookalike", list.as_bytes()).unwrap();
    assert_eq!(chunk.entities().unwrap().count(), 2, "the ids are known, so shapes do not count");
}

#[test]
fn sections_are_stripped() {
    let mut chunk = decode(&game_0_6_chunk(SectionNames::LIKELY));
    let mut ghost = entity("Ghost", 64.0);
    ghost.set_raw("NonSerialized", &DocumentWriter::new().finish()).unwrap();
    chunk.entities_mut().push(ghost.clone()).unwrap();
    chunk.block_entities_mut().insert(ChunkBlock::new(1, 64, 1).unwrap(), ghost).unwrap();
    ComponentRegistry::with_game_components().strip_chunk(&mut chunk).unwrap();
    assert!(chunk.encode() == game_0_6_chunk(SectionNames::LIKELY));
}

#[test]
fn blocks_of_a_newer_game_are_reported_once() {
    let mut chunk = decode(&game_0_7_chunk());
    let column = LocalColumn::new(0, 0).unwrap();
    assert_eq!(chunk.block(chest_at()).unwrap_err().to_string(), NEWER);
    assert_eq!(chunk.decode_blocks().unwrap_err().newer_component(), Some(("BlockChunk", 4)));
    assert!(chunk.height(column).is_err());
    let environments = chunk.environments().unwrap_err().to_string();
    assert_eq!(
        environments,
        "written by game 0.7 or newer: EnvironmentSection is not supported yet"
    );
    assert!(chunk.set_block(chest_at(), "Rock_Stone").is_err());
    assert!(chunk.encode() == game_0_7_chunk());
    let readable = ReadableChunk::new(&chunk, ChunkPos::new(0, 0));
    assert_eq!(readable.errors().map(Error::to_string).collect::<Vec<_>>(), [NEWER]);
}

/// Heights that cannot be updated must not become wrong.
#[test]
fn blocks_are_not_edited_with_heights_of_a_newer_game() {
    let mut chunk = decode(&game_0_6_chunk(SectionNames::LIKELY));
    chunk.set_raw("HeightmapColumn", &DocumentWriter::new().finish()).unwrap();
    let refused = chunk.set_block(chest_at(), "Rock_Stone").unwrap_err().to_string();
    assert_eq!(refused, "written by game 0.7 or newer: HeightmapColumn is not supported yet");
}

#[test]
fn a_malformed_list_is_named_and_kept() {
    let mut chunk = decode(&game_0_6_chunk(SectionNames::LIKELY));
    let mut bad = Document::new();
    bad.set("Entities", Value::Array(vec![Value::Int32(1)]));
    chunk.section_mut(y(4)).set_raw("EntitySection", &bad.to_bytes()).unwrap();
    let document = chunk.encode();
    let mut chunk = decode(&document);
    let error = chunk.entities_mut().retain(|_| true).unwrap_err().to_string();
    assert!(error.starts_with("ChunkColumn.Sections.4.EntitySection.Entities.0: "), "{error}");
    assert!(chunk.encode() == document);
    assert!(chunk.get_in::<BlockComponentSection>(y(2)).unwrap().is_some());
}

#[test]
fn bit_flips_do_not_panic() {
    let document = game_0_7_chunk();
    for position in 0..document.len() {
        let mut flipped = document.clone();
        flipped[position] ^= 1 << (position % 8);
        let Ok(mut chunk) = Chunk::decode(flipped.clone()) else { continue };
        assert!(chunk.encode() == flipped, "{position}");
        let is_whole = chunk.entities().is_ok();
        if chunk.entities_mut().push(entity("New", 70.0)).is_ok() && is_whole {
            assert!(decode(&chunk.encode()).entities().unwrap().count() > 0, "{position}");
        }
    }
}
