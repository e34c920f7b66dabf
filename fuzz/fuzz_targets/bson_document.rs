//! A valid BSON document round-trips byte for byte, also through values and JSON text.
#![no_main]

use hyworld_chunk::Holder;
use hyworld_chunk::bson::{Document, DocumentWriter, JsonText, Kind, RawDocument};
use libfuzzer_sys::fuzz_target;

/// Enough for the deepest document, and still fast.
const STEPS_MAX: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, bytes)) = hyworld_fuzz::split(data) else { return };
    let bytes = match choices.byte() & 1 {
        0 => bytes,
        _ => hyworld_fuzz::document::build(&bytes[..bytes.len().min(STEPS_MAX)]),
    };
    check_holder(&bytes);
    let Ok(raw) = RawDocument::new(&bytes) else { return };
    let checked = raw.check();
    check_elements(raw);
    let document = Document::from_raw(raw);
    assert_eq!(document.is_ok(), checked.is_ok());
    if let Err(malformed) = &checked {
        assert!(malformed.at <= bytes.len() && !malformed.to_string().is_empty());
    }
    let Ok(document) = document else { return check_damaged(&bytes) };
    assert!(document.to_bytes() == bytes);
    let json = document.to_json();
    let again = Document::from_json(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert!(again.to_bytes() == bytes, "{json}");
    assert!(again.to_json() == json);
    check_text(raw, &json);
});

/// Checks that copying the elements one by one copies the document.
fn check_elements(raw: RawDocument<'_>) {
    let mut copy = DocumentWriter::new();
    let mut is_valid = true;
    for (number, element) in raw.elements().enumerate() {
        let Ok(element) = element else {
            is_valid = false;
            continue;
        };
        let value = &raw.as_bytes()[element.value_at()..][..element.value().len()];
        assert!(value == element.value());
        // Finding an element visits all elements before it.
        if number < 50 {
            let found = raw.get(element.key()).expect("all elements before it are valid");
            assert!(found.expect("it exists").value_at() <= element.value_at());
        }
        let _ = (element.as_str(), element.as_binary(), element.as_bool(), element.as_f64());
        copy.element(&element);
    }
    assert!(!is_valid || copy.finish() == raw.as_bytes());
}

/// Checks that the text written without a tree is the same, except for numbers that JSON does not
/// have.
fn check_text(raw: RawDocument<'_>, json: &str) {
    let text = JsonText::from(raw);
    assert!(text.is_well_formed());
    let again = Document::from_json(&text.to_string()).expect("just encoded");
    assert!(again.to_bytes() == raw.as_bytes());
    let has_odd_numbers = json.contains("NaN") || json.contains("Infinity");
    assert!(has_odd_numbers || format!("{text:#}") == json);
}

/// Checks that malformed bytes are shown as bytes and not accepted by the parser.
fn check_damaged(bytes: &[u8]) {
    let text = JsonText::new(Kind::DOCUMENT, bytes);
    assert!(!text.is_well_formed() && text.to_string().starts_with("{\"$bson\":3,"));
    assert!(Document::from_json(&format!("{{\"value\": {text}}}")).is_err());
}

/// Checks that adding and removing a component restores the bytes.
fn check_holder(bytes: &[u8]) {
    let Ok(mut holder) = Holder::decode(bytes.to_vec()) else { return };
    assert!(holder.encode() == bytes);
    if holder.contains("Fuzz") {
        return;
    }
    holder.set_raw("Fuzz", &DocumentWriter::new().finish()).expect("a document");
    let with = Holder::decode(holder.encode()).expect("just encoded");
    assert!(with.contains("Fuzz") && with.ids().eq(holder.ids()));
    assert!(holder.remove("Fuzz"));
    assert!(holder.encode() == bytes);
}
