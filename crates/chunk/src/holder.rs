//! [`Holder`]: an ordered set of components. A chunk is one, and so is each of its sections, block
//! entities and entities.

mod entry;

use std::borrow::Cow;

use crate::component::{self, Component};
use crate::error::{Error, Result};
use crate::limits::{self, COMPONENTS_MAX};
use crate::shared_bytes::{BorrowedBytes, SharedBytes};
use hyworld_documents::{DocumentWriter, Element, Kind, RawDocument};
use hyworld_documents::{Malformed, Problem};

use entry::{Entry, KNOWN_IDS};

/// The key of the components in a holder's document.
pub(crate) const COMPONENTS_KEY: &str = "Components";

/// Space for the components of a section. Other holders have more and grow.
const COMPONENTS_USUAL: usize = 4;

/// An ordered set of components. Each is kept as its stored bytes, decoded on first access, and
/// encoded again only if it was changed.
///
/// An unchanged holder encodes to the identical bytes. After a change only the changed components
/// differ.
///
/// ```
/// use hyworld_chunk::Holder;
/// use hyworld_chunk::bson::DocumentWriter;
///
/// let mut holder = Holder::new();
/// holder.set_raw("UnknownComponent", &DocumentWriter::new().finish())?;
/// let bytes = holder.encode();
/// assert_eq!(Holder::decode(bytes.clone())?.encode(), bytes);
/// # Ok::<(), hyworld_chunk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Holder {
    /// The document as it was read; empty in a new holder.
    source: SharedBytes,
    is_changed: bool,
    /// Unknown fields before the components. No known chunk has any.
    before: Vec<Entry>,
    components: Vec<Entry>,
    /// Unknown fields after the components.
    after: Vec<Entry>,
}

impl Default for Holder {
    fn default() -> Self {
        Self::new()
    }
}

/// Holders are equal if their documents are equal.
impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        if self.is_changed || other.is_changed {
            return self.encode() == other.encode();
        }
        self.source == other.source
    }
}

impl Holder {
    /// Creates a holder without components.
    pub fn new() -> Self {
        Self {
            source: SharedBytes::default(),
            is_changed: true,
            before: Vec::new(),
            components: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Reads a holder's document without decoding its components.
    ///
    /// # Errors
    /// Returns an error if the document is malformed or has no `Components`.
    pub fn decode(document: Vec<u8>) -> Result<Self> {
        Self::from_shared(SharedBytes::new(document))
    }

    pub(crate) fn from_shared(source: SharedBytes) -> Result<Self> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut components = None;
        let elements = RawDocument::new(source.as_slice())?.elements_with(&[COMPONENTS_KEY]);
        for element in limits::at_most(elements, COMPONENTS_MAX) {
            let element = element?;
            let is_first = components.is_none() && element.key() == COMPONENTS_KEY;
            if is_first && element.kind() == Kind::DOCUMENT {
                components = Some(element);
            } else {
                let others = if components.is_none() { &mut before } else { &mut after };
                others.push(Entry::found(&element, 0));
            }
        }
        let missing =
            || Malformed { at: 0, problem: Problem::Missing { what: COMPONENTS_KEY.to_owned() } };
        let components = Self::find_components(&components.ok_or_else(missing)?)?;
        Ok(Self { source, is_changed: false, before, components, after })
    }

    /// Returns the document as it was read.
    pub(crate) fn into_source(self) -> SharedBytes {
        self.source
    }

    fn find_components(components: &Element<'_>) -> Result<Vec<Entry>> {
        let mut found = Vec::with_capacity(COMPONENTS_USUAL);
        let elements = RawDocument::new(components.value())?.elements_with(&KNOWN_IDS);
        for element in limits::at_most(elements, COMPONENTS_MAX) {
            found.push(Entry::found(&element?, components.value_at()));
        }
        Ok(found)
    }

    /// Returns the ids of its components, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.components.iter().map(|entry| &*entry.key)
    }

