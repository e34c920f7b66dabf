//! [`Fields`]: the writer that a component encodes itself with.

use hyworld_documents::{DocumentWriter, Kind};

/// Writes the fields of a component directly into its document.
///
/// A component writes all of its fields on every call. Fields that are not requested at this
/// position of the document are skipped without being encoded.
#[derive(Debug)]
pub struct Fields<'w> {
    writer: &'w mut DocumentWriter,
    requested: Requested<'w>,
    has_written: bool,
    /// Whether the fields are written over a stored document.
    has_stored: bool,
}

#[derive(Debug)]
enum Requested<'w> {
    Only(&'w str),
    Except(&'w [&'w str]),
}

impl<'w> Fields<'w> {
    /// Accepts only the field with this key, once.
    pub(crate) fn only(key: &'w str, writer: &'w mut DocumentWriter) -> Self {
        Self { writer, requested: Requested::Only(key), has_written: false, has_stored: true }
    }

    /// Accepts all fields except those with these keys.
    pub(crate) fn except(
        keys: &'w [&'w str],
        writer: &'w mut DocumentWriter,
        has_stored: bool,
    ) -> Self {
        Self { writer, requested: Requested::Except(keys), has_written: false, has_stored }
    }

    pub(crate) fn has_written(&self) -> bool {
        self.has_written
    }

    /// Calls `write` if the field with this key is requested.
    fn field(&mut self, key: &str, write: impl FnOnce(&mut DocumentWriter)) {
        let is_requested = match self.requested {
            Requested::Only(only) => only == key && !self.has_written,
            Requested::Except(keys) => !keys.contains(&key),
        };
        if is_requested {
            write(self.writer);
            self.has_written = true;
        }
    }

    /// Writes an encoded value.
    pub fn raw(&mut self, key: &str, kind: Kind, value: &[u8]) {
        self.field(key, |writer| writer.raw(key, kind, value));
    }

    /// Writes a string.
    pub fn string(&mut self, key: &str, text: &str) {
        self.field(key, |writer| writer.string(key, text));
    }

    /// Writes a 32-bit integer.
    pub fn int32(&mut self, key: &str, value: i32) {
        self.field(key, |writer| writer.int32(key, value));
    }

    /// Writes a 64-bit integer.
    pub fn int64(&mut self, key: &str, value: i64) {
        self.raw(key, Kind::INT64, &value.to_le_bytes());
    }

    /// Writes a 64-bit float. The game stores its 32-bit floats as doubles too.
    pub fn double(&mut self, key: &str, value: f64) {
        self.field(key, |writer| writer.double(key, value));
    }

    /// Writes a boolean.
    pub fn boolean(&mut self, key: &str, value: bool) {
        self.field(key, |writer| writer.boolean(key, value));
    }

    /// Writes a UUID with subtype 4, most significant byte first.
    pub fn uuid(&mut self, key: &str, uuid: &[u8; 16]) {
        self.field(key, |writer| writer.binary(key, 4, uuid));
    }

    /// Writes bytes with subtype 0, as in the game's binary fields.
    pub fn binary(&mut self, key: &str, bytes: &[u8]) {
        self.field(key, |writer| writer.binary(key, 0, bytes));
    }

    /// Writes bytes in place. `write` appends them and must not remove any.
    pub fn binary_with(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.field(key, |writer| writer.binary_with(key, 0, write));
    }

    /// Writes a nested document in place. `write` appends its elements.
    pub fn document(&mut self, key: &str, write: impl FnOnce(&mut DocumentWriter)) {
        self.field(key, |writer| writer.nested(key, Kind::DOCUMENT, write));
    }

    /// Returns whether a stored document lacks this field. Empty lists are then not written.
    pub(crate) fn is_new_in_stored(&self, key: &str) -> bool {
        let is_new = match self.requested {
            Requested::Only(_) => false,
            Requested::Except(keys) => !keys.contains(&key),
        };
        self.has_stored && is_new
    }

    /// Writes a list in place. `write` appends each item under the key it receives.
    ///
    /// ```
    /// use hyworld_chunk::Fields;
    ///
    /// fn encode(names: &[String], fields: &mut Fields<'_>) {
    ///     fields.list("Names", names, |writer, key, name| writer.string(key, name));
    /// }
    /// ```
    pub fn list<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut DocumentWriter, &str, T),
    ) {
        self.field(key, |writer| {
            writer.nested(key, Kind::ARRAY, |writer| {
                for (number, item) in items.into_iter().enumerate() {
                    write(writer, &number.to_string(), item);
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{self, Component};
    use crate::error::Result;
    use hyworld_documents::{Document, RawDocument, Value};

    #[derive(Clone, Debug)]
    struct Everything;

    impl Component for Everything {
        const ID: &'static str = "Everything";

        fn decode(_document: RawDocument<'_>, _version: i32) -> Result<Self> {
            Ok(Self)
        }

        fn encode(&self, fields: &mut Fields<'_>) {
            fields.string("Text", "a");
            fields.int32("Int", -1);
            fields.int64("Long", i64::MIN);
            fields.double("Float", 0.5);
            fields.boolean("Flag", true);
            fields.uuid("Id", &[7; 16]);
            fields.binary("Bytes", &[1, 2]);
            fields.document("Nested", |writer| writer.int32("Inner", 1));
            fields.list("List", ["x", "y"], DocumentWriter::string);
        }
    }

    #[test]
    fn every_type_is_written_as_the_game_stores_it() {
        let bytes = component::encode(&Everything, None).unwrap();
        let document = Document::from_raw(RawDocument::new(&bytes).unwrap()).unwrap();
        let mut nested = Document::new();
        nested.set("Inner", Value::Int32(1));
        let expected = [
            ("Text", Value::String("a".to_owned())),
            ("Int", Value::Int32(-1)),
            ("Long", Value::Int64(i64::MIN)),
            ("Float", Value::Double(0.5)),
            ("Flag", Value::Boolean(true)),
            ("Id", Value::Binary { subtype: 4, bytes: vec![7; 16] }),
            ("Bytes", Value::Binary { subtype: 0, bytes: vec![1, 2] }),
            ("Nested", Value::Document(nested)),
            ("List", Value::Array(["x", "y"].map(|text| Value::String(text.to_owned())).to_vec())),
        ];
        assert!(document.fields().eq(expected.iter().map(|(key, value)| (*key, value))));
    }

    #[test]
    fn fields_replace_stored_ones_in_any_order() {
        let mut writer = DocumentWriter::new();
        writer.int32("List", 1);
        writer.string("Unknown", "kept");
        writer.int32("Text", 2);
        let stored = writer.finish();
        let bytes = component::encode(&Everything, RawDocument::new(&stored).ok()).unwrap();
        let elements = RawDocument::new(&bytes).unwrap().elements();
        let keys: Vec<_> = elements.map(|element| element.unwrap().key()).collect();
        let expected =
            ["List", "Unknown", "Text", "Int", "Long", "Float", "Flag", "Id", "Bytes", "Nested"];
        assert_eq!(keys, expected);
    }
}
