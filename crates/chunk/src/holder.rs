//! [`Holder`]: components by id, in order. The chunk itself is one, and so is each of its
//! sections, block entities and entities.

mod entry;

use std::borrow::Cow;

use crate::component::{self, Component};
use crate::error::{Error, Result};
use crate::limits::{self, COMPONENTS_MAX};
use crate::shared_bytes::SharedBytes;
use hyworld_documents::{DocumentWriter, Kind, RawDocument};
use hyworld_documents::{Malformed, Problem};

use entry::{Entry, KNOWN_IDS};

/// The key of the components in a holder's document.
pub(crate) const COMPONENTS_KEY: &str = "Components";

/// An ordered set of components. Each is kept as the bytes that it was read from, is decoded when
/// it is first asked for, and is encoded again only if it was changed.
///
/// Encoding a holder in which nothing was changed returns the identical bytes; after a change
/// only what was changed differs.
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
    /// The document as it was read; `None` once something was changed.
    source: Option<SharedBytes>,
    /// Unknown fields in front of the components; no real chunk has any.
    before: Vec<Entry>,
    components: Vec<Entry>,
    /// Unknown fields behind them.
    after: Vec<Entry>,
}

impl Default for Holder {
    fn default() -> Self {
        Self::new()
    }
}

/// Holders are equal if their documents are.
impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.encode() == other.encode(),
        }
    }
}

impl Holder {
    /// Returns a holder without components.
    pub fn new() -> Self {
        Self { source: None, before: Vec::new(), components: Vec::new(), after: Vec::new() }
    }

