//! Pictures of worlds, compared with a second implementation in Python (`map_reference.py`).

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says when it is skipped"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use hyworld::coords::{ChunkPos, ChunkRect};
use hyworld::maintenance::{NoProgress, ScanOptions};
use hyworld::map_layers::{Layer, Style};
use hyworld::{
    MapInput, UsedNames, World, draw_map, load_colors, open, stored_neighbours, used_names,
};
use hyworld_testkit::{shared, write_file};
use serde_json::{Map, Value, json};

/// Returns whether Python can be run; otherwise prints that the test is skipped.
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: python3 is not installed, so maps are not compared with it");
    }
    found
}

fn hash(name: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let hash = name.bytes().fold(2_166_136_261, step);
    (hash ^ (hash >> 13)).wrapping_mul(0x5bd1_e995)
}

fn color(name: &str, salt: &str) -> String {
    format!("#{:06x}", hash(&format!("{salt}{name}")) >> 8)
}

/// Returns invented fields of a block. Some are missing, so that they are inherited.
fn block_fields(name: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let number = hash(name);
    match number % 3 {
        0 => drop(fields.insert("TintUp".into(), json!([color(name, "up"), "#000000"]))),
        1 => drop(fields.insert("Tint".into(), json!([color(name, "all")]))),
        _ => {}
    }
    match number % 4 {
        0 => drop(fields.insert("BiomeTintUp".into(), json!(number % 101))),
        1 => drop(fields.insert("BiomeTint".into(), json!(100))),
        _ => {}
    }
    if number % 5 > 1 {
        fields.insert("ParticleColor".into(), json!(color(name, "particle")));
    }
    fields
}

/// Adds the definition of a state to its block, and the states around it.
fn add_state(blocks: &mut BTreeMap<String, Map<String, Value>>, name: &str) {
    let inner = name.trim_start_matches('*');
    let mut parts = inner.split("_State_Definitions_");
    let base = parts.next().unwrap();
    let mut fields = blocks.entry(base.to_owned()).or_insert_with(|| block_fields(base));
    let mut path = base.to_owned();
    for state in parts {
        path = format!("{path}/{state}");
        let holder = fields.entry("State").or_insert_with(|| json!({"Definitions": {}}));
        let states = holder["Definitions"].as_object_mut().unwrap();
        let state = states.entry(state).or_insert_with(|| Value::Object(block_fields(&path)));
        fields = state.as_object_mut().unwrap();
    }
}

/// Writes an asset.
fn asset(root: &Path, folder: &str, name: &str, value: &Value) {
    let folder = root.join("Server").join(folder);
    fs::create_dir_all(&folder).unwrap();
    write_file(&folder.join(format!("{name}.json")), value.to_string().as_bytes());
}

/// Writes invented assets for all names of a world.
fn create_assets(root: &Path, names: &UsedNames) {
    let mut blocks = BTreeMap::new();
    names.blocks.keys().for_each(|name| add_state(&mut blocks, name));
    for number in 0..4 {
        let name = format!("Parent_{number}");
        let fields = json!({"TintUp": [color(&name, "up")], "BiomeTintUp": 20 * number,
            "ParticleColor": color(&name, "particle")});
        asset(root, "Item/Items/Parents", &name, &json!({"BlockType": fields}));
    }
    for (name, fields) in &blocks {
        let mut item = json!({"BlockType": fields});
        if hash(name) % 7 > 2 {
            item["Parent"] = json!(format!("Parent_{}", hash(name) % 4));
        }
        asset(root, "Item/Items/Blocks", name, &item);
    }
    for name in names.fluids.keys() {
        // Several fluids share a colour, so that they are one body of fluid.
        let particle = color(name.trim_end_matches("_Source"), "fluid");
        let mut fluid = json!({"ParticleColor": particle});
        if name.starts_with("Water") {
            fluid["Effect"] = json!("Water");
        }
        asset(root, "Item/Block/Fluids", name, &fluid);
    }
    asset(root, "Environments", "Base", &json!({"WaterTint": "#8090f0"}));
    for name in names.environments.keys() {
        let own = json!({"WaterTint": color(name, "water")});
        let inherited = json!({"Parent": "Base"});
        asset(
            root,
            "Environments/All",
            name,
            if hash(name).is_multiple_of(3) { &inherited } else { &own },
        );
    }
}

