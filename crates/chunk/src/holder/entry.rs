//! One component of a holder, in one of three states: stored, decoded or changed.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::component::{self, Component, Value};
use crate::error::{Error, Result};
use crate::shared_bytes::{BorrowedBytes, SharedBytes};
use hyworld_documents::{DocumentWriter, Element, Kind, RawDocument};

/// The game's own ids in chunks and sections. A chunk has about fifty components; without this
/// list, allocating their ids would be most of the cost of finding them.
pub(super) static KNOWN_IDS: [&str; 14] = [
    "Block",
    "Fluid",
    "BlockPhysics",
    "ChunkSection",
    "BlockComponentChunk",
    "EnvironmentChunk",
    "ChunkColumn",
    "WorldChunk",
    "BlockHealthChunk",
    "BlockChunk",
    "EntityChunk",
    "ChunkSpawnedNPCData",
    "EntitySection",
    "BlockComponentSection",
];

/// A keyed value of a holder's document.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Borrowed if it was read and is one of [`KNOWN_IDS`], or `Components`.
    pub(super) key: Cow<'static, str>,
    pub(super) kind: Kind,
    stored: StoredValue,
    decoded: OnceLock<Arc<dyn Value>>,
    /// Set if the decoded value was changed.
    change: Option<Box<Change>>,
    /// The value as it was read, if it was changed and the whole value was set since then.
    read: Option<Box<ReadValue>>,
}

/// The value of an entry as it was read or last set.
#[derive(Clone, Debug)]
enum StoredValue {
    /// A range of the holder's source.
    Read {
        at: usize,
        len: usize,
    },
    Set(SharedBytes),
}

impl StoredValue {
    fn bytes<'a>(&'a self, source: &'a SharedBytes) -> BorrowedBytes<'a> {
        match self {
            Self::Read { at, len } => source.borrowed().part(*at, *len),
            Self::Set(bytes) => bytes.borrowed(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Read { len, .. } => *len,
            Self::Set(bytes) => bytes.as_slice().len(),
        }
    }
}

/// A value as it was read.
#[derive(Clone, Debug)]
struct ReadValue {
    stored: StoredValue,
    decoded: OnceLock<Arc<dyn Value>>,
}

impl ReadValue {
    /// Returns the value, or `None` if it is malformed or has another type.
    fn value<C: Component>(&self, source: &SharedBytes) -> Option<&C> {
        if self.decoded.get().is_none() {
            let value = Arc::new(component::decode::<C>(self.stored.bytes(source)).ok()?);
            self.decoded.get_or_init(|| value);
        }
        (&**self.decoded.get()? as &dyn Any).downcast_ref()
    }
}

#[derive(Clone, Debug)]
struct Change {
    /// The value before the change.
    original: Arc<dyn Value>,
    /// The encoded form of the changed value, filled on first access.
    encoded: OnceLock<SharedBytes>,
}

impl Entry {
    /// Creates an entry for an element of a document that starts at `document_at` in the holder's
    /// source.
    pub(super) fn found(element: &Element<'_>, document_at: usize) -> Self {
        let known = element.usual_key().map(Cow::Borrowed);
        let key = known.unwrap_or_else(|| Cow::Owned(element.key().to_owned()));
        let at = document_at.saturating_add(element.value_at());
        let stored = StoredValue::Read { at, len: element.value().len() };
        let (kind, decoded) = (element.kind(), OnceLock::new());
        Self { key, kind, stored, decoded, change: None, read: None }
    }

    /// Creates an entry with this document.
    pub(super) fn new(key: Cow<'static, str>, document: SharedBytes) -> Self {
        let stored = StoredValue::Set(document);
        let (kind, decoded) = (Kind::DOCUMENT, OnceLock::new());
        Self { key, kind, stored, decoded, change: None, read: None }
    }

    /// Returns its bytes as they would be written.
    pub(super) fn bytes<'a>(&'a self, source: &'a SharedBytes) -> BorrowedBytes<'a> {
        let (Some(change), Some(value)) = (&self.change, self.decoded.get()) else {
            return self.stored.bytes(source);
        };
        let encoded = change.encoded.get_or_init(|| {
            let mut writer = DocumentWriter::new();
            value.write(Some(&*change.original), self.stored_document(source), &mut writer);
            SharedBytes::new(writer.finish())
        });
        encoded.borrowed()
    }

    fn stored_document<'a>(&'a self, source: &'a SharedBytes) -> Option<RawDocument<'a>> {
        RawDocument::new(self.stored.bytes(source).as_slice()).ok()
    }

