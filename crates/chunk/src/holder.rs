//! [`Holder`]: components by id, in order. The chunk itself is one, and so is each of its
//! sections, block entities and entities.

use std::borrow::Cow;

use crate::component::{self, Component};
use crate::error::Result;
use crate::limits::{self, COMPONENTS_MAX};
use crate::piece::Piece;
use hyworld_documents::{DocumentWriter, Element, Kind, RawDocument};
use hyworld_documents::{Malformed, Problem};

/// The key of the components in a holder's document.
pub(crate) const COMPONENTS_KEY: &str = "Components";

/// An ordered set of components, kept as the bytes that they were read from until one is changed.
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
#[derive(Clone, PartialEq, Debug)]
pub struct Holder {
    /// The document as it was read; `None` once something was changed.
    source: Option<Piece>,
    /// What stands before the components and is not known; nothing in all real chunks.
    before: Vec<Entry>,
    components: Vec<Entry>,
    /// What stands behind them.
    after: Vec<Entry>,
}

#[derive(Clone, PartialEq, Debug)]
struct Entry {
    key: Cow<'static, str>,
    kind: Kind,
    value: Piece,
}

/// The game's own ids in chunks and sections. A chunk has about fifty components, and memory for
/// the same few ids each time would be most of the work of finding them.
const KNOWN_IDS: [&str; 12] = [
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
];

impl Entry {
    fn of(element: &Element<'_>, source: &Piece) -> Self {
        let known = KNOWN_IDS.into_iter().find(|id| *id == element.key());
        Self {
            key: known.map_or_else(|| Cow::Owned(element.key().to_owned()), Cow::Borrowed),
            kind: element.kind(),
            value: source.part(element.value_at(), element.value().len()),
        }
    }

    fn write(&self, writer: &mut DocumentWriter) {
        writer.raw(&self.key, self.kind, self.value.bytes());
    }

    fn parts(&self) -> (&str, Kind, &[u8]) {
        (&self.key, self.kind, self.value.bytes())
    }
}

impl Default for Holder {
    fn default() -> Self {
        Self::new()
    }
}

impl Holder {
    /// A holder without components.
    pub fn new() -> Self {
        Self { source: None, before: Vec::new(), components: Vec::new(), after: Vec::new() }
    }

    /// Reads a holder's document. Its components are found, not decoded.
    ///
    /// # Errors
    /// The document is malformed, or has no `Components`.
    pub fn decode(document: Vec<u8>) -> Result<Self> {
        Self::from_piece(Piece::new(document))
    }

