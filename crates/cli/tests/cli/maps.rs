//! `map` and `colors`.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use hyworld_coords::ChunkPos;
use hyworld_map::Layer;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::damage::copy_folder;
use hyworld_testkit::game_0_7_chunk;
use serde_json::Value;

use crate::repairing::files;
use crate::run::{Run, Sandbox};
use crate::{generated, querying, world};

pub(crate) fn run(sandbox: &Sandbox, words: &str) -> Run {
    sandbox.run(&words.split(' ').collect::<Vec<_>>())
}

/// Creates a folder of chunks along x.
pub(crate) fn chunks(documents: &[Vec<u8>]) -> Sandbox {
    let sandbox = Sandbox::new();
    let storage = RegionFiles::open(&sandbox.path("chunks")).unwrap();
    for (x, document) in (0..).zip(documents) {
        storage.write(ChunkPos::new(x, 0), document).unwrap();
    }
    sandbox
}

/// Returns the pixels of a PNG as RGBA, with the width.
fn pixels(bytes: &[u8]) -> (Vec<[u8; 4]>, usize) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut buffer).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    let pixels = buffer.chunks_exact(4).map(|pixel| pixel.try_into().unwrap()).collect();
    (pixels, usize::try_from(info.width).unwrap())
}

/// Returns the pixel in the middle of each chunk of a picture with the scale 1.
fn middles(bytes: &[u8]) -> Vec<[u8; 4]> {
    let (pixels, width) = pixels(bytes);
    let rows = pixels.chunks_exact(width).skip(16).step_by(32);
    rows.flat_map(|row| row.iter().skip(16).step_by(32)).copied().collect()
}

#[test]
fn no_layer_depends_on_the_number_of_threads() {
    let sandbox = generated::world("Sample", false);
    run(&sandbox, "pregen world --radius 3").ends(0);
    run(&sandbox, "verify world --manifest past.txt").ends(0);
    copy_folder(&sandbox.path("world"), &sandbox.path("other"));
    let mut different = HashSet::new();
    for layer in Layer::NAMES {
        let map = format!("map world --assets none --scale 2 --grid --layer {layer} --json");
        let map = format!("{map} --against other --history past.txt");
        let one = run(&sandbox, &format!("{map} -j 1 -o one.png")).ends(0).json();
        run(&sandbox, &format!("{map} -j 4 -o four.png")).ends(0);
        assert_eq!(sandbox.bytes("one.png"), sandbox.bytes("four.png"), "{layer}");
        assert_eq!(one["chunks"], 49, "{layer}");
        assert_eq!([&one["tiles"], &one["rendered"], &one["skipped"]], [1, 1, 0], "{layer}");
        assert_eq!((&one["width"], &one["height"]), (&448.into(), &448.into()), "{layer}");
        assert!(different.insert(pixels(&sandbox.bytes("one.png")).0), "{layer} is another one");
        // WebP without losses has the same pixels; its header is enough here.
        run(&sandbox, &format!("{map} -o one.webp")).ends(0);
        let webp = sandbox.bytes("one.webp");
        assert_eq!((&webp[..4], &webp[8..16]), (&b"RIFF"[..], &b"WEBPVP8X"[..]), "{layer}");
    }
    assert!(!sandbox.names().iter().any(|name| name.contains("partial")));
}

#[test]
fn a_slice_has_the_height_of_its_option_or_its_name() {
    let sandbox = chunks(&[querying::natural().encode()]);
    let slice = |options: &str| {
        let map = format!("map chunks --assets none -o slice.png {options} --json");
        let report = run(&sandbox, &map).ends(0).json();
        (report["layer"].clone(), middles(&sandbox.bytes("slice.png"))[0])
    };
    let (name, ground) = slice("--layer slice --y 63");
    assert_eq!((name, ground), slice("--layer slice:63"));
    let (name, air) = slice("--layer slice");
    assert_eq!(name, "slice:64");
    assert_ne!(ground, air);
    assert_eq!(slice("--layer slice:64 --y 64").1, air);
    run(&sandbox, "map chunks --assets none -o slice.png --layer slice:320").ends(2);
    run(&sandbox, "map chunks --assets none -o slice.png --layer slice --y 320").ends(2);
}

