//! Typed access to the fields of a document, with errors for values of the wrong type.

use crate::error::{Error, Result};
use hyworld_documents::{Element, Kind, RawDocument};
use hyworld_documents::{Malformed, Problem};

/// The required type of a field.
pub(super) struct Type<T> {
    /// The BSON type number and a description, for messages.
    name: &'static str,
    read: for<'a> fn(&Element<'a>) -> Option<T>,
}

pub(super) const INT32: Type<i32> =
    Type { name: "16, a 32-bit integer", read: |field| field.as_i32() };
pub(super) const CAPACITY: Type<i32> = Type {
    name: "16, a 32-bit integer, which is 0 or more",
    read: |field| field.as_i32().filter(|capacity| *capacity >= 0),
};
pub(super) const NUMBER: Type<f64> =
    Type { name: "1, a float, or 16, a 32-bit integer", read: |field| field.as_f64() };
pub(super) const TEXT: Type<()> =
    Type { name: "2, text in UTF-8", read: |field| field.as_str().map(|_| ()) };

/// Returns the value of a field, or `None` if it is missing or null.
pub(super) fn optional<T>(document: RawDocument<'_>, key: &str, of: &Type<T>) -> Result<Option<T>> {
    let Some(field) = present(document, key)? else { return Ok(None) };
    let value = (of.read)(&field).ok_or_else(|| wrong_type(&field, of.name).inside(key))?;
    Ok(Some(value))
}

/// Returns the value of a required field.
pub(super) fn required<T>(document: RawDocument<'_>, key: &str, of: &Type<T>) -> Result<T> {
    let missing = || Malformed { at: 0, problem: Problem::Missing { what: key.to_owned() } };
    optional(document, key, of)?.ok_or_else(|| missing().into())
}

/// Returns the document in a field, or `None` if the field is missing or null.
pub(super) fn optional_document<'a>(
    document: RawDocument<'a>,
    key: &str,
) -> Result<Option<RawDocument<'a>>> {
    let field = present(document, key)?;
    let found = field.as_ref().map(as_document).transpose();
    found.map_err(|error| error.inside(key))
}

fn present<'a>(document: RawDocument<'a>, key: &str) -> Result<Option<Element<'a>>> {
    Ok(document.get(key)?.filter(|field| field.kind() != Kind::NULL))
}

/// Returns the document in a field, or an error for any other type, including an array.
pub(super) fn as_document<'a>(field: &Element<'a>) -> Result<RawDocument<'a>> {
    let document = field.as_document().filter(|_| field.kind() == Kind::DOCUMENT);
    document.ok_or_else(|| wrong_type(field, "3, a document"))
}

fn wrong_type(field: &Element<'_>, expected: &'static str) -> Error {
    wrong_value(field, "the BSON type", field.kind().0.into(), expected)
}

/// Returns the error for a field with an invalid number.
pub(super) fn wrong_value(
    field: &Element<'_>,
    what: &'static str,
    found: i64,
    expected: &'static str,
) -> Error {
    Malformed { at: field.value_at(), problem: Problem::Value { what, found, expected } }.into()
}
