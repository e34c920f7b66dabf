//! Tests of the builder on folders and zips.

use super::*;
use std::fs::{self, File};
use std::io::Write;

use hyworld_testkit::write_file;
use tempfile::TempDir;

/// Creates a folder of assets from paths and texts.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join("Server").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_file(&path, text.as_bytes());
    }
    folder
}

fn built(folders: &[&TempDir]) -> Colors {
    let mut builder = Colors::builder();
    for (number, folder) in folders.iter().enumerate() {
        let source = if number == 0 { Source::Assets } else { Source::Mod };
        builder.add(folder.path(), source).unwrap();
    }
    builder.build()
}

const GAME: [(&str, &str); 8] = [
    (
        "Item/Items/Rock/Rock_Stone.json",
        r##"{"BlockType": {"ParticleColor": "#737055", "TintUp": ["#112233", "#ffffff"],
            "State": {"Definitions": {"Wet": {"ParticleColor": "#000001",
                "State": {"Definitions": {"Deep": {"BiomeTintUp": 7}}}}}}}}"##,
    ),
    (
        "Item/Items/Rock/Rock_Child.json",
        r#"{"Parent": "rock_stone", "BlockType": {"BiomeTint": 40}}"#,
    ),
    ("Item/Items/Rock/Rock_Grandchild.json", r#"{"Parent": "Rock_Child"}"#),
    ("Item/Items/Sword.json", r#"{"Parent": "Missing", "Damage": 5}"#),
    ("Item/Block/Fluids/Water_Source.json", r##"{"ParticleColor": "#aabbcc", "Effect": "Water"}"##),
    ("Item/Block/Fluids/Water.json", r#"{"Parent": "Water_Source"}"#),
    ("Environments/Zone1/Env_Zone1.json", r##"{"WaterTint": "#010203"}"##),
    ("Environments/Zone1/Env_Zone1_Plains.json", "\u{feff}{\"Parent\": \"Env_Zone1\"}"),
];

#[test]
fn fields_are_inherited_one_by_one() {
    let colors = built(&[&folder(&GAME)]);
    for name in ["Rock_Child", "Rock_Grandchild", "ROCK_CHILD"] {
        let block = colors.block(name);
        assert_eq!(block.tint, Rgb([0x11, 0x22, 0x33]), "{name}");
        assert_eq!(block.particle, Some(Rgb([0x73, 0x70, 0x55])), "{name}");
        assert_eq!((block.biome_percent, block.source), (40, Source::Assets), "{name}");
    }
    assert_eq!(colors.block("Rock_Stone").biome_percent, 0);
    assert!(!colors.blocks.contains_key("sword"), "an item that is not a block");
    let water = colors.fluid("Water");
    assert_eq!((water.particle, water.is_water), (Rgb([0xaa, 0xbb, 0xcc]), true));
    assert_eq!(colors.environment("Env_Zone1_Plains").water, Rgb([1, 2, 3]));
    assert_eq!(colors.environment("Env_Zone2").source, Source::Family);
}

#[test]
fn states_are_blocks_that_inherit_from_their_block() {
    let colors = built(&[&folder(&GAME)]);
    let wet = colors.block("*Rock_Stone_State_Definitions_Wet");
    assert_eq!((wet.tint, wet.particle), (Rgb([0x11, 0x22, 0x33]), Some(Rgb([0, 0, 1]))));
    let deep = colors.block("**Rock_Stone_State_Definitions_Wet_State_Definitions_Deep");
    assert_eq!((deep.particle, deep.biome_percent), (Some(Rgb([0, 0, 1])), 7));
    let child = colors.block("*Rock_Child_State_Definitions_Wet");
    assert_eq!((child.particle, child.biome_percent), (Some(Rgb([0, 0, 1])), 40));
    assert_eq!(colors.blocks.len(), 9, "{:?}", colors.blocks.keys());
}

#[test]
fn mods_replace_assets_and_their_children_follow() {
    let mods = folder(&[(
        "Item/Items/Rock_Stone.json",
        r##"{"BlockType": {"ParticleColor": "#0a0b0c"}}"##,
    )]);
    let colors = built(&[&folder(&GAME), &mods]);
    let stone = colors.block("Rock_Stone");
    assert_eq!((stone.source, stone.tint), (Source::Mod, Rgb::WHITE));
    let child = colors.block("Rock_Child");
    assert_eq!((child.source, child.particle), (Source::Assets, Some(Rgb([10, 11, 12]))));
}

#[test]
fn circles_of_parents_end() {
    let circle = folder(&[
        ("Item/Items/A.json", r##"{"Parent": "B", "BlockType": {"ParticleColor": "#000001"}}"##),
        ("Item/Items/B.json", r#"{"Parent": "A", "BlockType": {"BiomeTint": 5}}"#),
        ("Item/Items/C.json", r#"{"Parent": "C", "BlockType": {"BiomeTint": 6}}"#),
    ]);
    let colors = built(&[&circle]);
    let (a, b) = (colors.block("A"), colors.block("B"));
    assert_eq!((a.particle, a.biome_percent), (b.particle, b.biome_percent));
    assert_eq!(colors.block("C").biome_percent, 6);
}

#[test]
fn a_zip_gives_the_same_colours_as_its_folder() {
    let files = folder(&GAME);
    let path = files.path().join("Assets.zip");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    for (name, text) in GAME.iter().chain(&[("Other/broken.json", "{")]) {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("Server/{name}"), options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    let mut builder = Colors::builder();
    let loaded = builder.add(&path, Source::Assets).unwrap();
    assert_eq!(loaded, LoadedAssets { assets: 8, skipped: 0 });
    assert_eq!(builder.build(), built(&[&files]));
}

#[test]
fn files_that_are_not_assets_are_skipped_or_refused() {
    let broken = folder(&[("Item/Items/A.json", "{"), ("Item/Items/B.json", "[]")]);
    let mut builder = Colors::builder();
    let loaded = builder.add(broken.path(), Source::Assets).unwrap();
    assert_eq!(loaded, LoadedAssets { assets: 0, skipped: 2 });
    assert!(builder.build().is_empty());
    let nothing = tempfile::tempdir().unwrap();
    let error = builder.add(nothing.path(), Source::Assets).unwrap_err();
    assert!(matches!(error, AssetsError::NoneFound { .. }), "{error}");
    let not_a_zip = nothing.path().join("a.zip");
    write_file(&not_a_zip, b"PK");
    let error = builder.add(&not_a_zip, Source::Assets).unwrap_err();
    assert!(matches!(error, AssetsError::Io { .. }), "{error}");
}
