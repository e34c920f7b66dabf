//! Splits the chunks of region files into fields, and writes each as a seed input of its target.
//! Run by `fuzz/seed`.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use hyworld_chunk::bson::{Document, RawDocument};
use hyworld_chunk::{
    AssetKey, BlockHealthChunk, BlockSection, Chunk, DamagedBlock, Filler, FluidSection,
    FragileBlock, Holder, Light, Rotation,
};
use hyworld_coords::{BlockPos, ChunkPos, LocalBlock};
use hyworld_fuzz::{join, parts};
use hyworld_indexed_storage::{EncodedBlob, IndexedStorageFile, MemoryFile, OpenOptions, Slot};
use hyworld_maintenance::{Changes, RegionChange, RegionChanges};
use hyworld_map::{FileState, LayerState, MapState, RegionStamp, TilePos, TileState};
use hyworld_providers::MemoryStorage;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Targets that decode one binary field, and the component with that field.
const FIELDS: [(&str, &str); 6] = [
    ("block_section", "Block"),
    ("fluid", "Fluid"),
    ("block_physics", "BlockPhysics"),
    ("block_chunk", "BlockChunk"),
    ("environment_chunk", "EnvironmentChunk"),
    ("block_health", "BlockHealthChunk"),
];

fn main() -> Result {
    let mut arguments = env::args_os().skip(1);
    let corpus = arguments.next().ok_or("usage: seeds CORPUS REGION...")?;
    let mut seeds = BTreeSet::new();
    for region in arguments {
        let memory = Box::new(MemoryFile::new(fs::read(&region)?));
        let file = OpenOptions::new().open_raw(memory, &region)?;
        for slot in file.occupied() {
            let document = file.read(slot)?.ok_or("an empty slot")?;
            add_chunk(document, &mut seeds)?;
        }
    }
    add_chunk(Chunk::new().encode(), &mut seeds)?;
    let steps = [0, 0, 21, 5, 0, 1, 29, 4, 2, 0, 1, 3, 33, 2, 40, 1, 2, 3, 2, 0, 17, 9];
    seeds.insert(("bson_document", join(&[1], &steps)));
    seeds.insert(("items", join(&[0], &chest()?)));
    for kinds in [1, 3, 15, 17, 300] {
        seeds.insert(("block_section", join(&[7], &section(kinds)?.encode())));
        seeds.insert(("fluid", join(&[], &fluids(kinds)?.encode())));
    }
    seeds.insert(("block_health", join(&[], &health().encode())));
    for bundle in bundles()? {
        seeds.insert(("undo_bundle", bundle));
    }
    add_texts(&mut seeds);
    seeds.extend(backups()?.into_iter().map(|input| ("backup", input)));
    for (number, (target, input)) in seeds.iter().enumerate() {
        let folder = Path::new(&corpus).join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed_{number:04}")), input)?;
    }
    println!("{} seeds", seeds.len());
    Ok(())
}

/// Writes bundles of changes like those that the target `undo_bundle` can undo.
fn bundles() -> Result<Vec<Vec<u8>>> {
    let folder = env::temp_dir().join(format!("hyworld-seeds-{}", std::process::id()));
    let (world, bundle) = (folder.join("world"), folder.join("b.hyundo"));
    let region = world.join("chunks/0.0.region.bin");
    let mut inputs = Vec::new();
    for number in 0..4 {
        fs::create_dir_all(world.join("chunks"))?;
        fs::write(world.join("config.json"), b"{}")?;
        let slots = vec![(Slot::new(0), RegionChange::Put(EncodedBlob::compress(b"old", 3)?))];
        let mut changes = Changes::begin(&world, &bundle, "test", 1)?;
        match number {
            0 => changes.replace(&world.join("config.json"), b"{\"a\": 1}")?,
            1 => changes.remove(&world.join("config.json"))?,
            2 => {
                let wanted = RegionChanges { slots, ..RegionChanges::default() };
                changes.change_region(&region, &wanted)?;
                let slots = vec![(Slot::new(0), RegionChange::Remove)];
                changes.change_region(&region, &RegionChanges { slots, ..wanted })?;
            }
            _ => {
                let at = ChunkPos::new(0, 0);
                changes.write_chunks(&MemoryStorage::new(), ".", &[(at, Some(b"a document"))])?;
            }
        }
        changes.finish()?;
        let bytes = fs::read(&bundle)?;
        fs::remove_dir_all(&folder)?;
        inputs.extend(hyworld_fuzz::bundle::split(&bytes).map(|input| [&[0][..], &input].concat()));
        inputs.push([&[1][..], &bytes].concat());
    }
    Ok(inputs)
}

