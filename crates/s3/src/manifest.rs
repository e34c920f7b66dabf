//! The object that says what the others are: `docs/format/objects.md`.

use hyworld_providers::{Access, Error, Result};
use serde_json::{Value, json};

use crate::key::S3Url;
use crate::objects::{Condition, Fetched, Objects};

const MANIFEST_NAME: &str = "hyworld.json";
const MANIFEST_BYTES_MAX: u32 = 1 << 16;
const FORMAT: &str = "hyworld-chunks";
/// The layout that is written and read here.
const VERSION: u64 = 1;

/// The key that is there while a world is being copied to this place.
const BUILDING_KEY: &str = "Building";

/// What there is at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Nothing,
    World,
    /// A copy of what this names, which is not finished.
    Building(String),
}

/// Whether there is a world at this place. One that is of another kind is an error, so that
/// nobody reads or writes past it.
pub(crate) async fn look(objects: &Objects, url: &S3Url) -> Result<Found> {
    let path = url.object(MANIFEST_NAME);
    let found = objects.get(&path, None, MANIFEST_BYTES_MAX).await;
    match found.map_err(|failure| failure.into_error(&url.location(), "open"))? {
        Fetched::Found(object) => check(&object.content)
            .map_err(|problem| refused(url, format!("{MANIFEST_NAME} {problem}"))),
        Fetched::Absent | Fetched::Unchanged => Ok(Found::Nothing),
    }
}

/// Makes it, for a new world, or for one that is being copied from what `building` names.
pub(crate) async fn make(objects: &Objects, url: &S3Url, building: Option<&str>) -> Result<()> {
    let made_by = concat!("hyworld ", env!("CARGO_PKG_VERSION"));
    let mut manifest = json!({"Format": FORMAT, "Version": VERSION, "MadeBy": made_by});
    if let (Some(object), Some(source)) = (manifest.as_object_mut(), building) {
        object.insert(BUILDING_KEY.to_owned(), source.into());
    }
    let bytes = manifest.to_string().into_bytes();
    let made = objects.put(&url.object(MANIFEST_NAME), bytes, None, Condition::None).await;
    made.map(drop).map_err(|failure| failure.into_error(&url.location(), "write its manifest"))
}

/// Whether what was found may be opened. `building` is what is to be copied there, if anything.
pub(crate) fn admit(
    url: &S3Url,
    found: &Found,
    access: Access,
    building: Option<&str>,
) -> Result<()> {
    match (found, building) {
        (Found::Nothing, _) if access == Access::ReadOnly => Err(missing(url)),
        (Found::Building(source), Some(wanted)) if source == wanted => Ok(()),
        (Found::Building(source), _) => Err(refused(
            url,
            format!("it is an unfinished copy of {source}; finish that with the same convert"),
        )),
        (Found::World, Some(_)) => {
            Err(refused(url, "a world is there already; choose another prefix".to_owned()))
        }
        (Found::Nothing | Found::World, _) => Ok(()),
    }
}

/// The error of a world that is not there.
fn missing(url: &S3Url) -> Error {
    let problem =
        format!("there is no {MANIFEST_NAME}, so no world was stored here; check the Url");
    refused(url, problem)
}

fn refused(url: &S3Url, problem: String) -> Error {
    Error::Engine { place: url.location(), action: "open", source: problem.into() }
}

fn check(bytes: &[u8]) -> Result<Found, String> {
    let json: Value = serde_json::from_slice(bytes).map_err(|_| "is no JSON".to_owned())?;
    if json.get("Format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("does not say that its format is {FORMAT}"));
    }
    match json.get("Version").and_then(Value::as_u64) {
        Some(VERSION) => Ok(match json.get(BUILDING_KEY).and_then(Value::as_str) {
            Some(source) => Found::Building(source.to_owned()),
            None => Found::World,
        }),
        Some(other) => Err(format!(
            "is of version {other}, and this program knows version {VERSION}; take a newer hyworld"
        )),
        None => Err("has no version".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_format_and_version_is_taken() {
        let with = |format: &str, version: Value| {
            check(json!({"Format": format, "Version": version, "New": 1}).to_string().as_bytes())
        };
        assert_eq!(with(FORMAT, json!(1)), Ok(Found::World));
        assert!(with(FORMAT, json!(2)).unwrap_err().contains("version 2"));
        assert!(with(FORMAT, json!("1")).is_err() && with("other", json!(1)).is_err());
        for other in ["", "[]", "null", "\u{7f}"] {
            assert!(check(other.as_bytes()).is_err(), "{other}");
        }
    }

    #[test]
    fn an_unfinished_copy_is_opened_only_to_be_finished() {
        let url = S3Url::parse("s3://bucket/world").unwrap();
        let copy = Found::Building("a".to_owned());
        let admitted = |found: &Found, access, building| admit(&url, found, access, building);
        let (read, write) = (Access::ReadOnly, Access::ReadWrite);
        assert!(admitted(&copy, write, Some("a")).is_ok());
        for (access, building) in [(read, None), (write, None), (write, Some("b"))] {
            let error = admitted(&copy, access, building).unwrap_err().to_string();
            assert!(error.contains("an unfinished copy of a"), "{error}");
        }
        assert!(admitted(&Found::World, write, Some("a")).is_err());
        assert!(admitted(&Found::World, write, None).is_ok());
        assert!(admitted(&Found::Nothing, write, Some("a")).is_ok());
        assert!(admitted(&Found::Nothing, read, None).is_err());
    }
}
