//! Writes stored values as JSON text without building a tree, so that a document of any size needs
//! little memory.

use std::fmt;

use super::super::{Element, Kind, RawDocument};
use super::{OTHER_KEY, base64, number, text};
use crate::limits::DEPTH_MAX;

/// A stored value that displays as JSON: `{}` on one line, `{:#}` with two spaces of indent and one
/// member per line, as the game writes it.
///
/// The text is that of [`Document::to_json`](super::super::Document::to_json), except that floats
/// without a JSON form (`NaN`, infinities) are written as their bytes, so that every JSON parser
/// accepts it. [`Document::from_json`](super::super::Document::from_json) restores the same bytes.
/// A malformed value is also written as its bytes.
///
/// ```
/// use hyworld_documents::{Document, JsonText, RawDocument, Value};
///
/// let mut document = Document::new();
/// document.set("Scale", Value::Double(100.0));
/// document.set("Tags", Value::Array(vec![Value::Int32(1), Value::Null]));
/// let bytes = document.to_bytes();
/// let json = JsonText::from(RawDocument::new(&bytes)?);
/// assert_eq!(json.to_string(), r#"{"Scale":100.0,"Tags":[1,null]}"#);
/// assert_eq!(format!("{json:#}"), document.to_json());
/// # Ok::<(), hyworld_documents::Malformed>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonText<'a> {
    kind: Kind,
    value: &'a [u8],
}

impl<'a> JsonText<'a> {
    /// Creates a value from its type and its stored bytes.
    pub fn new(kind: Kind, value: &'a [u8]) -> Self {
        Self { kind, value }
    }

    /// Returns the stored bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.value
    }

    /// Returns the document, or `None` for any other type, including an array.
    pub fn as_document(&self) -> Option<RawDocument<'a>> {
        RawDocument::new(self.value).ok().filter(|_| self.kind == Kind::DOCUMENT)
    }

    /// Returns whether all nested elements are valid. If not, it displays as its bytes.
    pub fn is_well_formed(&self) -> bool {
        match self.kind {
            Kind::DOCUMENT | Kind::ARRAY => {
                RawDocument::new(self.value).is_ok_and(|document| document.check().is_ok())
            }
            _ => true,
        }
    }
}

impl<'a> From<RawDocument<'a>> for JsonText<'a> {
    fn from(document: RawDocument<'a>) -> Self {
        Self::new(Kind::DOCUMENT, document.as_bytes())
    }
}

impl<'a> From<&Element<'a>> for JsonText<'a> {
    fn from(element: &Element<'a>) -> Self {
        Self::new(element.kind(), element.value())
    }
}

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer { is_pretty: f.alternate(), out: f };
        if self.is_well_formed() {
            writer.value(self, 0)
        } else {
            writer.other(self.kind, self.value, 0)
        }
    }
}

/// Returns text in quotes, with the escapes that the game writes.
pub fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len().saturating_add(2));
    text::write(value, &mut out);
    out
}

struct Writer<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    is_pretty: bool,
}

impl Writer<'_, '_> {
    fn value(&mut self, value: &JsonText<'_>, depth: u32) -> fmt::Result {
        let &JsonText { kind, value: bytes } = value;
        let element = Element::of(kind, bytes);
        let as_stored = match kind {
            Kind::DOUBLE => element.as_f64().filter(|value| value.is_finite()).map(|value| {
                let mut digits = String::new();
                number::write_double(value, &mut digits);
                self.out.write_str(&digits)
            }),
            Kind::STRING => element.as_str().map(|value| self.out.write_str(&quoted(value))),
            Kind::BOOLEAN => match bytes {
                [0] => Some(self.out.write_str("false")),
                [1] => Some(self.out.write_str("true")),
                _ => None,
            },
            Kind::NULL => Some(self.out.write_str("null")),
            Kind::INT32 => element.as_i32().map(|value| write!(self.out, "{value}")),
            Kind::INT64 => element.as_i64().map(|value| self.long(value, depth)),
            Kind::BINARY => element.as_binary().map(|(subtype, bytes)| {
                let subtype = format!("\"{subtype:02X}\"");
                self.pair(["$binary", "$type"], [&in_base64(bytes), &subtype], depth)
            }),
            Kind::DOCUMENT | Kind::ARRAY => element
                .as_document()
                .filter(|document| depth < DEPTH_MAX && !is_ambiguous(kind, *document))
                .map(|document| self.container(kind, document, depth)),
            _ => None,
        };
        as_stored.unwrap_or_else(|| self.other(kind, bytes, depth))
    }

