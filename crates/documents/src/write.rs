//! [`DocumentWriter`]: builds a document.

use super::{Element, Kind};

/// Appends elements to a new document.
///
/// ```
/// use hyworld_documents::DocumentWriter;
///
/// let mut writer = DocumentWriter::new();
/// writer.int32("n", 5);
/// assert_eq!(writer.finish(), b"\x0c\0\0\0\x10n\0\x05\0\0\0\0");
/// ```
#[derive(Clone, Debug)]
pub struct DocumentWriter {
    bytes: Vec<u8>,
}

impl Default for DocumentWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl DocumentWriter {
    /// Creates an empty document.
    pub fn new() -> Self {
        Self::with_capacity(4)
    }

    /// Creates an empty document with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self::in_buffer(Vec::with_capacity(bytes.max(4)))
    }

    /// Creates an empty document in an existing buffer, discarding its contents. When building many
    /// documents, reusing a buffer saves more time than writing them takes.
    ///
    /// ```
    /// use hyworld_documents::DocumentWriter;
    ///
    /// let used = vec![7; 100];
    /// assert_eq!(DocumentWriter::in_buffer(used).finish(), DocumentWriter::new().finish());
    /// ```
    pub fn in_buffer(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.extend([0; 4]);
        Self { bytes: buffer }
    }

    /// Appends an element with an encoded value.
    pub fn raw(&mut self, key: &str, kind: Kind, value: &[u8]) {
        self.head(key, kind);
        self.bytes.extend(value);
    }

    fn head(&mut self, key: &str, kind: Kind) {
        self.bytes.push(kind.0);
        // A key cannot contain a zero, which would end it. Drop the rest of such a key.
        let key = key.split('\0').next().unwrap_or_default();
        self.bytes.extend(key.as_bytes());
        self.bytes.push(0);
    }

    /// Appends a document or an array in place. `write` appends its elements.
    pub fn nested(&mut self, key: &str, kind: Kind, write: impl FnOnce(&mut Self)) {
        self.head(key, kind);
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        write(self);
        self.end(start);
    }

    /// Appends a copy of an element of another document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.raw(element.key(), element.kind(), element.value());
    }

    /// Appends an encoded document.
    pub fn document(&mut self, key: &str, document: &[u8]) {
        self.raw(key, Kind::DOCUMENT, document);
    }

    /// Appends a 32-bit integer.
    pub fn int32(&mut self, key: &str, value: i32) {
        self.raw(key, Kind::INT32, &value.to_le_bytes());
    }

    /// Appends a 64-bit float.
    pub fn double(&mut self, key: &str, value: f64) {
        self.raw(key, Kind::DOUBLE, &value.to_le_bytes());
    }

    /// Appends a boolean.
    pub fn boolean(&mut self, key: &str, value: bool) {
        self.raw(key, Kind::BOOLEAN, &[u8::from(value)]);
    }

    /// Appends a string.
    pub fn string(&mut self, key: &str, text: &str) {
        let mut value = length(text.len().saturating_add(1)).to_vec();
        value.extend(text.as_bytes());
        value.push(0);
        self.raw(key, Kind::STRING, &value);
    }

    /// Appends a binary.
    pub fn binary(&mut self, key: &str, subtype: u8, bytes: &[u8]) {
        self.binary_with(key, subtype, |out| out.extend_from_slice(bytes));
    }

    /// Appends a binary in place. `write` appends its bytes to the buffer and must not remove any.
    pub fn binary_with(&mut self, key: &str, subtype: u8, write: impl FnOnce(&mut Vec<u8>)) {
        self.head(key, Kind::BINARY);
        let start = self.bytes.len();
        self.bytes.extend([0, 0, 0, 0, subtype]);
        let before = self.bytes.len();
        write(&mut self.bytes);
        self.set_length(start, self.bytes.len().saturating_sub(before));
    }

    /// Closes the document and returns its bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.end(0);
        self.bytes
    }

    /// Closes the document that starts at `start`.
    fn end(&mut self, start: usize) {
        self.bytes.push(0);
        self.set_length(start, self.bytes.len().saturating_sub(start));
    }

    fn set_length(&mut self, at: usize, len: usize) {
        for (stored, byte) in self.bytes.iter_mut().skip(at).zip(length(len)) {
            *stored = byte;
        }
    }
}

/// Encodes a length. Always fits: documents are far smaller than 2 GiB, because blobs are limited.
fn length(len: usize) -> [u8; 4] {
    i32::try_from(len).unwrap_or(i32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawDocument;

    #[test]
    fn written_values_are_read() {
        let mut writer = DocumentWriter::new();
        writer.int32("i", -7);
        writer.double("d", 0.5);
        writer.boolean("b", true);
        writer.string("s", "t\u{e4}xt");
        writer.binary("x", 4, &[1, 2, 3]);
        writer.document("o", &DocumentWriter::new().finish());
        let bytes = writer.finish();
        let document = RawDocument::new(&bytes).unwrap();
        assert_eq!(document.check(), Ok(()));
        let get = |key| document.get(key).unwrap().unwrap();
        assert_eq!(get("i").as_i32(), Some(-7));
        assert_eq!(get("d").as_f64(), Some(0.5));
        assert_eq!(get("b").as_bool(), Some(true));
        assert_eq!(get("s").as_str(), Some("t\u{e4}xt"));
        assert_eq!(get("x").as_binary(), Some((4, [1, 2, 3].as_slice())));
        assert_eq!(get("o").as_document().unwrap().elements().count(), 0);
    }

    #[test]
    fn elements_are_copied_as_they_are() {
        let mut source = DocumentWriter::new();
        source.string("a", "x");
        source.raw("odd", Kind(0x13), &[9; 16]);
        let source = source.finish();
        let mut copy = DocumentWriter::new();
        for element in RawDocument::new(&source).unwrap().elements() {
            copy.element(&element.unwrap());
        }
        assert_eq!(copy.finish(), source);
    }

    #[test]
    fn nesting_in_place_equals_copying() {
        let mut inner = DocumentWriter::new();
        inner.int32("i", 1);
        let mut array = DocumentWriter::new();
        array.document("0", &inner.finish());
        let mut copied = DocumentWriter::new();
        copied.raw("a", Kind::ARRAY, &array.finish());
        copied.boolean("b", true);
        let mut nested = DocumentWriter::with_capacity(100);
        nested.nested("a", Kind::ARRAY, |array| {
            array.nested("0", Kind::DOCUMENT, |inner| inner.int32("i", 1));
        });
        nested.boolean("b", true);
        assert_eq!(nested.finish(), copied.finish());
    }

    #[test]
    fn a_zero_ends_a_key() {
        let mut writer = DocumentWriter::new();
        writer.int32("a\0b", 1);
        let bytes = writer.finish();
        assert!(RawDocument::new(&bytes).unwrap().get("a").unwrap().is_some());
    }
}
