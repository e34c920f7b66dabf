//! `Block.Data` of every version round-trips, a change affects only its cells, and an upgrade
//! follows the old names of its blocks.
#![no_main]

use hyworld_chunk::{BlockSection, LegacyBlock, UpgradedSection};
use hyworld_coords::LocalBlock;
use hyworld_fuzz::{Choices, palette};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, field)) = hyworld_fuzz::split(data) else { return };
    let version = i32::from(choices.byte() % 9) - 1;
    let Ok(section) = BlockSection::decode(version, &field) else { return };
    assert!(section.encode() == field);
    let probe = choices.cell();
    match choices.byte() % 4 {
        0 => palette::check(section.blocks(), probe),
        1 => palette::check(section.fillers(), probe),
        2 => palette::check(section.rotations(), probe),
        _ => check_upgrade(&section),
    }
    assert_eq!(section.ticking().iter().count(), usize::from(section.ticking().count()));
    section.check().iter().for_each(|anomaly| drop(anomaly.to_string()));
    check_edits(section, &mut choices);
});

fn check_edits(mut section: BlockSection, choices: &mut Choices) {
    while !choices.is_empty() {
        let before = section.clone();
        let corner = choices.cell();
        let corners = [corner, if choices.byte() & 1 == 0 { corner } else { choices.cell() }];
        let (key, (rotation, filler)) = (choices.key(section.blocks()), choices.turn());
        let edit = section.fill_blocks(corners[0], corners[1], key.clone(), rotation, filler);
        assert_eq!(edit.is_err(), section.version() < BlockSection::VERSION);
        let Ok(changed) = edit else {
            assert!(section == before);
            break;
        };
        palette::check_change(before.blocks(), section.blocks(), corners, &key);
        palette::check_change(before.fillers(), section.fillers(), corners, &filler);
        palette::check_change(before.rotations(), section.rotations(), corners, &rotation);
        assert_eq!(changed, section != before);
        let counted = section.local_change_counter.wrapping_sub(before.local_change_counter);
        assert_eq!(counted, u16::from(changed));
        let ticks = !section.ticking().contains(corner);
        if section.set_ticking(corner, ticks) {
            assert_eq!(section.ticking().contains(corner), ticks);
            assert_eq!(section.ticking().listed_count(), section.ticking().count());
        }
    }
    let again = BlockSection::decode(section.version(), &section.encode());
    assert!(again.expect("just encoded") == section);
    section.forget_light();
    let (light, counter) = (&section.local_light, section.local_change_counter);
    assert!(!light.is_current(counter) && light.tree.is_none());
}

fn check_upgrade(old: &BlockSection) {
    // Fails only with 32,768 different values.
    let Ok(upgraded) = old.clone().upgrade() else { return };
    let section = &upgraded.section;
    assert_eq!(section.version(), BlockSection::VERSION);
    let again = BlockSection::decode(section.version(), &section.encode());
    assert!(again.expect("just encoded") == *section);
    if old.version() > 4 {
        assert!(section.same_cells(old));
        assert!(upgraded.fluids.is_empty() && !upgraded.support.has_data());
    } else {
        check_names(old, &upgraded);
    }
}

/// Checks that every cell has the properties of its old name, or keeps a name that cannot be
/// parsed.
fn check_names(old: &BlockSection, upgraded: &UpgradedSection) {
    let (names, blocks) = (old.blocks().indices(), upgraded.section.blocks().indices());
    let parsed: Vec<_> = names.keys.iter().map(|key| LegacyBlock::parse(key.as_str())).collect();
    let fluids = upgraded.fluids.fluids().indices();
    for cell in LocalBlock::all() {
        let index = usize::from(names.indices[cell]);
        let block = blocks.keys[usize::from(blocks.indices[cell])];
        let fluid = fluids.keys[usize::from(fluids.indices[cell])];
        let level = upgraded.fluids.level(cell);
        let Ok(parsed) = &parsed[index] else {
            assert!(block == names.keys[index] && upgraded.kept.contains(block));
            assert!(fluid.is_air() && level == 0);
            continue;
        };
        assert_eq!(block.as_str(), parsed.block);
        let expected = parsed.fluid.map_or(("Empty", 0), |fluid| (fluid.name, fluid.level));
        assert_eq!((fluid.as_str(), level), expected);
        assert_eq!(upgraded.support.support(cell), parsed.support);
    }
    assert_eq!(upgraded.section.fillers() == old.fillers(), {
        let has_filler = |index: &u16| {
            parsed[usize::from(*index)].as_ref().is_ok_and(|block| !block.filler.is_base())
        };
        old.version() == 4 || !names.indices.values().any(has_filler)
    });
}