/// Adds inputs of the targets that parse text.
fn add_texts(seeds: &mut Seeds) {
    for (query, file) in [
        ("circle:chunk:0,0:10 AND NOT x < 0", ""),
        ("chunk:0,0..3,4 or region:-1,0 or @list", "0;0\n1;-1;40;-7"),
        ("not @list", "inverted\n0;0;1;2"),
        ("@list", r#"{"type":"Polygon","coordinates":[[[0,0],[90,0],[9,70],[0,0]]]}"#),
        ("block = Rock_Stone and (entities > 0 or bytes < 4KB)", ""),
        ("touched >= 3 and near:spawn:100 or border", ""),
    ] {
        seeds.insert(("selection", format!("{query}\0{file}").into_bytes()));
    }
    for text in [
        "\u{1}*.*.@0\n*.*.@1\n{\"default\": {\"3,-7\": \"Anna\", \"4,-7\": \"Anna\"}}",
        "\u{1}Claims.*.ChunkX\nClaims.*.ChunkY\n{\"Claims\": [{\"ChunkX\": 3, \"ChunkY\": -7}]}",
        "\u{0}*.X\n*.Z\n[{\"X\": -100.5, \"Z\": 7}]",
    ] {
        seeds.insert(("claims", text.as_bytes().to_vec()));
    }
    for head in [
        "GET /\nHost: localhost:8080",
        "HEAD /tiles/world/surface/0/-1/2.webp?v=3\nHost: 127.0.0.1\nSec-Fetch-Site: same-origin",
        "GET /api/v1/block?x=1&y=2&z=-3\nHost: [::1]:1\nOrigin: http://[::1]:1",
        "GET /worlds/my~20~world.js\nHost: map.example",
        "GET /\nHost: localhost\nSec-Fetch-Site: cross-site\n\
            Sec-Fetch-Mode: navigate\nSec-Fetch-Dest: document",
    ] {
        seeds.insert(("http_request", head.as_bytes().to_vec()));
    }
    let hash = "0123456789abcdef0123456789abcdef";
    let lines = format!(
        r#"{{"type":"manifest","version":1,"world":"w","written_ms":1}}
{{"type":"file","path":"config.json","bytes":2,"hash":"{hash}"}}
{{"type":"region","x":0,"z":-1,"bytes":8192,"modified_ns":1,"table":"{hash}"}}
{{"type":"chunk","x":0,"z":-1,"bytes":100,"hash":"{hash}","stored":"{hash}"}}
"#
    );
    seeds.insert(("manifest", format!("\0{lines}").into_bytes()));
    seeds.insert(("map_state", map_state().to_json().into_bytes()));
}

fn map_state() -> MapState {
    let file = FileState { hash: 3, bytes: 100 };
    let tiles = [(TilePos::new(0, -1, 2), TileState { key: 2, file: Some(file) })];
    let layer = LayerState {
        settings: 1,
        is_outdated: false,
        tiles: tiles.into(),
        ..LayerState::default()
    };
    let stamp = RegionStamp { bytes: 8192, modified_ns: 5, table: 7 };
    MapState {
        layers: [("surface".to_owned(), layer)].into(),
        regions: [((0, -1), stamp)].into(),
        positions: 9,
        look: "webp 1".to_owned(),
        environments: ["Env_Plains".to_owned()].into(),
    }
}

/// Returns a backup with a region file, as records and as a zip.
fn backups() -> Result<Vec<Vec<u8>>> {
    let path = env::temp_dir().join(format!("hyworld-seed-{}.bin", std::process::id()));
    let file = IndexedStorageFile::create(&path)?;
    file.write(Slot::new(0), b"a document")?;
    file.close()?;
    let region = fs::read(&path)?;
    fs::remove_file(path)?;
    let files = [
        ("worlds/w/config.json", &b"{\"Version\": 4}"[..]),
        ("worlds\\w\\chunks\\0.0.region.bin", &region),
        ("players/00000000-0000-0000-0000-000000000001.json", b"{}"),
    ];
    let input = hyworld_fuzz::zip::split(&files);
    let zip = hyworld_fuzz::zip::join(&input);
    Ok(vec![[&[0][..], &input].concat(), [&[1][..], &zip].concat()])
}

type Seeds = BTreeSet<(&'static str, Vec<u8>)>;

fn add_chunk(document: Vec<u8>, seeds: &mut Seeds) -> Result {
    for target in ["chunk", "bson_document", "items", "canary_chunk"] {
        seeds.insert((target, join(&[], &document)));
    }
    let chunk = Chunk::decode(document)?;
    seeds.insert(("chunk", join(&[1], &parts::write(&parts::of(&chunk)))));
    for holder in chunk.section_holders().iter().chain([chunk.holder()]) {
        for (target, id) in FIELDS {
            let Some((version, field)) = parts::field(holder, id) else { continue };
            // The version choice of the targets starts at -1.
            let version = u8::try_from(version + 1)?;
            seeds.insert((target, join(&[version], &field)));
            // The fixtures have no version 0, which looks like version 1.
            if version == 2 {
                seeds.insert((target, join(&[1], &field)));
            }
            if id == "Block" {
                let section = BlockSection::decode(i32::from(version) - 1, &field)?;
                add_light(&section, seeds);
                let keys = section.blocks().entries().iter().map(|entry| entry.key.as_str());
                seeds.extend(keys.map(|key| ("legacy_key", key.as_bytes().to_vec())));
            }
        }
        add_documents(holder, seeds)?;
    }
    Ok(())
}

/// Returns a holder with a container in the form of blocks.
fn chest() -> Result<Vec<u8>> {
    let json = r#"{ "Components": { "container": { "ItemContainer": {
        "Capacity": 18,
        "Items": { "2": { "Id": "Stick", "Quantity": 3, "Durability": 0.5, "Metadata": {} } }
    } }, "Item": { "Item": { "Id": "Stick", "Quantity": 1 } } } }"#;
    Ok(Document::from_json(json)?.to_bytes())
}

