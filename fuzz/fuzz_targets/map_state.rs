//! Parses arbitrary text as the state of a map. One that is accepted round-trips.
#![no_main]

use hyworld_map::MapState;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(state) = MapState::from_json(text) else { return };
    assert!(MapState::from_json(&state.to_json()).expect("just written") == state);
});