    /// Reads a holder's document. Its components are found, not decoded.
    ///
    /// # Errors
    /// The document is malformed, or has no `Components`.
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
                components = Some(source.part(element.value_at(), element.value().len()));
            } else {
                let others = if components.is_none() { &mut before } else { &mut after };
                others.push(Entry::found(&element, &source));
            }
        }
        let missing =
            || Malformed { at: 0, problem: Problem::Missing { what: COMPONENTS_KEY.to_owned() } };
        let components = Self::find_components(&components.ok_or_else(missing)?)?;
        Ok(Self { source: Some(source), before, components, after })
    }

    fn find_components(source: &SharedBytes) -> Result<Vec<Entry>> {
        let mut found = Vec::with_capacity(4);
        let elements = RawDocument::new(source.as_slice())?.elements_with(&KNOWN_IDS);
        for element in limits::at_most(elements, COMPONENTS_MAX) {
            found.push(Entry::found(&element?, source));
        }
        Ok(found)
    }

    /// Returns the ids of its components, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.components.iter().map(|entry| &*entry.key)
    }

    /// Returns its components in order, each with its id, its type and its bytes. Also those that
    /// [`raw`](Self::raw) does not return: values that are not documents, and repeated ids.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, Kind, &[u8])> {
        self.components.iter().map(parts)
    }

    /// Returns the fields of its document beside the components, in order.
    pub fn other_fields(&self) -> impl Iterator<Item = (&str, Kind, &[u8])> {
        self.before.iter().chain(&self.after).map(parts)
    }

    /// Returns whether it has a component.
    pub fn contains(&self, id: &str) -> bool {
        self.entry(id).is_some()
    }

    /// Returns the document of a component as it would be written; `None` if there is no such
    /// component or its value is not a document.
    pub fn raw(&self, id: &str) -> Option<RawDocument<'_>> {
        RawDocument::new(self.document(id)?.bytes().as_slice()).ok()
    }

    pub(crate) fn shared(&self, id: &str) -> Option<&SharedBytes> {
        self.entry(id).map(Entry::bytes)
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.components.iter().find(|entry| entry.key == id)
    }

    fn document(&self, id: &str) -> Option<&Entry> {
        self.entry(id).filter(|entry| entry.kind == Kind::DOCUMENT)
    }

    /// Returns a component, which is decoded the first time; `None` if there is no such component.
    ///
    /// # Errors
    /// It is malformed, or a newer game wrote it: its bytes are kept in any case. Or it was
    /// decoded before as another type with the same id.
    pub fn get<C: Component>(&self) -> Result<Option<&C>> {
        self.get_as(C::ID)
    }

    /// Does the same with a component that is stored under another id.
    pub(crate) fn get_as<C: Component>(&self, id: &str) -> Result<Option<&C>> {
        let found = self.document(id).map(Entry::get).transpose();
        found.map_err(|error| error.inside(id))
    }

    /// Returns an id if it is one of the game's own in chunks and sections.
    pub(crate) fn known_id(id: &str) -> Option<&'static str> {
        KNOWN_IDS.into_iter().find(|known| *known == id)
    }

    /// Returns a component if it is decoded.
    pub(crate) fn decoded<C: Component>(&self) -> Option<&C> {
        self.decoded_as(C::ID)
    }

    /// Does the same with a component that is stored under another id.
    pub(crate) fn decoded_as<C: Component>(&self, id: &str) -> Option<&C> {
        self.document(id).and_then(Entry::value)
    }

    /// Returns a component as it was decoded from the stored bytes, before any change.
    pub(crate) fn original<C: Component>(&self) -> Result<Option<&C>> {
        let found = self.document(C::ID).map(Entry::original).transpose();
        found.map_err(|error| error.inside(C::ID))
    }

    /// Returns a component to change it; `None` if there is no such component. The component
    /// counts as changed and is encoded again with the holder.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn get_mut<C: Component>(&mut self) -> Result<Option<&mut C>> {
        self.get_mut_as(C::ID)
    }

    /// Does the same with a component that is stored under another id.
    pub(crate) fn get_mut_as<C: Component>(&mut self, id: &str) -> Result<Option<&mut C>> {
        let Some(entry) = document_mut(&mut self.components, id) else { return Ok(None) };
        let component = entry.get_mut().map_err(|error| error.inside(id))?;
        self.source = None;
        Ok(Some(component))
    }

    /// Changes a component, which is added as `missing` if there is none. Nothing is changed
    /// unless `change` says that it changed something.
    pub(crate) fn try_change<C: Component, E: From<Error>>(
        &mut self,
        missing: impl FnOnce() -> C,
        change: impl FnOnce(&mut C) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let source = self.source.clone();
        let is_missing = self.document(C::ID).is_none();
        if is_missing {
            self.put(&missing())?;
        }
        let Some(entry) = document_mut(&mut self.components, C::ID) else { return Ok(false) };
        let was_changed = entry.is_changed();
        let result = change(entry.get_mut().map_err(|error| error.inside(C::ID))?);
        if matches!(result, Ok(true)) {
            self.source = None;
            return result;
        }
        if !was_changed {
            entry.undo_change();
        }
        if is_missing {
            self.remove(C::ID);
        }
        self.source = source;
        result
    }

    /// Writes a component over the one that is stored, or behind the others. Nothing changes if
    /// that gives the document that is there.
    ///
    /// # Errors
    /// The document that is there is malformed.
    pub fn put<C: Component>(&mut self, component: &C) -> Result<()> {
        self.put_as(C::ID, component)
    }

    /// Does the same with a component that is stored under another id.
    pub(crate) fn put_as<C: Component>(&mut self, id: &str, component: &C) -> Result<()> {
        let encoded = component::encode(component, self.raw(id));
        let encoded = encoded.map_err(|error| error.inside(id))?;
        self.set_document(id, encoded.into())
    }

    /// Gives a component a document. Nothing changes if it has that document already.
    ///
    /// # Errors
    /// `document` is not a document.
    pub fn set_raw(&mut self, id: &str, document: &[u8]) -> Result<()> {
        self.set_document(id, document.into())
    }

    /// Does the same with a document that need not be copied.
    fn set_document(&mut self, id: &str, document: Cow<'_, [u8]>) -> Result<()> {
        RawDocument::new(&document)?;
        let is_same =
            |entry: &Entry| entry.kind == Kind::DOCUMENT && entry.bytes().as_slice() == &*document;
        match self.components.iter_mut().find(|entry| entry.key == id) {
            Some(entry) if is_same(entry) => return Ok(()),
            Some(entry) => entry.set(SharedBytes::new(document.into_owned())),
            None => {
                let (key, value) = (Cow::Owned(id.to_owned()), document.into_owned());
                self.components.push(Entry::new(key, Kind::DOCUMENT, SharedBytes::new(value)));
            }
        }
        self.source = None;
        Ok(())
    }

    /// Removes a component. Returns whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.components.len();
        self.components.retain(|entry| entry.key != id);
        let is_removed = self.components.len() < before;
        if is_removed {
            self.source = None;
        }
        is_removed
    }

    /// Puts the components into the order that the game gives to this set of ids.
    pub(crate) fn sort_by(&mut self, rank: impl Fn(&str) -> usize) {
        self.components.sort_by_key(|entry| rank(&entry.key));
        self.source = None;
    }

    /// Returns whether it was changed since it was read; a new one always was.
    pub fn is_changed(&self) -> bool {
        self.source.is_none()
    }

    /// Returns whether a component encodes to the bytes that it was decoded from. `None` if there
    /// is no such component.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn round_trips<C: Component>(&self) -> Result<Option<bool>> {
        let Some(component) = self.get::<C>()? else { return Ok(None) };
        let stored = self.raw(C::ID);
        let encoded = component::encode(component, stored);
        let encoded = encoded.map_err(|error| error.inside(C::ID))?;
        Ok(Some(stored.is_some_and(|stored| stored.as_bytes() == encoded)))
    }

    /// Forgets decoded components that were not changed.
    pub(crate) fn forget_decoded(&mut self) {
        self.components.iter_mut().for_each(Entry::forget_decoded);
    }

    /// Returns its document.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out
    }

    /// Writes its document into a buffer, whose content is replaced.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        out.clear();
        if let Some(source) = &self.source {
            out.extend_from_slice(source.as_slice());
            return;
        }
        out.reserve(self.encoded_bytes());
        let mut writer = DocumentWriter::in_buffer(std::mem::take(out));
        self.write(&mut writer);
        *out = writer.finish();
    }

    /// Estimates how long its document is.
    pub(crate) fn encoded_bytes(&self) -> usize {
        let entries = self.before.iter().chain(&self.components).chain(&self.after);
        entries.map(Entry::written_bytes).sum()
    }

    /// Appends the elements of its document.
    pub(crate) fn write(&self, writer: &mut DocumentWriter) {
        self.write_with(writer, |_, _| false, |_| ());
    }

    /// Appends the elements of its document. `replace` may write a component itself and say so,
    /// and `last` may write more of them.
    pub(crate) fn write_with(
        &self,
        writer: &mut DocumentWriter,
        replace: impl Fn(&str, &mut DocumentWriter) -> bool,
        last: impl FnOnce(&mut DocumentWriter),
    ) {
        self.before.iter().for_each(|entry| entry.write(writer));
        writer.nested(COMPONENTS_KEY, Kind::DOCUMENT, |writer| {
            for entry in &self.components {
                if !replace(&entry.key, writer) {
                    entry.write(writer);
                }
            }
            last(writer);
        });
        self.after.iter().for_each(|entry| entry.write(writer));
    }

    /// Appends it as an element of another document, at once if nothing in it was changed.
    pub(crate) fn write_nested(&self, key: &str, writer: &mut DocumentWriter) {
        match &self.source {
            Some(source) => writer.document(key, source.as_slice()),
            None => writer.nested(key, Kind::DOCUMENT, |writer| self.write(writer)),
        }
    }
}

fn document_mut<'a>(components: &'a mut [Entry], id: &str) -> Option<&'a mut Entry> {
    let entry = components.iter_mut().find(|entry| entry.key == id);
    entry.filter(|entry| entry.kind == Kind::DOCUMENT)
}

fn parts(entry: &Entry) -> (&str, Kind, &[u8]) {
    (&entry.key, entry.kind, entry.bytes().as_slice())
}

#[cfg(test)]
mod tests;
