//! BSON: a document that can be walked through comes back byte by byte, from values and from
//! JSON text too.
#![no_main]

use hyworld_chunk::Holder;
use hyworld_chunk::bson::{Document, DocumentWriter, RawDocument};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, bytes)) = hyworld_fuzz::split(data) else { return };
    let bytes = match choices.byte() & 1 {
        0 => bytes,
        _ => hyworld_fuzz::document::build(&bytes),
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
    let Ok(document) = document else { return };
    assert!(document.to_bytes() == bytes);
    let json = document.to_json();
    let again = Document::from_json(&json).unwrap_or_else(|problem| panic!("{problem}: {json}"));
    assert!(again.to_bytes() == bytes, "{json}");
    assert!(again.to_json() == json);
});

/// Copying the elements one by one copies the document, as far as they go.
fn check_elements(raw: RawDocument<'_>) {
    let mut copy = DocumentWriter::new();
    let mut is_whole = true;
    for element in raw.elements() {
        let Ok(element) = element else {
            is_whole = false;
            continue;
        };
        let value = &raw.as_bytes()[element.value_at()..][..element.value().len()];
        assert!(value == element.value());
        let first = raw.get(element.key()).expect("all before it are whole").expect("it is there");
        assert!(first.value_at() <= element.value_at());
        let _ = (element.as_str(), element.as_binary(), element.as_bool(), element.as_f64());
        copy.element(&element);
    }
    assert!(!is_whole || copy.finish() == raw.as_bytes());
}

/// A component that comes and goes leaves no trace.
fn check_holder(bytes: &[u8]) {
    let Ok(mut holder) = Holder::decode(bytes.to_vec()) else { return };
    assert!(holder.encode() == bytes);
    if holder.contains("Fuzz") {
        return;
    }
    holder.set_raw("Fuzz", &DocumentWriter::new().finish()).expect("a document");
    let with = Holder::decode(holder.encode()).expect("we wrote it");
    assert!(with.contains("Fuzz") && with.ids().eq(holder.ids()));
    assert!(holder.remove("Fuzz"));
    assert!(holder.encode() == bytes);
}
