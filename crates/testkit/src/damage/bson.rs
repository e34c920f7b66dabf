//! BSON as a tree that can be changed and encoded again.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

/// The fields of a document, in order.
pub type Fields = Vec<(String, Bson)>;

const DOCUMENT: u8 = 3;
const ARRAY: u8 = 4;
const BINARY: u8 = 5;

/// A BSON value.
#[derive(Clone, PartialEq, Debug)]
pub enum Bson {
    /// A document (type 3) or an array (type 4).
    Nested(u8, Fields),
    /// The type and the bytes of any other value.
    Other(u8, Vec<u8>),
}

impl Bson {
    /// Parses a well-formed document.
    ///
    /// # Panics
    /// Panics if it is malformed.
    pub fn parse(document: &[u8]) -> Self {
        Self::Nested(DOCUMENT, fields(document))
    }

    /// Encodes the value. For a document, this is the whole document.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Other(_, bytes) => bytes.clone(),
            Self::Nested(_, fields) => {
                let mut out = vec![0; 4];
                for (key, value) in fields {
                    out.push(value.kind());
                    out.extend(key.as_bytes());
                    out.push(0);
                    out.extend(value.encode());
                }
                out.push(0);
                let len = u32::try_from(out.len()).unwrap();
                out[..4].copy_from_slice(&len.to_le_bytes());
                out
            }
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Nested(kind, _) | Self::Other(kind, _) => *kind,
        }
    }

    /// Creates a document.
    pub fn document(fields: Fields) -> Self {
        Self::Nested(DOCUMENT, fields)
    }

    /// Creates a binary value.
    pub fn binary(data: &[u8]) -> Self {
        let mut bytes = u32::try_from(data.len()).unwrap().to_le_bytes().to_vec();
        bytes.push(0);
        bytes.extend(data);
        Self::Other(BINARY, bytes)
    }

    /// Creates a 32-bit integer.
    pub fn int32(value: i32) -> Self {
        Self::Other(0x10, value.to_le_bytes().to_vec())
    }

    /// Creates a 64-bit float.
    pub fn double(value: f64) -> Self {
        Self::Other(1, value.to_le_bytes().to_vec())
    }

    /// Returns the bytes of a binary value.
    pub fn data(&self) -> Option<&[u8]> {
        match self {
            Self::Other(BINARY, bytes) => bytes.get(5..),
            _ => None,
        }
    }

    /// Returns the value of a 64-bit float.
    pub fn as_double(&self) -> Option<f64> {
        match self {
            Self::Other(1, bytes) => Some(f64::from_le_bytes(bytes.as_slice().try_into().ok()?)),
            _ => None,
        }
    }

    /// Returns the fields of a document or an array.
    pub fn fields_mut(&mut self) -> Option<&mut Fields> {
        match self {
            Self::Nested(_, fields) => Some(fields),
            Self::Other(..) => None,
        }
    }

    /// Returns the value at a path of keys separated by dots.
    pub fn at(&mut self, path: &str) -> Option<&mut Self> {
        let mut value = self;
        for key in path.split('.') {
            let fields = value.fields_mut()?;
            value = &mut fields.iter_mut().find(|(name, _)| name == key)?.1;
        }
        Some(value)
    }

    /// Removes a field of the document at a path. Returns whether it existed.
    pub fn remove(&mut self, path: &str, key: &str) -> bool {
        let Some(fields) = self.at(path).and_then(Self::fields_mut) else { return false };
        let before = fields.len();
        fields.retain(|(name, _)| name != key);
        fields.len() < before
    }
}

fn fields(document: &[u8]) -> Fields {
    let mut fields = Fields::new();
    let mut rest = &document[4..document.len() - 1];
    while let Some((&kind, after)) = rest.split_first() {
        let end = after.iter().position(|byte| *byte == 0).unwrap();
        let key = String::from_utf8(after[..end].to_vec()).unwrap();
        let value = &after[end + 1..];
        let (value, after) = value.split_at(value_bytes(kind, value));
        fields.push((
            key,
            match kind {
                DOCUMENT | ARRAY => Bson::Nested(kind, self::fields(value)),
                _ => Bson::Other(kind, value.to_vec()),
            },
        ));
        rest = after;
    }
    fields
}

fn value_bytes(kind: u8, value: &[u8]) -> usize {
    let length = || u32::from_le_bytes(value[..4].try_into().unwrap()) as usize;
    match kind {
        0x0A => 0,
        0x08 => 1,
        0x10 => 4,
        0x01 | 0x09 | 0x12 => 8,
        0x02 => 4 + length(),
        DOCUMENT | ARRAY => length(),
        BINARY => 5 + length(),
        _ => crate::fixtures::fail(&format!("BSON type {kind}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_changed_and_encoded() {
        let inner = Bson::document(vec![("n".to_owned(), Bson::int32(5))]);
        let mut root = Bson::document(vec![
            ("a".to_owned(), inner),
            ("d".to_owned(), Bson::binary(&[1, 2])),
            ("f".to_owned(), Bson::double(1.5)),
        ]);
        let bytes = root.encode();
        assert_eq!(Bson::parse(&bytes), root);
        assert_eq!(root.at("d").unwrap().data(), Some(&[1, 2][..]));
        *root.at("a.n").unwrap() = Bson::int32(6);
        let changed = root.encode();
        assert_eq!(changed.len(), bytes.len());
        assert_ne!(changed, bytes);
        assert!(root.remove("a", "n") && !root.remove("a", "n"));
        assert_eq!(root.encode().len(), bytes.len() - 7);
    }
}
