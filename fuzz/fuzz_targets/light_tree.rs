//! A light tree in the smallest section that can contain one: accepted exactly if the bytes are one
//! tree, and with the light that the specification defines.
#![no_main]

use hyworld_chunk::{BlockSection, Light, LightTree};
use hyworld_coords::{LocalBlock, SectionArray};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, stored)) = hyworld_fuzz::split(data) else { return };
    let expected = hyworld_fuzz::light::expand(&stored);
    let field = section_with(choices.byte().max(1), &stored);
    let section = BlockSection::decode(3, &field);
    assert_eq!(section.is_ok(), expected.is_some());
    let (Ok(section), Some(expected)) = (section, expected) else { return };
    assert!(section.encode() == field);
    let Light { change_id: 7, tree: Some(tree) } = &section.local_light else {
        panic!("the light was not decoded");
    };
    check(tree, &expected);
    for _ in 0..8 {
        let cell = choices.cell();
        assert_eq!(tree.get(cell).bits(), expected[usize::from(cell.index())]);
    }
});

/// Encodes a section of version 3 with no blocks, a local light, no global light, counters 8 and 9.
fn section_with(flag: u8, tree: &[u8]) -> Vec<u8> {
    let len = u32::try_from(tree.len()).expect("short").to_be_bytes();
    [&[0, 0, 7, flag], &len, tree, &[0, 0, 0], &[0, 8, 0, 9]].concat()
}

fn check(tree: &LightTree, expected: &[u16]) {
    let values = tree.expand();
    assert!(values.values().map(|value| value.bits()).eq(expected.iter().copied()));
    let is_uniform = expected.iter().all(|value| *value == expected[0]);
    assert_eq!(tree.uniform().map(|value| value.bits()), is_uniform.then_some(expected[0]));
    let last = LocalBlock::from_index(32_767).expect("the last one");
    assert_eq!(tree.get(last).bits(), expected[32_767]);
    // The smallest tree with the same light.
    let least = LightTree::from_values(&values);
    assert!(least.nodes() <= tree.nodes() && least.expand() == values);
    assert!(LightTree::from_values(&least.expand()) == least);
    if is_uniform {
        let filled = LightTree::filled(values[last]);
        assert!(filled == least && filled.expand() == SectionArray::filled(values[last]));
    }
}
