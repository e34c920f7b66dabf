use hyworld_coords::LocalBlock;

use super::*;
use crate::block_section::{Filler, Rotation};

fn cell(index: u16) -> LocalBlock {
    LocalBlock::from_index(index).unwrap()
}

fn key(name: &str) -> AssetKey {
    AssetKey::new(name).unwrap()
}

/// Returns a section of an old version with these names in turn in all cells.
fn section(version: i32, names: &[String]) -> BlockSection {
    let keys: Vec<AssetKey> = names.iter().map(|name| key(name)).collect();
    // Set cell by cell and without air, because that keeps sixteen names in half-bytes.
    let mut palette = Palette::filled(keys[0].clone());
    for cell in LocalBlock::all() {
        palette.set(cell, keys[usize::from(cell.index()) % keys.len()].clone()).unwrap();
    }
    let mut section = BlockSection::new(0);
    (section.version, section.blocks) = (version, palette);
    // Decoded, as if it came from a file.
    BlockSection::decode(version, &section.encode()).unwrap()
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

/// The game's own upgrade turns such blocks into air.
#[test]
fn sixteen_kinds_of_blocks_and_no_air_stay_blocks() {
    let plain: Vec<String> = (0..16).map(|kind| format!("Block_{kind}")).collect();
    let turned: Vec<String> = (0..16).map(|kind| format!("Block_{kind}|Yaw=90")).collect();
    let mixed: Vec<String> =
        plain.iter().zip(&turned).flat_map(|(a, b)| [a.clone(), b.clone()]).step_by(3).collect();
    for names in [&plain, &turned, &mixed] {
        for version in 0..=4 {
            let old = section(version, names);
            assert_eq!(old.blocks().entries().len(), names.len());
            if names.len() == 16 {
                assert_eq!(old.blocks().kind(), PaletteType::HalfByte);
            }
            let new = old.upgrade().unwrap();
            assert_eq!(new.section.check(), []);
            for cell in LocalBlock::all() {
                let name = &names[usize::from(cell.index()) % names.len()];
                let (block, turned) = name.split_once('|').unwrap_or((name, ""));
                assert_eq!(new.section.block(cell), block, "version {version}, {cell}");
                let yaw = u8::from(!turned.is_empty());
                assert_eq!(new.section.rotation(cell).yaw(), yaw, "version {version}, {cell}");
            }
            assert_eq!(new.section.version(), 6);
            let bytes = new.section.encode();
            assert_eq!(BlockSection::decode(6, &bytes), Ok(new.section));
        }
    }
}

#[test]
fn all_properties_of_names_are_moved() {
    let list = names(&[
        "Empty",
        "Door|Yaw=90|Filler=0,1,0",
        "Door|Yaw=90",
        "Fluid_Water",
        "Reed|Fluid=Fluid_Water|FluidLevel=3|Deco",
        "Beam|Support=4",
        "Odd|Yaw=45",
    ]);
    let mut old = section(3, &list);
    old.set_ticking(cell(1), true);
    let counters = (old.local_change_counter, old.global_change_counter);
    let new = old.upgrade().unwrap();
    let blocks: Vec<_> = (0..7).map(|index| new.section.block(cell(index)).as_str()).collect();
    assert_eq!(blocks, ["Empty", "Door", "Door", "Empty", "Reed", "Beam", "Odd|Yaw=45"]);
    let yaws: Vec<_> = (0..7).map(|index| new.section.rotation(cell(index)).yaw()).collect();
    assert_eq!(yaws, [0, 1, 1, 0, 0, 0, 0]);
    assert_eq!(Some(new.section.filler(cell(1))), Filler::new(0, 1, 0));
    assert_eq!(new.section.filler(cell(2)), Filler::BASE);
    let fluids: Vec<_> = (0..7).map(|index| new.fluids.fluid(cell(index)).as_str()).collect();
    assert_eq!(fluids, ["Empty", "Empty", "Empty", "Water_Source", "Water", "Empty", "Empty"]);
    let levels: Vec<_> = (0..7).map(|index| new.fluids.level(cell(index))).collect();
    assert_eq!(levels, [0, 0, 0, 1, 3, 0, 0]);
    let support: Vec<_> = (0..7).map(|index| new.support.support(cell(index))).collect();
    assert_eq!(support, [0, 0, 0, 0, 15, 4, 0]);
    assert_eq!(new.kept, [key("Odd|Yaw=45")]);
    assert_eq!((new.section.check(), new.fluids.check()), (vec![], vec![]));
    assert!(new.section.ticking().contains(cell(1)));
    let section = new.section;
    assert_eq!((section.local_change_counter, section.global_change_counter), counters);
    assert_eq!(section.migration_version(), 0);
}

#[test]
fn stored_fillers_of_version_four_win_over_names() {
    let mut old = section(4, &names(&["Door|Filler=0,1,0", "Door|Yaw=180"]));
    old.fillers.set(cell(1), Filler::from_bits(31)).unwrap();
    let new = old.upgrade().unwrap().section;
    assert_eq!([0, 1].map(|index| new.filler(cell(index)).bits()), [0, 31]);
    assert_eq!([0, 1].map(|index| new.rotation(cell(index)).yaw()), [0, 2]);
}

#[test]
fn names_of_version_five_and_six_are_not_parsed() {
    for version in [5, 6] {
        let mut old = section(version, &names(&["Door|Yaw=90", "Empty"]));
        old.rotations.set(cell(0), Rotation::from_index(2)).unwrap();
        let new = old.clone().upgrade().unwrap();
        assert_eq!(new.section.block(cell(0)), "Door|Yaw=90");
        assert_eq!(new.section.rotation(cell(0)).index(), 2);
        assert_eq!((new.fluids, new.support), (FluidSection::new(), BlockPhysics::new()));
        if version == 6 {
            assert_eq!(new.section, old);
        }
    }
}

#[test]
fn a_section_without_old_names_keeps_its_palette() {
    let old = section(2, &names(&["Rock_Stone", "Soil_Dirt", "Empty"]));
    let new = old.clone().upgrade().unwrap().section;
    assert_eq!((new.blocks(), new.version()), (old.blocks(), 6));
}

#[test]
fn a_section_with_only_fluid_becomes_air() {
    let mut old = section(3, &names(&["Fluid_Lava|FluidLevel=8"]));
    old.set_ticking(cell(3), true);
    let new = old.upgrade().unwrap();
    assert_eq!(new.section, BlockSection::new(0));
    assert_eq!(new.fluids.fluids().uniform(), Some(&key("Lava")));
    assert_eq!(new.fluids.level(cell(32_767)), 8);
    let mut fluids = FluidSection::new();
    fluids.set(cell(0), key("Water"), 2).unwrap();
    fluids.overlay(&new.fluids).unwrap();
    assert!(fluids.same_cells(&new.fluids));
}

#[test]
fn palette_anomalies_do_not_prevent_an_upgrade() {
    // Two entries for one name, cells without an entry, a wrong count.
    let mut bytes = vec![1, 0, 3];
    for (id, name) in [(4, "A|Yaw=90"), (7, "A|Yaw=90"), (9, "A")] {
        bytes.extend([id, 0, u8::try_from(name.len()).unwrap()]);
        bytes.extend(name.as_bytes());
        bytes.extend([0, 9]);
    }
    bytes.extend((0..16_384).map(|at| [0x47, 0x91][at % 2]));
    bytes.extend([0; 4]);
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let old = BlockSection::decode(1, &bytes).unwrap();
    assert_eq!(old.encode(), bytes);
    let new = old.upgrade().unwrap().section;
    let blocks: Vec<_> = (0..4).map(|index| new.block(cell(index)).as_str()).collect();
    assert_eq!(blocks, ["A", "A", "A", "Empty"]);
    assert_eq!([0, 1, 2, 3].map(|index| new.rotation(cell(index)).yaw()), [1, 1, 0, 0]);
    assert_eq!(new.check(), []);
}