    fn container(&mut self, kind: Kind, document: RawDocument<'_>, depth: u32) -> fmt::Result {
        let has_keys = kind == Kind::DOCUMENT;
        self.out.write_str(if has_keys { "{" } else { "[" })?;
        let mut is_empty = true;
        // The document was checked before, so no element is an error.
        for element in document.elements().filter_map(Result::ok) {
            self.next(&mut is_empty, depth.saturating_add(1))?;
            if has_keys {
                self.key(&quoted(element.key()))?;
            }
            self.value(&JsonText::from(&element), depth.saturating_add(1))?;
        }
        self.end(is_empty, depth)?;
        self.out.write_str(if has_keys { "}" } else { "]" })
    }

    fn long(&mut self, value: i64, depth: u32) -> fmt::Result {
        if i32::try_from(value).is_err() {
            return write!(self.out, "{value}");
        }
        // A plain number would be parsed as a 32-bit integer.
        self.out.write_str("{")?;
        self.next(&mut true, depth.saturating_add(1))?;
        self.key("\"$numberLong\"")?;
        write!(self.out, "\"{value}\"")?;
        self.end(false, depth)?;
        self.out.write_str("}")
    }

    fn other(&mut self, kind: Kind, bytes: &[u8], depth: u32) -> fmt::Result {
        let values = [kind.0.to_string(), in_base64(bytes)];
        self.pair([OTHER_KEY, "$base64"], [&values[0], &values[1]], depth)
    }

    fn pair(&mut self, keys: [&str; 2], values: [&str; 2], depth: u32) -> fmt::Result {
        self.out.write_str("{")?;
        let mut is_empty = true;
        for (key, value) in keys.iter().zip(values) {
            self.next(&mut is_empty, depth.saturating_add(1))?;
            self.key(&quoted(key))?;
            self.out.write_str(value)?;
        }
        self.end(is_empty, depth)?;
        self.out.write_str("}")
    }

    fn key(&mut self, key: &str) -> fmt::Result {
        self.out.write_str(key)?;
        self.out.write_str(if self.is_pretty { ": " } else { ":" })
    }

    /// Starts the next member.
    fn next(&mut self, is_empty: &mut bool, depth: u32) -> fmt::Result {
        if !*is_empty {
            self.out.write_str(",")?;
        }
        *is_empty = false;
        self.new_line(depth)
    }

    /// Starts the line of the closing bracket.
    fn end(&mut self, is_empty: bool, depth: u32) -> fmt::Result {
        if is_empty { Ok(()) } else { self.new_line(depth) }
    }

    fn new_line(&mut self, depth: u32) -> fmt::Result {
        if self.is_pretty {
            self.out.write_str("\n")?;
            (0..depth).try_for_each(|_| self.out.write_str("  "))?;
        }
        Ok(())
    }
}

fn in_base64(bytes: &[u8]) -> String {
    format!("\"{}\"", base64::encode(bytes))
}

/// Returns whether a document, written as an object, would be parsed as another type, or whether an
/// array would lose its keys.
fn is_ambiguous(kind: Kind, document: RawDocument<'_>) -> bool {
    let mut elements = document.elements().filter_map(Result::ok);
    if kind == Kind::ARRAY {
        return elements.enumerate().any(|(number, element)| element.key() != number.to_string());
    }
    let first = elements.next();
    let marks = ["$binary", "$type", "$numberLong", OTHER_KEY];
    first.is_some_and(|first| marks.contains(&first.key())) && elements.nth(1).is_none()
}

#[cfg(test)]
mod tests {
    use super::super::super::{Document, DocumentWriter, Value};
    use super::*;

    fn sample() -> Document {
        let mut marked = Document::new();
        marked.set("$type", Value::String("no type".to_owned()));
        let mut inner = Document::new();
        inner.set("X", Value::Double(-0.0));
        inner.set("$binary", Value::Null);
        let mut document = Document::new();
        document.set("Text", Value::String("a\"b\\c\n\u{1}\u{2028}\u{1F600}\u{e9}".to_owned()));
        document.set("Long", Value::Int64(1_781_648_297_615));
        document.set("ShortLong", Value::Int64(7));
        document.set("Uuid", Value::Binary { subtype: 4, bytes: vec![0xE3; 16] });
        document.set("List", Value::Array(vec![Value::Null, Value::Document(inner)]));
        document.set("Empty", Value::Document(Document::new()));
        document.set("None", Value::Array(Vec::new()));
        document.set("Yes", Value::Boolean(true));
        document.set("Date", Value::Other { kind: Kind(9), bytes: vec![1, 2, 3, 4, 5, 6, 7, 8] });
        document.set("Marked", Value::Document(marked));
        document.set("OddTruth", Value::Other { kind: Kind::BOOLEAN, bytes: vec![2] });
        document
    }

