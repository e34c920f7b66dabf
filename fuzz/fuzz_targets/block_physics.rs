//! `BlockPhysics.Data` round-trips, and a change affects only its cell.
#![no_main]

use hyworld_chunk::BlockPhysics;
use hyworld_coords::LocalBlock;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, field)) = hyworld_fuzz::split(data) else { return };
    let Ok(physics) = BlockPhysics::decode(&field) else { return };
    assert!(physics.encode() == field);
    let mut edited = physics.clone();
    let mut expected = physics.to_array();
    while !choices.is_empty() {
        let (cell, support) = (choices.cell(), choices.byte() % 17);
        let is_change = edited.support(cell) != support;
        match edited.set_support(cell, support) {
            Ok(changed) => assert_eq!(changed, is_change),
            Err(_) => assert_eq!(support, 16),
        }
        expected[cell] = if support < 16 { support } else { expected[cell] };
        assert_eq!(edited.support(cell), expected[cell]);
    }
    assert!(edited.to_array() == expected);
    assert_eq!(physics == edited || !physics.same_cells(&edited), true);
    assert!(BlockPhysics::decode(&edited.encode()).expect("just encoded") == edited);
    let mut both = physics.clone();
    both.overlay(&edited);
    for cell in LocalBlock::all() {
        let over = edited.support(cell);
        assert_eq!(both.support(cell), if over == 0 { physics.support(cell) } else { over });
    }
});
