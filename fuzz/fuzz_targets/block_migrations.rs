//! Block migrations from JSON text, applied to the names of a section: all known migrations are
//! applied, and a second run changes nothing.
#![no_main]

use hyworld_chunk::{
    AssetKey, BlockMigration, BlockMigrations, BlockSection, Chunk, Filler, Rotation,
};
use hyworld_coords::SectionY;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, text)) = hyworld_fuzz::split(data) else { return };
    let Ok(text) = std::str::from_utf8(&text) else { return };
    drop(BlockMigration::from_json(text).map_err(|error| error.to_string()));
    let migrations = BlockMigrations::from_json(text);
    let Ok(migrations) = migrations.map_err(|error| error.to_string()) else { return };
    let from = i32::from(choices.byte()) - 2;
    // Any quoted string of the text.
    let index = usize::from(choices.byte()) * 2 + 1;
    let name = text.split('"').nth(index).unwrap_or("Empty");
    let (migrated, to) = migrations.migrate(name, from);
    assert!(to >= from && migrations.migrate(migrated, to) == (migrated, to));
    assert!(migrations.get(to.try_into().unwrap_or(u32::MAX)).is_none());
    assert!(from != 0 || to == migrations.version());
    if let (Some(old), Some(new)) = (AssetKey::new(name), AssetKey::new(migrated)) {
        check_chunk(&migrations, from, to, &old, &new);
    }
});

fn check_chunk(migrations: &BlockMigrations, from: i32, to: i32, old: &AssetKey, new: &AssetKey) {
    let mut section = BlockSection::new(from);
    let cells = [0, 1, 32].map(|index| hyworld_coords::LocalBlock::from_index(index));
    for cell in cells.into_iter().flatten() {
        section.set_block(cell, old.clone(), Rotation::NONE, Filler::BASE).expect("few blocks");
    }
    let y = SectionY::new(4).expect("below ten");
    let mut chunk = Chunk::new();
    chunk.put_in(y, &section).expect("nothing is malformed");
    chunk.migrate(migrations).expect("nothing is malformed");
    let mut chunk = Chunk::decode(chunk.encode()).expect("just encoded");
    let saved = chunk.get_in::<BlockSection>(y).expect("just encoded").expect("just encoded");
    assert_eq!(saved.migration_version(), to);
    for cell in cells.into_iter().flatten() {
        assert_eq!(saved.block(cell), new);
    }
    let document = chunk.encode();
    assert!(!chunk.migrate(migrations).expect("just encoded"));
    assert!(chunk.encode() == document);
}
