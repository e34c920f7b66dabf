//! Paths as text: UTF-8, in which `%` and all bytes that are not UTF-8 are written as `%XX`.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer, de};

/// Returns a path as text. Different paths have different texts.
pub(super) fn text_of_path(path: &Path) -> String {
    let mut text = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&part.valid().replace('%', "%25"));
        for byte in part.invalid() {
            // Writing to a string cannot fail.
            _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Returns the path with this text; `None` if it is malformed.
pub(super) fn path_of_text(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    os_string(bytes).map(PathBuf::from)
}

/// Returns the text of a path below a folder, with `/` as separator; `None` if it leads out.
pub(super) fn text_of_relative(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| match part {
        Component::Normal(name) => Some(text_of_path(Path::new(name))),
        _ => None,
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems cannot have every name")]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

/// Serializes a path as text.
pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&text_of_path(path))
}

/// Parses a path from text.
pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(from)?;
    path_of_text(&text).ok_or_else(|| de::Error::custom("a path is malformed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_its_own_text() {
        for (path, text) in [("a/b", "a/b"), ("100%", "100%25"), ("%41", "%2541"), ("", "")] {
            assert_eq!(text_of_path(Path::new(path)), text);
            assert_eq!(path_of_text(text).unwrap(), Path::new(path));
        }
        for malformed in ["%", "%4", "%+4", "%zz", "a%e"] {
            assert_eq!(path_of_text(malformed), None, "{malformed}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_not_utf8_are_kept() {
        let path: PathBuf = os_string(b"caf\xe9/\xff%".to_vec()).unwrap().into();
        assert_eq!(text_of_path(&path), "caf%E9/%FF%25");
        assert_eq!(path_of_text("caf%E9/%FF%25").unwrap(), path);
        assert_eq!(text_of_relative(&path).unwrap(), "caf%E9/%FF%25");
        assert_eq!(text_of_relative(Path::new("a/../b")), None);
    }
}
