//! Conversion of documents to and from JSON text, in the legacy extended form that the game writes.
//!
//! Two spaces of indent, one member or element per line, no newline at the end. Binary values are
//! `{"$binary": "<base64>", "$type": "04"}`; most other values are plain JSON. Values that plain
//! JSON cannot distinguish, and types that the game never stores, become an object with a `$` key,
//! so that parsing the text always restores the same bytes.

pub(crate) mod base64;
mod number;
mod parse;
mod raw;
mod text;

pub use parse::JsonError;
pub use raw::JsonText;
pub use raw::quoted;

use super::{Document, Kind, Value};
use crate::limits::JSON_VALUES_MAX;

/// The key of a value whose type JSON does not have: `{"$bson": type, "$base64": ..}`.
const OTHER_KEY: &str = "$bson";

impl Document {
    /// Returns the document as JSON text, as the game writes it.
    ///
    /// ```
    /// use hyworld_documents::{Document, Value};
    ///
    /// let mut document = Document::new();
    /// document.set("Scale", Value::Double(100.0));
    /// document.set("Tags", Value::Array(vec![]));
    /// let json = document.to_json();
    /// assert_eq!(json, "{\n  \"Scale\": 100.0,\n  \"Tags\": []\n}");
    /// assert_eq!(Document::from_json(&json)?, document);
    /// # Ok::<(), hyworld_documents::JsonError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        if parse::is_ambiguous(self) {
            write_other(Kind::DOCUMENT, &self.to_bytes(), 0, &mut out);
        } else {
            write_document(self, 0, &mut out);
        }
        out
    }

    /// Parses a document from JSON text.
    ///
    /// # Errors
    /// Returns an error if the text is not a JSON object or is nested too deeply.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        parse::document(text, JSON_VALUES_MAX)
    }

    /// Like [`from_json`](Self::from_json), for a text with up to `values_max` values. Each takes
    /// up to 150 bytes of memory.
    ///
    /// # Errors
    /// As for [`from_json`](Self::from_json).
    pub fn from_large_json(text: &str, values_max: u32) -> Result<Self, JsonError> {
        parse::document(text, values_max)
    }
}

fn write_document(document: &Document, depth: usize, out: &mut String) {
    let members = document.fields().map(|(key, value)| (Some(key), value));
    write_container(('{', '}'), members, depth, out);
}

fn write_container<'a>(
    brackets: (char, char),
    members: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
    depth: usize,
    out: &mut String,
) {
    out.push(brackets.0);
    let inner = depth.saturating_add(1);
    let mut is_empty = true;
    for (key, value) in members {
        if !is_empty {
            out.push(',');
        }
        is_empty = false;
        new_line(inner, out);
        if let Some(key) = key {
            text::write(key, out);
            out.push_str(": ");
        }
        write_value(value, inner, out);
    }
    if !is_empty {
        new_line(depth, out);
    }
    out.push(brackets.1);
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

fn write_value(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Double(value) if has_other_nan_bits(*value) => {
            write_other(Kind::DOUBLE, &value.to_le_bytes(), depth, out);
        }
        Value::Double(value) => number::write_double(*value, out),
        Value::String(value) => text::write(value, out),
        Value::Document(document) if parse::is_ambiguous(document) => {
            write_other(Kind::DOCUMENT, &document.to_bytes(), depth, out);
        }
        Value::Document(document) => write_document(document, depth, out),
        Value::Array(values) => {
            write_container(('[', ']'), values.iter().map(|value| (None, value)), depth, out);
        }
        Value::Binary { subtype, bytes } => {
            let mut object = Document::new();
            object.set("$binary", Value::String(base64::encode(bytes)));
            object.set("$type", Value::String(format!("{subtype:02X}")));
            write_document(&object, depth, out);
        }
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
        Value::Int32(value) => out.push_str(&value.to_string()),
        Value::Int64(value) if i32::try_from(*value).is_err() => out.push_str(&value.to_string()),
        Value::Int64(value) => {
            // A plain number would be parsed as a 32-bit integer.
            let mut object = Document::new();
            object.set("$numberLong", Value::String(value.to_string()));
            write_document(&object, depth, out);
        }
        Value::Other { kind, bytes } => write_other(*kind, bytes, depth, out),
    }
}

