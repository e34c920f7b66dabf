//! Owned values, for documents that are changed field by field.
//!
//! Types that chunks never contain are kept as their bytes, so that everything round-trips.

use super::{DocumentWriter, Element, Kind, RawDocument};
use crate::error::{Malformed, Problem};
use crate::limits::DEPTH_MAX;

/// A document: a list of fields in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Document {
    fields: Vec<(String, Value)>,
}

/// The value of a field.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A 64-bit float.
    Double(f64),
    /// Text.
    String(String),
    /// A document.
    Document(Document),
    /// An array.
    Array(Vec<Value>),
    /// Bytes with a subtype; 4 is a UUID.
    Binary {
        /// The subtype.
        subtype: u8,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// True or false.
    Boolean(bool),
    /// Null.
    Null,
    /// A 32-bit integer.
    Int32(i32),
    /// A 64-bit integer.
    Int64(i64),
    /// A value of a type that has no other variant here, as stored.
    Other {
        /// The type byte.
        kind: Kind,
        /// The bytes of the value.
        bytes: Vec<u8>,
    },
}

impl Document {
    /// Creates a document without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds the whole tree of a document.
    ///
    /// # Errors
    /// Returns the error of [`RawDocument::check`].
    pub fn from_raw(document: RawDocument<'_>) -> Result<Self, Malformed> {
        document.check()?;
        Self::from_checked(document, DEPTH_MAX)
    }

    fn from_checked(document: RawDocument<'_>, depth_left: u32) -> Result<Self, Malformed> {
        let mut fields = Vec::new();
        for element in document.elements() {
            let element = element?;
            fields.push((element.key().to_owned(), Value::from_element(&element, depth_left)?));
        }
        Ok(Self { fields })
    }

    /// Returns its fields, in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.fields.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the value of the first field with this key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value of the first field with this key for mutation.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.fields.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets the value of a field. A new field is appended.
    pub fn set(&mut self, key: &str, value: Value) {
        match self.get_mut(key) {
            Some(existing) => *existing = value,
            None => self.fields.push((key.to_owned(), value)),
        }
    }

    /// Inserts a field at `index`, or at the end if `index` is too large. Does not check for an
    /// existing field with the same key: documents can contain duplicates.
    pub fn insert(&mut self, index: usize, key: &str, value: Value) {
        let index = index.min(self.fields.len());
        self.fields.insert(index, (key.to_owned(), value));
    }

    /// Appends a field without checking for an existing one: documents can contain duplicates.
    pub(super) fn push(&mut self, key: String, value: Value) {
        self.fields.push((key, value));
    }

    /// Frees the memory of fields that may be appended.
    pub(super) fn shrink(&mut self) {
        self.fields.shrink_to_fit();
    }

    /// Removes a field and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let index = self.fields.iter().position(|(name, _)| name == key)?;
        Some(self.fields.remove(index).1)
    }

    /// Encodes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = DocumentWriter::new();
        for (key, value) in &self.fields {
            value.write(key, &mut writer);
        }
        writer.finish()
    }
}

impl Value {
    fn from_element(element: &Element<'_>, depth_left: u32) -> Result<Self, Malformed> {
        let deeper = depth_left.saturating_sub(1);
        let found = match element.kind() {
            Kind::DOUBLE => element.as_f64().map(Self::Double),
            Kind::STRING => element.as_str().map(|text| Self::String(text.to_owned())),
            Kind::BOOLEAN => match element.value() {
                // Any other byte would not round-trip.
                [0] => Some(Self::Boolean(false)),
                [1] => Some(Self::Boolean(true)),
                _ => None,
            },
            Kind::NULL => Some(Self::Null),
            Kind::INT32 => element.as_i32().map(Self::Int32),
            Kind::INT64 => element.as_i64().map(Self::Int64),
            Kind::BINARY => element
                .as_binary()
                .map(|(subtype, bytes)| Self::Binary { subtype, bytes: bytes.to_vec() }),
            Kind::DOCUMENT | Kind::ARRAY => {
                let raw = element.as_document().ok_or(Malformed {
                    at: element.value_at(),
                    problem: Problem::Truncated { needed: 5, left: element.value().len() },
                })?;
                let document = Document::from_checked(raw, deeper)?;
                Some(Self::from_nested(element, document))
            }
            _ => None,
        };
        let as_stored = || Self::Other { kind: element.kind(), bytes: element.value().to_vec() };
        Ok(found.unwrap_or_else(as_stored))
    }