    fn json(bytes: &[u8]) -> JsonText<'_> {
        JsonText::new(Kind::DOCUMENT, bytes)
    }

    #[test]
    fn pretty_text_is_what_the_game_writes() {
        let document = sample();
        assert_eq!(format!("{:#}", json(&document.to_bytes())), document.to_json());
    }

    #[test]
    fn compact_text_restores_the_same_bytes() {
        let mut document = sample();
        for (key, value) in [
            ("Nan", f64::NAN),
            ("OddNan", f64::from_bits(0x7FF8_0000_0000_0001)),
            ("High", f64::INFINITY),
            ("Low", f64::NEG_INFINITY),
        ] {
            document.set(key, Value::Double(value));
        }
        let bytes = document.to_bytes();
        let text = json(&bytes).to_string();
        assert!(!text.contains('\n'), "{text}");
        assert_eq!(Document::from_json(&text).unwrap().to_bytes(), bytes);
        let strict: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(strict["Low"]["$bson"], 1, "strict parsers accept it");
    }

    #[test]
    fn a_document_with_the_keys_of_another_value_round_trips() {
        let mut marked = Document::new();
        marked.set("$type", Value::String("no type".to_owned()));
        let bytes = marked.to_bytes();
        assert_eq!(format!("{:#}", json(&bytes)), marked.to_json());
        assert_eq!(Document::from_json(&json(&bytes).to_string()), Ok(marked));
    }

    #[test]
    fn duplicate_keys_and_unusual_arrays_are_kept() {
        let mut array = DocumentWriter::new();
        array.int32("1", 1);
        array.int32("0", 2);
        let mut writer = DocumentWriter::new();
        writer.int32("a", 1);
        writer.int32("a", 2);
        writer.raw("array", Kind::ARRAY, &array.finish());
        let bytes = writer.finish();
        let text = json(&bytes).to_string();
        assert!(text.starts_with("{\"a\":1,\"a\":2,\"array\":{\"$bson\":4,"), "{text}");
        assert_eq!(Document::from_json(&text).unwrap().to_bytes(), bytes);
    }

    #[test]
    fn malformed_or_too_deep_values_display_as_bytes() {
        let mut deep = DocumentWriter::new().finish();
        for _ in 0..100 {
            let mut writer = DocumentWriter::new();
            writer.document("d", &deep);
            deep = writer.finish();
        }
        let mut malformed = sample().to_bytes();
        malformed[4] = 0x66;
        for bytes in [deep, malformed, b"nothing".to_vec(), Vec::new()] {
            assert!(!json(&bytes).is_well_formed());
            let expected = format!("{{\"$bson\":3,\"$base64\":{}}}", in_base64(&bytes));
            assert_eq!(json(&bytes).to_string(), expected);
        }
    }

    #[test]
    fn bit_flips_give_json_that_restores_the_bytes() {
        let good = sample().to_bytes();
        for position in 0..good.len() {
            let mut bytes = good.clone();
            bytes[position] ^= 1 << (position % 8);
            let text = format!("{{\"value\":{}}}", json(&bytes));
            let strict = serde_json::from_str::<serde_json::Value>(&text);
            assert!(strict.is_ok(), "byte {position}: {text}");
            // Bytes that cannot be decoded are not accepted, but the text contains all of them.
            let Ok(again) = Document::from_json(&text) else {
                assert!(
                    !json(&bytes).is_well_formed() && text.contains(&in_base64(&bytes)),
                    "{position}"
                );
                continue;
            };
            let again = match again.get("value") {
                Some(Value::Document(document)) => document.to_bytes(),
                Some(Value::Other { kind: Kind::DOCUMENT, bytes }) => bytes.clone(),
                other => panic!("byte {position}: {other:?}"),
            };
            assert_eq!(again, bytes, "byte {position}");
        }
    }
}