fn write_other(kind: Kind, bytes: &[u8], depth: usize, out: &mut String) {
    let mut object = Document::new();
    object.set(OTHER_KEY, Value::Int32(i32::from(kind.0)));
    object.set("$base64", Value::String(base64::encode(bytes)));
    write_document(&object, depth, out);
}

/// Returns whether this is a `NaN` whose bits differ from those that the JSON text `NaN` is parsed
/// to.
fn has_other_nan_bits(value: f64) -> bool {
    value.is_nan() && value.to_bits() != f64::NAN.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Document {
        let mut inner = Document::new();
        inner.set("X", Value::Double(-0.0));
        let mut document = Document::new();
        document.set("Text", Value::String("a\"b\\c\n\u{1}\u{2028}\u{1F600}\u{e9}".to_owned()));
        document.set("Int", Value::Int32(-5));
        document.set("Long", Value::Int64(1_781_648_297_615));
        document.set("ShortLong", Value::Int64(7));
        document.set("Uuid", Value::Binary { subtype: 4, bytes: vec![0xE3; 16] });
        document.set("List", Value::Array(vec![Value::Null, Value::Document(inner)]));
        document.set("Empty", Value::Document(Document::new()));
        document.set("Date", Value::Other { kind: Kind(9), bytes: vec![1, 2, 3, 4, 5, 6, 7, 8] });
        document.set("Nan", Value::Double(f64::NAN));
        document
    }

    #[test]
    fn golden_text() {
        let mut document = sample();
        document.remove("Nan");
        let expected = r#"{
  "Text": "a\"b\\c\n\u0001\u2028\ud83d\ude00EACUTE",
  "Int": -5,
  "Long": 1781648297615,
  "ShortLong": {
    "$numberLong": "7"
  },
  "Uuid": {
    "$binary": "4+Pj4+Pj4+Pj4+Pj4+Pj4w==",
    "$type": "04"
  },
  "List": [
    null,
    {
      "X": -0.0
    }
  ],
  "Empty": {},
  "Date": {
    "$bson": 9,
    "$base64": "AQIDBAUGBwg="
  }
}"#
        .replace("EACUTE", "\u{e9}");
        assert_eq!(document.to_json(), expected);
        assert_eq!(Document::from_json(&expected).unwrap(), document);
    }

    #[test]
    fn parsing_restores_the_same_bytes() {
        let mut document = sample();
        let mut binary = Document::new();
        binary.set("$binary", Value::String("AAAA".to_owned()));
        binary.set("$type", Value::String("00".to_owned()));
        document.set("NotBinary", Value::Document(binary));
        document.set("OddNan", Value::Double(f64::from_bits(0x7FF8_0000_0000_0001)));
        let again = Document::from_json(&document.to_json()).unwrap();
        assert_eq!(again.to_bytes(), document.to_bytes());
    }

    /// Returns a field nested in `levels` documents.
    fn nested(levels: usize, value: Value) -> Document {
        let mut document = Document::new();
        document.set("a", value);
        for _ in 1..levels {
            let inner = std::mem::take(&mut document);
            document.set("a", Value::Document(inner));
        }
        document
    }

    #[test]
    fn the_innermost_values_of_a_deep_document_round_trip() {
        let binary = Value::Binary { subtype: 0, bytes: vec![1] };
        for value in [Value::Int32(1), Value::Int64(1), binary] {
            let document = nested(100, value);
            let bytes = document.to_bytes();
            assert!(super::super::RawDocument::new(&bytes).unwrap().check().is_ok());
            assert_eq!(Document::from_json(&document.to_json()), Ok(document));
        }
        let empty = Value::Document(Document::new());
        assert!(Document::from_json(&nested(100, empty).to_json()).is_err());
        assert!(Document::from_json(&nested(100, Value::Array(vec![])).to_json()).is_err());
    }

    #[test]
    fn a_document_that_looks_like_another_value_round_trips() {
        let mut binary = Document::new();
        binary.set("$binary", Value::String("AAAA".to_owned()));
        binary.set("$type", Value::String("00".to_owned()));
        let mut nonsense = Document::new();
        nonsense.set("$numberLong", Value::Null);
        for document in [binary, nonsense] {
            assert_eq!(Document::from_json(&document.to_json()), Ok(document.clone()));
            let around = nested(3, Value::Document(document));
            assert_eq!(Document::from_json(&around.to_json()), Ok(around));
        }
    }
}
