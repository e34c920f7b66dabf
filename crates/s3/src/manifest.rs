//! The manifest object, which marks a world and its format; see `docs/format/objects.md`.

use hyworld_providers::{Access, Error, Result};
use serde_json::{Value, json};

use crate::key::S3Url;
use crate::objects::{Condition, Fetched, Objects};

const MANIFEST_NAME: &str = "hyworld.json";
const MANIFEST_BYTES_MAX: u32 = 1 << 16;
const FORMAT: &str = "hyworld-chunks";
/// The supported layout version.
const VERSION: u64 = 1;

/// This key exists while a world is being copied to this location.
const BUILDING_KEY: &str = "Building";

/// What was found at a location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Nothing,
    World,
    /// An unfinished copy of this source.
    Building(String),
}

/// Checks whether there is a world at this location. A world of another format is an error, so that
/// it is neither read nor overwritten.
pub(crate) async fn find(objects: &Objects, url: &S3Url) -> Result<Found> {
    let path = url.object(MANIFEST_NAME);
    let found = objects.get(&path, None, MANIFEST_BYTES_MAX).await;
    match found.map_err(|failure| failure.into_error(&url.location(), "open"))? {
        Fetched::Found(object) => check(&object.bytes)
            .map_err(|problem| refused(url, format!("{MANIFEST_NAME} {problem}"))),
        Fetched::Missing | Fetched::Unchanged => Ok(Found::Nothing),
    }
}

/// Writes the manifest of a new world, or of a copy of the source `building`.
pub(crate) async fn write(objects: &Objects, url: &S3Url, building: Option<&str>) -> Result<()> {
    let made_by = concat!("hyworld ", env!("CARGO_PKG_VERSION"));
    let mut manifest = json!({"Format": FORMAT, "Version": VERSION, "MadeBy": made_by});
    if let (Some(object), Some(source)) = (manifest.as_object_mut(), building) {
        object.insert(BUILDING_KEY.to_owned(), source.into());
    }
    let bytes = manifest.to_string().into_bytes();
    let written = objects.put(&url.object(MANIFEST_NAME), bytes, None, Condition::None).await;
    written.map(drop).map_err(|failure| failure.into_error(&url.location(), "write the manifest"))
}

/// Checks that the found world may be opened. `building` is the source of a copy, if any.
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
            format!(
                "it is an unfinished copy of {source}; run the same convert again to finish it"
            ),
        )),
        (Found::World, Some(_)) => {
            Err(refused(url, "a world already exists there; choose another prefix".to_owned()))
        }
        (Found::Nothing | Found::World, _) => Ok(()),
    }
}

/// Returns the error for a missing world.
fn missing(url: &S3Url) -> Error {
    let problem = format!("{MANIFEST_NAME} is missing, so there is no world; check the Url");
    refused(url, problem)
}

fn refused(url: &S3Url, problem: String) -> Error {
    Error::Engine { location: url.location(), action: "open", source: problem.into() }
}

fn check(bytes: &[u8]) -> Result<Found, String> {
    let json: Value = serde_json::from_slice(bytes).map_err(|_| "is not JSON".to_owned())?;
    if json.get("Format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("has another format than {FORMAT}"));
    }
    match json.get("Version").and_then(Value::as_u64) {
        Some(VERSION) => Ok(match json.get(BUILDING_KEY).and_then(Value::as_str) {
            Some(source) => Found::Building(source.to_owned()),
            None => Found::World,
        }),
        Some(other) => Err(format!(
            "has version {other}, but this program supports version {VERSION}; use a newer hyworld"
        )),
        None => Err("has no version".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_and_versions_are_rejected() {
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
