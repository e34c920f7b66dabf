//! `Fluid.Data` round-trips, and a change affects only its cells.
#![no_main]

use hyworld_chunk::FluidSection;
use hyworld_coords::LocalBlock;
use hyworld_fuzz::{Choices, palette};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, field)) = hyworld_fuzz::split(data) else { return };
    let Ok(section) = FluidSection::decode(&field) else { return };
    assert!(section.encode() == field);
    let probe = choices.cell();
    let checks = choices.byte() % 4;
    if checks == 0 {
        palette::check(section.fluids(), probe);
    }
    section.check().iter().for_each(|anomaly| drop(anomaly.to_string()));
    let mut edited = section.clone();
    while !choices.is_empty() {
        check_edit(&mut edited, &mut choices);
    }
    assert!(FluidSection::decode(&edited.encode()).expect("just encoded") == edited);
    if checks == 1 {
        check_overlay(&section, &edited);
    }
});

fn check_edit(section: &mut FluidSection, choices: &mut Choices) {
    let before = section.clone();
    let corner = choices.cell();
    let corners = [corner, if choices.byte() & 1 == 0 { corner } else { choices.cell() }];
    let (key, level) = (choices.key(section.fluids()), choices.byte() % 17);
    let edit = match corners[0] == corners[1] {
        true => section.set(corner, key.clone(), level),
        false => section.fill(corners[0], corners[1], key.clone(), level),
    };
    let fits = if key.is_air() { level == 0 } else { (1..=15).contains(&level) };
    assert_eq!(edit.is_ok(), fits);
    assert_eq!(edit.unwrap_or(false), *section != before);
    if !fits {
        return;
    }
    palette::check_change(before.fluids(), section.fluids(), corners, &key);
    // Levels without a fluid are removed with the last fluid.
    let keeps_levels = !section.is_empty();
    for cell in palette::samples(corners) {
        match palette::is_between(cell, corners) {
            true => assert_eq!(section.level(cell), level),
            false => assert!(!keeps_levels || section.level(cell) == before.level(cell)),
        }
    }
}

/// Checks that cells with a fluid in the other section have that one, and the others are unchanged.
fn check_overlay(section: &FluidSection, other: &FluidSection) {
    let mut both = section.clone();
    both.overlay(other).expect("few kinds of fluids");
    let [mine, theirs, found] = [section, other, &both].map(|section| section.fluids().to_array());
    for cell in LocalBlock::all() {
        let (expected, level) = match theirs[cell].is_air() {
            true => (&mine[cell], section.level(cell)),
            false => (&theirs[cell], other.level(cell).max(1)),
        };
        assert_eq!((&found[cell], both.level(cell)), (expected, level));
    }
}