/// Returns a section with `kinds` kinds of blocks in rows, so that it is short when packed.
fn section(kinds: u16) -> Result<BlockSection> {
    let mut section = BlockSection::new(0);
    for kind in 0..kinds {
        let (first, last) = row(kind)?;
        let (rotation, filler) = (Rotation::from_index((kind % 64) as u8), Filler::from_bits(kind));
        section.fill_blocks(first, last, key(kind)?, rotation, filler)?;
        section.set_ticking(first, kind % 3 == 0);
    }
    Ok(section)
}

/// Returns a section with `kinds` kinds of fluids in rows.
fn fluids(kinds: u16) -> Result<FluidSection> {
    let mut section = FluidSection::new();
    for kind in 0..kinds {
        let (first, last) = row(kind)?;
        section.fill(first, last, key(kind)?, (kind % 15 + 1) as u8)?;
    }
    Ok(section)
}

fn row(number: u16) -> Result<(LocalBlock, LocalBlock)> {
    let cell = |index| LocalBlock::from_index(index).ok_or("not in a section");
    Ok((cell(number * 32)?, cell(number * 32 + 31)?))
}

fn key(kind: u16) -> Result<AssetKey> {
    Ok(AssetKey::new(&format!("Kind_{kind}")).ok_or("too long")?)
}

/// Returns a damaged and a fragile block, which no chunk of the fixtures has.
fn health() -> BlockHealthChunk {
    let pos = BlockPos::new(-1, 70, 256);
    let mut health = BlockHealthChunk::new();
    health.damaged.push(DamagedBlock { pos, health: 0.5, last_damage_ms: -62_135_596_800_000 });
    health.fragile.push(FragileBlock { pos, seconds: 2.5 });
    health
}

fn add_light(section: &BlockSection, seeds: &mut Seeds) {
    for Light { tree, .. } in [&section.local_light, &section.global_light] {
        seeds.extend(tree.iter().map(|tree| ("light_tree", join(&[1], tree.as_bytes()))));
    }
}

/// Adds components without large binary fields, as documents and as JSON.
fn add_documents(holder: &Holder, seeds: &mut Seeds) -> Result {
    const DOCUMENT_BYTES_MAX: usize = 20_000;
    for raw in holder.ids().filter_map(|id| holder.raw(id)).map(RawDocument::as_bytes) {
        if raw.len() <= DOCUMENT_BYTES_MAX {
            let text = Document::from_raw(RawDocument::new(raw)?)?.to_json();
            seeds.insert(("bson_document", join(&[], raw)));
            seeds.insert(("bson_json", join(&[], text.as_bytes())));
        }
    }
    Ok(())
}
