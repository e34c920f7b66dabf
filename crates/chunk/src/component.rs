//! What a component type must be able to do, and the rules for versions (`docs/format/chunk.md`).

use crate::error::{Error, Result};
use hyworld_documents::{DocumentWriter, Kind, RawDocument};

/// The key under which a versioned component stores its version, always first.
pub(crate) const VERSION_KEY: &str = "Version";

/// A component that can be decoded from its document and written back.
///
/// ```
/// use hyworld_chunk::bson::RawDocument;
/// use hyworld_chunk::{Component, Fields, Holder, Result};
///
/// #[derive(Debug, PartialEq)]
/// struct Owner(String);
///
/// impl Component for Owner {
///     const ID: &'static str = "mymod:Owner";
///
///     fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
///         let name = document.get("Name")?.and_then(|name| name.as_str()).unwrap_or_default();
///         Ok(Self(name.to_owned()))
///     }
///
///     fn encode(&self, fields: &mut Fields) {
///         fields.string("Name", &self.0);
///     }
/// }
///
/// let mut holder = Holder::new();
/// holder.put(&Owner("Ada".to_owned()))?;
/// assert_eq!(holder.get::<Owner>()?, Some(Owner("Ada".to_owned())));
/// # Ok::<(), hyworld_chunk::Error>(())
/// ```
pub trait Component: Sized + Send + Sync + 'static {
    /// The id under which it is stored.
    const ID: &'static str;

    /// The version that [`encode`](Self::encode) writes, and the newest that
    /// [`decode`](Self::decode) reads. 0 is not stored.
    const VERSION: i32 = 0;

    /// Reads it from its document.
    ///
    /// # Errors
    /// The document is not what the format says.
    fn decode(document: RawDocument<'_>, version: i32) -> Result<Self>;

    /// The version that it is written as. Only components that keep an old layout until they are
    /// changed have another than [`VERSION`](Self::VERSION).
    fn version(&self) -> i32 {
        Self::VERSION
    }

    /// Writes its fields. Fields of the found document that it does not mention stay as they
    /// are, in their places.
    fn encode(&self, fields: &mut Fields);
}

/// The version of a component's document; one without is version 0.
///
/// # Errors
/// The document is malformed.
pub(crate) fn version(document: RawDocument<'_>) -> Result<i32> {
    let version = document.get(VERSION_KEY)?;
    Ok(version.and_then(|version| version.as_i32()).unwrap_or(0))
}

/// The version of a component's document, unless a newer game wrote it.
pub(crate) fn known_version<C: Component>(document: RawDocument<'_>) -> Result<i32> {
    let found = version(document)?;
    if found > C::VERSION {
        return Err(Error::Newer { path: String::new(), found, known: C::VERSION });
    }
    Ok(found)
}

/// Decodes a component, unless a newer game wrote it.
pub(crate) fn decode<C: Component>(document: RawDocument<'_>) -> Result<C> {
    C::decode(document, known_version::<C>(document)?)
}

/// Encodes a component over the document that it was read from.
pub(crate) fn encode<C: Component>(
    component: &C,
    found: Option<RawDocument<'_>>,
) -> Result<Vec<u8>> {
    let mut fields = Fields { fields: Vec::new() };
    component.encode(&mut fields);
    fields.over(found, component.version())
}

/// The fields that a component writes.
#[derive(Debug)]
pub struct Fields {
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    key: String,
    kind: Kind,
    value: Vec<u8>,
}

impl Fields {
    /// Writes an encoded value.
    pub fn raw(&mut self, key: &str, kind: Kind, value: Vec<u8>) {
        self.fields.push(Field { key: key.to_owned(), kind, value });
    }

    /// Writes text.
    pub fn string(&mut self, key: &str, text: &str) {
        self.one(key, |writer| writer.string(key, text));
    }

    /// Writes an integer.
    pub fn int32(&mut self, key: &str, value: i32) {
        self.one(key, |writer| writer.int32(key, value));
    }

    /// Writes a document that is encoded already.
    pub fn document(&mut self, key: &str, document: Vec<u8>) {
        self.raw(key, Kind::DOCUMENT, document);
    }

    /// Writes bytes, with subtype 0 as the game's binary fields have it.
    pub fn binary(&mut self, key: &str, bytes: &[u8]) {
        self.one(key, |writer| writer.binary(key, 0, bytes));
    }

