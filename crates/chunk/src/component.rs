//! The [`Component`] trait, and the rules for versions (`docs/format/chunk.md`).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::shared_bytes::{BorrowedBytes, SharedBytes};
use hyworld_documents::{DocumentWriter, Element, RawDocument};

/// The key under which a versioned component stores its version.
pub(crate) const VERSION_KEY: &str = "Version";

/// The key of the binary field that most of the game's components consist of.
pub(crate) const DATA_KEY: &str = "Data";

/// A component that can be decoded from its document and written back.
///
/// ```
/// use hyworld_chunk::bson::RawDocument;
/// use hyworld_chunk::{Component, Fields, Holder, Result};
///
/// #[derive(Clone, Debug, PartialEq)]
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
///     fn encode(&self, fields: &mut Fields<'_>) {
///         fields.string("Name", &self.0);
///     }
/// }
///
/// let mut holder = Holder::new();
/// holder.put(&Owner("Ada".to_owned()))?;
/// if let Some(owner) = holder.get_mut::<Owner>()? {
///     owner.0.push_str(" Lovelace");
/// }
/// assert_eq!(holder.get::<Owner>()?, Some(&Owner("Ada Lovelace".to_owned())));
/// # Ok::<(), hyworld_chunk::Error>(())
/// ```
pub trait Component: Clone + fmt::Debug + Send + Sync + 'static {
    /// The id that the component is stored under.
    const ID: &'static str;

    /// The version that new values are written as. 0 is not stored.
    const VERSION: i32 = 0;

    /// The newest version that [`decode`](Self::decode) reads. A component of a newer version is
    /// kept as it is and cannot be decoded.
    const NEWEST_READ: i32 = Self::VERSION;

    /// Decodes the component from its document.
    ///
    /// # Errors
    /// Returns an error if the document does not follow the format.
    fn decode(document: RawDocument<'_>, version: i32) -> Result<Self>;

    /// Decodes the component from bytes that it may share instead of copying.
    ///
    /// # Errors
    /// Same as [`decode`](Self::decode).
    #[doc(hidden)]
    fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
        Self::decode(stored.document, stored.version)
    }

    /// Returns the version that this value is written as. A decoded value keeps its stored version
    /// until it is upgraded.
    fn version(&self) -> i32 {
        Self::VERSION
    }

    /// Writes its fields. Stored fields that it does not write keep their value and their position.
    /// May be called several times for one document.
    fn encode(&self, fields: &mut Fields<'_>);

    /// Writes its fields after a change. Fields equal in meaning to those of `original` are written
    /// as they were stored, so a change and its reversal restore the same bytes.
    #[doc(hidden)]
    fn encode_changed(&self, _original: &Self, fields: &mut Fields<'_>) {
        self.encode(fields);
    }
}

/// The stored document of a component, with the offsets of its common fields.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    pub(crate) bytes: BorrowedBytes<'a>,
    pub(crate) document: RawDocument<'a>,
    /// The value of `Version`; 0 if the field is missing.
    pub(crate) version: i32,
    /// The field that most of the game's components consist of.
    pub(crate) data: Option<Element<'a>>,
}

impl<'a> Stored<'a> {
    pub(crate) fn find(bytes: BorrowedBytes<'a>) -> Result<Self> {
        let document = RawDocument::new(bytes.as_slice())?;
        let (mut version, mut data) = (None, None);
        for element in document.elements_with(&[VERSION_KEY, DATA_KEY]) {
            let element = element?;
            match element.key() {
                VERSION_KEY if version.is_none() => version = Some(element),
                DATA_KEY if data.is_none() => data = Some(element),
                _ => continue,
            }
            if version.is_some() && data.is_some() {
                break;
            }
        }
        let version = version.and_then(|version| version.as_i32()).unwrap_or(0);
        Ok(Self { bytes, document, version, data })
    }
}

/// A decoded component of any type.
pub(crate) trait Value: Any + Send + Sync + fmt::Debug {
    /// Appends the elements of its document: those of `found`, except that the fields of this
    /// component have their current values.
    fn write(
        &self,
        original: Option<&dyn Value>,
        found: Option<RawDocument<'_>>,
        writer: &mut DocumentWriter,
    );

    fn to_shared(&self) -> Arc<dyn Value>;
}

impl<C: Component> Value for C {
    fn write(
        &self,
        original: Option<&dyn Value>,
        found: Option<RawDocument<'_>>,
        writer: &mut DocumentWriter,
    ) {
        let original = original.and_then(|original| (original as &dyn Any).downcast_ref::<C>());
        write(self.version(), found, writer, |fields| match original {
            Some(original) => self.encode_changed(original, fields),
            None => self.encode(fields),
        });
    }

    fn to_shared(&self) -> Arc<dyn Value> {
        Arc::new(self.clone())
    }
}