#[test]
fn differences_from_another_world_are_coloured() {
    let sandbox = generated::world("Flat", false);
    run(&sandbox, "pregen world --radius 1").ends(0);
    copy_folder(&sandbox.path("world"), &sandbox.path("old"));
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    let there = ChunkPos::new(0, 0);
    let mut chunk = hyworld_chunk::Chunk::decode(storage.read(there).unwrap().unwrap()).unwrap();
    chunk.set_block(querying::block(16, 200, 16), "Rock_Stone").unwrap();
    storage.write(there, &chunk.encode()).unwrap();
    storage.remove(ChunkPos::new(-1, -1)).unwrap();
    let new = ChunkPos::new(2, 1);
    storage.write(new, &chunk.encode()).unwrap();
    storage.sync().unwrap();
    drop(storage);
    let map = "map world --assets none --layer diff -o diff.png";
    let error = run(&sandbox, map).fails(2);
    assert!(error.contains("--layer diff needs --against PATH"), "{error}");
    run(&sandbox, &format!("{map} --against old")).ends(0);
    let found = middles(&sandbox.bytes("diff.png"));
    let [changed, added, removed, grey] = [5, 11, 0, 1].map(|index| found[index]);
    assert_eq!(found.len(), 12);
    assert_eq!(changed, [255, 64, 224, 255], "one block was placed in its middle");
    assert!(added[1] > added[0] && removed[0] > removed[1], "{added:?} {removed:?}");
    assert!(grey[0] == grey[1] && grey[1] == grey[2] && grey[3] == 255, "{grey:?}");
    assert_eq!(found[3], [0; 4], "no world has this chunk");
}

#[test]
fn ages_come_from_manifests_and_backups() {
    let sandbox = querying::save();
    run(&sandbox, "verify save --manifest past.txt").ends(0);
    let chunks = sandbox.path(querying::CHUNKS);
    backup(&sandbox, "2026-01-02_03-04-05.zip", &chunks);
    let storage = RegionFiles::open(&chunks).unwrap();
    storage.write(ChunkPos::new(0, 0), &world::sample().encode()).unwrap();
    storage.sync().unwrap();
    drop(storage);
    let map = "map save --assets none --layer age --area -1,-1:1,1 -o age.png";
    let error = run(&sandbox, map).fails(2);
    assert!(error.contains("--layer age needs --history PATH"), "{error}");
    let ages = |history: &str| {
        run(&sandbox, &format!("{map} {history}")).ends(0);
        let found = middles(&sandbox.bytes("age.png"));
        assert!(found.len() == 9 && found[4] != found[0], "{found:?}");
        assert_eq!(found[4], [255, 220, 96, 255], "it changed since");
        assert!((0..9).all(|index| index == 4 || found[index] == found[0]), "{found:?}");
        found[0]
    };
    let recent = ages("--history past.txt");
    assert_eq!(recent, ages("--history 2026-01-02_03-04-05.zip"));
    let old = ages("--history past.txt --history 2026-01-02_03-04-05.zip");
    assert!(old[0] < recent[0], "months ago: {old:?}, now: {recent:?}");
    run(&sandbox, &format!("{map} --history missing.txt")).fails(2);
}

