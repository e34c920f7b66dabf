//! Access to documents nested in the components of a holder.

use super::field;
use crate::error::{Error, Result};
use crate::holder::Holder;
use hyworld_documents::{DocumentWriter, Kind, RawDocument};
use hyworld_documents::{Malformed, Problem};

/// Reads the document at the end of a path: a component, then keys.
pub(super) fn read<T>(
    holder: &Holder,
    path: &[impl AsRef<str>],
    decode: impl FnOnce(RawDocument<'_>) -> Result<T>,
) -> Result<T> {
    let document = find(holder, path)?.ok_or_else(|| missing(path))?;
    decode(document).map_err(|error| inside_all(error, path))
}

/// Returns the document at the end of a path, or `None` if a part of the path is missing or null.
fn find<'a>(holder: &'a Holder, path: &[impl AsRef<str>]) -> Result<Option<RawDocument<'a>>> {
    let Some((component, keys)) = path.split_first() else { return Ok(None) };
    let Some(mut document) = holder.raw(component.as_ref()) else { return Ok(None) };
    for (depth, key) in (1_usize..).zip(keys) {
        // Arrays are allowed on the way, but the last value must be a document.
        let is_last = depth == keys.len();
        let next = if is_last {
            field::optional_document(document, key.as_ref())
        } else {
            let field = document.get(key.as_ref()).map_err(Error::from);
            field.map(|field| field.and_then(|field| field.as_document()))
        };
        let parents = path.get(..depth).unwrap_or_default();
        match next.map_err(|error| inside_all(error, parents))? {
            Some(next) => document = next,
            None => return Ok(None),
        }
    }
    Ok(Some(document))
}

/// Replaces the document at the end of a path. Everything else stays as it is.
pub(super) fn write(holder: &mut Holder, path: &[impl AsRef<str>], new: &[u8]) -> Result<()> {
    let Some((component, keys)) = path.split_first() else { return Err(missing(path)) };
    let component = component.as_ref();
    let found = holder.raw(component).ok_or_else(|| missing(path))?;
    let replaced = replaced(found, keys, new).map_err(|error| error.inside(component))?;
    holder.set_raw(component, &replaced)
}

/// Returns a copy of `document` with `new` at the end of the path.
fn replaced(document: RawDocument<'_>, keys: &[impl AsRef<str>], new: &[u8]) -> Result<Vec<u8>> {
    let Some((key, deeper)) = keys.split_first() else { return Ok(new.to_vec()) };
    let key = key.as_ref();
    let mut writer = DocumentWriter::new();
    let mut is_done = false;
    for element in document.elements() {
        let element = element?;
        if is_done || element.key() != key {
            writer.element(&element);
            continue;
        }
        let is_right = !deeper.is_empty() || element.kind() == Kind::DOCUMENT;
        let inner = element.as_document().filter(|_| is_right);
        let inner = inner.ok_or_else(|| missing(&[key]))?;
        let inner = replaced(inner, deeper, new).map_err(|error| error.inside(key))?;
        writer.raw(key, element.kind(), &inner);
        is_done = true;
    }
    if is_done { Ok(writer.finish()) } else { Err(missing(&[key])) }
}

fn missing(path: &[impl AsRef<str>]) -> Error {
    let what = "the document with the items".to_owned();
    inside_all(Malformed { at: 0, problem: Problem::Missing { what } }.into(), path)
}

/// Prepends a path to the path of an error.
fn inside_all(error: Error, path: &[impl AsRef<str>]) -> Error {
    path.iter().rev().fold(error, |error, part| error.inside(part.as_ref()))
}