/// Appends the elements of a component's document: those of `found` in their order, with the
/// fields that `encode` writes replacing the stored ones, then the new fields.
fn write(
    version: i32,
    found: Option<RawDocument<'_>>,
    writer: &mut DocumentWriter,
    encode: impl Fn(&mut Fields<'_>),
) {
    let stored_version = found.and_then(|found| found.get(VERSION_KEY).ok().flatten());
    if stored_version.is_none() && version != 0 {
        writer.int32(VERSION_KEY, version);
    }
    let mut written: Vec<&str> = Vec::new();
    // Callers have checked with `check_elements` that every element can be read.
    for element in found.into_iter().flat_map(RawDocument::elements).flatten() {
        let is_version = Some(element) == stored_version;
        if is_version && element.as_i32().unwrap_or(0) != version {
            writer.int32(VERSION_KEY, version);
            continue;
        }
        let is_written = !is_version && !written.contains(&element.key()) && {
            let mut fields = Fields::only(element.key(), writer);
            encode(&mut fields);
            fields.has_written()
        };
        if is_written {
            written.push(element.key());
        } else {
            writer.element(&element);
        }
    }
    encode(&mut Fields::except(&written, writer, found.is_some()));
}

/// Returns the version of a component's document; 0 if the field is missing.
///
/// # Errors
/// Returns an error if the document is malformed.
pub(crate) fn version(document: RawDocument<'_>) -> Result<i32> {
    for element in document.elements_with(&[VERSION_KEY]) {
        let element = element?;
        if element.usual_key().is_some() {
            return Ok(element.as_i32().unwrap_or(0));
        }
    }
    Ok(0)
}

/// Returns the version of a component's document, or an error if a newer game wrote it.
pub(crate) fn known_version<C: Component>(document: RawDocument<'_>) -> Result<i32> {
    let found = version(document)?;
    check_version::<C>(found)?;
    Ok(found)
}

fn check_version<C: Component>(found: i32) -> Result<()> {
    if found > C::NEWEST_READ {
        return Err(Error::Newer { path: String::new(), found, known: C::NEWEST_READ });
    }
    Ok(())
}

/// Decodes a component. Returns an error if a newer game wrote it.
pub(crate) fn decode<C: Component>(bytes: BorrowedBytes<'_>) -> Result<C> {
    let stored = Stored::find(bytes)?;
    check_version::<C>(stored.version)?;
    C::decode_shared(&stored)
}

/// Decodes a component that shares its bytes, from a copy of its document.
pub(crate) fn decode_copy<C: Component>(document: RawDocument<'_>) -> Result<C> {
    let bytes = SharedBytes::new(document.as_bytes().to_vec());
    C::decode_shared(&Stored::find(bytes.borrowed())?)
}

/// Encodes a component over the document that it was decoded from.
///
/// # Errors
/// Returns an error if that document is malformed.
pub(crate) fn encode<C: Component>(
    component: &C,
    found: Option<RawDocument<'_>>,
) -> Result<Vec<u8>> {
    check_elements(found)?;
    let mut writer = DocumentWriter::new();
    component.write(None, found, &mut writer);
    Ok(writer.finish())
}

/// Checks that all elements of a document can be read, and so copied when one of them changes.
///
/// # Errors
/// Returns an error if the document is malformed.
pub(crate) fn check_elements(found: Option<RawDocument<'_>>) -> Result<()> {
    for element in found.into_iter().flat_map(RawDocument::elements) {
        element?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Data(Vec<u8>);

    impl Component for Data {
        const ID: &'static str = "Data";
        const VERSION: i32 = 3;

        fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
            let data = document.get("Data")?.and_then(|data| data.as_binary());
            Ok(Self(data.map(|(_, bytes)| bytes.to_vec()).unwrap_or_default()))
        }

        fn encode(&self, fields: &mut Fields<'_>) {
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

    fn shared(bytes: &[u8]) -> SharedBytes {
        SharedBytes::new(bytes.to_vec())
    }

    #[test]
    fn an_untouched_component_encodes_to_the_same_bytes() {
        let bytes = document(Some(3), &[1, 2, 3]);
        let raw = RawDocument::new(&bytes).unwrap();
        let decoded: Data = decode(shared(&bytes).borrowed()).unwrap();
        assert_eq!(decoded, Data(vec![1, 2, 3]));
        assert_eq!(encode(&decoded, Some(raw)).unwrap(), bytes);
    }

    #[test]
    fn unknown_fields_keep_their_position() {
        let bytes = document(Some(3), &[1, 2, 3]);
        let raw = RawDocument::new(&bytes).unwrap();
        let encoded = encode(&Data(vec![9]), Some(raw)).unwrap();
        assert_eq!(encoded, document(Some(3), &[9]));
    }

    #[test]
    fn an_older_version_is_raised_and_written_first() {
        for version in [None, Some(1)] {
            let bytes = document(version, &[5]);
            let raw = RawDocument::new(&bytes).unwrap();
            let decoded: Data = decode(shared(&bytes).borrowed()).unwrap();
            assert_eq!(encode(&decoded, Some(raw)).unwrap(), document(Some(3), &[5]));
        }
    }

    /// Other programs write `Version: 0`, or the version after the data.
    #[test]
    fn a_version_keeps_its_position() {
        for (version, is_first) in [(0, true), (0, false), (3, false)] {
            let mut writer = DocumentWriter::new();
            if is_first {
                writer.int32("Version", version);
            }
            writer.binary("Data", 0, &[1]);
            if !is_first {
                writer.int32("Version", version);
            }
            let bytes = writer.finish();
            let raw = RawDocument::new(&bytes).unwrap();
            let mut again = DocumentWriter::new();
            let encode = |fields: &mut Fields<'_>| fields.binary("Data", &[1]);
            write(version, Some(raw), &mut again, encode);
            assert_eq!(again.finish(), bytes, "{version} {is_first}");
        }
    }

    #[test]
    fn only_the_first_of_duplicate_fields_is_replaced() {
        let mut writer = DocumentWriter::new();
        writer.binary("Data", 0, &[1]);
        writer.binary("Data", 0, &[2]);
        let bytes = writer.finish();
        let encoded = encode(&Data(vec![9]), Some(RawDocument::new(&bytes).unwrap())).unwrap();
        let elements = RawDocument::new(&encoded).unwrap().elements();
        let values: Vec<_> = elements.map(|element| element.unwrap().as_binary()).collect();
        assert_eq!(values, [None, Some((0, &[9][..])), Some((0, &[2][..]))]);
    }

    #[test]
    fn a_newer_version_is_rejected() {
        let bytes = document(Some(4), &[]);
        let refused = decode::<Data>(shared(&bytes).borrowed());
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