/// Creates a backup of the world `one` with these region files.
fn backup(sandbox: &Sandbox, name: &str, chunks: &Path) {
    let mut zip = zip::ZipWriter::new(fs::File::create(sandbox.path(name)).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("worlds/one/config.json", options).unwrap();
    zip.write_all(b"{}").unwrap();
    for (file, bytes) in files(chunks) {
        zip.start_file(format!("worlds/one/chunks/{}", file.display()), options).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn chunks_that_cannot_be_read_are_hatched_and_reported() {
    let sample = world::sample().encode();
    let newer = chunks(&[sample.clone(), game_0_7_chunk()]);
    let map = run(&newer, "map chunks -o map.png --assets none").ends(0);
    assert!(map.err.contains("1 chunk hatched in violet: written by game 0.7"), "{}", map.err);
    assert!(map.err.contains("colours by name"), "{}", map.err);
    let damaged = chunks(&[sample.clone(), b"not a document".to_vec(), sample]);
    let map = run(&damaged, "map chunks -o map.png --assets none --json").ends(1);
    assert!(map.err.contains("chunk 1,0 is hatched: "), "{}", map.err);
    let report = map.json();
    assert_eq!((&report["chunks"], &report["damaged"]), (&3.into(), &1.into()));
    assert_eq!((&report["width"], &report["height"]), (&96.into(), &32.into()));
    let colors = run(&damaged, "colors chunks --assets none").ends(1);
    assert!(colors.err.contains("chunk 1,0"), "{}", colors.err);
}

#[test]
fn an_empty_world_gives_an_empty_picture() {
    let sandbox = Sandbox::new();
    run(&sandbox, "world create universe empty --generator flat").ends(0);
    fs::create_dir(sandbox.path("universe/worlds/empty/chunks")).unwrap();
    for output in ["map.png", "map.webp"] {
        let map = run(&sandbox, &format!("map universe -o {output} --assets none")).ends(0);
        assert!(map.err.contains("note: no chunks"), "{}", map.err);
    }
    assert_eq!(pixels(&sandbox.bytes("map.png")).0, [[0; 4]; 1024]);
}

#[test]
fn other_outputs_and_pictures_that_are_too_large_are_refused() {
    let sandbox = chunks(&[world::sample().encode()]);
    for output in ["map.jpg", "map.JPEG", "map.gif", "map.svg", "map.mbtiles"] {
        let error = run(&sandbox, &format!("map chunks -o {output} --assets none")).fails(2);
        assert!(error.contains("ends with .png, .webp or .pmtiles, or a folder"), "{error}");
    }
    fs::create_dir(sandbox.path("folder.png")).unwrap();
    sandbox.file("file", b"mine");
    for (output, kind) in [("folder.png", "folder"), ("file", "file")] {
        let error = run(&sandbox, &format!("map chunks -o {output} --assets none")).fails(2);
        assert!(error.contains(&format!("this is a {kind}")), "{error}");
    }
    for output in ["map.png", "map.pmtiles"] {
        let map = format!("map chunks -o {output} --assets none --layer surface,height");
        let error = run(&sandbox, &map).fails(2);
        assert!(error.contains("several layers need a folder"), "{error}");
    }
    let storage = RegionFiles::open(&sandbox.path("chunks")).unwrap();
    for x in [4_400, 5_000] {
        storage.write(ChunkPos::new(x, 0), &world::sample().encode()).unwrap();
    }
    drop(storage);
    let error = run(&sandbox, "map chunks -o map.png --assets none").fails(2);
    assert!(error.contains("160032 x 32 pixels") && error.contains("choose a part"), "{error}");
    run(&sandbox, "map chunks -o map.png --assets none --area 4999,-1:5000,0").ends(0);
    let part = "--assets none --area 4400,0:5000,0";
    let error = run(&sandbox, &format!("map chunks -o map.webp {part}")).fails(2);
    assert!(error.contains("19232 x 32 pixels") && error.contains("WebP"), "{error}");
    for output in ["missing/map.png", "missing/map.pmtiles"] {
        let map = format!("map chunks -o {output} --assets none --chunk 0,0");
        let error = run(&sandbox, &map).fails(2);
        assert!(error.contains("the folder missing does not exist; create it first"), "{error}");
    }
    run(&sandbox, "map chunks -o map.png --assets missing.zip").fails(2);
    assert_eq!(sandbox.names(), ["file", "map.png"]);
    assert_eq!(sandbox.bytes("file"), b"mine");
}

#[test]
fn colours_name_their_source() {
    let sandbox = Sandbox::new();
    run(&sandbox, "world create save/universe one --generator flat").ends(0);
    run(&sandbox, "pregen save --radius 0").ends(0);
    let all = run(&sandbox, "colors save --assets none --json").ends(0).json_lines();
    let is_block = |line: &&Value| line["type"] == "block";
    let names: Vec<&str> =
        all.iter().filter(is_block).map(|line| line["name"].as_str().unwrap()).collect();
    assert!(names.len() > 2 && !names.contains(&"Empty"), "{names:?}");
    assert!(all.iter().all(|line| line["source"] == "family"), "{all:?}");
    let asset = |root: &str, name: &str, color: &str| {
        let folder = format!("{root}/Server/Item/Items");
        fs::create_dir_all(sandbox.path(&folder)).unwrap();
        let json = format!("{{\"BlockType\": {{\"ParticleColor\": \"{color}\"}}}}");
        sandbox.file(&format!("{folder}/{name}.json"), json.as_bytes());
    };
    asset("assets", names[0], "#010203");
    asset("assets", names[1], "#040506");
    asset("save/mods/mine", names[1], "#070809");
    let found = run(&sandbox, "colors save --assets assets --json").ends(0).json_lines();
    let of = |name: &str| found.iter().find(|line| line["name"] == name).unwrap();
    let shown = |name: &str| (of(name)["source"].clone(), of(name)["particle"].clone());
    assert_eq!(shown(names[0]), ("assets".into(), "#010203".into()));
    assert_eq!(shown(names[1]), ("mod".into(), "#070809".into()));
    assert_eq!(shown(names[2]), ("family".into(), Value::Null));
    let table = run(&sandbox, "colors save --assets assets").ok();
    assert!(table.contains("#010203") && table.starts_with("block"), "{table}");
}

/// Returns the files below a folder whose bytes contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let has_text = |bytes: &Vec<u8>| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let found = files(folder).into_iter().filter(|(_, bytes)| has_text(bytes));
    found.map(|(name, _)| name).collect()
}

#[test]
fn a_published_map_does_not_contain_the_path_of_the_world() {
    let sandbox = generated::world("Flat", false);
    run(&sandbox, "pregen world --radius 1").ends(0);
    // A name that occurs nowhere else.
    let folder = sandbox.path("private-7f3a");
    fs::create_dir(&folder).unwrap();
    fs::rename(sandbox.path("world"), folder.join("island")).unwrap();
    let world = folder.join("island").display().to_string();
    fs::create_dir(sandbox.path("out")).unwrap();
    for output in ["out/map", "out/map.pmtiles", "out/map.png", "out/map.webp"] {
        let words = ["map", &world, "-o", output, "--assets", "none", "--markers", "players"];
        sandbox.run(&words).ends(0);
    }
    let out = sandbox.path("out");
    assert!(files_with(&out, "island").len() >= 2, "the name of the world is published");
    for text in ["private-7f3a", sandbox.path("").to_str().unwrap().trim_end_matches('/')] {
        assert_eq!(files_with(&out, text), Vec::<PathBuf>::new(), "{text}");
    }
}
