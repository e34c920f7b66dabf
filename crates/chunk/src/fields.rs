//! [`Fields`]: what a component writes into its document.

use hyworld_documents::{DocumentWriter, Kind};

/// The fields of a component's document, written straight into the document.
///
/// A component names all of its fields each time; those that are not wanted at this place of the
/// document are skipped without being encoded.
#[derive(Debug)]
pub struct Fields<'w> {
    writer: &'w mut DocumentWriter,
    wanted: Wanted<'w>,
    is_any_written: bool,
    /// Whether the fields are written over a stored document.
    has_stored: bool,
}

#[derive(Debug)]
enum Wanted<'w> {
    Only(&'w str),
    Except(&'w [&'w str]),
}

impl<'w> Fields<'w> {
    /// Writes the field with one key, once.
    pub(crate) fn only(key: &'w str, writer: &'w mut DocumentWriter) -> Self {
        Self { writer, wanted: Wanted::Only(key), is_any_written: false, has_stored: true }
    }

    /// Writes all fields but those with some keys.
    pub(crate) fn except(
        keys: &'w [&'w str],
        writer: &'w mut DocumentWriter,
        has_stored: bool,
    ) -> Self {
        Self { writer, wanted: Wanted::Except(keys), is_any_written: false, has_stored }
    }

    pub(crate) fn is_any_written(&self) -> bool {
        self.is_any_written
    }

    /// Calls `write` if the field with this key is wanted here.
    fn field(&mut self, key: &str, write: impl FnOnce(&mut DocumentWriter)) {
        let is_wanted = match self.wanted {
            Wanted::Only(wanted) => wanted == key && !self.is_any_written,
            Wanted::Except(keys) => !keys.contains(&key),
        };
        if is_wanted {
            write(self.writer);
            self.is_any_written = true;
        }
    }

    /// Writes an encoded value.
    pub fn raw(&mut self, key: &str, kind: Kind, value: &[u8]) {
        self.field(key, |writer| writer.raw(key, kind, value));
    }

    /// Writes text.
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

    /// Writes a float. The game stores its 32-bit floats as doubles, too.
    pub fn double(&mut self, key: &str, value: f64) {
        self.field(key, |writer| writer.double(key, value));
    }

    /// Writes a boolean.
    pub fn boolean(&mut self, key: &str, value: bool) {
        self.field(key, |writer| writer.boolean(key, value));
    }

    /// Writes a UUID, most significant byte first, with subtype 4 as the game does.
    pub fn uuid(&mut self, key: &str, uuid: &[u8; 16]) {
        self.field(key, |writer| writer.binary(key, 4, uuid));
    }

    /// Writes bytes, with subtype 0 as the game's binary fields have it.
    pub fn binary(&mut self, key: &str, bytes: &[u8]) {
        self.field(key, |writer| writer.binary(key, 0, bytes));
    }

    /// Writes bytes in place: `write` appends them and must not remove any.
    pub fn binary_with(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.field(key, |writer| writer.binary_with(key, 0, write));
    }

    /// Writes a nested document in place: `write` appends its elements.
    pub fn document(&mut self, key: &str, write: impl FnOnce(&mut DocumentWriter)) {
        self.field(key, |writer| writer.nested(key, Kind::DOCUMENT, write));
    }

    /// Returns whether there is a stored document and this field would be new in it. A list that
    /// is empty then need not be written.
    pub(crate) fn is_new_in_stored(&self, key: &str) -> bool {
        let is_new = match self.wanted {
            Wanted::Only(_) => false,
            Wanted::Except(keys) => !keys.contains(&key),
        };
        self.has_stored && is_new
    }

    /// Writes a list in place: `write` appends each item under the key that it is given.
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