fn positions(world: &World) -> Vec<ChunkPos> {
    world.storage().positions().map(Result::unwrap).collect()
}

/// Returns width, height and pixels of a PNG.
fn decode(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = BufReader::new(File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

/// Draws a world with both implementations and compares all pixels. Returns the number of chunks.
fn compare(name: &str, scale: u8) -> usize {
    let Some(path) = shared(&format!("worlds/{name}")) else { return usize::MAX };
    let folder = tempfile::tempdir().unwrap();
    let (world, options) = (open(path).unwrap(), ScanOptions::new());
    let (names, errors) = used_names(world.storage(), &options, &NoProgress);
    assert!(errors.is_empty(), "{errors:?}");
    let assets = folder.path().join("assets");
    create_assets(&assets, &names);
    let colors = load_colors(Some(&assets), None).unwrap();
    let picture = folder.path().join("map.png");
    let style = Style { scale, ..Style::new(Layer::Surface) };
    let all = positions(&world);
    let input = MapInput::new(world.storage(), &colors);
    let report = draw_map(input, (&all, &[]), style, &options, &picture, &NoProgress);
    assert_eq!(report.unwrap().drawn, all.len() as u64);
    let documents = folder.path().join("documents");
    fs::create_dir(&documents).unwrap();
    for at in &all {
        let document = world.storage().read(*at).unwrap().unwrap();
        write_file(&documents.join(format!("{}.{}.bson", at.x, at.z)), &document);
    }
    let expected = folder.path().join("expected");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/map_reference.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(&documents).arg(&assets).arg(scale.to_string()).arg(&expected);
    assert!(command.status().unwrap().success());
    let (width, _, pixels) = decode(&picture);
    let expected = fs::read(expected).unwrap();
    assert_eq!(pixels.len(), expected.len());
    let (pixels, expected) = (pixels.as_chunks::<4>().0, expected.as_chunks::<4>().0);
    let differs = pixels.iter().zip(expected).position(|(pixel, other)| pixel != other);
    if let Some(at) = differs {
        let (x, y) = (at % width as usize, at / width as usize);
        panic!("{name}: pixel {x},{y} is {:?}, expected {:?}", pixels[at], expected[at]);
    }
    let mut colors = pixels.to_vec();
    colors.sort_unstable();
    colors.dedup();
    assert!(colors.len() > 200, "{name}: only {} colours", colors.len());
    all.len()
}

#[test]
fn natural_terrain_is_equal_to_the_second_implementation() {
    if has_python() {
        assert!(compare("explored-2026-01", 1) >= 178);
    }
}

#[test]
fn an_ocean_is_equal_to_the_second_implementation_at_the_scale_of_the_game() {
    if has_python() {
        assert!(compare("ocean-2026-01", 3) >= 46);
    }
}

/// A part of a map, with the chunks beside it read for shading, has the pixels of the whole map.
#[test]
fn parts_fit_together_without_seams() {
    let Some(path) = shared("worlds/explored-2026-01") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (world, options) = (open(path).unwrap(), ScanOptions::new());
    let (colors, style) = (load_colors(None, None).unwrap(), Style::new(Layer::Surface));
    let input = MapInput::new(world.storage(), &colors);
    let draw = |chunks: &[ChunkPos]| {
        let file = folder.path().join("map.png");
        let beside = stored_neighbours(world.storage(), chunks).unwrap();
        let chosen = (chunks, beside.as_slice());
        let report = draw_map(input, chosen, style, &options, &file, &NoProgress);
        (report.unwrap(), decode(&file))
    };
    let all = positions(&world);
    let regions: std::collections::BTreeSet<_> = all.iter().map(|at| at.region()).collect();
    assert!(regions.len() > 1, "a border between regions is tested");
    let (whole, (width, _, pixels)) = draw(&all);
    for at in all.iter().step_by(9) {
        let (part, (_, _, part_pixels)) = draw(&[*at]);
        assert_eq!(part.area, ChunkRect::single(*at));
        let left = usize::try_from(at.x - whole.area.min().x).unwrap() * 32;
        let top = usize::try_from(at.z - whole.area.min().z).unwrap() * 32;
        for row in 0..32 {
            let start = ((top + row) * width as usize + left) * 4;
            let expected = &pixels[start..start + 128];
            assert_eq!(&part_pixels[row * 128..][..128], expected, "{at:?}, row {row}");
        }
    }
}