    /// Decodes a stored value. Returns `None` if the bytes are not a value of that type, or if
    /// documents in it are nested too deeply.
    pub(super) fn from_stored(kind: Kind, bytes: &[u8], depth_left: u32) -> Option<Self> {
        let element = Element::from_value(kind, bytes)?;
        match element.as_document() {
            Some(document) => document.check_at(0, depth_left).ok()?,
            None => element.check().ok()?,
        }
        Self::from_element(&element, depth_left).ok()
    }

    /// Creates a document, or an array if the element is one with the usual keys.
    fn from_nested(element: &Element<'_>, document: Document) -> Self {
        if element.kind() == Kind::DOCUMENT {
            return Self::Document(document);
        }
        let is_plain =
            document.fields.iter().enumerate().all(|(number, (key, _))| *key == number.to_string());
        if is_plain {
            Self::Array(document.fields.into_iter().map(|(_, value)| value).collect())
        } else {
            Self::Other { kind: Kind::ARRAY, bytes: element.value().to_vec() }
        }
    }

    fn write(&self, key: &str, writer: &mut DocumentWriter) {
        match self {
            Self::Double(value) => writer.double(key, *value),
            Self::String(text) => writer.string(key, text),
            Self::Document(document) => writer.document(key, &document.to_bytes()),
            Self::Array(values) => {
                let mut array = DocumentWriter::new();
                for (number, value) in values.iter().enumerate() {
                    value.write(&number.to_string(), &mut array);
                }
                writer.raw(key, Kind::ARRAY, &array.finish());
            }
            Self::Binary { subtype, bytes } => writer.binary(key, *subtype, bytes),
            Self::Boolean(value) => writer.boolean(key, *value),
            Self::Null => writer.raw(key, Kind::NULL, &[]),
            Self::Int32(value) => writer.int32(key, *value),
            Self::Int64(value) => writer.raw(key, Kind::INT64, &value.to_le_bytes()),
            Self::Other { kind, bytes } => writer.raw(key, *kind, bytes),
        }
    }

    /// Returns the document, or `None` for any other type.
    pub fn as_document(&self) -> Option<&Document> {
        match self {
            Self::Document(document) => Some(document),
            _ => None,
        }
    }

    /// Returns the string, or `None` for any other type.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Document {
        let mut inner = Document::new();
        inner.set("x", Value::Double(1.5));
        let mut document = Document::new();
        document.set("null", Value::Null);
        document.set("long", Value::Int64(1 << 40));
        document.set("list", Value::Array(vec![Value::Int32(1), Value::Document(inner)]));
        document.set("uuid", Value::Binary { subtype: 4, bytes: vec![7; 16] });
        document.set("date", Value::Other { kind: Kind(0x09), bytes: vec![1; 8] });
        document
    }

    #[test]
    fn round_trip_with_every_type() {
        let bytes = sample().to_bytes();
        let raw = RawDocument::new(&bytes).unwrap();
        let again = Document::from_raw(raw).unwrap();
        assert_eq!(again, sample());
        assert_eq!(again.to_bytes(), bytes);
    }

    #[test]
    fn fields_keep_their_position() {
        let mut document = sample();
        document.set("long", Value::Boolean(false));
        document.set("new", Value::Null);
        assert_eq!(
            document.remove("list").map(|value| matches!(value, Value::Array(_))),
            Some(true)
        );
        document.insert(1, "second", Value::Null);
        document.insert(usize::MAX, "last", Value::Null);
        let keys: Vec<_> = document.fields().map(|(key, _)| key).collect();
        assert_eq!(keys, ["null", "second", "long", "uuid", "date", "new", "last"]);
    }

    #[test]
    fn unusual_arrays_and_booleans_round_trip() {
        let mut array = DocumentWriter::new();
        array.int32("1", 1);
        array.int32("0", 2);
        let mut writer = DocumentWriter::new();
        writer.raw("array", Kind::ARRAY, &array.finish());
        writer.raw("truth", Kind::BOOLEAN, &[2]);
        let bytes = writer.finish();
        let document = Document::from_raw(RawDocument::new(&bytes).unwrap()).unwrap();
        assert_eq!(document.to_bytes(), bytes);
    }
}
