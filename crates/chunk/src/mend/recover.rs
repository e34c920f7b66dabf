//! The intact elements of a document with a malformed part.

use hyworld_documents::{DocumentWriter, Kind, RawDocument};

use crate::chunk::{COLUMN_ID, SECTIONS_KEY};
use crate::holder::COMPONENTS_KEY;
use hyworld_coords::SectionY;

/// Returns a well-formed document with all components that are well-formed. Returns `None` if there
/// are none.
pub(super) fn document(bytes: &[u8], lost: &mut Vec<String>) -> Option<Vec<u8>> {
    if RawDocument::new(bytes).and_then(RawDocument::check).is_ok() {
        return Some(bytes.to_vec());
    }
    let root = Children::of(bytes);
    let components = root.find(COMPONENTS_KEY)?;
    let components = Children::of(&components);
    let mut writer = DocumentWriter::new();
    writer.nested(COMPONENTS_KEY, Kind::DOCUMENT, |writer| {
        for (key, kind, value) in &components.all {
            if *kind == Kind::DOCUMENT && key == COLUMN_ID {
                writer.nested(COLUMN_ID, Kind::DOCUMENT, |writer| column(value, writer));
            } else if *kind == Kind::DOCUMENT && is_intact(value) {
                writer.document(key, value);
            } else {
                lost.push(format!("component {key}"));
            }
        }
    });
    if !components.is_complete {
        lost.push("the components after a malformed one".to_owned());
    }
    (!components.all.is_empty()).then(|| writer.finish())
}

/// Writes the sections of a column. Those that are malformed become empty, so that the others keep
/// their number.
fn column(bytes: &[u8], writer: &mut DocumentWriter) {
    let sections = Children::of(bytes).find(SECTIONS_KEY).unwrap_or_default();
    let sections = Children::of(&sections).all;
    writer.nested(SECTIONS_KEY, Kind::ARRAY, |writer| {
        for y in SectionY::all() {
            let index = y.index().to_string();
            let found = sections.iter().find(|(key, _, _)| *key == index);
            let is_usable = |kind: Kind, value: &[u8]| kind == Kind::DOCUMENT && is_intact(value);
            if let Some((_, _, value)) = found.filter(|(_, kind, value)| is_usable(*kind, value)) {
                writer.document(&index, value);
                continue;
            }
            writer.nested(&index, Kind::DOCUMENT, |writer| {
                writer.nested(COMPONENTS_KEY, Kind::DOCUMENT, |_| {});
            });
        }
    });
}

fn is_intact(document: &[u8]) -> bool {
    RawDocument::new(document).and_then(RawDocument::check).is_ok()
}

/// The elements of a document, as far as they can be read.
struct Children {
    /// Key, type and value. The value of the last one may be cut off.
    all: Vec<(String, Kind, Vec<u8>)>,
    is_complete: bool,
}

impl Children {
    /// Reads the elements of a document whose length, end or elements may be wrong.
    fn of(bytes: &[u8]) -> Self {
        let (mut all, mut end) = (Vec::new(), 4);
        let bounded = with_own_length(bytes);
        let document = bounded.as_deref().and_then(|bytes| RawDocument::new(bytes).ok());
        let Some(document) = document else { return Self { all, is_complete: false } };
        let mut is_complete = true;
        for element in document.elements() {
            let Ok(element) = element else {
                is_complete = false;
                break;
            };
            end = element.value_at().saturating_add(element.value().len());
            all.push((element.key().to_owned(), element.kind(), element.value().to_vec()));
        }
        if !is_complete {
            all.extend(cut_off(bytes.get(end..).unwrap_or_default()));
        }
        Self { all, is_complete }
    }

    fn find(&self, key: &str) -> Option<Vec<u8>> {
        let found = self.all.iter().find(|(known, _, _)| known == key);
        found.map(|(_, _, value)| value.clone())
    }
}

/// Returns the document with its length and end corrected to the bytes that exist. If its stored
/// length is smaller, the document ends there.
fn with_own_length(bytes: &[u8]) -> Option<Vec<u8>> {
    let stated = i32::from_le_bytes(*bytes.first_chunk()?);
    let stated = usize::try_from(stated).ok().filter(|stated| *stated >= 5);
    let mut copy = match stated {
        Some(stated) if stated <= bytes.len() => bytes.get(..stated)?.to_vec(),
        // Append a byte, so that the end mark written below does not replace one of the document.
        _ => [bytes, &[0]].concat(),
    };
    let length = i32::try_from(copy.len()).ok()?;
    copy.get_mut(..4)?.copy_from_slice(&length.to_le_bytes());
    *copy.last_mut()? = 0;
    Some(copy)
}

/// Returns an element that is a document and ends past the end of `bytes`.
fn cut_off(bytes: &[u8]) -> Option<(String, Kind, Vec<u8>)> {
    let (kind, rest) = bytes.split_first()?;
    let kind = Some(Kind(*kind)).filter(|kind| [Kind::DOCUMENT, Kind::ARRAY].contains(kind))?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let key = std::str::from_utf8(rest.get(..end)?).ok()?;
    Some((key.to_owned(), kind, rest.get(end.checked_add(1)?..)?.to_vec()))
}
