//! A document parsed from JSON text can be stored, and its JSON text round-trips.
#![no_main]

use hyworld_chunk::bson::{Document, RawDocument};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((_, text)) = hyworld_fuzz::split(data) else { return };
    let Ok(text) = std::str::from_utf8(&text) else { return };
    let document = match Document::from_json(text) {
        Ok(document) => document,
        Err(error) => {
            assert!(error.line <= text.matches('\n').count() + 1);
            assert!(error.column <= text.chars().count() + 1);
            return;
        }
    };
    let bytes = document.to_bytes();
    let raw = RawDocument::new(&bytes).expect("a document");
    let stored = Document::from_raw(raw).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(stored.to_bytes() == bytes);
    assert!(stored.to_json() == document.to_json());
    let again = Document::from_json(&document.to_json()).expect("just encoded");
    assert!(again.to_bytes() == bytes);
});
