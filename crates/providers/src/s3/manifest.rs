//! The object that says what the others are: `docs/format/objects.md`.

use serde_json::{Value, json};

use super::key::S3Url;
use super::objects::{Condition, Fetched, Objects};
use crate::error::{Error, Result};

const MANIFEST_NAME: &str = "hyworld.json";
const MANIFEST_BYTES_MAX: u32 = 1 << 16;
const FORMAT: &str = "hyworld-chunks";
/// The layout that is written and read here.
const VERSION: u64 = 1;

/// Whether there is a world at this place. One that is of another kind is an error, so that
/// nobody reads or writes past it.
pub(super) async fn is_there(objects: &Objects, url: &S3Url) -> Result<bool> {
    let path = url.object(MANIFEST_NAME);
    let found = objects.get(&path, None, MANIFEST_BYTES_MAX).await;
    match found.map_err(|failure| failure.into_error(&url.place(), "open"))? {
        Fetched::Found(object) => check(&object.content)
            .map(|()| true)
            .map_err(|problem| refused(url, format!("{MANIFEST_NAME} {problem}"))),
        Fetched::Absent | Fetched::Unchanged => Ok(false),
    }
}

/// Makes it, for a new world.
pub(super) async fn make(objects: &Objects, url: &S3Url) -> Result<()> {
    let made_by = concat!("hyworld ", env!("CARGO_PKG_VERSION"));
    let manifest = json!({"Format": FORMAT, "Version": VERSION, "MadeBy": made_by});
    let bytes = manifest.to_string().into_bytes();
    let made = objects.put(&url.object(MANIFEST_NAME), bytes, None, Condition::None).await;
    made.map(drop).map_err(|failure| failure.into_error(&url.place(), "write its manifest"))
}

/// The error of a world that is not there.
pub(super) fn missing(url: &S3Url) -> Error {
    let problem =
        format!("there is no {MANIFEST_NAME}, so no world was stored here; check the Url");
    refused(url, problem)
}

fn refused(url: &S3Url, problem: String) -> Error {
    Error::Engine { place: url.place(), action: "open", source: problem.into() }
}

fn check(bytes: &[u8]) -> Result<(), String> {
    let json: Value = serde_json::from_slice(bytes).map_err(|_| "is no JSON".to_owned())?;
    if json.get("Format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("does not say that its format is {FORMAT}"));
    }
    match json.get("Version").and_then(Value::as_u64) {
        Some(VERSION) => Ok(()),
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
        assert_eq!(with(FORMAT, json!(1)), Ok(()));
        assert!(with(FORMAT, json!(2)).unwrap_err().contains("version 2"));
        assert!(with(FORMAT, json!("1")).is_err() && with("other", json!(1)).is_err());
        for other in ["", "[]", "null", "\u{7f}"] {
            assert!(check(other.as_bytes()).is_err(), "{other}");
        }
    }
}