    pub(crate) fn from_piece(source: Piece) -> Result<Self> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut components = None;
        for element in limits::at_most(RawDocument::new(source.bytes())?, COMPONENTS_MAX) {
            let element = element?;
            let is_first = components.is_none() && element.key() == COMPONENTS_KEY;
            if is_first && element.kind() == Kind::DOCUMENT {
                components = Some(source.part(element.value_at(), element.value().len()));
            } else {
                let others = if components.is_none() { &mut before } else { &mut after };
                others.push(Entry::of(&element, &source));
            }
        }
        let missing =
            || Malformed { at: 0, problem: Problem::Missing { what: COMPONENTS_KEY.to_owned() } };
        let components = Self::find_components(&components.ok_or_else(missing)?)?;
        Ok(Self { source: Some(source), before, components, after })
    }

    fn find_components(piece: &Piece) -> Result<Vec<Entry>> {
        let mut found = Vec::new();
        for element in limits::at_most(RawDocument::new(piece.bytes())?, COMPONENTS_MAX) {
            found.push(Entry::of(&element?, piece));
        }
        Ok(found)
    }

    /// The ids of its components, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.components.iter().map(|entry| &*entry.key)
    }

    /// Its components in order, each with its id, its type and its bytes. Also those that
    /// [`raw`](Self::raw) does not give: that are no documents, or have an id that was there
    /// before.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, Kind, &[u8])> {
        self.components.iter().map(Entry::parts)
    }

    /// What stands in its document beside the components, in order.
    pub fn other_fields(&self) -> impl Iterator<Item = (&str, Kind, &[u8])> {
        self.before.iter().chain(&self.after).map(Entry::parts)
    }

    /// Whether it has a component.
    pub fn contains(&self, id: &str) -> bool {
        self.entry(id).is_some()
    }

    /// The document of a component, `None` if there is no such component or if it is no document.
    pub fn raw(&self, id: &str) -> Option<RawDocument<'_>> {
        let entry = self.entry(id).filter(|entry| entry.kind == Kind::DOCUMENT)?;
        RawDocument::new(entry.value.bytes()).ok()
    }

    pub(crate) fn piece(&self, id: &str) -> Option<&Piece> {
        self.entry(id).map(|entry| &entry.value)
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.components.iter().find(|entry| entry.key == id)
    }

    /// Decodes a component, `None` if there is no such component.
    ///
    /// # Errors
    /// It is malformed, or a newer game wrote it. Its bytes are kept in any case.
    pub fn get<C: Component>(&self) -> Result<Option<C>> {
        let decoded = self.raw(C::ID).map(component::decode).transpose();
        decoded.map_err(|error| error.inside(C::ID))
    }

    /// Writes a component over the one that is there, or behind the others.
    ///
    /// # Errors
    /// The document that is there is malformed.
    pub fn put<C: Component>(&mut self, component: &C) -> Result<()> {
        let encoded = component::encode(component, self.raw(C::ID));
        let encoded = encoded.map_err(|error| error.inside(C::ID))?;
        self.set_document(C::ID, encoded.into())
    }

    /// Gives a component a document. Nothing changes if it has that document already.
    ///
    /// # Errors
    /// `document` is none.
    pub fn set_raw(&mut self, id: &str, document: &[u8]) -> Result<()> {
        self.set_document(id, document.into())
    }

    /// The same with a document that need not be copied.
    fn set_document(&mut self, id: &str, document: Cow<'_, [u8]>) -> Result<()> {
        RawDocument::new(&document)?;
        let is_new_value = |entry: &Entry| entry.value.bytes() != &*document;
        match self.components.iter_mut().find(|entry| entry.key == id) {
            Some(entry) if entry.kind != Kind::DOCUMENT || is_new_value(entry) => {
                entry.kind = Kind::DOCUMENT;
                entry.value = Piece::new(document.into_owned());
                self.source = None;
            }
            Some(_) => {}
            None => {
                let value = Piece::new(document.into_owned());
                self.components.push(Entry {
                    key: Cow::Owned(id.to_owned()),
                    kind: Kind::DOCUMENT,
                    value,
                });
                self.source = None;
            }
        }
        Ok(())
    }

    /// Removes a component; whether it was there.
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

    /// Whether it differs from what was read; a new one always does.
    pub fn is_changed(&self) -> bool {
        self.source.is_none()
    }

    /// Its document.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_in(Vec::new())
    }

    /// Its document, in the memory of a buffer.
    pub(crate) fn encode_in(&self, mut buffer: Vec<u8>) -> Vec<u8> {
        buffer.clear();
        if let Some(source) = &self.source {
            buffer.extend_from_slice(source.bytes());
            return buffer;
        }
        buffer.reserve(self.encoded_bytes());
        let mut writer = DocumentWriter::in_buffer(buffer);
        self.write(&mut writer);
        writer.finish()
    }

    /// About how long its document is.
    pub(crate) fn encoded_bytes(&self) -> usize {
        const ENTRY_BYTES_USUAL: usize = 32;
        let entries = self.before.iter().chain(&self.components).chain(&self.after);
        entries.map(|entry| entry.value.bytes().len().saturating_add(ENTRY_BYTES_USUAL)).sum()
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn text(value: &str) -> Vec<u8> {
        let mut writer = DocumentWriter::new();
        writer.string("Text", value);
        writer.finish()
    }

    fn sample() -> Vec<u8> {
        let mut components = DocumentWriter::new();
        components.document("Zebra", &text("z"));
        components.document("Apple", &text("a"));
        components.int32("Odd", 7);
        let mut writer = DocumentWriter::new();
        writer.int32("Version", 2);
        writer.document("Components", &components.finish());
        writer.boolean("Tail", true);
        writer.finish()
    }

    #[test]
    fn untouched_it_encodes_to_what_was_read() {
        let holder = Holder::decode(sample()).unwrap();
        assert!(!holder.is_changed());
        assert_eq!(holder.encode(), sample());
        assert_eq!(holder.ids().collect::<Vec<_>>(), ["Zebra", "Apple", "Odd"]);
        assert!(holder.raw("Apple").is_some() && holder.raw("Odd").is_none());
    }

    #[test]
    fn everything_in_it_can_be_listed() {
        let holder = Holder::decode(sample()).unwrap();
        let seven = 7_i32.to_le_bytes();
        let (zebra, apple) = (text("z"), text("a"));
        let expected = [
            ("Zebra", Kind::DOCUMENT, zebra.as_slice()),
            ("Apple", Kind::DOCUMENT, apple.as_slice()),
            ("Odd", Kind::INT32, seven.as_slice()),
        ];
        assert!(holder.entries().eq(expected));
        let beside: Vec<_> = holder.other_fields().map(|(key, kind, _)| (key, kind)).collect();
        assert_eq!(beside, [("Version", Kind::INT32), ("Tail", Kind::BOOLEAN)]);
    }

    #[test]
    fn a_change_and_its_undoing_give_the_same_bytes() {
        let mut holder = Holder::decode(sample()).unwrap();
        holder.set_raw("Apple", &text("a")).unwrap();
        assert!(!holder.is_changed(), "the same document is no change");
        holder.set_raw("Apple", &text("other")).unwrap();
        assert!(holder.is_changed());
        assert_ne!(holder.encode(), sample());
        holder.set_raw("Apple", &text("a")).unwrap();
        assert_eq!(holder.encode(), sample());
    }

    #[test]
    fn new_components_go_last_and_removed_ones_leave_no_trace() {
        let mut holder = Holder::decode(sample()).unwrap();
        holder.set_raw("New", &text("n")).unwrap();
        assert_eq!(holder.ids().last(), Some("New"));
        assert!(holder.remove("New") && !holder.remove("New"));
        assert_eq!(holder.encode(), sample());
    }

    #[test]
    fn every_truncation_and_flipped_bit_is_survived() {
        let bytes = sample();
        for len in 0..bytes.len() {
            assert!(Holder::decode(bytes[..len].to_vec()).is_err(), "{len}");
        }
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[position] ^= 1 << bit;
                if let Ok(holder) = Holder::decode(flipped.clone()) {
                    assert_eq!(holder.encode(), flipped, "byte {position} bit {bit}");
                }
            }
        }
    }

    #[test]
    fn components_in_an_array_became_a_document() {
        let mut writer = DocumentWriter::new();
        writer.raw("Components", Kind::ARRAY, &text("x"));
        assert!(Holder::decode(writer.clone().finish()).is_err());
        writer.document("Components", &text("x"));
        let bytes = writer.finish();
        let mut holder = Holder::decode(bytes.clone()).unwrap();
        holder.set_raw("New", &text("n")).unwrap();
        assert!(holder.remove("New"));
        assert_eq!(holder.encode(), bytes);
    }

    #[test]
    fn a_document_without_components_is_no_holder() {
        let refused = Holder::decode(text("x")).unwrap_err();
        assert!(matches!(refused, Error::Malformed { .. }), "{refused}");
    }
}