    fn one(&mut self, key: &str, write: impl FnOnce(&mut DocumentWriter)) {
        let mut writer = DocumentWriter::new();
        write(&mut writer);
        let document = writer.finish();
        let element = RawDocument::new(&document).ok().and_then(|raw| raw.get(key).ok().flatten());
        if let Some(element) = element {
            self.raw(key, element.kind(), element.value().to_vec());
        }
    }

    /// The document with these fields: those of `found` in their places, replaced where written,
    /// and the new ones behind them; the version first.
    fn over(self, found: Option<RawDocument<'_>>, version: i32) -> Result<Vec<u8>> {
        const REST_BYTES_USUAL: usize = 64;
        let written: usize = self.fields.iter().map(|field| field.value.len()).sum();
        let mut writer = DocumentWriter::with_capacity(written.saturating_add(REST_BYTES_USUAL));
        if version != 0 {
            writer.int32(VERSION_KEY, version);
        }
        let mut fields: Vec<Option<Field>> = self.fields.into_iter().map(Some).collect();
        let found_elements = found.into_iter().flat_map(RawDocument::elements);
        for element in found_elements {
            let element = element?;
            if element.key() == VERSION_KEY {
                continue;
            }
            let is_written = |field: &&mut Option<Field>| {
                field.as_ref().is_some_and(|field| field.key == element.key())
            };
            match fields.iter_mut().find(is_written).and_then(Option::take) {
                Some(field) => writer.raw(&field.key, field.kind, &field.value),
                None => writer.element(&element),
            }
        }
        for field in fields.into_iter().flatten() {
            writer.raw(&field.key, field.kind, &field.value);
        }
        Ok(writer.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Data(Vec<u8>);

    impl Component for Data {
        const ID: &'static str = "Data";
        const VERSION: i32 = 3;

        fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
            let data = document.get("Data")?.and_then(|data| data.as_binary());
            Ok(Self(data.map(|(_, bytes)| bytes.to_vec()).unwrap_or_default()))
        }

        fn encode(&self, fields: &mut Fields) {
            fields.binary("Data", &self.0);
        }
    }

    fn document(version: Option<i32>, data: &[u8]) -> Vec<u8> {
        let mut writer = DocumentWriter::new();
        if let Some(version) = version {
            writer.int32("Version", version);
        }
        writer.string("Before", "kept");
        writer.binary("Data", 0, data);
        writer.boolean("After", true);
        writer.finish()
    }

    #[test]
    fn an_untouched_component_encodes_to_the_same_bytes() {
        let bytes = document(Some(3), &[1, 2, 3]);
        let raw = RawDocument::new(&bytes).unwrap();
        let decoded: Data = decode(raw).unwrap();
        assert_eq!(decoded, Data(vec![1, 2, 3]));
        assert_eq!(encode(&decoded, Some(raw)).unwrap(), bytes);
    }

    #[test]
    fn fields_that_are_not_understood_stay_in_their_places() {
        let bytes = document(Some(3), &[1, 2, 3]);
        let raw = RawDocument::new(&bytes).unwrap();
        let encoded = encode(&Data(vec![9]), Some(raw)).unwrap();
        assert_eq!(encoded, document(Some(3), &[9]));
    }

    #[test]
    fn an_older_version_is_raised_and_goes_first() {
        for version in [None, Some(1)] {
            let bytes = document(version, &[5]);
            let raw = RawDocument::new(&bytes).unwrap();
            let decoded: Data = decode(raw).unwrap();
            assert_eq!(encode(&decoded, Some(raw)).unwrap(), document(Some(3), &[5]));
        }
    }

    #[test]
    fn a_newer_version_is_refused() {
        let bytes = document(Some(4), &[]);
        let refused = decode::<Data>(RawDocument::new(&bytes).unwrap());
        let expected = Error::Newer { path: String::new(), found: 4, known: 3 };
        assert_eq!(refused, Err(expected));
    }

    #[test]
    fn a_new_component_has_its_fields_in_order() {
        let bytes = encode(&Data(vec![7]), None).unwrap();
        let raw = RawDocument::new(&bytes).unwrap();
        let keys: Vec<_> = raw.elements().map(|element| element.unwrap().key()).collect();
        assert_eq!(keys, ["Version", "Data"]);
    }
}
