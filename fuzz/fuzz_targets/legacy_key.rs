//! Old block names: parsed properties are in range, and the remaining name is a current one.
#![no_main]

use hyworld_chunk::{AssetKey, LegacyBlock};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(block) = LegacyBlock::parse(text) else {
        assert!(LegacyBlock::is_legacy(text));
        return;
    };
    assert!(block.rotation.is_valid() && block.support <= 15);
    assert_eq!(block.filler.bits() >> 15, 0);
    if let Some(fluid) = block.fluid {
        assert!((1..=15).contains(&fluid.level) && !LegacyBlock::is_legacy(fluid.name));
    }
    match LegacyBlock::is_legacy(text) {
        false => assert_eq!(block.block, text),
        true => assert!(block.block == AssetKey::EMPTY_NAME || text.starts_with(block.block)),
    }
    assert!(!LegacyBlock::is_legacy(block.block));
    let again = LegacyBlock::parse(block.block).expect("a current name");
    assert_eq!((again.block, again.support, again.fluid), (block.block, 0, None));
    assert!(again.filler.is_base() && again.rotation.index() == 0);
    assert_eq!(AssetKey::new(text).is_some(), text.encode_utf16().count() <= 21_844);
});