    /// Appends it to a document. A changed value is encoded directly from its decoded form.
    pub(super) fn write(&self, source: &SharedBytes, writer: &mut DocumentWriter) {
        match (&self.change, self.decoded.get()) {
            (Some(change), Some(value)) if change.encoded.get().is_none() => {
                writer.nested(&self.key, Kind::DOCUMENT, |writer| {
                    value.write(Some(&*change.original), self.stored_document(source), writer);
                });
            }
            _ => writer.raw(&self.key, self.kind, self.bytes(source).as_slice()),
        }
    }

    /// Estimates how many bytes [`write`](Self::write) appends.
    pub(super) fn written_bytes(&self) -> usize {
        const HEAD_BYTES_USUAL: usize = 32;
        const GROWTH_BYTES_USUAL: usize = 1 << 15;
        let growth = if self.change.is_some() { GROWTH_BYTES_USUAL } else { 0 };
        self.stored.len().saturating_add(HEAD_BYTES_USUAL).saturating_add(growth)
    }

    /// Replaces its document. If the value was changed before, [`original`](Self::original) still
    /// returns it as it was read: other components have followed these changes. Otherwise the new
    /// document counts as read.
    pub(super) fn set(&mut self, document: SharedBytes) {
        let new = Self::new(std::mem::take(&mut self.key), document);
        let before = std::mem::replace(self, new);
        let stored = before.stored;
        let as_read = before
            .change
            .map(|change| Box::new(ReadValue { stored, decoded: OnceLock::from(change.original) }));
        self.read = before.read.or(as_read);
    }

    /// Makes its current document the one that was read.
    pub(super) fn accept(&mut self) {
        self.read = None;
    }

    pub(super) fn is_changed(&self) -> bool {
        self.change.is_some()
    }

    /// Returns whether the encoded form of a changed value is kept.
    #[cfg(test)]
    pub(super) fn is_encoded(&self) -> bool {
        self.change.as_ref().is_some_and(|change| change.encoded.get().is_some())
    }

    /// Returns the value, decoding it on first access.
    pub(super) fn get<C: Component>(&self, source: &SharedBytes) -> Result<&C> {
        if self.decoded.get().is_none() {
            let value = Arc::new(component::decode::<C>(self.bytes(source))?);
            // Another thread may have decoded the same value first.
            self.decoded.get_or_init(|| value);
        }
        let other_type = || Error::OtherType { path: String::new() };
        self.value().ok_or_else(other_type)
    }

    /// Returns the value if it is decoded as this type.
    pub(super) fn value<C: Component>(&self) -> Option<&C> {
        (&**self.decoded.get()? as &dyn Any).downcast_ref()
    }

    /// Returns the value as it was read. If that is malformed and was replaced, returns the value
    /// as it was set.
    pub(super) fn original<C: Component>(&self, source: &SharedBytes) -> Result<&C> {
        if let Some(value) = self.read.as_ref().and_then(|read| read.value(source)) {
            return Ok(value);
        }
        let current = self.get::<C>(source)?;
        let original = self.change.as_ref().map(|change| &*change.original as &dyn Any);
        Ok(original.and_then(|original| original.downcast_ref()).unwrap_or(current))
    }

    /// Returns the value for mutation and marks it as changed.
    pub(super) fn get_mut<C: Component>(&mut self, source: &SharedBytes) -> Result<&mut C> {
        if self.decoded.get().is_some() && self.value::<C>().is_none() {
            // Decoded as another type with the same id: decode again from the bytes.
            self.set(self.bytes(source).to_shared());
        }
        self.get::<C>(source)?;
        component::check_elements(self.stored_document(source))?;
        let other_type = || Error::OtherType { path: String::new() };
        let value = self.decoded.get_mut().ok_or_else(other_type)?;
        let original = match self.change.take() {
            Some(change) => change.original,
            None => Arc::clone(value),
        };
        self.change = Some(Box::new(Change { original, encoded: OnceLock::new() }));
        if Arc::get_mut(value).is_none() {
            *value = value.to_shared();
        }
        let value = Arc::get_mut(value).map(|value| value as &mut dyn Any);
        value.and_then(|value| value.downcast_mut()).ok_or_else(other_type)
    }

    /// Discards a change and restores the original value.
    pub(super) fn undo_change(&mut self) {
        if let Some(change) = self.change.take() {
            self.decoded = OnceLock::from(change.original);
        }
    }

    /// Drops the decoded value unless it was changed.
    pub(super) fn forget_decoded(&mut self) {
        if self.change.is_none() {
            self.decoded = OnceLock::new();
        }
    }
}
