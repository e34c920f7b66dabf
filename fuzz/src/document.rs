//! Builds a document from a list of steps, so that the fuzzer can nest documents without getting
//! their lengths right.
//!
//! A step is a byte for the element type, a byte for the key, and the bytes of the value. Any bytes
//! are valid steps.

use hyworld_chunk::bson::{DocumentWriter, Kind};

/// Keys, including those with a meaning in JSON, and strings.
const WORDS: [&str; 22] = [
    "a",
    "",
    "0",
    "1",
    "$binary",
    "$type",
    "$bson",
    "$base64",
    "$numberLong",
    "AAAA",
    "BQAAAAA=",
    "Components",
    "container",
    "ItemContainer",
    "Capacity",
    "Items",
    "Id",
    "Quantity",
    "Durability",
    "Metadata",
    "Inventory",
    "\u{e9}\0\"\\\n\u{1f600}",
];

/// Types whose values have a fixed length, with that length.
const FIXED: [(u8, usize); 12] = [
    (0x06, 0),
    (0x07, 12),
    (0x08, 1),
    (0x09, 8),
    (0x0A, 0),
    (0x01, 8),
    (0x10, 4),
    (0x11, 8),
    (0x12, 8),
    (0x13, 16),
    (0x7F, 0),
    (0xFF, 0),
];

/// Builds a document from steps and returns its bytes.
pub fn build(steps: &[u8]) -> Vec<u8> {
    let mut steps = steps.iter().copied();
    let mut open = vec![(DocumentWriter::new(), Kind::DOCUMENT, String::new())];
    while let Some(step) = steps.next() {
        let key = word(steps.next().unwrap_or(0));
        let (writer, _, _) = open.last_mut().expect("one is always open");
        match step % 6 {
            0 => open.push((DocumentWriter::new(), Kind::DOCUMENT, key)),
            1 => open.push((DocumentWriter::new(), Kind::ARRAY, key)),
            2 => close(&mut open),
            3 => writer.string(&key, &word(step / 6)),
            4 => writer.binary(&key, step / 6, &steps.by_ref().take(3).collect::<Vec<_>>()),
            _ => {
                let (kind, len) = FIXED[usize::from(step / 6) % FIXED.len()];
                let mut value: Vec<u8> = steps.by_ref().take(len).collect();
                value.resize(len, 0);
                writer.raw(&key, Kind(kind), &value);
            }
        }
    }
    while open.len() > 1 {
        close(&mut open);
    }
    open.pop().map(|(writer, _, _)| writer.finish()).expect("one is always open")
}

/// Converts small numbers to words and greater ones to decimal numbers, like the keys of arrays.
fn word(choice: u8) -> String {
    match WORDS.get(usize::from(choice)) {
        Some(word) => (*word).to_owned(),
        None => (usize::from(choice) - WORDS.len()).to_string(),
    }
}

/// Closes the innermost document and appends it to its parent, unless it is the outermost.
fn close(open: &mut Vec<(DocumentWriter, Kind, String)>) {
    let [.., (around, _, _), (inner, kind, key)] = &mut **open else { return };
    around.raw(key, *kind, &std::mem::take(inner).finish());
    open.pop();
}

#[cfg(test)]
mod tests {
    use hyworld_chunk::bson::RawDocument;

    use super::*;

    #[test]
    fn steps_build_a_document() {
        // {"a": {"$type": "1"}, "": null}
        let bytes = build(&[0, 0, 6 * 3 + 3, 5, 2, 0, 6 * 4 + 5, 1]);
        let document = RawDocument::new(&bytes).unwrap();
        let inner = document.get("a").unwrap().unwrap().as_document().unwrap();
        assert_eq!(inner.get("$type").unwrap().unwrap().as_str(), Some("1"));
        assert_eq!(document.get("").unwrap().unwrap().kind(), Kind::NULL);
        let odd: Vec<u8> = (0..=255).cycle().step_by(7).take(5000).collect();
        let bytes = build(&odd);
        assert!(RawDocument::new(&bytes).unwrap().elements().all(|element| element.is_ok()));
    }
}