    /// Returns its components in order, each with its id, its type and its bytes. Includes those
    /// that [`raw`](Self::raw) does not return: values that are not documents, and repeated ids.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, Kind, &[u8])> {
        self.components.iter().map(|entry| self.parts(entry))
    }

    /// Returns the documents that are not the game's known components, each with its id. See
    /// [`entries`](Self::entries).
    pub(crate) fn unknown_documents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let is_unknown = |entry: &&Entry| match &entry.key {
            Cow::Borrowed(_) => false,
            Cow::Owned(id) => !KNOWN_IDS.contains(&id.as_str()),
        };
        let unknown = self.components.iter().filter(is_unknown);
        let documents = unknown.filter(|entry| entry.kind == Kind::DOCUMENT);
        documents.map(|entry| (&*entry.key, entry.bytes(&self.source).as_slice()))
    }

    /// Returns whether it has a document with this id. A changed one is not encoded for this.
    pub(crate) fn has_document(&self, id: &str) -> bool {
        self.components.iter().any(|entry| entry.kind == Kind::DOCUMENT && entry.key == id)
    }

    /// Returns the fields of its document beside the components, in order.
    pub fn other_fields(&self) -> impl Iterator<Item = (&str, Kind, &[u8])> {
        self.before.iter().chain(&self.after).map(|entry| self.parts(entry))
    }

    /// Returns whether it has a component with this id.
    pub fn contains(&self, id: &str) -> bool {
        self.entry(id).is_some()
    }

    /// Returns the document of a component as it would be written. Returns `None` if the
    /// component is missing or not a document.
    pub fn raw(&self, id: &str) -> Option<RawDocument<'_>> {
        RawDocument::new(self.document(id)?.bytes(&self.source).as_slice()).ok()
    }

    pub(crate) fn bytes(&self, id: &str) -> Option<BorrowedBytes<'_>> {
        self.entry(id).map(|entry| entry.bytes(&self.source))
    }

    fn parts<'a>(&'a self, entry: &'a Entry) -> (&'a str, Kind, &'a [u8]) {
        (&entry.key, entry.kind, entry.bytes(&self.source).as_slice())
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.components.iter().find(|entry| entry.key == id)
    }

    fn document(&self, id: &str) -> Option<&Entry> {
        self.entry(id).filter(|entry| entry.kind == Kind::DOCUMENT)
    }

    /// Returns a component, decoding it on first access. Returns `None` if it is missing.
    ///
    /// # Errors
    /// Returns an error if it is malformed, a newer game wrote it, or it was decoded before as
    /// another type with the same id. Its bytes are kept even then.
    pub fn get<C: Component>(&self) -> Result<Option<&C>> {
        self.get_as(C::ID)
    }

    /// Returns a component that is stored under `id` instead of the id of its type. See
    /// [`get`](Self::get).
    pub(crate) fn get_as<C: Component>(&self, id: &str) -> Result<Option<&C>> {
        let found = self.document(id).map(|entry| entry.get(&self.source)).transpose();
        found.map_err(|error| error.inside(id))
    }

    /// Returns the static form of an id if it is one of the game's chunk or section components.
    pub(crate) fn known_id(id: &str) -> Option<&'static str> {
        KNOWN_IDS.into_iter().find(|known| *known == id)
    }

    /// Returns a component if it is already decoded.
    pub(crate) fn decoded<C: Component>(&self) -> Option<&C> {
        self.decoded_as(C::ID)
    }

    /// Returns a decoded component that is stored under `id` instead of the id of its type.
    pub(crate) fn decoded_as<C: Component>(&self, id: &str) -> Option<&C> {
        self.document(id).and_then(Entry::value)
    }

    /// Returns a component as it was before any change.
    pub(crate) fn original<C: Component>(&self) -> Result<Option<&C>> {
        let found = self.document(C::ID).map(|entry| entry.original(&self.source)).transpose();
        found.map_err(|error| error.inside(C::ID))
    }

    /// Makes the current document of a component the one that counts as read.
    pub(crate) fn accept(&mut self, id: &str) {
        if let Some(entry) = document_mut(&mut self.components, id) {
            entry.accept();
        }
    }

    /// Returns a component for mutation, or `None` if it is missing. The component counts as
    /// changed and is encoded again with the holder.
    ///
    /// # Errors
    /// Same as [`get`](Self::get).
    pub fn get_mut<C: Component>(&mut self) -> Result<Option<&mut C>> {
        self.get_mut_as(C::ID)
    }

    /// Returns, for mutation, a component that is stored under `id` instead of the id of its type.
    pub(crate) fn get_mut_as<C: Component>(&mut self, id: &str) -> Result<Option<&mut C>> {
        let Some(entry) = document_mut(&mut self.components, id) else { return Ok(None) };
        let component = entry.get_mut(&self.source).map_err(|error| error.inside(id))?;
        self.is_changed = true;
        Ok(Some(component))
    }

    /// Changes a component. If it is missing, `missing` creates it. Everything is left unchanged
    /// unless `change` returns `Ok(true)`.
    pub(crate) fn try_change<C: Component, E: From<Error>>(
        &mut self,
        missing: impl FnOnce() -> C,
        change: impl FnOnce(&mut C) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let was_changed = self.is_changed;
        let is_missing = self.document(C::ID).is_none();
        if is_missing {
            self.put(&missing())?;
        }
        let Some(entry) = document_mut(&mut self.components, C::ID) else { return Ok(false) };
        let was_entry_changed = entry.is_changed();
        let component = entry.get_mut(&self.source).map_err(|error| error.inside(C::ID))?;
        let result = change(component);
        if matches!(result, Ok(true)) {
            self.is_changed = true;
            return result;
        }
        if !was_entry_changed {
            entry.undo_change();
        }
        if is_missing {
            self.remove(C::ID);
        }
        self.is_changed = was_changed;
        result
    }

    /// Writes a component over the stored one, or appends it. Changes nothing if the encoded
    /// document is equal to the stored one.
    ///
    /// # Errors
    /// Returns an error if the stored document is malformed.
    pub fn put<C: Component>(&mut self, component: &C) -> Result<()> {
        self.put_as(C::ID, component)
    }

    /// Writes a component under `id` instead of the id of its type. See [`put`](Self::put).
    pub(crate) fn put_as<C: Component>(&mut self, id: &str, component: &C) -> Result<()> {
        let encoded = component::encode(component, self.raw(id));
        let encoded = encoded.map_err(|error| error.inside(id))?;
        self.set_document(id, encoded.into())
    }

    /// Sets the document of a component. Changes nothing if it has that document already.
    ///
    /// # Errors
    /// Returns an error if `document` is not a BSON document.
    pub fn set_raw(&mut self, id: &str, document: &[u8]) -> Result<()> {
        self.set_document(id, document.into())
    }

    /// Sets the document of a component without copying an owned document.
    fn set_document(&mut self, id: &str, document: Cow<'_, [u8]>) -> Result<()> {
        RawDocument::new(&document)?;
        let source = &self.source;
        let is_same = |entry: &Entry| {
            entry.kind == Kind::DOCUMENT && entry.bytes(source).as_slice() == &*document
        };
        match self.components.iter_mut().find(|entry| entry.key == id) {
            Some(entry) if is_same(entry) => return Ok(()),
            Some(entry) => entry.set(SharedBytes::new(document.into_owned())),
            None => {
                let (key, value) = (Cow::Owned(id.to_owned()), document.into_owned());
                self.components.push(Entry::new(key, SharedBytes::new(value)));
            }
        }
        self.is_changed = true;
        Ok(())
    }

    /// Removes a component. Returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.components.len();
        self.components.retain(|entry| entry.key != id);
        let is_removed = self.components.len() < before;
        self.is_changed |= is_removed;
        is_removed
    }

    /// Sorts the components by `rank` of their ids.
    pub(crate) fn sort_by(&mut self, rank: impl Fn(&str) -> usize) {
        self.components.sort_by_key(|entry| rank(&entry.key));
        self.is_changed = true;
    }

    /// Returns whether it was changed since it was read. A new holder counts as changed.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns whether a component encodes to its stored bytes. Returns `None` if it is missing.
    ///
    /// # Errors
    /// Same as [`get`](Self::get).
    pub fn round_trips<C: Component>(&self) -> Result<Option<bool>> {
        let Some(component) = self.get::<C>()? else { return Ok(None) };
        let stored = self.raw(C::ID);
        let encoded = component::encode(component, stored);
        let encoded = encoded.map_err(|error| error.inside(C::ID))?;
        Ok(Some(stored.is_some_and(|stored| stored.as_bytes() == encoded)))
    }

    /// Drops decoded values of unchanged components.
    pub(crate) fn forget_decoded(&mut self) {
        self.components.iter_mut().for_each(Entry::forget_decoded);
    }

    /// Returns the encoded document.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out
    }

    /// Encodes its document into `out`, replacing the contents of `out`.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        out.clear();
        if !self.is_changed {
            out.extend_from_slice(self.source.as_slice());
            return;
        }
        out.reserve(self.encoded_bytes());
        let mut writer = DocumentWriter::in_buffer(std::mem::take(out));
        self.write(&mut writer);
        *out = writer.finish();
    }

    /// Estimates the length of its document in bytes.
    pub(crate) fn encoded_bytes(&self) -> usize {
        let entries = self.before.iter().chain(&self.components).chain(&self.after);
        entries.map(Entry::written_bytes).sum()
    }

    /// Appends the elements of its document.
    pub(crate) fn write(&self, writer: &mut DocumentWriter) {
        self.write_with(writer, |_, _| false, |_| ());
    }

    /// Appends the elements of its document. `replace` may write a component itself and must then
    /// return `true`; `last` may append further components.
    pub(crate) fn write_with(
        &self,
        writer: &mut DocumentWriter,
        replace: impl Fn(&str, &mut DocumentWriter) -> bool,
        last: impl FnOnce(&mut DocumentWriter),
    ) {
        self.before.iter().for_each(|entry| entry.write(&self.source, writer));
        writer.nested(COMPONENTS_KEY, Kind::DOCUMENT, |writer| {
            for entry in &self.components {
                if !replace(&entry.key, writer) {
                    entry.write(&self.source, writer);
                }
            }
            last(writer);
        });
        self.after.iter().for_each(|entry| entry.write(&self.source, writer));
    }

    /// Appends it as an element of another document. Copies the stored bytes if it is unchanged.
    pub(crate) fn write_nested(&self, key: &str, writer: &mut DocumentWriter) {
        if self.is_changed {
            writer.nested(key, Kind::DOCUMENT, |writer| self.write(writer));
        } else {
            writer.document(key, self.source.as_slice());
        }
    }
}

fn document_mut<'a>(components: &'a mut [Entry], id: &str) -> Option<&'a mut Entry> {
    let entry = components.iter_mut().find(|entry| entry.key == id);
    entry.filter(|entry| entry.kind == Kind::DOCUMENT)
}

#[cfg(test)]
mod tests;
